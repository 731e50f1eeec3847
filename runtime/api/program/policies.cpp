#include "runtime/api/program/policies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "lanewise/error_detail.hpp"
#include "runtime/api/program/copy_queues.hpp"
#include "runtime/api/program/policies_gcn.hpp"
#include "runtime/guest/schedule.hpp"
#include "runtime/ir/dot.hpp"
#include "runtime/ir/texture.hpp"
#include "runtime/isa/ptx/late_copies.hpp"
#include "runtime/isa/stack_size.hpp"
#include "runtime/layout/launch_block.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::host::detail {
namespace {

constexpr std::string_view kNumber = "a number of at least 1", kUnlimited = "unlimited";

struct Row {
  std::string_view name, standard;
  std::string_view values;  ///< allowed values separated by '|'; kNumber = one of at least 1
};
constexpr std::array kRows = {
    Row{"async.copy", "immediate", "immediate|late"},
    Row{"check", "none", "none|init|race|sync|perf|async"},  // but none, a list
    Row{"float.approx", "exact", "exact|device"},
    Row{"gcn.align", "system", "system|dword|unaligned"},
    Row{"gcn.alpha_2_10_10_10", "unsigned", "unsigned|signed"},
    Row{"gcn.float_narrow", "nearest", "nearest|toward_zero"},
    Row{"gcn.fminmax_nan", "number", "number|nan"},
    Row{"gcn.hostcall", "none", "a number of at least 1|none"},
    Row{"gcn.index_mul", "64", "64|32"},
    Row{"gcn.int_store", "clamp", "clamp|truncate"},
    Row{"gcn.lds_extend", "zero", "zero|sign"},
    Row{"gcn.lds_inst_offset", "off", "off|on"},
    Row{"gcn.missing_component", "one", "one|zero"},
    Row{"gcn.oor_format", "dst_sel", "dst_sel|zero"},
    Row{"gcn.payload_check", "end", "end|start"},
    Row{"gcn.soffset", "after_swizzle", "after_swizzle|before_swizzle"},
    Row{"groups", "any", "any|resident"},
    Row{"heap", "8388608", kNumber},
    Row{"init.report", "use", "use|read"},
    Row{"mma.accumulate", "target", "target|volta|turing|ampere|ada|hopper|fma"},
    Row{"passes", "on", "on|off"},
    Row{"ptx.align", "trap", "trap|force|any"},
    Row{"race.same_value", "ignore", "ignore|report"},
    Row{"race.shuffle", "order", "order|none"},
    Row{"race.touched", "none", "none|report"},
    Row{"race.wave", "target", "target|independent|lockstep"},
    Row{"sass.align", "force", "force|trap"},
    Row{"sass.sparse", "resident", "resident|absent"},
    Row{"schedule", "default", guest::kScheduleValues},
    Row{"stack", "declared", "a number of at least 1|declared"},
    Row{"steps", "67108864", "a number of at least 1|unlimited"},
    Row{"texture.filter", "vendor", "vendor|cuda-1.8|gcn-1.8"},
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
    const std::string_view item = list.substr(0, bar);
    if (item == kNumber ? is_number(value) : item == value) return true;
    list = bar == std::string_view::npos ? std::string_view{} : list.substr(bar + 1);
  }
  return false;
}

/// Kinds separated by commas; none stands alone.
bool are_checks(std::string_view value, std::string_view list) {
  for (std::string_view left = value;;) {
    const size_t comma = left.find(',');
    const std::string_view item = left.substr(0, comma);
    if (!is_one_of(item, list) || (item == "none" && item != value)) return false;
    if (comma == std::string_view::npos) return true;
    left.remove_prefix(comma + 1);
  }
}

