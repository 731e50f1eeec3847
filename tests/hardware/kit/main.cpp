// gpu_kit: proves a GPU, asks it how it computes, and measures it, in stages that can be
// interrupted.
#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <deque>
#include <filesystem>
#include <regex>

#include "tests/hardware/kit/results.hpp"
#include "tests/hardware/kit/stages.hpp"

using namespace lanewise::kit;

namespace {

namespace fs = std::filesystem;

constexpr int kStagesLeft = 75;     ///< exit code: run it again to go on
constexpr int kNothingToTest = 77;  ///< exit code of a stage: this machine lacks what it is about
constexpr unsigned kMostAttempts = 2;  ///< of a stage during which the kit itself was ended
constexpr size_t kLines = 40;          ///< of a stage's text that are kept
constexpr size_t kLineBytes = 600;
constexpr size_t kFailures = 100;  ///< lines that name what failed

struct Arguments {
  std::string out, only, other;
  double minutes = 9, tolerance = 0.1;
  bool list = false;
  std::vector<std::string> also;
  Plan plan;
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string date() {
  const std::time_t t = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&t));
  return text;
}

fs::path own_folder() {
  return fs::read_symlink("/proc/self/exe").parent_path();
}

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

Json run_row() {
  utsname host{};
  ::uname(&host);
  return {{"kind", "run"},
          {"name", "run"},
          {"date", date()},
          {"kit", first_line(own_folder().parent_path() / "version")},
          {"kernel", host.release},
          {"glibc", gnu_get_libc_version()},
          {"nvidia_driver", first_line("/proc/driver/nvidia/version")}};
}

/// What a stage has printed: rows go into the results at once, the rest is kept for its own row.
class Output {
 public:
  Output(Results& results, const std::string& stage) : results_(results), stage_(stage) {}

  void line(const std::string& text, bool error) {
    if (!error && text.starts_with('{')) {
      Json row = Json::parse(text, nullptr, false);
      if (row.is_object() && row.contains("kind")) {
        row["stage"] = stage_;
        results_.add(row);
        count(row);
        return;
      }
    }
    if (!error && !text.empty()) last_ = text;
    if (!error && document_.size() < kMostBytes / 4) document_ += text + "\n";
    lost_ = lost_ || says_lost(text);
    if (names_failure(text) && failures_.size() < kFailures)
      failures_.push_back(text.substr(0, 200));
    tail_.push_back(text.substr(0, kLineBytes));
    if (tail_.size() > kLines) tail_.pop_front();
  }

  bool lost() const { return lost_; }
  const std::string& last_line() const { return last_; }

  /// The whole of it may be one document; the benchmarks in that are figures.
  void finish(Json& row) {
    if (!failures_.empty()) row["failures"] = failures_;
    if (!differing_.empty()) {
      std::string text = fmt::format("{} of {} rows differ:", differing_.size(), rows_);
      for (const std::string& name : differing_) text += " " + name;
      tail_.push_back(text.substr(0, 8 * kLineBytes));
    }
    Json document = Json::parse(document_, nullptr, false);
    if (!document.is_object()) {
      row["output"] = tail_;
      return;
    }
    for (const Json& b : document.value("benchmarks", Json::array())) {
      Json figure = {{"kind", "figure"}, {"name", b.value("name", "")}, {"stage", stage_}};
      for (const auto& [key, value] : b.items())
        if (key != "name") figure[key] = value;
      results_.add(figure);
    }
    document.erase("benchmarks");
    row["report"] = document;
  }

 private:
  /// Rows of truth tables and of value tests.
  void count(const Json& row) {
    const std::string kind = row.value("kind", ""), state = row.value("state", "");
    if (kind != "truth" && kind != "value") return;
    ++rows_;
    if (state == "different" || state == "forbidden" || state == "faulted")
      differing_.push_back(row.value("name", ""));
  }
  /// The first line of a case that failed, in what doctest and the random tests print.
  static bool names_failure(const std::string& text) {
    return text.find(": ERROR: ") != text.npos || text.starts_with("MISMATCH ") ||
           text.starts_with("FAIL");
  }
  static bool says_lost(const std::string& text) {
    static const std::regex lost(
        "device (is |was |)lost|ErrorDeviceLost|VK_ERROR_DEVICE_LOST|"
        "CUDA_ERROR_(LAUNCH_FAILED|ILLEGAL_|ECC|DEVICE_UNAVAILABLE)",
        std::regex::icase);
    return std::regex_search(text, lost);
  }
  Results& results_;
  std::string stage_, document_, last_;
  std::deque<std::string> tail_;
  std::vector<std::string> failures_, differing_;
  size_t rows_ = 0;
  bool lost_ = false;
};

