#include "runtime/support/findings/counters.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

namespace lanewise::findings {
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
    Counter{"l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", "request", "global", "atomic",
            "requests"},
    Counter{"l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", "sector", "global", "atomic",
            "sectors"},
    Counter{"l1tex__t_requests_pipe_lsu_mem_global_op_red.sum", "request", "global", "reduction",
            "requests"},
    Counter{"l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", "sector", "global", "reduction",
            "sectors"},
    Counter{"smsp__inst_executed_op_global_red.sum", "inst", "global", "reduction", "executed"},
    Counter{"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", "inst", "f32", "add", "lanes"},
    Counter{"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", "inst", "f32", "mul", "lanes"},
    Counter{"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "inst", "f32", "fma", "lanes"},
    Counter{"smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", "inst", "f64", "add", "lanes"},
    Counter{"smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", "inst", "f64", "mul", "lanes"},
    Counter{"smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", "inst", "f64", "fma", "lanes"},
};

uint64_t number(const json& row, std::string_view name) {
  return row.at(std::string(name)).get<uint64_t>();
}

std::string csv_word(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string size_word(const std::array<uint32_t, 3>& d) {
  return csv_word(fmt::format("({}, {}, {})", d[0], d[1], d[2]));
}

}  // namespace

Counters::Counters()
    : text_(
          "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\","
          "\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Section Name\","
          "\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n") {}

std::string Counters::add(const std::string& profile, const CountedLaunch& launch) {
  const json rows = json::parse(profile);
  const uint64_t id = launches_++;
  for (const json& row : rows)
    if (row.at("parts").get<uint32_t>() > 1)
      return fmt::format(
          "'{}' (line {}) is several accesses here, so its requests are not those of the "
          "hardware; --findings has its costs",
          row.at("text").get<std::string>(), row.at("line").get<uint32_t>());
  for (const Counter& c : kCounters) {
    uint64_t sum = 0;
    for (const json& row : rows)
      if (row.at("space") == c.space && row.at("op") == c.op)
        sum += number(row, c.number) - (c.less.empty() ? 0 : number(row, c.less));
    text_ += fmt::format(
        "\"{}\",\"0\",{},\"localhost\",{},\"1\",\"7\",{},{},\"0\",\"\",{},{},{},\"{}\"\n", id,
        csv_word(launch.program), csv_word(launch.kernel), size_word(launch.block),
        size_word(launch.grid), csv_word("Command line profiler metrics"), csv_word(c.name),
        csv_word(c.unit), sum);
  }
  return {};
}

}  // namespace lanewise::findings
