#include "tests/fuzz/ptx_verdicts/assembler.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace ptx_verdicts {

using lanewise::test::Frame;

namespace {

/// `ptxas FILE, line 12; error   : ...`: the number, 0 for a line of another kind.
size_t line_of_error(const std::string& text) {
  const size_t at = text.find(", line ");
  if (at == text.npos || text.find("error") == text.npos) return 0;
  size_t number = 0;
  std::from_chars(text.data() + at + 7, text.data() + text.size(), number);
  return number;
}

}  // namespace

Assembler::Assembler(std::string program, std::string folder)
    : program_(std::move(program)),
      base_(fmt::format("{}/lanewise-verdicts-{}", folder, getpid())) {}

bool Assembler::takes(const Frame& frame, const std::string& target) {
  return ask({}, frame, target).accepted;
}

bool Assembler::runs(const std::string& target, const std::string& files) const {
  return std::system(
             fmt::format(
                 "ulimit -c 0; ulimit -t 1; timeout 60 '{}' -arch={} {} -o '{}.out' 2>'{}.err'",
                 program_, target, files, base_, base_)
                 .c_str()) == 0;
}

/// Lines that are no syntax. It stops at the first one of a file, so each has a file of its own;
/// their names are declared nowhere, which is no matter here.
std::vector<size_t> Assembler::misspelt(std::span<const std::string> lines, const Frame& frame,
                                        const std::string& target) {
  const std::string version = frame.head.substr(0, frame.head.find('\n'));
  const std::filesystem::path folder = base_;
  std::filesystem::create_directory(folder);
  for (size_t n = 0; n < lines.size(); ++n)
    std::ofstream(folder / fmt::format("{}.ptx", n))
        << fmt::format("{}\n.target {}\n.address_size 64\n.entry k{}() {{\n{}\n}}\n", version,
                       target, n, lines[n]);
  std::string files;
  for (size_t n = 0; n < lines.size(); ++n) files += fmt::format(" '{}/{}.ptx'", base_, n);
  runs(target, files);
  std::vector<size_t> out;
  std::ifstream in(base_ + ".err");
  for (std::string text; std::getline(in, text);) {
    const size_t at = text.find(base_);
    if (at == text.npos || text.find("Parsing error") == text.npos) continue;
    size_t number = lines.size();
    std::from_chars(text.data() + at + base_.size() + 1, text.data() + text.size(), number);
    if (number < lines.size()) out.push_back(number);
  }
  std::filesystem::remove_all(folder);
  return out;
}

Assembler::Answer Assembler::ask(const std::vector<std::string>& lines, const Frame& frame,
                                 const std::string& target) {
  // The module's own target is the one that is asked.
  std::string head = frame.head;
  const size_t at = head.find(".target ") + 8;
  head.replace(at, head.find_first_of(",\n", at) - at, target);
  // No registers of this type below sm_53.
  if (target == "sm_50") {
    const size_t halves = head.find(".reg .f16x2");
    if (halves != head.npos) head.insert(halves, "//");
  }
  {
    std::ofstream out(base_ + ".ptx");
    out << head;
    for (const std::string& line : lines) out << line << "\n";
    out << frame.tail;
  }
  Answer answer;
  answer.accepted = runs(target, "'" + base_ + ".ptx'");
  std::ifstream in(base_ + ".err");
  for (std::string text; std::getline(in, text);) {
    const size_t number = line_of_error(text);
    if (number >= frame.first && number - frame.first < lines.size())
      answer.refused.push_back(number - frame.first);
  }
  for (const char* ending : {".ptx", ".out", ".err"}) std::filesystem::remove(base_ + ending);
  return answer;
}

std::vector<std::string> Assembler::judge(std::span<const std::string> lines, const Frame& frame,
                                          std::span<const std::string> targets) {
  std::string syntax(lines.size(), 'A');
  for (const size_t n : misspelt(lines, frame, targets.back())) syntax[n] = 'R';
  std::vector<std::string> out(targets.size(), syntax);
  std::string deadly = syntax;  // what it died of for an earlier target goes by itself
  for (size_t i = 0; i < targets.size(); ++i) {
    std::vector<size_t> which;
    for (size_t n = 0; n < lines.size(); ++n)
      if (deadly[n] == 'A') which.push_back(n);
    narrow(lines, which, frame, targets[i], out[i]);
    for (size_t n = 0; n < lines.size(); ++n)
      if (deadly[n] == '?') narrow(lines, std::span(&n, 1), frame, targets[i], out[i]);
    for (size_t n = 0; n < lines.size(); ++n)
      if (out[i][n] == '?') deadly[n] = '?';
  }
  return out;
}

/// Asks again without what was refused until nothing more is: an error may hide others. Where it
/// names no line, half of them at a time.
void Assembler::narrow(std::span<const std::string> lines, std::span<const size_t> which,
                       const Frame& frame, const std::string& target, std::string& out) {
  std::vector<size_t> left(which.begin(), which.end());
  while (!left.empty()) {
    std::vector<std::string> texts;
    texts.reserve(left.size());
    for (const size_t n : left) texts.push_back(lines[n]);
    const Answer answer = ask(texts, frame, target);
    if (answer.accepted) return;
    if (answer.refused.empty()) {
      if (left.size() == 1) {
        out[left[0]] = '?';
        return;
      }
      const size_t half = left.size() / 2;
      narrow(lines, std::span(left).first(half), frame, target, out);
      narrow(lines, std::span(left).subspan(half), frame, target, out);
      return;
    }
    for (const size_t at : answer.refused) out[left[at]] = 'R';
    std::erase_if(left, [&](size_t n) { return out[n] == 'R'; });
  }
}

}  // namespace ptx_verdicts
