#include "runtime/isa/ptx/semantics/table.hpp"

#include <algorithm>
#include <map>
#include <sstream>

namespace lanewise::ptx {
namespace {

struct Slot {
  std::string_view name;
  std::vector<std::string_view> values;
  bool optional = false, hint = false;
};
struct CompiledRow {
  const Row* row;
  std::vector<Slot> slots;
  bool any = false;
  isa::Claim claim = isa::Claim::none;
};
struct Family {
  std::span<const Row> rows;
  isa::Claim claim;
};

constexpr std::pair<std::string_view, std::string_view> kSets[] = {
    {"int", "u16|s16|u32|s32|u64|s64"},
    {"int32up", "u32|s32|u64|s64"},
    {"mem", "b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64"},
    {"scalar", "u8|u16|u32|u64|s8|s16|s32|s64"},
    {"cmpf", "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan"},
    {"rnd", "rn|rz|rm|rp"},
    {"irnd", "rni|rzi|rmi|rpi"},
    {"bool", "and|or|xor"},
    {"l1", "L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate"},
    {"l2", "L2::evict_normal|L2::evict_first|L2::evict_last"},
    {"pf", "L2::64B|L2::128B|L2::256B"},
    {"scope", "cta|cluster|gpu|sys"},
    {"sharedany", "shared|shared::cta|shared::cluster"},
    {"vec", "v2|v4|v8"},
};

std::vector<std::string_view> split(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t at = text.find(by);
    if (at != 0) parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) break;
    text.remove_prefix(at + 1);
  }
  return parts;
}

std::vector<std::string_view> expand(std::string_view alternatives) {
  std::vector<std::string_view> values;
  for (std::string_view one : split(alternatives, '|')) {
    if (one.front() != '$') {
      values.push_back(one);
      continue;
    }
    for (const auto& [name, list] : kSets)
      if (name == one.substr(1))
        for (std::string_view v : split(list, '|')) values.push_back(v);
  }
  return values;
}

Slot compile_slot(std::string_view text) {
  Slot slot;
  slot.hint = text.front() == '~';
  slot.optional = slot.hint || text.front() == '?';
  if (slot.optional) text.remove_prefix(1);
  const size_t colon = text.find(':');
  // `L2::cache_hint` alone is a flag: its colon is doubled.
  const bool flag = colon == std::string_view::npos || text.substr(colon, 2) == "::";
  slot.name = text.substr(0, flag ? std::string_view::npos : colon);
  slot.values = flag ? std::vector{text} : expand(text.substr(colon + 1));
  return slot;
}

std::vector<Family> families() {
  using isa::Claim;
  std::vector<Family> all;
  for (auto values :
       {move_rows(), integer_rows(), bit_rows(), carry_rows(), compare_rows(), float_rows(),
        half_rows(), convert_rows(), bf16_rows(), wave_rows(), video_rows(), bfloat_rows()})
    all.push_back({values, Claim::exact});
  for (auto effects :
       {memory_rows(), atomic_rows(), cache_rows(), sync_rows(), control_rows(), stack_rows()})
    all.push_back({effects, Claim::effect});
  all.push_back({absent_rows(), Claim::none});
  return all;
}

const std::vector<CompiledRow>& table() {
  static const std::vector<CompiledRow> rows = [] {
    std::vector<CompiledRow> all;
    for (const Family& family : families())
      for (const Row& row : family.rows) {
        CompiledRow c{&row, {}, false, row.claim.value_or(family.claim)};
        for (std::string_view slot : split(row.pattern, ' ')) {
          if (slot == "*")
            c.any = true;
          else
            c.slots.push_back(compile_slot(slot));
        }
        all.push_back(std::move(c));
      }
    return all;
  }();
  return rows;
}

const std::multimap<std::string_view, const CompiledRow*>& by_opcode() {
  static const auto index = [] {
    std::multimap<std::string_view, const CompiledRow*> m;
    for (const CompiledRow& row : table()) m.emplace(row.row->opcode, &row);
    return m;
  }();
  return index;
}

/// Fills the slots; empty when the row fits, else what prevents it. `fitted` counts qualifiers.
std::string fit(const CompiledRow& row, std::span<const std::string> mods, Form& form,
                size_t& fitted) {
  form.row = row.row;
  std::vector<bool> used(row.slots.size(), false);
  std::vector<std::string_view> chosen(row.slots.size());
  std::vector<size_t> position(row.slots.size());
  fitted = 0;
  if (row.any) return {};
  for (const std::string& mod : mods) {
    size_t at = row.slots.size();
    bool known = false;
    for (size_t i = 0; i < row.slots.size(); ++i) {
      if (std::ranges::find(row.slots[i].values, mod) == row.slots[i].values.end()) continue;
      known = true;
      if (used[i]) continue;
      at = i;
      break;
    }
    if (at == row.slots.size())
      return known ? "qualifier '." + mod + "' clashes with another one of its kind"
                   : "qualifier '." + mod + "' does not belong here";
    used[at] = true;
    chosen[at] = mod;
    position[at] = fitted++;
  }
  // Order is free except between types: `cvt.f32.s32` is not `cvt.s32.f32`.
  size_t last_type = 0;
  for (size_t i = 0; i < row.slots.size(); ++i) {
    if (!used[i] || !row.slots[i].name.ends_with("type")) continue;
    if (position[i] < last_type) return "the types are in the wrong order";
    last_type = position[i];
  }
  for (size_t i = 0; i < row.slots.size(); ++i)
    if (!used[i] && !row.slots[i].optional) {
      std::string wanted;
      for (std::string_view v : row.slots[i].values)
        wanted += (wanted.empty() ? "." : ", .") + std::string(v);
      return "a qualifier is missing, expected one of " + wanted;
    }
  for (size_t i = 0; i < row.slots.size(); ++i)
    if (used[i]) form.values.emplace_back(row.slots[i].name, chosen[i]);
  // Slots refer to the pattern, which outlives the form; qualifiers are mapped to the same storage.
  for (size_t i = 0, k = 0; i < row.slots.size(); ++i)
    if (used[i]) form.values[k++].second = *std::ranges::find(row.slots[i].values, chosen[i]);
  return row.row->check != nullptr ? row.row->check(form) : std::string{};
}

