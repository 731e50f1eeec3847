// Runs a CUDA program in this process's place, with our libraries loaded into it.
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <utility>

#include "lanewise/lanewise.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/options.hpp"
#include "runtime/cli/process/own_program.hpp"
#include "runtime/cli/process/streams.hpp"
#include "runtime/guest/schedule.hpp"
#include "runtime/host/core/gpu_table.hpp"
#include "runtime/host/exec/object/inspect.hpp"
#include "runtime/support/output_file.hpp"
#include "runtime/support/report_format.hpp"

namespace lanewise::cli {
namespace {

namespace fs = std::filesystem;

struct ExecArgs {
  std::vector<std::string> program;
  std::string device, memcheck, cache, trace, report, counters, wave, gpu, timeout, fault_exit_code,
      isa, schedule;
  std::vector<std::string> check;
  findings::Options findings;
  bool summary = false, verbose = false, print_env = false;
};

/// As env(1) and nohup(1) have them: ours, not executable, not found.
enum : int { kOurs = 125, kCannotRun = 126, kNotFound = 127 };

int fail_with(int code, const std::string& message) {
  say("lanewise exec: {}\n", message);
  return code;
}

/// The file that execvp() would take; empty when there is none. `code` is that of the reason.
std::string find_program(const std::string& name, int& code) {
  code = kNotFound;
  const auto fits = [&](const std::string& path) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0 || S_ISDIR(status.st_mode)) return false;
    if (access(path.c_str(), X_OK) == 0) return true;
    code = kCannotRun;
    return false;
  };
  if (name.find('/') != std::string::npos) return fits(name) ? name : std::string();
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (fits(candidate)) return candidate;
  }
  return {};
}

/// A program whose rights grow when it starts gets none of our libraries from the loader.
bool gains_rights(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return false;
  return ((status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid()) ||
         ((status.st_mode & S_ISGID) != 0 && status.st_gid != getegid()) ||
         (geteuid() != 0 && getxattr(path.c_str(), "security.capability", nullptr, 0) > 0);
}

/// Where the libraries lie that are loaded into programs; empty where they are missing.
std::string library_folder() {
  const fs::path own = own_program();
  for (const char* lib : {LANEWISE_LIBDIR, "lib"}) {
    const fs::path folder = own.parent_path().parent_path() / lib / "lanewise";
    if (fs::exists(folder / "liblanewise_exec.so")) return folder.string();
  }
  return {};
}

using Environment = std::vector<std::pair<std::string, std::string>>;

/// The program may change its folder before it writes.
std::string absolute(const std::string& path) {
  return path.empty() ? path : fs::absolute(path).string();
}

std::string list_of(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ",") + word;
  return out;
}

Environment environment(const ExecArgs& a, const std::string& folder) {
  std::vector<std::string> files;
  for (const std::string& file : a.findings.files) files.push_back(absolute(file));
  Environment all;
  const std::string library = folder + "/liblanewise_exec.so";
  const char* before = std::getenv("LD_AUDIT");
  const std::string others = before == nullptr ? "" : before;
  all.emplace_back("LD_AUDIT", (":" + others + ":").find(":" + library + ":") != std::string::npos
                                   ? others
                               : others.empty() ? library
                                                : others + ":" + library);
  for (const auto& [name, value] :
       Environment{{"LANEWISE_DEVICE", a.device},
                   {"LANEWISE_MEMCHECK", a.memcheck},
                   {"LANEWISE_CHECK", list_of(a.check)},
                   {"LANEWISE_FINDINGS", list_of(files)},
                   {"LANEWISE_SUPPRESS", absolute(a.findings.suppress)},
                   {"LANEWISE_BASELINE", absolute(a.findings.baseline)},
                   {"LANEWISE_WRITE_BASELINE", absolute(a.findings.write_baseline)},
                   {"LANEWISE_CACHE", a.cache},
                   {"LANEWISE_TRACE", absolute(a.trace)},
                   {"LANEWISE_REPORT", absolute(a.report)},
                   {"LANEWISE_COUNTERS", absolute(a.counters)},
                   {"LANEWISE_TIMEOUT", a.timeout},
                   {"LANEWISE_WAVE", a.wave},
                   {"LANEWISE_SCHEDULE", a.schedule},
                   {"LANEWISE_GPU", a.gpu},
                   {"LANEWISE_ISA", a.isa},
                   {"LANEWISE_FAULT_EXIT_CODE", a.fault_exit_code},
                   {"LANEWISE_SUMMARY", a.summary ? "1" : ""},
                   {"LANEWISE_VERBOSE", a.verbose ? "1" : ""}})
    if (!value.empty()) all.emplace_back(name, value);
  if (a.fault_exit_code.empty() && std::getenv("LANEWISE_FAULT_EXIT_CODE") == nullptr)
    all.emplace_back("LANEWISE_FAULT_EXIT_CODE", "1");
  return all;
}

