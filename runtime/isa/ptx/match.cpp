// From an opcode and its qualifiers to a row of the table.
#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "runtime/isa/ptx/table.hpp"

namespace lanewise::ptx {
unsigned leading_number(std::string_view text) {
  unsigned value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

namespace {

/// Lists that patterns name, with what their qualifiers need everywhere.
constexpr std::pair<std::string_view, std::string_view> kSets[] = {
    {"int", "u16|s16|u32|s32|u64|s64"},
    {"int32up", "u32|s32|u64|s64"},
    {"scalar", "u8|u16|u32|u64|s8|s16|s32|s64"},
    {"cmpf", "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan"},
    {"rnd", "rn|rz|rm|rp"},
    {"irnd", "rni|rzi|rmi|rpi"},
    {"bool", "and|or|xor"},
    {"l1",
     "L1::evict_normal@70.74|L1::evict_unchanged@70.74|L1::evict_first@70.74|L1::evict_last@70.74|"
     "L1::no_allocate@70.74"},
    {"l2", "L2::evict_normal|L2::evict_first|L2::evict_last"},
    {"pf", "L2::64B@75.74|L2::128B@75.74|L2::256B@80.74"},
    {"scope", "cta|cluster@90.78|gpu|sys"},
    {"shared", "shared|shared::cta@30.78|shared::cluster@90.78"},
    {"vec", "v2|v4|v8"},
    {"data", "b8|b16|b32|b64|b128@70.83|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64"},
    {"primary", "L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged"},
    {"secondary", "L2::evict_first|L2::evict_unchanged"},
    {"restrict", "sync_restrict::shared::cta@90.80|sync_restrict::shared::cluster@90.80"},
    {"fp8", "e4m3x2|e5m2x2"},
    {"fp6", "e2m1x2|e2m3x2|e3m2x2"},
    {"byte", "e4m3|e5m2"},
    {"tiny", "e4m3|e5m2|e3m2|e2m3|e2m1"},
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

/// "90.80", "=100.86", ".81"
Gate gate_of(std::string_view text) {
  Gate g;
  if (text.starts_with('<')) {
    g.below = static_cast<uint8_t>(leading_number(text.substr(1)));
    return g;
  }
  g.old = text.starts_with("old");
  if (g.old) text.remove_prefix(3);
  const size_t dot = text.find('.');
  const bool family = text.starts_with('=');
  (family ? g.family : g.sm) = static_cast<uint8_t>(leading_number(text.substr(family ? 1 : 0)));
  g.own = dot != text.npos && dot > 0 && text[dot - 1] == 'a';
  if (dot != text.npos) g.version = static_cast<uint8_t>(leading_number(text.substr(dot + 1)));
  return g;
}

void add_values(std::string_view text, Slot& slot) {
  for (std::string_view one : split(text, '|')) {
    const size_t at = one.find('@');
    const Gate gate = at == one.npos ? Gate{} : gate_of(one.substr(at + 1));
    one = one.substr(0, at);
    if (one.front() != '$') {
      slot.values.push_back(one);
    } else {
      for (const auto& [name, list] : kSets)
        if (name == one.substr(1)) add_values(list, slot);
    }
    slot.gates.resize(slot.values.size(), gate);
  }
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

Slot slot_of(std::string_view text) {
  Slot s;
  s.hint = text.front() == '~';
  s.optional = s.hint || text.front() == '?';
  if (s.optional) text.remove_prefix(1);
  s.leads = text.front() == '^';
  if (s.leads) text.remove_prefix(1);
  s.repeats = text.ends_with('+');
  if (s.repeats) text.remove_suffix(1);
  s.beyond_manual = text.ends_with('!');
  if (s.beyond_manual) text.remove_suffix(1);
  const size_t colon = name_end(text);
  const std::string_view name = text.substr(0, colon);
  s.name = name.substr(0, name.find('@'));
  add_values(colon == text.npos ? text : text.substr(colon + 1), s);
  s.is_type = s.name.ends_with("type") || s.name.ends_with("_space");
  return s;
}

/// `?s>:$dtype*2`, `w4:b32`, `i:0..31`
OperandSpec operand_of(std::string_view text) {
  OperandSpec o;
  o.optional = text.starts_with('?');
  if (o.optional) text.remove_prefix(1);
  o.kind = text.front();
  text.remove_prefix(1);
  const size_t colon = name_end(text);
  const size_t with = text.substr(0, colon).find('&');
  if (with != text.npos) o.when = text.substr(0, colon).substr(with + 1);
  for (const char c : text.substr(0, std::min(colon, with))) {
    if (c >= '0' && c <= '9') o.count = o.count * 10 + static_cast<unsigned>(c - '0');
    o.sink = o.sink || c == '_';
    o.both = o.both || c == '+';
    o.pair = o.pair || c == '|' || c == '+';
    o.wider = o.wider || c == '>';
  }
  o.type = colon == text.npos ? "$type" : text.substr(colon + 1);
  if (o.kind == 'i' && colon != text.npos) {
    const size_t dots = o.type.find("..");
    o.low = leading_number(o.type.substr(0, dots));
    o.high = dots == o.type.npos ? o.low : leading_number(o.type.substr(dots + 2));
  } else if (const size_t star = o.type.find('*'); star != o.type.npos) {
    o.scale = leading_number(o.type.substr(star + 1));
    o.type = o.type.substr(0, star);
  }
  return o;
}

CompiledRow compile(const Row& row, isa::Claim claim) {
  CompiledRow out{&row,
                  {},
                  false,
                  row.lower == nullptr ? isa::Claim::none : row.claim.value_or(claim),
                  gate_of(row.needs),
                  {}};
  for (const std::string_view text : split(row.pattern, ' ')) {
    if (text == "*")
      out.any = true;
    else
      out.slots.push_back(slot_of(text));
  }
  if (row.operands != nullptr)
    for (const std::string_view text : split(row.operands, ' '))
      out.operands.push_back(operand_of(text));
  return out;
}

struct Family {
  std::span<const Row> rows;
  isa::Claim claim;  ///< of what runs
};

std::vector<Family> families() {
  using isa::Claim;
  std::vector<Family> all;
  for (auto values :
       {move_rows, space_rows, integer_rows, bit_rows, carry_rows, compare_rows, float_rows,
        half_rows, convert_rows, bf16_rows, wave_rows, video_rows, bfloat_rows, fp8_rows})
    all.push_back({values, Claim::exact});
  for (auto effects : {memory_rows, atomic_rows, cache_rows, sync_rows, control_rows, stack_rows,
                       texture_rows, arithmetic_rows, matrix_rows, tensor_rows, cluster_rows})
    all.push_back({effects, Claim::effect});
  return all;
}

using Index = std::unordered_map<std::string_view, std::vector<const CompiledRow*>>;
const Index& by_opcode() {
  static const Index index = [] {
    Index m;
    for (const CompiledRow& row : table()) m[row.row->opcode].push_back(&row);
    return m;
  }();
  return index;
}

std::string listed(const Slot& slot) {
  std::string out = slot.values.size() > 1 ? "one of" : "";
  for (const std::string_view v : slot.values)
    out.append(out.empty() ? "`." : " `.").append(v) += '`';
  return out;
}

bool takes(const Slot& slot, std::string_view q) {
  // `*` stands for the shapes of a matrix: too many to list.
  if (slot.values[0] == "*") return q.starts_with("m64n");
  return std::ranges::find(slot.values, q) != slot.values.end();
}

struct SlotOfRow {
  const Row* row;
  const Slot* slot;
};
/// The slots that take a qualifier, in the table's order. Few of all that there are do.
std::vector<SlotOfRow> slots_that_take(std::string_view q) {
  using BySpelling = std::unordered_map<std::string_view, std::vector<SlotOfRow>>;
  static const BySpelling index = [] {
    BySpelling m;
    for (const CompiledRow& row : table())
      for (const Slot& slot : row.slots)
        for (const std::string_view value : slot.values) {
          if (value == "*") continue;
          std::vector<SlotOfRow>& all = m[value];
          if (all.empty() || all.back().slot != &slot) all.push_back({row.row, &slot});
        }
    return m;
  }();
  std::vector<SlotOfRow> found;
  if (q.starts_with("m64n")) {  // among the shapes that `*` stands for
    for (const CompiledRow& row : table())
      for (const Slot& slot : row.slots)
        if (takes(slot, q)) found.push_back({row.row, &slot});
  } else if (const auto it = index.find(q); it != index.end()) {
    found = it->second;
  }
  return found;
}

/// Why no slot of the row takes a qualifier. One that stands in a slot of this name elsewhere is of
/// the slot's kind: `.ca` is a cache operator, though none of st.
std::string misplaced(const CompiledRow& c, std::string_view q) {
  const std::string name = std::string("`.").append(q) + "`";
  const std::string opcode = std::string("`").append(c.row->opcode) + "`";
  bool known = false;
  for (const auto& [row, theirs] : slots_that_take(q)) {
    known = known || row->opcode == c.row->opcode;
    for (const Slot& ours : c.slots) {
      // A flag is named after itself: nothing else could stand there.
      if (ours.name != theirs->name || ours.values[0] == ours.name || takes(ours, q)) continue;
      return name + " does not go with this form of " + opcode + ", " + listed(ours) +
             " was expected";
    }
  }
  return name + (known ? " does not belong to this form of " : " is no qualifier of ") + opcode +
         ", it was expected without";
}

bool has_slot(std::string_view opcode, std::string_view q) {
  return std::ranges::any_of(slots_that_take(q),
                             [&](const SlotOfRow& s) { return s.row->opcode == opcode; });
}

/// The assemblers look at these in the instructions that have them and nowhere else; where they are
/// known. The older one never looks at `.oob`.
std::optional<Gate> ignored(std::string_view opcode, std::string_view q) {
  static constexpr std::string_view kTests[] = {"finite",     "infinite", "number",
                                                "notanumber", "normal",   "subnormal"};
  static constexpr std::string_view kOthers[] = {
      "swizzle_atomicity", "swizzle_mode",   "interleave_layout",
      "box_dim",           "global_address", "global_dim",
      "global_stride",     "element_stride", "elemtype",
      "fill_mode",         "rank",           "b8x16",
      "b6x16_p32",         "b4x16_p64",      "acc::f16",
      "acc::f32"};
  if (q == "oob") return Gate{.old = true};
  const bool test = std::ranges::find(kTests, q) != std::end(kTests);
  if (!test && std::ranges::find(kOthers, q) == std::end(kOthers)) return {};
  if (has_slot(opcode, q)) return {};
  return test ? Gate{} : Gate{.version = 80};
}

/// How well a row goes with an instruction. The first fault is reported of the row that takes most
/// of its qualifiers and misses the fewest.
struct Attempt {
  enum class Fault : uint8_t { none, unexpected, again, late, swapped, missing, combination };
  size_t taken = 0, missed = 0;
  Fault fault = Fault::none;
  std::string_view at;            ///< the qualifier at fault
  std::string_view before;        ///< what it should stand before, where it is late
  const Slot* missing = nullptr;  ///< what should have stood
  Form form;

  void note(Fault what, std::string_view qualifier) {
    if (fault != Fault::none) return;
    fault = what;
    at = qualifier;
    if (!form.values.empty()) before = form.values.back().second;
  }
  bool is_closer_than(const Attempt& other) const {
    if (taken != other.taken) return taken > other.taken;
    if (missed != other.missed) return missed < other.missed;
    return other.fault == Fault::swapped && fault != Fault::swapped;
  }
};

Attempt attempt(const CompiledRow& c, std::span<const std::string> mods, bool manual) {
  Attempt a;
  a.form.row = c.row;
  a.form.operands = c.operands;
  if (c.any) return a;
  std::vector<bool> filled(c.slots.size());
  size_t next = 0, next_type = 0;
  bool leading = true;
  for (const std::string& q : mods) {
    size_t at = c.slots.size();
    bool again = false;
    for (size_t i = 0; i < c.slots.size() && at == c.slots.size(); ++i) {
      if (!takes(c.slots[i], q) || (manual && c.slots[i].beyond_manual)) continue;
      if (filled[i] && !(c.slots[i].repeats && !manual)) {
        again = true;
      } else {
        at = i;
      }
    }
    if (at == c.slots.size()) {
      const std::optional<Gate> gate = manual ? std::nullopt : ignored(c.row->opcode, q);
      if (gate && (!again || gate->old)) {
        if (!gate->empty()) a.form.gates.emplace_back(*gate, q);
        a.form.ignored.push_back(q);
        leading = false;
        continue;
      }
      a.note(again ? Attempt::Fault::again : Attempt::Fault::unexpected, q);
      continue;
    }
    const Slot& slot = c.slots[at];
    if (slot.is_type && at < next_type) {
      a.note(Attempt::Fault::swapped, q);
      continue;
    }
    if ((slot.leads && (!leading || at < next)) || (manual && at < next))
      a.note(Attempt::Fault::late, q);
    leading = leading && slot.leads;
    filled[at] = true;
    next = std::max(next, at + 1);
    if (slot.is_type) next_type = at + 1;
    ++a.taken;
    if (slot.values[0] == "*") {
      a.form.values.emplace_back(slot.name, q);
      continue;
    }
    const auto v = static_cast<size_t>(std::ranges::find(slot.values, q) - slot.values.begin());
    a.form.values.emplace_back(slot.name, slot.values[v]);
    if (!slot.gates[v].empty()) a.form.gates.emplace_back(slot.gates[v], slot.values[v]);
  }
  for (size_t i = 0; i < c.slots.size(); ++i) {
    if (filled[i] || c.slots[i].optional) continue;
    if (a.missed++ == 0) a.missing = &c.slots[i];
    a.note(Attempt::Fault::missing, {});
  }
  if (!c.gate.empty()) a.form.gates.emplace_back(c.gate, "");
  if (a.fault == Attempt::Fault::none && c.row->check != nullptr && !c.row->check(a.form).empty())
    a.note(Attempt::Fault::combination, {});
  return a;
}

std::string message(const CompiledRow& c, const Attempt& a) {
  const std::string name = "`." + std::string(a.at) + "`";
  switch (a.fault) {
    case Attempt::Fault::unexpected:
      return misplaced(c, a.at);
    case Attempt::Fault::again:
      return "a second qualifier " + name + " of its kind, one was expected";
    case Attempt::Fault::late:
    case Attempt::Fault::swapped:
      return name + " stands too late, it was expected " +
             (a.before.empty() ? "right after `" + std::string(c.row->opcode) + "`"
                               : "before `." + std::string(a.before) + "`");
    case Attempt::Fault::missing:
      return "a qualifier is missing, " + listed(*a.missing) + " was expected";
    case Attempt::Fault::combination:
      return c.row->check(a.form);
    default:
      return {};
  }
}

}  // namespace

const std::vector<CompiledRow>& table() {
  static const std::vector<CompiledRow> rows = [] {
    std::vector<CompiledRow> all;
    for (const Family& family : families())
      for (const Row& row : family.rows) all.push_back(compile(row, family.claim));
    return all;
  }();
  return rows;
}

std::vector<Match> matches(std::string_view opcode, std::span<const std::string> mods,
                           bool manual) {
  std::vector<Match> all;
  const auto it = by_opcode().find(opcode);
  if (it == by_opcode().end()) {
    all.emplace_back().unknown_opcode = true;
    all[0].error =
        "`" + std::string(opcode) + "` is no instruction of PTX, a known one was expected";
    return all;
  }
  Attempt best;
  const CompiledRow* closest = nullptr;
  for (const CompiledRow* c : it->second) {
    Attempt a = attempt(*c, mods, manual);
    if (a.fault == Attempt::Fault::none) {
      all.push_back({std::move(a.form), {}});
      continue;
    }
    if (closest != nullptr && !a.is_closer_than(best)) continue;
    closest = c;
    best = std::move(a);
  }
  if (all.empty() && closest != nullptr) {
    std::string error = message(*closest, best);
    all.push_back({std::move(best.form), std::move(error)});
  }
  return all;
}

Match match_form(std::string_view opcode, std::span<const std::string> mods) {
  return std::move(matches(opcode, mods, false).front());
}

bool are_qualifiers(std::span<const std::string> mods) {
  return std::ranges::all_of(mods,
                             [](const std::string& mod) { return !slots_that_take(mod).empty(); });
}

std::string_view Form::get(std::string_view slot) const {
  for (const auto& [name, value] : values)
    if (name == slot) return value;
  return {};
}

PType Form::type(std::string_view slot) const {
  return ptype_named(get(slot)).value_or(PType{});
}

}  // namespace lanewise::ptx