std::string spelled(std::string_view opcode, std::span<const std::string> mods) {
  std::string text(opcode);
  for (const std::string& mod : mods) text += "." + mod;
  return text;
}

}  // namespace

std::string_view Form::get(std::string_view slot) const {
  for (const auto& [name, value] : values)
    if (name == slot) return value;
  return {};
}

PType Form::type(std::string_view slot) const {
  return ptype_named(get(slot)).value_or(PType{});
}

Match match_form(std::string_view opcode, std::span<const std::string> mods) {
  Match best;
  const auto [first, last] = by_opcode().equal_range(opcode);
  if (first == last) {
    best.error = "unknown instruction '" + std::string(opcode) + "'";
    best.unknown_opcode = true;
    return best;
  }
  size_t most = 0;
  for (auto it = first; it != last; ++it) {
    Match m;
    size_t fitted = 0;
    const std::string why = fit(*it->second, mods, m.form, fitted);
    if (why.empty()) return m;
    if (best.error.empty() || fitted > most) {
      most = fitted;
      best.error = "unsupported form '" + spelled(opcode, mods) + "': " + why;
    }
  }
  return best;
}

bool are_qualifiers(std::span<const std::string> mods) {
  return std::ranges::all_of(mods, [](const std::string& mod) {
    return std::ranges::any_of(table(), [&](const CompiledRow& row) {
      return std::ranges::any_of(row.slots, [&](const Slot& slot) {
        return std::ranges::find(slot.values, mod) != slot.values.end();
      });
    });
  });
}

namespace {

FormState state_of(isa::Claim claim) {
  switch (claim) {
    case isa::Claim::none:
      return FormState::unsupported;
    case isa::Claim::approximate:
      return FormState::approximate;
    default:
      return FormState::exact;
  }
}

ClaimedForm describe(std::string form, const CompiledRow& row) {
  return {
      {std::move(form), state_of(row.claim), row.row->note}, row.claim, row.row->lower != nullptr};
}

/// Every combination of the slots that are not hints, then each hint with the first of them.
void list_forms(const CompiledRow& row, std::vector<ClaimedForm>& out) {
  if (row.any) {
    out.push_back(describe(row.row->opcode, row));
    return;
  }
  const auto emit = [&](const std::vector<std::string_view>& picks) {
    std::vector<std::string> mods;
    for (std::string_view p : picks)
      if (!p.empty()) mods.emplace_back(p);
    Form form;
    size_t fitted = 0;
    if (!fit(row, mods, form, fitted).empty()) return;
    std::string text = spelled(row.row->opcode, mods);
    // Two rows of an opcode may overlap: the first one is what an instruction gets.
    if (match_form(row.row->opcode, mods).form.row == row.row)
      out.push_back(describe(std::move(text), row));
  };
  std::vector<std::string_view> picks(row.slots.size());
  const auto walk = [&](auto&& self, size_t i) -> void {
    if (i == row.slots.size()) return emit(picks);
    if (row.slots[i].optional) {
      picks[i] = {};
      self(self, i + 1);
    }
    if (row.slots[i].hint) return;
    for (std::string_view v : row.slots[i].values) {
      picks[i] = v;
      self(self, i + 1);
    }
    picks[i] = {};
  };
  walk(walk, 0);
  for (size_t i = 0; i < row.slots.size(); ++i) {
    if (!row.slots[i].hint) continue;
    for (std::string_view v : row.slots[i].values) {
      for (size_t k = 0; k < row.slots.size(); ++k)
        picks[k] = row.slots[k].optional ? std::string_view{} : row.slots[k].values.front();
      picks[i] = v;
      emit(picks);
    }
  }
}

/// `prototype_3` in a list of forms is the label of a call prototype, which indirect calls use.
bool is_prototype_label(std::string_view form) {
  constexpr std::string_view kPrefix = "prototype_";
  return form.starts_with(kPrefix) && form.size() > kPrefix.size() &&
         form.find_first_not_of("0123456789", kPrefix.size()) == std::string_view::npos;
}

}  // namespace

std::vector<ClaimedForm> claimed_forms() {
  std::vector<ClaimedForm> all;
  for (const CompiledRow& row : table()) list_forms(row, all);
  return all;
}

std::vector<Coverage> coverage() {
  std::vector<Coverage> all;
  for (ClaimedForm& f : claimed_forms()) all.push_back(std::move(f.coverage));
  return all;
}

Coverage coverage_of(std::string_view form) {
  if (is_prototype_label(form))
    return {std::string(form), FormState::exact, "label of a call prototype"};
  const std::string_view opcode = form.substr(0, form.find('.'));
  std::vector<std::string> mods;
  for (size_t at = opcode.size(); at < form.size();) {
    const size_t next = std::min(form.find('.', at + 1), form.size());
    mods.emplace_back(form.substr(at + 1, next - at - 1));
    at = next;
  }
  const Match m = match_form(opcode, mods);
  if (!m.error.empty()) return {std::string(form), FormState::unsupported, m.error};
  const auto row = std::ranges::find(table(), m.form.row, &CompiledRow::row);
  return describe(std::string(form), *row).coverage;
}

}  // namespace lanewise::ptx
