// PTX instructions without control flow.
#include <array>

#include "tests/fuzz/programs/ptx/writer.hpp"

namespace lanewise::programs::ptx {

std::string Writer::declarations(uint32_t registers) const {
  std::string t = fmt::format(
      "  .reg .b32 %r<{}>;\n  .reg .b64 %src, %out;\n  .reg .b32 %self, %mark;\n", registers);
  if (words_ > 0) t += fmt::format("  .reg .b32 %t<{}>;\n", words_);
  if (wides_ > 0) t += fmt::format("  .reg .b64 %w<{}>;\n", wides_);
  if (predicates_ > 0) t += fmt::format("  .reg .pred %p<{}>;\n", predicates_);
  return t;
}

namespace {

std::string relation(Relation r) {
  static constexpr std::array<const char*, 10> kNames = {"eq.b32", "ne.b32", "lt.u32", "le.u32",
                                                         "gt.u32", "ge.u32", "lt.s32", "le.s32",
                                                         "gt.s32", "ge.s32"};
  return kNames[static_cast<size_t>(r)];
}

std::string alu_name(AluOp op) {
  static constexpr std::array<const char*, 14> kNames = {
      "mov.b32", "add.u32", "sub.u32", "and.b32", "or.b32",  "xor.b32", "shl.b32",
      "shr.u32", "shr.s32", "min.u32", "max.u32", "min.s32", "max.s32", "mul.lo.u32"};
  return kNames[static_cast<size_t>(op)];
}

void put(Writer& w, const Alu& s, const std::string& lead) {
  const std::string b = Writer::operand(s.b);
  if (s.op == AluOp::mov)
    w.line("{}mov.b32 {}, {}", lead, Writer::reg(s.to), b);
  else
    w.line("{}{} {}, {}, {}", lead, alu_name(s.op), Writer::reg(s.to), Writer::reg(s.a), b);
}
void put(Writer& w, const Select& s, const std::string& lead) {
  const std::string p = test(w, s.test);
  w.line("{}selp.b32 {}, {}, {}, {}", lead, Writer::reg(s.to), Writer::reg(s.a),
         Writer::operand(s.b), p);
}
void put(Writer& w, const Load& s, const std::string& lead) {
  const std::string n = w.word();
  w.line("and.b32 {}, {}, {}", n, Writer::reg(s.index), kTableWords - 1);
  w.line("{}ld.global.u32 {}, [{}]", lead, Writer::reg(s.to), element(w, "%src", n));
}
/// A word of the lane's own: the space that instructions name, and the address.
struct Slot {
  std::string space, address;
};
Slot slot(Writer& w, const Operand& o, bool is_private) {
  Slot s{".global", "%out"};
  if (is_private) {
    const bool generic = w.random.chance(3);
    s = {generic ? "" : ".local", w.wide()};
    if (!generic && o.immediate && w.random.chance(2))
      s.address = "kept";
    else
      w.line("mov.u64 {}, kept", s.address);
    if (generic) w.line("cvta.local.u64 {}, {}", s.address, s.address);
  }
  if (o.immediate) {
    s.address += fmt::format("+{}", 4 * (o.value & (kSlots - 1)));
    return s;
  }
  const std::string n = w.word();
  w.line("and.b32 {}, {}, {}", n, Writer::reg(o.value), kSlots - 1);
  s.address = element(w, s.address, n);
  return s;
}
void put(Writer& w, const Store& s, const std::string& lead) {
  const Slot at = slot(w, s.slot, s.is_private);
  w.line("{}st{}.u32 [{}], {}", lead, at.space, at.address, Writer::reg(s.from));
}
void put(Writer& w, const LoadOwn& s, const std::string& lead) {
  const Slot at = slot(w, s.slot, s.is_private);
  w.line("{}ld{}.u32 {}, [{}]", lead, at.space, Writer::reg(s.to), at.address);
}

std::string sync(const Writer& w, uint32_t tile) {
  return w.masks == Masks::none && tile == 0 ? "" : ".sync";
}
/// The mask of the lane's part of the wave.
std::string tile_mask(Writer& w, uint32_t tile) {
  const std::string by = w.word(), ones = w.word(), mask = w.word();
  w.line("mov.u32 {}, %laneid", by);  // functions do not know %self
  w.line("and.b32 {}, {}, {}", by, by, tile == 1 ? 1 : 32 - tile);
  w.line("mov.b32 {}, {}", ones, tile == 1 ? 0x55555555U : (1U << tile) - 1);
  w.line("shl.b32 {}, {}, {}", mask, ones, by);
  return mask;
}
/// The last operand.
std::string members(Writer& w, const std::string& lead, uint32_t tile) {
  if (w.masks != Masks::active && tile != 0) return ", " + tile_mask(w, tile);
  if (w.masks == Masks::none) return "";
  if (w.masks == Masks::all) return ", 0xffffffff";
  const std::string mask = w.word();
  w.line("mov.b32 {}, 0", mask);  // a guard that is false leaves it
  w.line("{}activemask.b32 {}", lead, mask);
  if (tile != 0) w.line("and.b32 {}, {}, {}", mask, mask, tile_mask(w, tile));
  return ", " + mask;
}

void shuffle(Writer& w, const std::string& lead, const std::string& mode, const std::string& to,
             const std::string& from, const std::string& lane, uint32_t tile) {
  const std::string clamp = mode == "up" ? "0" : "31", mask = members(w, lead, tile);
  w.line("{}shfl{}.{}.b32 {}, {}, {}, {}{}", lead, sync(w, tile), mode, to, from, lane, clamp,
         mask);
}

void read_first(Writer& w, const Cross& s, const std::string& lead) {
  const std::string here = w.word(), minus = w.word(), low = w.word(), first = w.word();
  w.line("mov.b32 {}, 1", here);  // a guard that is false leaves it
  w.line("{}activemask.b32 {}", lead, here);
  w.line("neg.s32 {}, {}", minus, here);
  w.line("and.b32 {}, {}, {}", low, here, minus);
  w.line("bfind.u32 {}, {}", first, low);
  shuffle(w, lead, "idx", Writer::reg(s.to), Writer::reg(s.from), first, 0);
}

}  // namespace

std::string test(Writer& w, const Condition& c) {
  const std::string p = w.predicate();
  w.line("setp.{} {}, {}, {}", relation(c.relation), p, Writer::reg(c.left),
         Writer::operand(c.right));
  return p;
}

std::string guard(Writer& w, const Guard& g) {
  if (!g) return {};
  if (w.random.chance(2)) return fmt::format("@{} ", test(w, *g));
  Condition other = *g;
  other.relation = negated(g->relation);
  return fmt::format("@!{} ", test(w, other));
}

std::string element(Writer& w, const std::string& base, const std::string& index) {
  const std::string at = w.wide();
  if (w.random.chance(2)) {
    w.line("mad.wide.u32 {}, {}, 4, {}", at, index, base);
  } else {
    w.line("mul.wide.u32 {}, {}, 4", at, index);
    w.line("add.s64 {}, {}, {}", at, base, at);
  }
  return at;
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

void plain(Writer& w, const Statement& s, const std::string& lead) {
  std::visit(
      [&](const auto& what) {
        using T = std::decay_t<decltype(what)>;
        if constexpr (std::is_same_v<T, Alu> || std::is_same_v<T, Select> ||
                      std::is_same_v<T, Load> || std::is_same_v<T, Store> ||
                      std::is_same_v<T, LoadOwn>)
          put(w, what, what.guard ? guard(w, what.guard) : lead);
      },
      s.what);
}

void cross(Writer& w, const Cross& s) {
  const std::string lead = guard(w, s.guard), to = Writer::reg(s.to), from = Writer::reg(s.from);
  const auto vote = [&](const std::string& mode) {
    const std::string p = test(w, s.test), q = w.predicate(), mask = members(w, lead, s.tile);
    w.line("{}vote{}.{}.pred {}, {}{}", lead, sync(w, s.tile), mode, q, p, mask);
    w.line("{}selp.u32 {}, 1, 0, {}", lead, to, q);
  };
  const std::string lane = Writer::operand(s.lane);
  switch (s.op) {
    case CrossOp::ballot: {
      const std::string p = test(w, s.test), mask = members(w, lead, s.tile);
      return w.line("{}vote{}.ballot.b32 {}, {}{}", lead, sync(w, s.tile), to, p, mask);
    }
    case CrossOp::any:
      return vote("any");
    case CrossOp::all:
      return vote("all");
    case CrossOp::active:
      return w.line("{}activemask.b32 {}", lead, to);
    case CrossOp::shuffle_index:
      return shuffle(w, lead, "idx", to, from, lane, s.tile);
    case CrossOp::shuffle_xor:
      return shuffle(w, lead, "bfly", to, from, lane, s.tile);
    case CrossOp::shuffle_up:
      return shuffle(w, lead, "up", to, from, lane, s.tile);
    case CrossOp::shuffle_down:
      return shuffle(w, lead, "down", to, from, lane, s.tile);
    case CrossOp::read_first:
      return read_first(w, s, lead);
  }
}

void exchange(Writer& w, const Exchange& s) {
  const std::string base = w.word(), at = w.word(), other = w.word(), less = w.word(),
                    from = w.word(), p = w.predicate();
  const uint32_t block = w.program.block;
  w.line("mov.u32 {}, exchanged", base);
  w.line("mad.lo.u32 {}, %self, 4, {}", at, base);
  w.line("st.shared.u32 [{}], {}", at, Writer::reg(s.from));
  w.line("bar.sync 0");
  w.line("add.u32 {}, %self, {}", other, s.by);
  w.line("sub.u32 {}, {}, {}", less, other, block);
  w.line("setp.lt.u32 {}, {}, {}", p, other, block);
  w.line("selp.u32 {}, {}, {}, {}", other, other, less, p);
  w.line("mad.lo.u32 {}, {}, 4, {}", from, other, base);
  w.line("ld.shared.u32 {}, [{}]", Writer::reg(s.to), from);
  w.line("bar.sync 0");
}

}  // namespace lanewise::programs::ptx
