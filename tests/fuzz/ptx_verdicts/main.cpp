// Random lines over all opcodes, judged by `ptx::check` and by the vendor's assemblers. Needs ptxas
// of CUDA 11.8 or 13.0; with neither exit status 77, a skipped test.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>

#include "tests/fuzz/ptx_verdicts/assembler.hpp"
#include "tests/fuzz/ptx_verdicts/lines.hpp"

namespace {

using lanewise::test::Frame;
using lanewise::test::frame_of;
using lanewise::test::judge_lines;
using lanewise::test::LineVerdict;

constexpr int kSkipped = 77;
constexpr size_t kTogether = 256;

struct Options {
  uint64_t seed = 1;
  size_t lines = 2560;
  std::string old_program = "/usr/bin/ptxas", program = "/usr/local/cuda/bin/ptxas", known, out,
              table, from, folder = std::filesystem::temp_directory_path();
  std::vector<std::string> only;
  double least = 0.995;
};

/// One assembler with the targets that it is asked for.
struct Judge {
  ptx_verdicts::Assembler assembler;
  Frame frame;
  std::string version;
  std::vector<std::string> targets;
};

struct Score {
  size_t scored = 0, agreed = 0, accepted_here = 0;
};

std::vector<std::string> first_cells(const std::string& path) {
  std::vector<std::string> out;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) out.push_back(line.substr(0, line.find('\t')));
  return out;
}

class Fuzzer {
 public:
  explicit Fuzzer(Options options)
      : options_(std::move(options)),
        lines_(options_.seed, first_cells(options_.known), options_.only) {
    const std::string data = LANEWISE_TEST_DATA "/data/oracle/ptx_whole_";
    add(options_.old_program, data + "7.8.ptx", "7.8", {"sm_50", "sm_70", "sm_80", "sm_90"});
    add(options_.program, data + "9.0.ptx", "9.0", {"sm_80", "sm_90a", "sm_100a", "sm_120a"});
    if (!options_.out.empty()) out_.open(options_.out);
    if (!options_.table.empty()) table_.open(options_.table);
  }

  int run() {
    if (judges_.empty()) {
      fmt::print("no assembler is here: skipped\n");
      return kSkipped;
    }
    const std::vector<std::string> given = first_cells(options_.from);
    const size_t count = given.empty() ? options_.lines : given.size();
    for (size_t n = 0; n < count; n += kTogether) {
      std::vector<std::string> texts;
      for (size_t i = n; i < n + kTogether && (given.empty() || i < count); ++i)
        texts.push_back(given.empty() ? lines_.next() : given[i]);
      batch(texts);
    }
    return report();
  }

 private:
  void add(const std::string& program, const std::string& module, const std::string& version,
           std::vector<std::string> targets) {
    Judge judge{{program, options_.folder}, frame_of(module), version, std::move(targets)};
    if (judge.assembler.takes(judge.frame, judge.targets.back()))
      judges_.push_back(std::move(judge));
    else
      fmt::print("{} is not here or is of another release\n", program);
  }

  void batch(const std::vector<std::string>& texts) {
    std::vector<std::string> letters(texts.size());
    for (Judge& judge : judges_) {
      const std::vector<LineVerdict> ours = judge_lines(texts, judge.frame, judge.targets);
      const std::vector<std::string> theirs =
          judge.assembler.judge(texts, judge.frame, judge.targets);
      for (size_t n = 0; n < texts.size(); ++n) {
        std::string expected;
        for (const std::string& of_target : theirs) expected += of_target[n];
        letters[n] += expected;
        compare(texts[n], expected, ours[n], judge.version);
      }
    }
    for (size_t n = 0; n < texts.size() && table_.is_open(); ++n)
      table_ << fmt::format("{}\t{}\tfound\n", texts[n], letters[n]);
  }

  void compare(const std::string& text, const std::string& expected, const LineVerdict& ours,
               const std::string& version) {
    Score& score = scores_[ptx_verdicts::taken_apart(text).opcode];
    bool differs = false;
    for (size_t i = 0; i < expected.size(); ++i) {
      if (expected[i] == '?') continue;
      ++score.scored;
      const bool equal = expected[i] == ours.letters[i];
      score.agreed += equal ? 1 : 0;
      score.accepted_here += !equal && ours.letters[i] == 'A' ? 1 : 0;
      differs = differs || !equal;
    }
    if (differs && out_.is_open())
      out_ << fmt::format("{}\t{}\t{}\t{}\t{}\n", version, expected, ours.letters, text, ours.why)
           << std::flush;
  }

  int report() const {
    Score all;
    for (const auto& [opcode, score] : scores_) {
      all.scored += score.scored;
      all.agreed += score.agreed;
      all.accepted_here += score.accepted_here;
      if (score.agreed != score.scored)
        fmt::print("{}: {} of {} differ, {} of them accepted here\n", opcode,
                   score.scored - score.agreed, score.scored, score.accepted_here);
    }
    fmt::print("{} of {} verdicts agree ({:.2f} %), {} are accepted here alone\n", all.agreed,
               all.scored,
               100.0 * static_cast<double>(all.agreed) / static_cast<double>(all.scored),
               all.accepted_here);
    return static_cast<double>(all.agreed) >= options_.least * static_cast<double>(all.scored) ? 0
                                                                                               : 1;
  }

  Options options_;
  ptx_verdicts::Lines lines_;
  std::vector<Judge> judges_;
  std::map<std::string, Score> scores_;
  std::ofstream out_, table_;
};

int run(int argc, char** argv) {
  Options options;
  CLI::App app("Random lines of PTX, judged here and by the vendor's assemblers");
  app.add_option("--lines", options.lines, "how many");
  app.add_option("--seed", options.seed, "of the lines");
  app.add_option("--old-ptxas", options.old_program, "the assembler of CUDA 11.8");
  app.add_option("--ptxas", options.program, "the assembler of CUDA 13.0");
  app.add_option("--known", options.known, "a table of lines whose operands are used again");
  app.add_option("--only", options.only, "of these opcodes")->delimiter(',');
  app.add_option("--from", options.from, "the lines of this file instead of random ones");
  app.add_option("--out", options.out, "a table of the lines that are judged differently");
  app.add_option("--table", options.table,
                 "all lines with the assemblers' verdicts, as tests have them");
  app.add_option("--least", options.least, "the part that must agree");
  app.add_option("--folder", options.folder, "for the files");
  CLI11_PARSE(app, argc, argv);
  return Fuzzer(options).run();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}