/// For a shell.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// What the program could only find at its end.
void check_report(const ExecArgs& a) {
  if (a.report.empty()) return;
  if (a.cache.empty() && std::getenv("LANEWISE_CACHE") == nullptr)
    throw Error(ErrorKind::usage, "--report needs --cache PRESET");
  report_format(a.report);
  check_writable(a.report);
}

void check_counters(const ExecArgs& a) {
  if (a.counters.empty()) return;
  const char* checks = std::getenv("LANEWISE_CHECK");
  const std::string list = a.check.empty() && checks != nullptr ? checks : list_of(a.check);
  if (("," + list + ",").find(",perf,") == std::string::npos)
    throw Error(ErrorKind::usage, "--counters needs --check perf");
  check_writable(a.counters);
}

void check_schedule(const ExecArgs& a) {
  if (!guest::schedule_named(a.schedule))
    throw Error(ErrorKind::usage,
                fmt::format("--schedule {}: expected {}", a.schedule, guest::kScheduleValues));
}

void check_gpus(const ExecArgs& a) {
  const char* variable = std::getenv("LANEWISE_GPU");
  const bool named = !a.gpu.empty();
  const std::string gpus = named ? a.gpu : variable == nullptr ? "" : variable;
  if (const std::string expected = core::expected_gpus(gpus); !expected.empty())
    throw Error(ErrorKind::usage, fmt::format("{} {}: expected {}",
                                              named ? "--gpu" : "LANEWISE_GPU", gpus, expected));
}

int exec(const ExecArgs& a) {
  check_report(a);
  check_counters(a);
  check_schedule(a);
  check_gpus(a);
  static_cast<void>(findings::Output(a.findings));  // what is wrong with its files
  const std::string folder = library_folder();
  if (folder.empty())
    return fail_with(kOurs,
                     fmt::format("liblanewise_exec.so is missing beside '{}' (in ../{}/lanewise)",
                                 own_program(), LANEWISE_LIBDIR));
  if (folder.find(':') != std::string::npos)
    return fail_with(kOurs,
                     fmt::format("'{}' has a colon in its name, which separates libraries for "
                                 "the loader: install Lanewise in another folder",
                                 folder));
  const Environment variables = environment(a, folder);
  if (a.print_env) {
    for (const auto& [name, value] : variables) fmt::print("export {}={}\n", name, quoted(value));
    return 0;
  }
  if (a.program.empty())
    return fail_with(kOurs, "no program is named: lanewise exec [options] [--] ./app args...");
  int code = 0;
  const std::string path = find_program(a.program[0], code);
  if (path.empty())
    return fail_with(code, fmt::format("'{}' {}", a.program[0],
                                       code == kNotFound ? "was not found" : "is not executable"));
  if (gains_rights(path))
    return fail_with(kOurs,
                     fmt::format("'{}' gains rights when it starts (setuid, setgid or file "
                                 "capabilities), so the system loads no library of ours into "
                                 "it: run a copy without them, or start 'lanewise exec' from "
                                 "within it",
                                 path));
  {
    const exec::MappedObject object(path.c_str());
    if (object.ok())
      if (const exec::Line why = exec::refusal(object, path); !why.empty())
        return fail_with(kOurs, std::string(why.text()));
  }
  for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> words;
  for (const std::string& word : a.program) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  restore_streams();
  execv(path.c_str(), words.data());
  if (errno == ENOEXEC) {  // a script without a first line, which execvp() gives to the shell
    words.insert(words.begin(), const_cast<char*>("/bin/sh"));
    words[1] = const_cast<char*>(path.c_str());
    execv("/bin/sh", words.data());
  }
  return fail_with(kCannotRun, fmt::format("'{}' cannot be run: {}", path, std::strerror(errno)));
}

}  // namespace

