// The command line. Exit codes: 0 done, 1 guest fault or rejected program, 2 usage or host input,
// 3 device or driver, 4 time or step budget.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "lanewise/lanewise.hpp"
#include "runtime/cli/commands.hpp"
#include "runtime/cli/process/streams.hpp"
#include "runtime/vulkan/vulkan_engine.hpp"

namespace {

using lanewise::cli::say;

int run(int argc, char** argv) {
  using namespace lanewise::cli;
  CommandLine line(
      "lanewise",
      "Lanewise runs foreign GPU kernels (PTX, Maxwell SASS, GCN) on any Vulkan device.",
      lanewise::version());
  for (const auto add :
       {add_devices, add_run, add_check, add_translate, add_coverage, add_asm, add_disasm,
        add_cache, add_trace, add_bench, add_selftest, add_explain, add_diff})
    add(line.root());
  return line.run(argc, argv);
}

/// The program's own exit code for whatever can go wrong, said on stderr.
int run_and_report(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const lanewise::CompileError& e) {
    // Its text already is one "FILE:LINE:COL: error: ..." a line.
    say("{}\n", e.what());
    return static_cast<int>(e.kind());
  } catch (const lanewise::Error& e) {
    say("lanewise: error: {}\n", e.what());
    return static_cast<int>(e.kind());
  } catch (const std::bad_alloc&) {
    say("lanewise: error: out of host memory\n");
    return 2;
  } catch (const std::system_error& e) {
    if (std::ferror(stdout) != 0) return lanewise::cli::output_failed(e.code().value());
    say("lanewise: error: {}\n", e.what());
    return 3;
  } catch (const std::exception& e) {
    say("lanewise: error: {}\n", e.what());
    return 3;
  }
}

}  // namespace

int main(int argc, char** argv) {
  lanewise::cli::guard_streams();
  const int code = lanewise::cli::deliver_output(run_and_report(argc, argv));
  if (lanewise::vulkan::still_running()) {
    // A driver's thread is in the middle of its compiler, which takes as long as it takes: neither
    // wait for it nor destroy the globals under it. Files are closed and streams flushed by now.
    std::_Exit(code);
  }
  return code;
}
