#include "runtime/api/policies.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <string_view>

#include "runtime/support/error.hpp"

namespace lanewise::detail {
namespace {

struct Row {
  std::string_view name, standard;
  std::string_view values;  ///< allowed values separated by '|', empty = an unsigned number
};
constexpr std::array kRows = {
    Row{"ptx.align", "trap", "trap|force|any"},
    Row{"steps", "67108864", ""},
};

const Row* find(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

bool is_number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  return ec == std::errc() && end == text.data() + text.size() && value != 0;
}

bool is_one_of(std::string_view value, std::string_view list) {
  while (!list.empty()) {
    const size_t bar = list.find('|');
    if (list.substr(0, bar) == value) return true;
    list = bar == std::string_view::npos ? std::string_view{} : list.substr(bar + 1);
  }
  return false;
}

}  // namespace

Policies complete_policies(const Policies& asked) {
  Policies all;
  for (const Row& row : kRows) all.emplace(row.name, row.standard);
  for (const auto& [name, value] : asked) {
    const Row* row = find(name);
    if (row == nullptr) {
      std::string known;
      for (const Row& r : kRows) known += fmt::format("{}{}", known.empty() ? "" : ", ", r.name);
      throw Error(ErrorKind::usage, fmt::format("unknown policy '{}'; there are: {}", name, known));
    }
    const bool good = row->values.empty() ? is_number(value) : is_one_of(value, row->values);
    if (!good) {
      throw Error(ErrorKind::usage,
                  fmt::format("policy {}: '{}' is not allowed; expected {}", name, value,
                              row->values.empty() ? "a number of at least 1" : row->values));
    }
    all[name] = value;
  }
  return all;
}

uint64_t step_budget(const Policies& complete) {
  return std::stoull(complete.at("steps"));
}

bool apply_policies(ir::Program& program, const Policies& complete) {
  const std::string& align = complete.at("ptx.align");
  if (program.isa != ir::Isa::ptx || align == "trap") return false;
  for (ir::Block& block : program.blocks) {
    for (ir::Inst& inst : block.insts) {
      if (inst.mem && inst.mem->align == ir::AlignRule::trap) {
        inst.mem->align = align == "force" ? ir::AlignRule::force : ir::AlignRule::any;
      }
    }
  }
  return true;
}

}  // namespace lanewise::detail
