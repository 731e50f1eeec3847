// What the table says of each form.
#include "runtime/isa/ptx/table.hpp"

#include <algorithm>

namespace lanewise::ptx {
namespace {

std::string spelled(std::string_view opcode, std::span<const std::string> mods) {
  std::string text(opcode);
  for (const std::string& mod : mods) text += "." + mod;
  return text;
}

FormState state_of(isa::Claim claim) {
  return claim == isa::Claim::none          ? FormState::unsupported
         : claim == isa::Claim::approximate ? FormState::approximate
                                            : FormState::exact;
}

ClaimedForm describe(std::string form, const CompiledRow& row) {
  return {
      {std::move(form), state_of(row.claim), row.row->note}, row.claim, row.row->lower != nullptr};
}

/// Every combination of the slots that are not hints, then each hint with the first of them. Of
/// what does not run one form for each opcode.
void list_forms(const CompiledRow& row, std::vector<ClaimedForm>& out) {
  const auto emit = [&](const std::vector<std::string_view>& picks) {
    std::vector<std::string> mods;
    for (std::string_view p : picks)
      if (!p.empty()) mods.emplace_back(p);
    // Two rows of an opcode may overlap: the first one is what an instruction gets.
    const Match m = match_form(row.row->opcode, mods);
    if (m.error.empty() && m.form.row == row.row)
      out.push_back(describe(spelled(row.row->opcode, mods), row));
  };
  std::vector<std::string_view> picks(row.slots.size());
  const bool runs = row.row->lower != nullptr;
  const auto walk = [&](auto&& self, size_t i) -> void {
    if (i == row.slots.size()) return emit(picks);
    if (row.slots[i].optional) {
      picks[i] = {};
      self(self, i + 1);
    }
    if (row.slots[i].hint || (!runs && row.slots[i].optional)) return;
    for (std::string_view v : row.slots[i].values) {
      picks[i] = v;
      self(self, i + 1);
      if (!runs && !row.slots[i].leads) break;
    }
    picks[i] = {};
  };
  walk(walk, 0);
  for (size_t i = 0; i < row.slots.size(); ++i) {
    if (!row.slots[i].hint || !runs) continue;
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