std::string state_of(const Ended& e, bool lost) {
  if (e.expired) return "timeout";
  if (lost && (e.code != 0 || e.signal != 0)) return "device lost";
  if (e.signal != 0) return "killed";
  switch (e.code) {
    case 0:
      return "passed";
    case kNothingToTest:
      return "skipped";
    case 1:
      return "failed";
    default:
      return "error";
  }
}

/// Cases that a stage has shrunk and written.
void add_scripts(Results& results, const std::string& folder, const std::string& stage) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".lw") continue;
    std::ifstream in(entry.path());
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    results.add({{"kind", "script"},
                 {"name", entry.path().filename().string()},
                 {"stage", stage},
                 {"text", text.substr(0, 1 << 18)}});
    fs::remove(entry.path());
  }
}

/// `cut`: its limit is what the run has left, and running into that says nothing of the stage.
std::string run_stage(Results& results, const Stage& stage, const Plan& plan, bool cut) {
  Json row = {{"kind", "stage"}, {"name", stage.name}, {"state", "skipped"}};
  if (!stage.skipped.empty()) {
    row["why"] = stage.skipped;
  } else if (results.interrupted(stage.name) >= kMostAttempts) {
    row["state"] = "killed";
    row["why"] = fmt::format("the kit was ended {} times while it ran", kMostAttempts);
  } else {
    results.begin(stage.name);
    Output output(results, stage.name);
    const Ended ended = run_command(
        stage.command, [&](const std::string& line, bool error) { output.line(line, error); });
    add_scripts(results, plan.scratch, stage.name);
    if (cut && ended.expired) {
      results.postpone(stage.name);
      return "postponed";
    }
    row["state"] = state_of(ended, output.lost());
    if (row["state"] == "passed" && !stage.expects.empty() && output.last_line() != stage.expects) {
      row["state"] = "failed";
      row["why"] = fmt::format("its last line is '{}', '{}' was expected",
                               output.last_line().substr(0, 80), stage.expects);
    }
    row["seconds"] = ended.seconds;
    if (ended.signal != 0)
      row["signal"] = ended.signal;
    else
      row["code"] = ended.code;
    output.finish(row);
  }
  results.add(row, true);
  results.end(stage.name);
  return row["state"];
}

std::string finish(const Results& results, const std::string& out) {
  std::string text = summary(read_rows(results.path()));
  if (results.left_out() != 0)
    text += fmt::format("\n{} rows were left out: the file is full\n", results.left_out());
  std::ofstream(out + "/summary.txt") << text;
  return text;
}

void plant(Arguments& a) {
  for (const std::string& also : a.also) {
    const size_t split = also.find('=');
    if (split == std::string::npos) throw std::runtime_error("--also: expected NAME=COMMAND");
    a.plan.planted.push_back(
        {also.substr(0, split), {{"/bin/sh", "-c", also.substr(split + 1)}, {}, 100}});
  }
}

