// Every call on the user's files fails once, in each command that writes some: what was there is
// whole, old or new, nothing else lies beside it, and the message says which file and why.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <set>

#include "tests/cli/support.hpp"

using namespace cli_test;
namespace fs = std::filesystem;

namespace {

constexpr mode_t kOldMode = 0640;

struct Command {
  std::string line;                  ///< FOLDER stands for the folder
  std::vector<std::string> outputs;  ///< names there
  std::vector<std::string> inputs;   ///< made by `before`
  std::function<void(const std::string&)> before = [](const std::string&) {};
};

std::string replaced(std::string text, const std::string& folder) {
  for (size_t at = 0; (at = text.find("FOLDER", at)) != std::string::npos; at += folder.size())
    text.replace(at, 6, folder);
  return text;
}

std::set<std::string> files_in(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

/// A call of the program below the shim; how many calls it made on the folder's files.
struct Shimmed {
  Output output;
  long calls = 0;
  std::string failed;  ///< what the failing call was
};
Shimmed run_failing(const std::string& line, const std::string& folder, long step,
                    const std::string& settings = {}) {
  const std::string log = scratch() + "/calls";
  fs::remove(log);
  const std::string out = scratch() + "/stdout", err = scratch() + "/stderr";
  // The shell is not to be counted.
  const std::string whole =
      settings +
      " timeout 120 env LD_PRELOAD=" LANEWISE_FILE_SHIM " LANEWISE_FAIL_FOLDER=" + folder +
      " LANEWISE_FAIL_STEP=" + std::to_string(step) + " LANEWISE_FAIL_LOG=" + log +
      " " LANEWISE_PROGRAM " " + replaced(line, folder) + " >" + out + " 2>" + err;
  const int status = std::system(whole.c_str());
  Shimmed result;
  result.output = {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), slurp(out),
                   slurp(err)};
  std::ifstream calls(log);
  for (std::string call; std::getline(calls, call); ++result.calls)
    if (call.ends_with(" fails")) result.failed = call;
  return result;
}

std::string old_contents(const std::string& name) {
  return "old " + name + "\n";
}

void lay_out(const Command& command, const std::string& folder) {
  fs::remove_all(folder);
  fs::create_directories(folder);
  command.before(folder);
  for (const std::string& name : command.outputs) {
    const std::string path = folder + "/" + name;
    std::ofstream(path) << old_contents(name);
    REQUIRE(chmod(path.c_str(), kOldMode) == 0);
  }
}

/// The first and the last calls of so many, and some between; LANEWISE_TEST_EVERY_STEP=1: all.
std::vector<long> some_of(long calls) {
  const char* every = std::getenv("LANEWISE_TEST_EVERY_STEP");
  const bool all = every != nullptr && *every == '1';
  const long ends = 8, stride = std::max(calls / 6, 1L);
  std::vector<long> steps;
  for (long n = 1; n <= calls; ++n)
    if (all || n <= ends || n > calls - ends || n % stride == 0) steps.push_back(n);
  return steps;
}

/// Returns how many of its calls were failed.
long fail_each_call(const Command& command, const std::string& folder) {
  CAPTURE(command.line);
  lay_out(command, folder);
  const Shimmed good = run_failing(command.line, folder, 0);
  CAPTURE(good.output.err);
  REQUIRE(good.output.code == 0);
  REQUIRE(good.calls > 0);
  std::map<std::string, std::string> made;
  for (const std::string& name : command.outputs) {
    made[name] = slurp(folder + "/" + name);
    CHECK(made[name] != old_contents(name));
  }
  const std::set<std::string> there = files_in(folder);
  CHECK(there.size() == command.outputs.size() + command.inputs.size());
  const std::vector<long> steps = some_of(good.calls);
  for (const long step : steps) {
    lay_out(command, folder);
    const Shimmed bad = run_failing(command.line, folder, step);
    const std::string failed = bad.failed;
    CAPTURE(failed);
    CAPTURE(bad.output.code);
    CAPTURE(bad.output.err);
    CHECK(!bad.failed.empty());
    CHECK(files_in(folder) == there);
    bool all_new = true;
    for (const std::string& name : command.outputs) {
      CAPTURE(name);
      const std::string now = slurp(folder + "/" + name);
      const bool old = now == old_contents(name);
      all_new = all_new && !old;
      CHECK((old || now == made[name]));
      struct stat s {};
      CHECK(stat((folder + "/" + name).c_str(), &s) == 0);
      CHECK((s.st_mode & 07777) == kOldMode);
    }
    if (bad.output.code == 0) {
      CHECK(all_new);
      continue;
    }
    CHECK((bad.output.code == 2 || bad.output.code == 3));
    CHECK(contains(bad.output.err, "lanewise: error: "));
    CHECK(contains(bad.output.err, folder));
    CHECK(lines_of(bad.output.err) == 1);
  }
  return static_cast<long>(steps.size());
}

const std::string kSaxpy =
    " " LANEWISE_TEST_DATA
    "/../samples/kernels/saxpy.ptx --grid 4 --block 256 --arg i32:1000 --arg f32:2";

void make_trace(const std::string& folder) {
  const Output o =
      program_as_is("run --device reference" + kSaxpy +
                    " --arg zero:f32[1000] --arg zero:f32[1000] --trace " + folder + "/run.lwt");
  REQUIRE(o.code == 0);
}

/// What writes files, without a device.
const std::vector<Command>& commands() {
  static const std::vector<Command> all = {
      {"run --device reference" + kSaxpy +
           " --arg in:FOLDER/x.npy --arg out:FOLDER/y.npy:f32[1000] --trace FOLDER/run.lwt",
       {"y.npy", "run.lwt"},
       {"x.npy"},
       [](const std::string& f) {
         const Output o = program_as_is("run --device reference" + kSaxpy + " --arg out:" + f +
                                        "/x.npy:f32[1000] --arg zero:f32[1000]");
         REQUIRE(o.code == 0);
       }},
      {"cache FOLDER/run.lwt --preset gm204 --report FOLDER/a.json --report FOLDER/a.html",
       {"a.json", "a.html"},
       {"run.lwt"},
       make_trace},
      {"trace convert FOLDER/run.lwt FOLDER/run.traceg", {"run.traceg"}, {"run.lwt"}, make_trace},
      {"trace convert FOLDER/run.lwt FOLDER/run.din", {"run.din"}, {"run.lwt"}, make_trace},
      {"trace convert FOLDER/run.lwt FOLDER/run.json", {"run.json"}, {"run.lwt"}, make_trace},
      {"translate --device profile:vega10" + kSaxpy.substr(0, kSaxpy.find(" --grid")) +
           " --block 256 -o FOLDER/k.spv",
       {"k.spv"},
       {}},
  };
  return all;
}

}  // namespace

