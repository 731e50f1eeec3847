#include "runtime/cli/commands/costs.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

namespace lanewise::cli {
namespace {

using nlohmann::json;

/// A counter is the sum of one number, less another, over the instructions of one kind.
struct Counter {
  std::string_view name, unit, space, op, number, less = "";
};
constexpr std::array kCounters = {
    Counter{"smsp__inst_executed_op_global_ld.sum", "inst", "global", "load", "executed"},
    Counter{"smsp__inst_executed_op_global_st.sum", "inst", "global", "store", "executed"},
    Counter{"smsp__inst_executed_op_shared_ld.sum", "inst", "shared", "load", "executed"},
    Counter{"smsp__inst_executed_op_shared_st.sum", "inst", "shared", "store", "executed"},
    Counter{"smsp__inst_executed_op_local_ld.sum", "inst", "local", "load", "executed"},
    Counter{"smsp__inst_executed_op_local_st.sum", "inst", "local", "store", "executed"},
    Counter{"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "request", "global", "load",
            "requests"},
    Counter{"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "request", "global", "store",
            "requests"},
    Counter{"l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum", "request", "local", "load",
            "requests"},
    Counter{"l1tex__t_requests_pipe_lsu_mem_local_op_st.sum", "request", "local", "store",
            "requests"},
    Counter{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sector", "global", "load",
            "sectors"},
    Counter{"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "sector", "global", "store",
            "sectors"},
    Counter{"l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "sector", "local", "load", "sectors"},
    Counter{"l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", "sector", "local", "store", "sectors"},
    Counter{"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "", "shared", "load", "passes"},
    Counter{"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "", "shared", "store",
            "passes"},
    Counter{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "", "shared", "load",
            "passes", "least_passes"},
    Counter{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "", "shared", "store",
            "passes", "least_passes"},
};

uint64_t number(const json& row, std::string_view name) {
  return row.at(std::string(name)).get<uint64_t>();
}

findings::Place place_of(const json& row, const std::string& file) {
  findings::Place p;
  p.text = row.at("text");
  p.file = row.at("source");
  p.line = row.at("source_line");
  if (p.file.empty() && row.at("line") != 0) {
    p.file = file;
    p.line = row.at("line");
  }
  return p;
}

std::string csv_word(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace

std::vector<findings::Finding> cost_findings(const std::string& profile, const std::string& kernel,
                                             const std::string& file) {
  std::vector<findings::Finding> all;
  for (const json& row : json::parse(profile)) {
    const auto n = [&](std::string_view name) { return number(row, name); };
    const auto add = [&](const char* rule, uint64_t times, std::string what) {
      findings::Finding f;
      f.rule = rule;
      f.subject = kernel;
      f.places = {place_of(row, file)};
      f.message = what;
      f.report = fmt::format("{} [{}]: {}\n    {}", f.place().site(), rule, what, f.place().text);
      f.count = times;
      all.push_back(std::move(f));
    };
    const std::string space = row.at("space"), op = row.at("op");
    const uint64_t requests = n("requests");
    if (space == "global" && n("sectors") > n("least_sectors"))
      add("perf-uncoalesced", requests,
          fmt::format("{} requests of waves took {} sectors of 32 bytes; their bytes fit {}",
                      requests, n("sectors"), n("least_sectors")));
    if (space == "shared" && n("passes") > n("least_passes"))
      add("perf-bank-conflict", requests,
          fmt::format("{} requests of waves took {} passes through the banks, {} without conflicts",
                      requests, n("passes"), n("least_passes")));
    if (op == "atomic" && n("serial") > requests)
      add("perf-atomic-conflict", requests,
          fmt::format("{} requests of waves took {} turns, as lanes have one address", requests,
                      n("serial")));
    if (space == "local" && requests != 0)
      add("perf-local-memory", requests,
          fmt::format("{} requests of waves took {} sectors of local memory", requests,
                      n("sectors")));
    if (n("divergent") != 0)
      add("perf-divergent-branch", n("divergent"),
          fmt::format("{} of {} executions parted the lanes of a wave", n("divergent"),
                      n("executed")));
  }
  return all;
}

std::string counters_csv(const std::string& profile, const Launched& launched) {
  const json rows = json::parse(profile);
  for (const json& row : rows)
    if (row.at("parts").get<uint32_t>() > 1)
      throw Error(
          ErrorKind::guest,
          fmt::format("--counters: '{}' (line {}) is several accesses here, so its requests "
                      "are not those of the hardware; --findings has its costs",
                      row.at("text").get<std::string>(), row.at("line").get<uint32_t>()));
  std::string out =
      "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\","
      "\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric "
      "Unit\",\"Metric Value\"\n";
  const auto size = [](const Dim3& d) {
    return csv_word(fmt::format("({}, {}, {})", d.x, d.y, d.z));
  };
  for (const Counter& c : kCounters) {
    uint64_t sum = 0;
    for (const json& row : rows)
      if (row.at("space") == c.space && row.at("op") == c.op)
        sum += number(row, c.number) - (c.less.empty() ? 0 : number(row, c.less));
    out += fmt::format(
        "\"0\",\"0\",{},\"localhost\",{},\"1\",\"7\",{},{},\"0\",\"\",{},{},{},\"{}\"\n",
        csv_word(launched.program), csv_word(launched.kernel), size(launched.block),
        size(launched.grid), csv_word("Command line profiler metrics"), csv_word(c.name),
        csv_word(c.unit), sum);
  }
  return out;
}

}  // namespace lanewise::cli