bool allows(const Row& row, std::string_view value) {
  if (row.name == "check") return are_checks(value, row.values);
  if (row.name == "schedule") return guest::schedule_named(value).has_value();
  return is_one_of(value, row.values);
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
      throw DetailedError(ErrorKind::usage, ErrorDetail::not_found,
                          fmt::format("unknown policy '{}'; there are: {}", name, known));
    }
    if (!allows(*row, value)) {
      throw Error(ErrorKind::usage, fmt::format("policy {}: '{}' is not allowed; expected {}", name,
                                                value, row->values));
    }
    all[name] = value;
  }
  return all;
}

std::vector<std::string> policy_words() {
  std::vector<std::string> all;
  for (const Row& row : kRows) {
    std::string_view left = row.values;
    while (!left.empty()) {
      const std::string_view value = left.substr(0, left.find('|'));
      left.remove_prefix(std::min(value.size() + 1, left.size()));
      const bool is_word = value.find(' ') == std::string_view::npos;
      all.push_back(fmt::format("{}={}", row.name, is_word ? value : std::string_view()));
    }
  }
  return all;
}

uint64_t step_budget(const Policies& complete) {
  const std::string& steps = complete.at("steps");
  return steps == kUnlimited ? ~uint64_t{0} : std::stoull(steps);
}

