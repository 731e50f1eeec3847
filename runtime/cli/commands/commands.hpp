// One function per command: declares its options, and what runs when it is chosen.
#pragma once

#include "runtime/cli/command_line.hpp"

namespace lanewise::cli {

void add_devices(const Command& app);
void add_run(const Command& app);
void add_check(const Command& app);
void add_translate(const Command& app);
void add_coverage(const Command& app);
void add_asm(const Command& app);
void add_disasm(const Command& app);
void add_cache(const Command& app);
void add_chase(const Command& app);
void add_trace(const Command& app);
void add_preset(const Command& app);
void add_bench(const Command& app);
void add_selftest(const Command& app);
void add_exec(const Command& app);
void add_explain(const Command& app);
void add_diff(const Command& app);
void add_help(const Command& app);

}  // namespace lanewise::cli
