// PTX atomics: on the launch's cells and on the group's pool, at once or by compare-and-swap.
#include <array>

#include "tests/fuzz/programs/ptx/writer.hpp"

namespace lanewise::programs::ptx {
namespace {

const char* atomic_name(CombineOp op) {
  static constexpr std::array<const char*, kCombineOps> kNames = {"add.u32", "and.b32", "or.b32",
                                                                  "xor.b32", "min.u32", "max.u32",
                                                                  "min.s32", "max.s32", "add.u64"};
  return kNames[static_cast<size_t>(op)];
}

/// One word, or two as one.
struct Value {
  std::string reg;
  bool wide = false;
  const char* bits() const { return wide ? "64" : "32"; }
};
Value fresh(Writer& w, bool wide) {
  return {wide ? w.wide() : w.word(), wide};
}

void at_once(Writer& w, const std::string& lead, const std::string& space, CombineOp op,
             const std::string& place, const Value& from) {
  if (w.random.chance(2))
    return w.line("{}red.{}.{} [{}], {}", lead, space, atomic_name(op), place, from.reg);
  w.line("{}atom.{}.{} {}, [{}], {}", lead, space, atomic_name(op), fresh(w, from.wide).reg, place,
         from.reg);
}

/// Until nobody has been there since the value was seen.
void by_swaps(Writer& w, const std::string& space, CombineOp op, const std::string& place,
              const Value& from) {
  const Value seen = fresh(w, from.wide), wanted = fresh(w, from.wide), got = fresh(w, from.wide);
  const std::string again = w.new_label("again"), p = w.predicate();
  w.line("ld.{}{}.u{} {}, [{}]", w.random.chance(2) ? "volatile." : "", space, seen.bits(),
         seen.reg, place);
  w.label(again);
  w.line("{} {}, {}, {}", atomic_name(op), wanted.reg, seen.reg, from.reg);
  w.line("atom.{}.cas.b{} {}, [{}], {}, {}", space, seen.bits(), got.reg, place, seen.reg,
         wanted.reg);
  if (w.random.chance(2)) {
    w.line("setp.ne.u{} {}, {}, {}", seen.bits(), p, got.reg, seen.reg);
    w.line("mov.b{} {}, {}", seen.bits(), seen.reg, got.reg);
    return w.line("@{} bra {}", p, again);
  }
  const std::string done = w.new_label("done");
  w.line("setp.eq.u{} {}, {}, {}", seen.bits(), p, seen.reg, got.reg);
  w.line("@{} bra {}", p, done);
  w.line("mov.b{} {}, {}", seen.bits(), seen.reg, got.reg);
  w.line("bra {}", again);
  w.label(done);
}

}  // namespace

void combine(Writer& w, const Combine& s) {
  const bool wide = s.op == CombineOp::add_wide;
  const std::string base = w.wide();
  w.line("ld.param.u64 {}, [dst]", base);
  uint32_t offset = 4 * w.program.cells(s.op);
  std::string at = base;
  if (s.cell.immediate) {
    offset += (wide ? 8 : 4) * (s.cell.value & (kCells - 1));
  } else {
    const std::string n = w.word();
    w.line("and.b32 {}, {}, {}", n, Writer::reg(s.cell.value), kCells - 1);
    if (wide) w.line("shl.b32 {}, {}, 1", n, n);
    at = element(w, base, n);
  }
  const std::string place = fmt::format("{}+{}", at, offset);
  Value from{Writer::reg(s.from)};
  if (wide) {
    from = fresh(w, true);
    w.line("mov.b64 {}, {{{}, {}}}", from.reg, Writer::reg(s.from), Writer::reg(s.from));
  }
  if (s.swaps) return by_swaps(w, "global", s.op, place, from);
  at_once(w, guard(w, s.guard), "global", s.op, place, from);
}

void pool(Writer& w, const Pool& s) {
  const std::string base = w.word();
  w.line("mov.u32 {}, exchanged", base);
  const auto place = [&](const std::string& number) {
    const std::string n = w.word(), at = w.word();
    w.line("and.b32 {}, {}, {}", n, number, kPooled - 1);
    w.line("mad.lo.u32 {}, {}, 4, {}", at, n, base);
    return at;
  };
  const auto cell = [&](const Operand& o) {
    return o.immediate ? fmt::format("exchanged+{}", 4 * (o.value & (kPooled - 1)))
                       : place(Writer::reg(o.value));
  };
  const std::string start = w.word(), other = w.word();
  w.line("mov.b32 {}, {}", start, static_cast<int32_t>(s.start));
  w.line("add.u32 {}, %self, {}", other, kPooled / 2);  // groups may be of two lanes
  for (const std::string& number : {std::string("%self"), other})
    w.line("st.shared.u32 [{}], {}", place(number), start);
  w.line("bar.sync 0");
  const std::string at = cell(s.cell), read = cell(s.read);
  if (s.swaps)
    by_swaps(w, "shared", s.op, at, {Writer::reg(s.from)});
  else
    at_once(w, "", "shared", s.op, at, {Writer::reg(s.from)});
  w.line("bar.sync 0");
  w.line("ld.shared.u32 {}, [{}]", Writer::reg(s.to), read);
  w.line("bar.sync 0");
}

}  // namespace lanewise::programs::ptx