namespace {

template <typename Change>
void for_each_instruction(ir::Program& program, const Change& change) {
  for (ir::Block& block : program.blocks)
    for (ir::Inst& inst : block.insts) change(inst);
}

bool align_ptx(ir::Program& program, const std::string& align) {
  if (align == "trap") return false;
  for_each_instruction(program, [&](ir::Inst& inst) {
    if (inst.mem && inst.mem->align == ir::AlignRule::trap)
      inst.mem->align = align == "force" ? ir::AlignRule::force : ir::AlignRule::any;
  });
  return true;
}

/// Another rule for the sums of matrix instructions than the one of the module's target.
bool accumulate(ir::Program& program, const std::string& how) {
  if (how == "target") return false;
  constexpr std::array<std::string_view, 6> kNames = {"volta", "turing", "ampere",
                                                      "ada",   "hopper", "fma"};
  const auto at = std::ranges::find(kNames, how) - kNames.begin();
  bool any = false;
  for_each_instruction(program, [&](ir::Inst& inst) {
    if (inst.op != ir::Op::dot || inst.type == ir::Type::s32) return;
    ir::DotRule rule =
        ir::rule_of(static_cast<ir::Accumulate>(at), static_cast<ir::Element>(inst.mode & 15));
    rule.total = ir::dot_rule(static_cast<uint32_t>(inst.src[1].imm)).total;
    inst.src[1] = ir::Operand::immediate(ir::dot_word(rule));
    any = true;
  });
  return any;
}

/// The document lets stores, and only stores, raise an error.
bool align_sass(ir::Program& program, const std::string& align) {
  if (align == "force") return false;
  for_each_instruction(program, [](ir::Inst& inst) {
    if (inst.op == ir::Op::store) inst.mem->align = ir::AlignRule::trap;
  });
  return true;
}

/// The constants that the front end left open get others.
template <typename Change>
bool decide(ir::Program& program, ir::Choice choice, const Change& changed) {
  bool any = false;
  for_each_instruction(program, [&](ir::Inst& inst) {
    if (inst.op != ir::Op::mov || inst.mode != static_cast<uint8_t>(choice)) return;
    inst.src[0] = ir::Operand::immediate(changed(inst.src[0].imm));
    any = true;
  });
  return any;
}

bool sparse_sass(ir::Program& program, const std::string& state) {
  return state != "resident" &&
         decide(program, ir::Choice::sparse_absent, [](uint64_t) { return uint64_t{1}; });
}

/// Without the check nobody asks for notes of copies.
bool drop_notes(ir::Program& program, const std::string& check) {
  if (check.find("async") != std::string::npos) return false;
  bool any = false;
  for (ir::Block& block : program.blocks)
    any = std::erase_if(block.insts,
                        [](const ir::Inst& i) { return i.op == ir::Op::async_note; }) != 0 ||
          any;
  return any;
}

/// Copies that a kernel starts wait in queues behind its local memory, and its shared memory.
bool delay_copies(ir::Program& program, const std::string& time) {
  if (time == "immediate") return drop_queues(program);
  if (!decide(program, ir::Choice::copies_late, [](uint64_t) { return uint64_t{1}; })) return false;
  for (const ir::Choice queue : {ir::Choice::copy_area, ir::Choice::bulk_area}) {
    const uint32_t area = (program.local_bytes + 15) / 16 * 16;
    if (decide(program, queue, [&](uint64_t) { return uint64_t{area}; }))
      program.local_bytes = area + ptx::kCopyEntries * ptx::kCopyEntryBytes;
  }
  if (decide(program, ir::Choice::reporting_entries,
             [](uint64_t) { return uint64_t{ptx::kMostReporting}; }))
    program.reserved_shared += ptx::kMostReporting * ptx::kReportingBytes;
  return true;
}

/// The stack of a lane gets so many bytes. False where the kernel has none.
bool set_stack(ir::Program& program, const std::string& size) {
  constexpr uint64_t kMost = uint64_t{16} << 20;
  if (size == "declared") return false;
  const uint64_t bytes = (std::stoull(size) + 15) / 16 * 16;
  if (bytes == 0 || bytes > kMost)
    throw Error(ErrorKind::usage,
                fmt::format("policy stack: {} bytes, expected at most {}", size, kMost));
  if (program.isa == ir::Isa::gcn) {
    const uint32_t declared = program.needs.scratch_bytes;
    if (declared == 0) return false;
    if (bytes < declared)
      throw Error(ErrorKind::usage,
                  fmt::format("policy stack: {} bytes, kernel '{}' needs at least {}", size,
                              program.name, declared));
    program.needs.scratch_bytes = static_cast<uint32_t>(bytes);
    decide(program, ir::Choice::stack_lane, [&](uint64_t) { return bytes; });
    decide(program, ir::Choice::stack_wave, [&](uint64_t) {
      return guest::scratch_per_wave(program.needs.scratch_bytes, program.wave_lanes);
    });
    return true;
  }
  const auto end = [&](uint64_t before) { return before - kStandardStack + bytes; };
  if (!decide(program, ir::Choice::stack_end, end)) return false;
  // A smaller one keeps the memory: the first call looks for no place.
  if (bytes > kStandardStack) {
    if (program.local_bytes + (bytes - kStandardStack) > kMost)
      throw Error(ErrorKind::usage,
                  fmt::format("policy stack: {} bytes; all local memory of kernel '{}' may be at "
                              "most {}",
                              size, program.name, kMost));
    program.local_bytes += static_cast<uint32_t>(bytes - kStandardStack);
  }
  return true;
}

/// Textures become plain accesses, whose alignment rule is that of others.
bool filter_textures(ir::Program& program, const std::string& filter) {
  const bool gcn = filter == "vendor" ? program.isa == ir::Isa::gcn : filter == "gcn-1.8";
  return ir::expand_textures(program, gcn ? ir::FilterRule::gcn_1_8 : ir::FilterRule::cuda_1_8);
}

bool apply_isa_policies(ir::Program& program, const Policies& complete) {
  const bool stack = set_stack(program, complete.at("stack"));
  if (program.isa == ir::Isa::ptx) {
    const bool sums = accumulate(program, complete.at("mma.accumulate"));
    const bool late = delay_copies(program, complete.at("async.copy"));
    const bool notes = drop_notes(program, complete.at("check"));
    return align_ptx(program, complete.at("ptx.align")) || late || sums || stack || notes;
  }
  if (program.isa == ir::Isa::gcn) return apply_gcn_policies(program, complete) || stack;
  const bool aligned = align_sass(program, complete.at("sass.align"));
  return sparse_sass(program, complete.at("sass.sparse")) || aligned;
}

}  // namespace

bool apply_policies(ir::Program& program, const Policies& complete) {
  const bool textures = filter_textures(program, complete.at("texture.filter"));
  return apply_isa_policies(program, complete) || textures;
}

}  // namespace lanewise::host::detail
