// GCN instructions without control flow.
#include <algorithm>
#include <array>
#include <stdexcept>

#include "tests/fuzz/programs/gcn/masks.hpp"

namespace lanewise::programs::gcn {
namespace {

constexpr uint32_t kLastVector = 250, kLastScalar = 101;

bool is_inline(uint32_t value) {
  const auto n = static_cast<int32_t>(value);
  return n >= -16 && n <= 64;
}

std::string vector_compare(Relation r) {
  static constexpr std::array<const char*, 10> kNames = {"eq_u32", "ne_i32", "lt_u32", "le_u32",
                                                         "gt_u32", "ge_u32", "lt_i32", "le_i32",
                                                         "gt_i32", "ge_i32"};
  return std::string("v_cmp_") + kNames[static_cast<size_t>(r)];
}
std::string scalar_compare(Relation r) {
  static constexpr std::array<const char*, 10> kNames = {"eq_i32", "lg_u32", "lt_u32", "le_u32",
                                                         "gt_u32", "ge_u32", "lt_i32", "le_i32",
                                                         "gt_i32", "ge_i32"};
  return std::string("s_cmp_") + kNames[static_cast<size_t>(r)];
}
/// The relation with its sides exchanged.
Relation turned(Relation r) {
  static constexpr std::array<Relation, 10> kTurned = {
      Relation::eq,  Relation::ne,  Relation::ugt, Relation::uge, Relation::ult,
      Relation::ule, Relation::sgt, Relation::sge, Relation::slt, Relation::sle};
  return kTurned[static_cast<size_t>(r)];
}

/// v_cmp into vcc, with source 0 as free as it may be.
void into_vcc(Writer& w, const Condition& c) {
  const bool exchange = c.right.immediate || w.random.chance(3);
  if (exchange)
    w.line("{} vcc, {}, {}", vector_compare(turned(c.relation)), Writer::source(c.right),
           Writer::reg(c.left));
  else
    w.line("{} vcc, {}, {}", vector_compare(c.relation), Writer::reg(c.left),
           Writer::reg(c.right.value));
}
void into_pair(Writer& w, const Condition& c, const std::string& to) {
  const std::string right = w.small(c.right);
  if (w.random.chance(3))
    w.line("{} {}, {}, {}", vector_compare(turned(c.relation)), to, right, Writer::reg(c.left));
  else
    w.line("{} {}, {}, {}", vector_compare(c.relation), to, Writer::reg(c.left), right);
}

const char* vector_name(AluOp op) {
  static constexpr std::array<const char*, 14> kNames = {"v_mov_b32",
                                                         "",
                                                         "",
                                                         "v_and_b32",
                                                         "v_or_b32",
                                                         "v_xor_b32",
                                                         "v_lshlrev_b32",
                                                         "v_lshrrev_b32",
                                                         "v_ashrrev_i32",
                                                         "v_min_u32",
                                                         "v_max_u32",
                                                         "v_min_i32",
                                                         "v_max_i32",
                                                         "v_mul_lo_u32"};
  return kNames[static_cast<size_t>(op)];
}
const char* scalar_name(AluOp op) {
  static constexpr std::array<const char*, 14> kNames = {
      "s_mov_b32",  "s_add_i32",  "s_sub_u32", "s_and_b32", "s_or_b32",  "s_xor_b32", "s_lshl_b32",
      "s_lshr_b32", "s_ashr_i32", "s_min_u32", "s_max_u32", "s_min_i32", "s_max_i32", "s_mul_i32"};
  return kNames[static_cast<size_t>(op)];
}

/// A carry goes to vcc or, in the long form, anywhere.
std::string carry(Writer& w, bool long_form) {
  return long_form && w.random.chance(3) ? w.mask() : "vcc";
}
/// By way of registers in front of the two, with a number that the translator knows; or seldom not,
/// as it then looks at every register, which drivers take long to compile.
void counted_move(Writer& w, const std::string& to, const std::string& from) {
  const auto number_of = [](const std::string& reg) {
    return static_cast<uint32_t>(std::stoul(reg.substr(1)));
  };
  const uint32_t source = number_of(from), result = number_of(to);
  const uint32_t n = w.random.below(std::min({source, result, 40U}) + 1);
  const bool counts_source = w.random.chance(2),
             counts_result = !counts_source || w.random.chance(2);
  const std::string names = !counts_result ? "SRC0" : counts_source ? "SRC0,DST" : "DST";
  std::string index = Writer::number(n);
  if (w.random.chance(4)) {
    index = w.scalar();
    w.line("s_movk_i32 {}, {}", index, n + 0x700);
    w.line("s_sub_u32 {}, {}, 0x300", index, index);
  }
  w.line("s_set_gpr_idx_on {}, gpr_idx({})", index, names);
  w.line("v_mov_b32 v{}, v{}", result - (counts_result ? n : 0), source - (counts_source ? n : 0));
  w.line("s_set_gpr_idx_off");
}
void compute(Writer& w, const Alu& s, const std::string& to) {
  const std::string a = Writer::reg(s.a);
  const bool long_form = !s.b.immediate || is_inline(s.b.value);
  const bool moves_register = s.op == AluOp::mov && !s.b.immediate;
  if (moves_register && !w.before_gcn3() && w.random.chance(4))
    return counted_move(w, to, Writer::reg(s.b.value));
  if (s.op == AluOp::mov) return w.line("v_mov_b32 {}, {}", to, Writer::source(s.b));
  // Two SGPRs or large numbers beside an SGPR are more than scalar instructions take.
  const std::string ua = w.uniform(Operand::reg(s.a)), ub = w.uniform(s.b);
  if (!ua.empty() && !ub.empty() && !w.random.chance(3)) {
    const std::string n = w.scalar();
    w.line("{} {}, {}, {}", scalar_name(s.op), n, ua, ub);
    return w.line("v_mov_b32 {}, {}", to, n);
  }
  const std::string b = Writer::source(s.b);
  if (s.op == AluOp::add)
    return w.line("{} {}, {}, {}, {}", w.add(), to, carry(w, long_form), b, a);
  if (s.op == AluOp::mul) return w.line("v_mul_lo_u32 {}, {}, {}", to, a, w.small(s.b));
  if (s.op != AluOp::sub) return w.line("{} {}, {}, {}", vector_name(s.op), to, b, a);
  const bool reversed = s.b.immediate || w.random.chance(2);
  const std::string name = !reversed ? w.sub() : w.before_gcn3() ? "v_subrev_i32" : "v_subrev_u32";
  w.line("{} {}, {}, {}, {}", name, to, carry(w, long_form), reversed ? b : a, reversed ? a : b);
}
void compute(Writer& w, const Select& s, const std::string& to) {
  std::string no = w.small(s.b);
  const std::string mask = test(w, s.test);
  // The mask is the one scalar register that the instruction reads.
  if (no.starts_with('s')) {
    const std::string copy = w.vector();
    w.line("v_mov_b32 {}, {}", copy, no);
    no = copy;
  }
  w.line("v_cndmask_b32_e64 {}, {}, {}, {}", to, no, Writer::reg(s.a), mask);
}

struct Address {
  std::string text;  ///< the operands behind the data
  bool flat = false;
};
std::string access(const std::string& what, const Address& at, const std::string& data,
                   uint32_t words = 1) {
  const std::string name = fmt::format("{}_{}_dword{}", at.flat ? "flat" : "buffer", what,
                                       words == 1 ? "" : fmt::format("x{}", words));
  const bool data_last = at.flat && what == "store";
  return fmt::format("{} {}, {}", name, data_last ? at.text : data, data_last ? data : at.text);
}
void load(Writer& w, const Address& at, const std::string& to) {
  w.line("{}", access("load", at, to));
  w.line(at.flat ? "s_waitcnt vmcnt(0) lgkmcnt(0)" : "s_waitcnt vmcnt(0)");
}

/// base + offset as 64 bits, and how they are written.
Address whole(Writer& w, const std::string& base_low, const std::string& base_high,
              const std::string& offset) {
  const Writer::Pair at = w.vectors();
  w.line("{} {}, vcc, {}, {}", w.add(), at.low, base_low, offset);
  w.line("v_mov_b32 {}, {}", at.high, base_high);
  w.line("v_addc_u32 {}, vcc, 0, {}, vcc", at.high, at.high);
  if (w.target == Target::gfx600) return {fmt::format("{}, {}, 0 addr64", at.both, kNowhere)};
  return {at.both, true};
}

/// Bytes of a word whose number is in a register.
std::string bytes(Writer& w, const std::string& index, uint32_t words) {
  const std::string t = w.vector();
  if (w.random.chance(2)) {
    w.line("v_and_b32 {}, {}, {}", t, Writer::number(words - 1), index);
    w.line("v_lshlrev_b32 {}, 2, {}", t, t);
  } else {
    w.line("v_lshlrev_b32 {}, 2, {}", t, index);
    w.line("v_and_b32 {}, {}, {}", t, Writer::number(4 * (words - 1)), t);
  }
  return t;
}

Address own(Writer& w, uint32_t word) {
  switch (w.random.below(3)) {
    case 0:
      return {fmt::format("{}, {}, 0 offen offset:{}", kOwnOffset, kOut, 4 * word)};
    case 1:
      return {fmt::format("{}, {}, 0 idxen offset:{}", kThread, kLanes, 4 * word)};
    default:
      break;
  }
  if (w.target == Target::gfx600)
    return {fmt::format("{}, {}, 0 addr64 offset:{}", kOwnAddress, kNowhere, 4 * word)};
  const Writer::Pair at = w.vectors();
  w.line("{} {}, vcc, {}, v4", w.add(), at.low, Writer::number(4 * word));
  w.line("v_addc_u32 {}, vcc, 0, v5, vcc", at.high);
  return {at.both, true};
}
Address own(Writer& w, const Operand& slot) {
  if (slot.immediate) return own(w, slot.value & (kSlots - 1));
  const std::string offset = bytes(w, Writer::reg(slot.value), kSlots);
  const Writer::Pair at = w.vectors();
  switch (w.random.below(3)) {
    case 0:
      w.line("{} {}, vcc, {}, {}", w.add(), at.low, offset, kOwnOffset);
      return {fmt::format("{}, {}, 0 offen", at.low, kOut)};
    case 1:
      w.line("v_mov_b32 {}, {}", at.low, kThread);
      w.line("v_mov_b32 {}, {}", at.high, offset);
      return {fmt::format("{}, {}, 0 idxen offen", at.both, kLanes)};
    default:
      w.line("{} {}, vcc, {}, {}", w.add(), at.low, offset, kOwnOffset);
      return whole(w, "s6", "s7", at.low);
  }
}

/// One lane's index after the other, and all that have the same: s_buffer_load for each.
void waterfall(Writer& w, const std::string& to, const std::string& index) {
  const std::string t = w.vector(), pending = w.mask(), same = w.mask(), s = w.scalar(),
                    value = w.scalar(), head = w.new_label("each");
  const std::string offset = bytes(w, index, kTableWords);
  w.line("s_mov_b64 {}, exec", pending);
  w.label(head);
  w.line("v_readfirstlane_b32 {}, {}", s, offset);
  w.line("v_cmp_eq_u32 vcc, {}, {}", s, offset);
  w.line("s_and_saveexec_b64 {}, vcc", same);
  w.line("s_buffer_load_dword {}, {}, {}", value, kTable, s);
  w.line("s_waitcnt lgkmcnt(0)");
  w.line("v_mov_b32 {}, {}", t, value);
  w.line("s_xor_b64 exec, exec, {}", same);
  w.line("s_cbranch_execnz {}", head);
  w.line("s_mov_b64 exec, {}", pending);
  w.line("v_mov_b32 {}, {}", to, t);
}

void scalar_load(Writer& w, const std::string& to, const std::string& index) {
  const std::string s = w.scalar();
  w.line("s_and_b32 {}, {}, {}", s, index, kTableWords - 1);
  w.line("s_lshl_b32 {}, {}, 2", s, s);
  if (w.random.chance(2))
    w.line("s_load_dword {}, s[4:5], {}", s, s);
  else
    w.line("s_buffer_load_dword {}, {}, {}", s, kTable, s);
  w.line("s_waitcnt lgkmcnt(0)");
  w.line("v_mov_b32 {}, {}", to, s);
}

void compute(Writer& w, const Load& s, const std::string& to) {
  const std::string u = w.uniform(Operand::reg(s.index));
  if (!u.empty() && !w.random.chance(3)) return scalar_load(w, to, u);
  if (!w.apart && w.random.chance(12)) return waterfall(w, to, Writer::reg(s.index));
  load_element(w, to, Writer::reg(s.index));
}
void compute(Writer& w, const LoadOwn& s, const std::string& to) {
  load(w, own(w, s.slot), to);
}
void store(Writer& w, const Store& s) {
  w.line("{}", access("store", own(w, s.slot), Writer::reg(s.from)));
}

/// What needs no other lanes and no memory may be computed for all, and taken where it is wanted.
template <typename T>
void chosen(Writer& w, const T& s, const std::string& lanes, bool others) {
  const std::string t = w.vector(), to = Writer::reg(s.to);
  compute(w, s, t);
  w.line("v_cndmask_b32_e64 {}, {}, {}, {}", to, others ? t : to, others ? to : t, lanes);
}
template <typename T>
void guarded(Writer& w, const T& s) {
  const Scope scope(w);
  if (!s.guard) return compute(w, s, Writer::reg(s.to));
  if (w.random.chance(2)) return chosen(w, s, kept(w, *s.guard), false);
  narrowed(w, by_halves(w, loose(w, *s.guard)), [&] { compute(w, s, Writer::reg(s.to)); });
}

}  // namespace

std::string Writer::vector() {
  if (vectors_ > kLastVector) throw std::logic_error("out of vector registers");
  return fmt::format("v{}", vectors_++);
}
Writer::Pair Writer::vectors() {
  const std::string low = vector(), high = vector();
  return {low, high, fmt::format("v[{}:{}]", vectors_ - 2, vectors_ - 1)};
}
uint32_t Writer::next_pair() {
  if (scalars_ + 1 > kLastScalar) throw std::logic_error("out of scalar registers");
  scalars_ += 2;
  return scalars_ - 2;
}
std::string Writer::mask() {
  const uint32_t first = next_pair();
  return fmt::format("s[{}:{}]", first, first + 1);
}
std::string Writer::scalar() {
  const uint32_t first = next_pair();
  return fmt::format("s{}", first + random.below(2));
}
std::string Writer::number(uint32_t value) {
  if (is_inline(value)) return fmt::format("{}", static_cast<int32_t>(value));
  return fmt::format("{:#x}", value);
}
std::string Writer::small(const Operand& o) {
  if (!o.immediate) return reg(o.value);
  if (is_inline(o.value)) return number(o.value);
  const bool in_scalar = random.chance(2);
  const std::string t = in_scalar ? scalar() : vector();
  line("{} {}, {}", in_scalar ? "s_mov_b32" : "v_mov_b32", t, number(o.value));
  return t;
}
std::string Writer::uniform(const Operand& o) const {
  if (o.immediate) return number(o.value);
  const auto it = uniforms.find(o.value);
  return it == uniforms.end() ? std::string() : it->second;
}

std::string test(Writer& w, const Condition& c) {
  if (w.random.chance(2)) return kept(w, c);
  into_vcc(w, c);
  return "vcc";
}
std::string kept(Writer& w, const Condition& c) {
  const std::string to = w.mask();
  if (w.random.chance(3)) {
    into_vcc(w, c);
    w.line("s_mov_b64 {}, vcc", to);
  } else {
    into_pair(w, c, to);
  }
  return to;
}
std::string loose(Writer& w, const Condition& c) {
  if (!w.random.chance(4)) return collected(w, test(w, c));
  Condition other = c;
  other.relation = negated(c.relation);
  const std::string mask = test(w, other);
  switch (w.random.below(3)) {
    case 0:
      w.line("s_xor_b64 {}, {}, -1", mask, mask);
      break;
    case 1:
      w.line("s_not_b64 {}, {}", mask, mask);
      break;
    default:
      w.line("s_xor_b64 {}, exec, {}", mask, mask);
  }
  return mask;
}
bool scalar_test(Writer& w, const Condition& c) {
  const std::string left = w.uniform(Operand::reg(c.left)), right = w.uniform(c.right);
  if (left.empty() || right.empty()) return false;
  if (w.random.chance(2))
    w.line("{} {}, {}", scalar_compare(c.relation), left, right);
  else
    w.line("{} {}, {}", scalar_compare(turned(c.relation)), right, left);
  return true;
}
void set_scc_if_any(Writer& w, const std::string& mask) {
  const Scope scope(w);
  w.line("{} {}, {}, {}", w.random.chance(2) ? "s_or_b64" : "s_and_b64", w.mask(), mask, mask);
}

bool is_plain(const Statement& s) {
  return std::visit(
      [](const auto& what) {
        using T = std::decay_t<decltype(what)>;
        if constexpr (std::is_same_v<T, Alu> || std::is_same_v<T, Select> ||
                      std::is_same_v<T, Load> || std::is_same_v<T, Store> ||
                      std::is_same_v<T, LoadOwn>)
          return !what.guard;
        else
          return false;
      },
      s.what);
}

void predicated(Writer& w, const Statement& s, const std::string& lanes, bool others) {
  const Scope scope(w);
  if (const auto* st = std::get_if<Store>(&s.what)) {
    const std::string saved = w.mask();
    w.line("s_mov_b64 {}, exec", saved);
    w.line("{} exec, exec, {}", others ? "s_andn2_b64" : "s_and_b64", lanes);
    store(w, *st);
    return w.line("s_mov_b64 exec, {}", saved);
  }
  std::visit(
      [&](const auto& what) {
        using T = std::decay_t<decltype(what)>;
        if constexpr (std::is_same_v<T, Alu> || std::is_same_v<T, Select> ||
                      std::is_same_v<T, Load> || std::is_same_v<T, LoadOwn>)
          chosen(w, what, lanes, others);
      },
      s.what);
}

void plain(Writer& w, const Alu& s) {
  guarded(w, s);
}
void plain(Writer& w, const Select& s) {
  guarded(w, s);
}
void plain(Writer& w, const Load& s) {
  guarded(w, s);
}
void plain(Writer& w, const LoadOwn& s) {
  guarded(w, s);
}
void plain(Writer& w, const Store& s) {
  const Scope scope(w);
  if (!s.guard) return store(w, s);
  narrowed(w, loose(w, *s.guard), [&] { store(w, s); });
}

void store_words(Writer& w, uint32_t word, uint32_t first, uint32_t count) {
  const Scope scope(w);
  const std::string data = count == 1 ? Writer::reg(first)
                                      : fmt::format("v[{}:{}]", kFirstRegister + first,
                                                    kFirstRegister + first + count - 1);
  w.line("{}", access("store", own(w, word), data, count));
}
void load_element(Writer& w, const std::string& to, const std::string& index) {
  const std::string offset = bytes(w, index, kTableWords);
  if (w.random.chance(2))
    load(w, {fmt::format("{}, {}, 0 offen", offset, kTable)}, to);
  else
    load(w, whole(w, "s4", "s5", offset), to);
}

}  // namespace lanewise::programs::gcn
