// One function per command: declares its options, and what runs when it is chosen.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace lanewise::cli {

/// Set by the chosen command's options; returns the exit code.
using Action = std::function<int()>;

void add_devices(CLI::App& app, Action& action);
void add_run(CLI::App& app, Action& action);
void add_check(CLI::App& app, Action& action);
void add_translate(CLI::App& app, Action& action);
void add_coverage(CLI::App& app, Action& action);
void add_asm(CLI::App& app, Action& action);
void add_disasm(CLI::App& app, Action& action);
void add_cache(CLI::App& app, Action& action);
void add_trace(CLI::App& app, Action& action);
void add_selftest(CLI::App& app, Action& action);
void add_explain(CLI::App& app, Action& action);

}  // namespace lanewise::cli
