// The command line. Exit codes: 0 done, 1 guest fault or rejected program, 2 usage or host input,
// 3 device or driver, 4 time or step budget. `exec` has those of env(1): 125 to 127 before its
// program runs.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <span>
#include <system_error>

#include "lanewise/lanewise.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/diagnostics.hpp"
#include "runtime/cli/process/driver_crash.hpp"
#include "runtime/cli/process/streams.hpp"
#include "runtime/support/json_document.hpp"
#include "runtime/vulkan/vulkan_engine.hpp"

namespace {

using lanewise::cli::say;

int run(int argc, char** argv) {
  using namespace lanewise::cli;
  CommandLine line(
      "lanewise",
      "Lanewise runs foreign GPU kernels (PTX, Maxwell SASS, GCN) on any Vulkan device.",
      lanewise::version());
  for (const auto add : {add_devices, add_run, add_check, add_translate, add_coverage, add_asm,
                         add_disasm, add_cache, add_chase, add_preset, add_trace, add_bench,
                         add_selftest, add_exec, add_explain, add_diff, add_help})
    add(line.root());
  return line.run(argc, argv);
}

/// What went wrong, for stderr and for --json.
struct Failure {
  int code = 3;
  std::string lines;  ///< as stderr shows them
  std::string message;
  nlohmann::json diagnostics = nlohmann::json::array();
};

Failure failure(int code, const std::string& message) {
  return {code, "lanewise: error: " + message + "\n", message, nlohmann::json::array()};
}

/// One "FILE:LINE:COL: error: ..." a line.
Failure failure(int code, const lanewise::CompileError& e) {
  return {code, std::string(e.what()) + "\n", e.what(),
          lanewise::cli::diagnostics_json(e.file(), e.diagnostics())};
}

/// Who asked for JSON gets an object whatever happens.
void print_json(const Failure& f) {
  const nlohmann::json all = {
      {"error", {{"exit_code", f.code}, {"message", f.message}, {"diagnostics", f.diagnostics}}}};
  fmt::print("{}", lanewise::json_document(all));
}

/// Of `exec`: something went wrong before its program was started.
constexpr int kBeforeProgram = 125;

/// The program's own exit code for whatever can go wrong, reported on stderr.
int run_and_report(int argc, char** argv) {
  using lanewise::cli::kReaderLeft, lanewise::cli::reader_left;
  Failure f;
  try {
    return run(argc, argv);
  } catch (const lanewise::CompileError& e) {
    f = failure(static_cast<int>(e.kind()), e);
  } catch (const lanewise::cli::Rejected& r) {
    f = failure(r.code, lanewise::CompileError(r.file, r.diagnostics));
  } catch (const lanewise::Error& e) {
    // Standard output may have been named as a file, too.
    if (e.kind() == lanewise::ErrorKind::usage && reader_left()) return kReaderLeft;
    f = failure(static_cast<int>(e.kind()), e.what());
  } catch (const std::bad_alloc&) {
    f = failure(2, "out of host memory");
  } catch (const std::system_error& e) {
    if (reader_left()) return kReaderLeft;
    if (std::ferror(stdout) != 0) return lanewise::cli::output_failed(e.code().value());
    f = failure(3, e.what());
  } catch (const std::exception& e) {
    f = failure(3, e.what());
  }
  say("{}", f.lines);
  const std::span<char*> words(argv, static_cast<size_t>(argc));
  const bool of_program = argc > 1 && std::string_view(argv[1]) == "exec";  // what stands there
  if (!of_program &&
      std::ranges::any_of(words, [](const char* w) { return std::string_view(w) == "--json"; }))
    print_json(f);
  return f.code;
}

}  // namespace

int main(int argc, char** argv) {
  lanewise::cli::guard_streams();
  lanewise::cli::report_driver_crashes();
  int code = lanewise::cli::deliver_output(run_and_report(argc, argv));
  // Codes of `exec` are those of its program, and of what starts programs.
  if (argc > 1 && std::string_view(argv[1]) == "exec" && code != 0 && code < kBeforeProgram)
    code = kBeforeProgram;
  if (code == lanewise::cli::kReaderLeft) lanewise::cli::end_without_reader();
  if (lanewise::vulkan::still_running()) {
    // A driver's thread is in the middle of its compiler, which takes as long as it takes: neither
    // wait for it nor destroy the globals under it. Files are closed and streams flushed by now.
    std::_Exit(code);
  }
  return code;
}