int run(Arguments a) {
  plant(a);
  const double end = now() + 60 * a.minutes;
  a.plan.scratch = fs::temp_directory_path() / fmt::format("gpu-kit-{}", ::getpid());
  fs::create_directories(a.plan.scratch);
  ::setenv("LANEWISE_CACHE_DIR", (a.plan.scratch + "/cache").c_str(), 1);
  const std::regex only(a.only);
  std::vector<Stage> list = stages(a.plan);
  std::erase_if(list, [&](const Stage& s) { return !std::regex_search(s.name, only); });
  if (a.list) {
    for (const Stage& s : list) fmt::print("{}\n", s.name);
    fs::remove_all(a.plan.scratch);
    return 0;
  }
  Results results(a.out);
  results.add(run_row(), true);
  size_t left = 0, number = 0;
  for (Stage stage : list) {
    ++number;
    if (results.done(stage.name)) continue;
    // A stage that has some minutes ahead is not begun in the last seconds; it may take what is
    // left.
    const double rest = end - now();
    if (rest < 5 || (rest < 30 && stage.command.limit > 100)) {
      ++left;
      continue;
    }
    const bool cut = stage.command.limit > rest;
    if (cut) stage.command.limit = rest;
    const std::string state = run_stage(results, stage, a.plan, cut);
    if (state == "postponed") ++left;
    fmt::print("{:>4}/{} {:<12} {}\n", number, list.size(), state, stage.name);
    std::fflush(stdout);
  }
  fs::remove_all(a.plan.scratch);
  const std::string text = finish(results, a.out);
  fmt::print("\n{}", text);
  if (left != 0) {
    fmt::print("\n{} stages are left: run the same command again\n", left);
    return kStagesLeft;
  }
  for (const Json& row : read_rows(results.path()))
    if (row["kind"] == "stage" && row["state"] != "passed" && row["state"] != "skipped") return 1;
  return 0;
}

void add_run(CLI::App& app, Arguments& a, int& code) {
  CLI::App* sub = app.add_subcommand("run", "run what is not done yet; results go to OUT");
  sub->add_option("out", a.out, "folder of results.jsonl, state and summary.txt")->required();
  sub->add_option("--minutes", a.minutes, "after which no stage runs on")->capture_default_str();
  sub->add_option("--device", a.plan.device, "as `lanewise run --device` takes it")
      ->capture_default_str();
  sub->add_option("--only", a.only, "stages whose name this regular expression finds");
  sub->add_option("--also", a.also, "NAME=COMMAND, a further stage at the end");
  sub->add_flag("--slice", a.plan.slice, "a little of each kind, in a few seconds");
  sub->add_flag("--list", a.list, "print the names of the stages only");
  sub->add_option("--programs", a.plan.programs, "folder of the kit's programs");
  sub->add_option("--suite", a.plan.suite, "folder of the conformance suite");
  sub->add_option("--exec", a.plan.exec, "folder of CUDA and HIP programs");
  sub->callback([&] { code = run(a); });
}

int start(int argc, char** argv) {
  Arguments a;
  a.plan.programs = own_folder();
  const fs::path share = own_folder().parent_path() / "share" / "lanewise";
  a.plan.suite = share / "conformance";
  a.plan.exec = share / "exec";
  int code = 0;
  CLI::App app("gpu_kit: proves a GPU, asks it how it computes, and measures it");
  app.require_subcommand(1);
  add_run(app, a, code);
  CLI::App* both = app.add_subcommand("compare", "what two results say differently");
  both->add_option("first", a.out, "a results.jsonl, or the folder of one")->required();
  both->add_option("second", a.other)->required();
  both->add_option("--tolerance", a.tolerance, "share by which figures may differ")
      ->capture_default_str();
  both->callback([&] {
    const Comparison c = compare(read_rows(a.out), read_rows(a.other), a.tolerance);
    fmt::print("{}", c.text);
    code = c.differences == 0 ? 0 : 1;
  });
  CLI::App* sum = app.add_subcommand("summary", "what results say, for people");
  sum->add_option("results", a.out)->required();
  sum->callback([&] { fmt::print("{}", summary(read_rows(a.out))); });
  CLI::App* preset =
      app.add_subcommand("preset", "a preset file out of the caches that results show");
  preset->add_option("results", a.out)->required();
  preset->callback([&] { fmt::print("{}", preset_file(read_rows(a.out))); });
  CLI::App* table = app.add_subcommand("table", "a table file for tests/truth/ out of results");
  table->add_option("results", a.out)->required();
  table->callback([&] { fmt::print("{}", truth_table(read_rows(a.out))); });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e);
  }
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return start(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "gpu_kit: %s\n", e.what());
    return 2;
  }
}
