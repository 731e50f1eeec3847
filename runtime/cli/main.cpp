// The command line. Exit codes: 0 done, 1 guest fault or rejected program, 2 usage or host input,
// 3 device or driver, 4 time or step budget.
#include <fmt/format.h>

#include <cstdio>

#include "lanewise/lanewise.hpp"
#include "runtime/cli/commands.hpp"

namespace {

int run(int argc, char** argv) {
  CLI::App app{"Lanewise runs foreign GPU kernels (PTX, Maxwell SASS, GCN) on any Vulkan device."};
  app.name("lanewise");
  app.set_version_flag("--version", lanewise::version());
  app.require_subcommand(1);
  lanewise::cli::Action action;
  lanewise::cli::add_devices(app, action);
  lanewise::cli::add_run(app, action);
  lanewise::cli::add_check(app, action);
  lanewise::cli::add_translate(app, action);
  lanewise::cli::add_coverage(app, action);
  lanewise::cli::add_asm(app, action);
  lanewise::cli::add_disasm(app, action);
  lanewise::cli::add_cache(app, action);
  lanewise::cli::add_trace(app, action);
  lanewise::cli::add_selftest(app, action);
  lanewise::cli::add_explain(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
    fmt::print(stderr, "lanewise: error: {} (see 'lanewise --help')\n", e.what());
    return 2;
  }
  return action();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const lanewise::CompileError& e) {
    // Its text already is one "FILE:LINE:COL: error: ..." a line.
    fmt::print(stderr, "{}\n", e.what());
    return static_cast<int>(e.kind());
  } catch (const lanewise::Error& e) {
    fmt::print(stderr, "lanewise: error: {}\n", e.what());
    return static_cast<int>(e.kind());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "lanewise: error: out of host memory\n");
    return 2;
  } catch (const std::exception& e) {
    fmt::print(stderr, "lanewise: error: {}\n", e.what());
    return 3;
  }
}