void add_exec(const Command& app) {
  const Command sub = app.command(
      "exec", "run a CUDA program, as it is, on a Vulkan device or the reference engine");
  auto a = std::make_shared<ExecArgs>();
  sub.option("--device", a->device, "auto, reference, an index or part of a name or driver")
      .suggests(ValueKind::device);
  sub.option("--memcheck", a->memcheck,
             "what every access must lie in: alloc = one allocation; arena = any of the guest's "
             "memory; off = unchecked, unsafe")
      .one_of({"arena", "alloc", "off"});
  sub.option(
         "--check", a->check,
         "what else to look for, separated by commas: init = reads of memory nobody wrote, race = "
         "accesses of lanes that nothing orders, sync = misused barriers and member masks, async "
         "= accesses to what an asynchronous copy has still to read or write, perf = what accesses "
         "and branches cost, "
         "by line (these three on the device reference), leak = memory, streams and "
         "events that nobody freed, api = calls that failed unseen, memory that is freed twice")
      .one_of({"none", "init", "race", "sync", "async", "perf", "leak", "leaks", "api"})
      .split_at(',');
  sub.option("--cache", a->cache, "run behind the modelled caches of this preset")
      .suggests(ValueKind::preset);
  sub.option("--trace", a->trace, "write the memory accesses of all launches to this file");
  sub.option("--report", a->report,
             "with --cache: write FILE.txt, .json, .csv, .sarif, .html or .perfetto.json");
  sub.option("--counters", a->counters,
             "with --check perf: write counters of each launch with Nsight Compute's names to "
             "FILE.csv, as ncu --csv does");
  add_finding_options(sub, a->findings);
  sub.option("--timeout", a->timeout, "seconds until a launch is given up, 0 = never")
      .not_negative();
  sub.option("--wave", a->wave, "how guest lanes map to invocations")
      .one_of({"auto", "lane", "packed", "serial"});
  sub.option("--schedule", a->schedule,
             "in which order lanes run, on the device reference: random:SEED, or search:N = up to "
             "N orders of each launch, until results differ")
      .suggests({"random:", "search:"});
  sub.option("--gpu", a->gpu,
             "the GPU that the program sees; a list, as t4,gv100, or a number: several devices")
      .suggests(ValueKind::gpu);
  sub.option("--isa", a->isa,
             "which images of the program are taken: ptx, or sass = machine code for sm_50 to "
             "sm_62 (default: PTX where there is some)")
      .one_of({"ptx", "sass"});
  sub.option("--fault-exit-code", a->fault_exit_code,
             "what the program's exit code 0 becomes after faults (default 1), 0 = keep it")
      .between(0, 255);
  sub.flag("--summary", a->summary, "at the end, list kernels with launches and times, and copies");
  sub.flag("--verbose", a->verbose, "report what is taken over, and which image of each program");
  sub.flag("--print-env", a->print_env,
           "start nothing: print the variables that do the same, for a shell");
  sub.no_json(
      "standard output is the program's; --findings FILE.json has what was found, --report "
      "FILE.json what the caches did");
  sub.takes_rest("PROGRAM", a->program, "the program, and what is passed to it");
  sub.examples({"lanewise exec --print-env --device reference"});
  sub.does([a] { return exec(*a); });
}

}  // namespace lanewise::cli
