#include "runtime/cli/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

namespace lanewise::cli {
namespace {

/// "64", "8,8" or "8,8,2".
Dim3 parse_dim(const std::string& option, const std::string& text) {
  if (text.empty()) return {};
  uint32_t v[3] = {1, 1, 1};
  const char* at = text.data();
  const char* end = at + text.size();
  for (int i = 0; i < 3; ++i) {
    const auto [stop, ec] = std::from_chars(at, end, v[i]);
    if (ec != std::errc()) break;
    if (stop == end) return {v[0], v[1], v[2]};
    if (*stop != ',') break;
    at = stop + 1;
  }
  throw Error(ErrorKind::usage,
              fmt::format("{} {}: expected X, X,Y or X,Y,Z with numbers below 2^32", option, text));
}

}  // namespace

void add_launch_options(const Command& sub, LaunchArgs& a) {
  sub.option("--grid", a.grid, "work-groups: X[,Y[,Z]]");
  sub.option("--block", a.block, "threads per work-group: X[,Y[,Z]]");
  sub.option("--dyn-shared", a.dyn_shared, "bytes of dynamic shared memory");
  sub.option("--memcheck", a.memcheck,
             "what every access must lie in: alloc = one buffer, and the one that its pointer "
             "parameter "
             "points into; arena = any of the guest's memory; off = unchecked, unsafe")
      .one_of({"arena", "alloc", "off"});
  sub.option("--wave", a.wave, "how guest lanes map to invocations")
      .one_of({"auto", "lane", "packed", "serial"});
  sub.option("--max-steps", a.max_steps,
             "loop iterations of one lane: N or unlimited; loops of a constant number do not count")
      .suggests({"unlimited"});
  sub.option("--stack", a.stack,
             "bytes of a lane's stack: of PTX functions that call themselves, of GCN kernels with "
             "private memory");
  sub.option(
         "--check", a.check,
         "what else to look for, separated by commas: init = reads of memory that nobody wrote "
         "(out: buffers, shared, local and scratch memory); race = accesses of lanes that nothing "
         "orders, sync = misused barriers and member "
         "masks, async = accesses to what an asynchronous copy has still to read or write, "
         "perf = what accesses and branches cost by line (these four on the device reference)")
      .one_of({"none", "init", "race", "sync", "async", "perf"})
      .split_at(',');
  sub.option("--schedule", a.schedule,
             "in which order lanes run, on the device reference: random:SEED, or search:N = the "
             "orders of the seeds below N, until results differ; with ,weak behind it loads may "
             "return what the memory model of PTX allows")
      .suggests({"random:", "search:"});
  add_timeout_option(sub, a.timeout);
  sub.option("--policy", a.policies, "NAME=VALUE, see docs/policies.md")
      .suggests(ValueKind::policy);
}

void add_timeout_option(const Command& sub, double& seconds) {
  sub.option("--timeout", seconds, "seconds until the run is given up, 0 = never").not_negative();
}

LaunchOptions to_options(const LaunchArgs& a) {
  LaunchOptions o;
  o.grid = parse_dim("--grid", a.grid);
  o.block = parse_dim("--block", a.block);
  o.dynamic_shared = a.dyn_shared;
  o.memcheck = a.memcheck == "alloc" ? Memcheck::alloc
               : a.memcheck == "off" ? Memcheck::off
                                     : Memcheck::arena;
  o.wave = wave_mode_named(a.wave).value_or(WaveMode::automatic);
  o.timeout_seconds = a.timeout;
  for (const std::string& p : a.policies) {
    const size_t eq = p.find('=');
    if (eq == std::string::npos) {
      throw Error(ErrorKind::usage, fmt::format("--policy {}: expected NAME=VALUE", p));
    }
    o.policies[p.substr(0, eq)] = p.substr(eq + 1);
  }
  if (!a.check.empty()) o.policies["check"] = fmt::format("{}", fmt::join(a.check, ","));
  if (!a.max_steps.empty()) o.policies["steps"] = a.max_steps;
  if (!a.schedule.empty()) o.policies["schedule"] = a.schedule;
  if (!a.stack.empty()) o.policies["stack"] = a.stack;
  return o;
}

void need_sizes(const LaunchArgs& a) {
  if (!a.grid.empty() && !a.block.empty()) return;
  throw Error(
      ErrorKind::usage,
      fmt::format("{} is missing: --grid X[,Y[,Z]] says how many work-groups to run, --block "
                  "X[,Y[,Z]] how many threads each has",
                  a.grid.empty() ? "--grid" : "--block"));
}

void add_finding_options(const Command& sub, findings::Options& options) {
  sub.option("--findings", options.files,
             "write what was found to FILE.txt, .json, .sarif or .xml (JUnit); repeat for more")
      .repeated();
  sub.option(
      "--suppress", options.suppress,
      "findings that do not count: a file of lines RULE SUBJECT SITE, * and ? as in a shell");
  sub.option("--baseline", options.baseline,
             "findings that were known before do not count: a file of --write-baseline");
  sub.option("--write-baseline", options.write_baseline, "write what was found for --baseline");
}

void add_isa_option(const Command& sub, std::string& isa) {
  sub.option("--isa", isa, "language of the input (default: by its ending and contents)")
      .one_of({"ptx", "sass", "gcn"});
}

Isa to_isa(const std::string& text) {
  if (text == "ptx") return Isa::ptx;
  if (text == "sass") return Isa::sass;
  if (text == "gcn") return Isa::gcn;
  return Isa::automatic;
}

}  // namespace lanewise::cli
