// From an opcode and its qualifiers to a row of the grammar.
#include <algorithm>
#include <map>

#include "runtime/isa/ptx/check_grammar.hpp"

namespace lanewise::ptx::legal {
namespace {

constexpr std::pair<std::string_view, std::string_view> kSets[] = {
    {"scope", "cta|cluster|gpu|sys"},
    {"shared", "shared|shared::cta|shared::cluster"},
    {"data", "b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64"},
    {"l1", "L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate"},
    {"l2", "L2::evict_normal|L2::evict_first|L2::evict_last"},
    {"size", "L2::64B|L2::128B|L2::256B"},
    {"primary", "L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged"},
    {"secondary", "L2::evict_first|L2::evict_unchanged"},
    {"move", "b16|b32|b64|b128|u16|u32|u64|s16|s32|s64|f32|f64|pred"},
    {"convert", "u8|u16|u32|u64|s8|s16|s32|s64|f16|bf16|f32|f64"},
    {"multi",
     "b32|b64|u32|u64|s32|s64|f16|f16x2|bf16|bf16x2|f32|f64|e4m3|e5m2|e4m3x2|e5m2x2|e4m3x4|e5m2x4"},
    {"restrict", "sync_restrict::shared::cta|sync_restrict::shared::cluster"},
    {"fp8", "e4m3x2|e5m2x2"},
    {"fp6", "e2m3x2|e3m2x2"},
};

struct Slot {
  std::string_view name;
  std::vector<std::string_view> values;
  bool optional = false;
  bool leads = false;    ///< stands first or not at all
  bool repeats = false;  ///< the assembler takes it more than once
  bool takes(std::string_view q) const { return std::ranges::find(values, q) != values.end(); }
};
struct Compiled {
  const Row* row;
  std::vector<Slot> slots;
};

std::vector<std::string_view> split(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t at = text.find(by);
    if (at != 0) parts.push_back(text.substr(0, at));
    if (at == text.npos) break;
    text.remove_prefix(at + 1);
  }
  return parts;
}

std::vector<std::string_view> alternatives(std::string_view text) {
  std::vector<std::string_view> values;
  for (const std::string_view one : split(text, '|')) {
    if (one[0] != '$') {
      values.push_back(one);
      continue;
    }
    for (const auto& [name, list] : kSets) {
      if (name != one.substr(1)) continue;
      for (const std::string_view v : split(list, '|')) values.push_back(v);
    }
  }
  return values;
}

/// A slot's name ends at its first single colon: `::` belongs to qualifiers.
size_t name_end(std::string_view slot) {
  for (size_t i = 0; i < slot.size(); ++i) {
    if (slot[i] != ':') continue;
    if (i + 1 < slot.size() && slot[i + 1] == ':') {
      ++i;
      continue;
    }
    return i;
  }
  return slot.npos;
}

Compiled compile(const Row& row) {
  Compiled out{&row, {}};
  for (std::string_view text : split(row.pattern, ' ')) {
    Slot s;
    s.optional = text[0] == '?';
    if (s.optional) text.remove_prefix(1);
    s.leads = text[0] == '^';
    if (s.leads) text.remove_prefix(1);
    s.repeats = text.ends_with('+');
    if (s.repeats) text.remove_suffix(1);
    const size_t colon = name_end(text);
    s.name = text.substr(0, colon);
    s.values = colon == text.npos ? std::vector{text} : alternatives(text.substr(colon + 1));
    out.slots.push_back(std::move(s));
  }
  return out;
}

using Table = std::map<std::string_view, std::vector<Compiled>>;
const Table& table() {
  static const Table kTable = [] {
    Table t;
    for (const Row& row : grammar()) t[row.opcode].push_back(compile(row));
    return t;
  }();
  return kTable;
}

std::string listed(const Slot& slot) {
  std::string out = slot.values.size() > 1 ? "one of" : "";
  for (const std::string_view v : slot.values)
    out.append(out.empty() ? "`." : " `.").append(v) += '`';
  return out;
}

/// Why no slot of the row takes a qualifier. One that stands in a slot of this name elsewhere is of
/// the slot's kind: `.ca` is a cache operator, though none of st.
std::string misplaced(const Compiled& c, std::string_view q) {
  const std::string name = std::string("`.").append(q) + "`";
  const std::string opcode = std::string("`").append(c.row->opcode) + "`";
  bool known = false;
  for (const auto& [other, rows] : table()) {
    for (const Compiled& row : rows) {
      for (const Slot& theirs : row.slots) {
        if (!theirs.takes(q)) continue;
        known = known || other == c.row->opcode;
        for (const Slot& ours : c.slots) {
          // A flag is named after itself: nothing else could stand there.
          if (ours.name != theirs.name || ours.values[0] == ours.name) continue;
          return name + " does not go with this form of " + opcode + ", " + listed(ours) +
                 " was expected";
        }
      }
    }
  }
  return name + (known ? " does not belong to this form of " : " is no qualifier of ") + opcode +
         ", it was expected without";
}

struct Attempt {
  size_t taken = 0;
  bool late = false;  ///< only the order is wrong, up to where it stopped
  Match match;
};

Attempt attempt(const Compiled& c, std::span<const std::string> mods, bool manual) {
  Attempt a;
  a.match.row = c.row;
  std::vector<bool> filled(c.slots.size());
  size_t next = 0;
  for (const std::string& q : mods) {
    size_t at = c.slots.size();
    bool again = false;
    for (size_t i = 0; i < c.slots.size() && at == c.slots.size(); ++i) {
      if (!c.slots[i].takes(q)) continue;
      if (filled[i] && !(c.slots[i].repeats && !manual)) {
        again = true;
      } else {
        at = i;
      }
    }
    const std::string name = "`." + q + "`";
    if (at == c.slots.size()) {
      a.match.error =
          again ? "a second qualifier " + name + " of its kind, one was expected" : misplaced(c, q);
      return a;
    }
    if (c.slots[at].leads && a.taken != 0) {
      a.late = true;
      a.match.error = name + " stands too late, it was expected right after `" +
                      std::string(c.row->opcode) + "`";
      return a;
    }
    if (manual && at < next) {
      a.late = true;
      a.match.error = name + " stands too late, `." + std::string(a.match.values.back().second) +
                      "` was expected after it (the manual's order)";
      return a;
    }
    filled[at] = true;
    next = at + 1;
    ++a.taken;
    a.match.values.emplace_back(c.slots[at].name, q);
  }
  for (size_t i = 0; i < c.slots.size(); ++i) {
    if (filled[i] || c.slots[i].optional) continue;
    a.match.error = "a qualifier is missing, " + listed(c.slots[i]) + " was expected";
    return a;
  }
  return a;
}

}  // namespace

Match match(std::string_view opcode, std::span<const std::string> mods, bool manual) {
  const auto it = table().find(opcode);
  Match best;
  if (it == table().end()) {
    best.unknown = true;
    return best;
  }
  size_t taken = 0;
  bool first = true;
  for (const Compiled& c : it->second) {
    if (c.row->mode == (manual ? For::ptxas : For::manual)) continue;
    Attempt a = attempt(c, mods, manual);
    if (a.match.error.empty()) return a.match;
    if (!first && (a.taken < taken || (a.taken == taken && !a.late))) continue;
    first = false;
    taken = a.taken;
    best = std::move(a.match);
  }
  return best;
}

}  // namespace lanewise::ptx::legal