TEST_CASE("files: the Nth call on them fails, in every command that writes some") {
  if (std::strcmp(device(), "reference") != 0) return;
  long calls = 0;
  for (const Command& c : commands()) calls += fail_each_call(c, scratch() + "/files");
  std::printf("%zu commands, %ld calls on their files failed, one in each run\n", commands().size(),
              calls);
}

TEST_CASE(
    "files are written where /proc is not mounted, and the program finds what belongs to it") {
  if (std::strcmp(device(), "reference") != 0) return;
  const std::string folder = scratch() + "/without_proc", without = "LANEWISE_WITHOUT_PROC=1";
  for (const Command& c : commands()) {
    CAPTURE(c.line);
    lay_out(c, folder);
    const Shimmed run = run_failing(c.line, folder, 0, without);
    CAPTURE(run.output.err);
    CHECK(run.output.code == 0);
    CHECK(files_in(folder).size() == c.outputs.size() + c.inputs.size());
    for (const std::string& name : c.outputs)
      CHECK(slurp(folder + "/" + name) != old_contents(name));
  }
  const Shimmed suite = run_failing("selftest --device reference --quick", folder, 0, without);
  CAPTURE(suite.output.err);
  CHECK(suite.output.code == 0);
}

TEST_CASE("the cache of translations: the Nth call on its files fails, and the run goes on") {
  if (std::strcmp(device(), "reference") == 0) return;
  const std::string folder = scratch() + "/kept";
  const std::string result = scratch() + "/result.npy";
  const std::string line = "run --device '" + std::string(device()) + "'" + kSaxpy +
                           " --arg zero:f32[1000] --arg out:" + result + ":f32[1000]";
  const std::string settings = "LANEWISE_CACHE_DIR=" + folder + "/cache";
  const auto empty = [&] {
    fs::remove_all(folder);
    fs::create_directories(folder);
  };
  empty();
  const Shimmed cold = run_failing(line, folder, 0, settings);
  REQUIRE(cold.output.code == 0);
  REQUIRE(cold.calls > 5);
  const Shimmed warm = run_failing(line, folder, 0, settings);
  REQUIRE(warm.output.code == 0);
  REQUIRE(warm.calls > 5);
  const std::string values = slurp(result);
  const std::string kept = scratch() + "/kept.before";
  fs::remove_all(kept);
  fs::copy(folder, kept, fs::copy_options::recursive);
  // Pipelines that took long are written at once: a run may make fewer calls than the one before.
  long failed = 0;
  const auto check = [&](const Shimmed& run, long step) {
    CAPTURE(run.failed);
    CAPTURE(run.output.err);
    CHECK((!run.failed.empty() || run.calls < step));
    failed += run.failed.empty() ? 0 : 1;
    CHECK(run.output.code == 0);
    CHECK(slurp(result) == values);
    CHECK(lines_of(run.output.err) <= 1);
    if (!run.output.err.empty()) CHECK(contains(run.output.err, "lanewise: warning: the cache "));
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      CHECK(!entry.path().filename().string().starts_with("."));
    // What is left is whole: the next run has nothing to say.
    CHECK(run_failing(line, folder, 0, settings).output.err.empty());
  };
  for (const long step : some_of(cold.calls)) {
    empty();
    check(run_failing(line, folder, step, settings), step);
  }
  for (const long step : some_of(warm.calls)) {
    fs::remove_all(folder);
    fs::copy(kept, folder, fs::copy_options::recursive);
    check(run_failing(line, folder, step, settings), step);
  }
  CHECK(failed > 10);
  std::printf("%ld calls on an empty cache, %ld on a full one\n", cold.calls, warm.calls);
}
