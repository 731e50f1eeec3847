// SASS atomics: on the launch's cells and on the group's pool, at once or by compare-and-swap.
#include <array>

#include "tests/fuzz/programs/sass/writer.hpp"

namespace lanewise::programs::sass {
namespace {

const char* atomic_name(CombineOp op) {
  static constexpr std::array<const char*, kCombineOps> kNames = {
      "ADD", "AND", "OR", "XOR", "MIN", "MAX", "MIN.S32", "MAX.S32", "ADD.U64"};
  return kNames[static_cast<size_t>(op)];
}

/// to = op(a, b).
void operation(Writer& w, CombineOp op, const std::string& to, const std::string& a,
               const std::string& b) {
  switch (op) {
    case CombineOp::add:
      return w.line("IADD {}, {}, {}", to, a, b);
    case CombineOp::band:
    case CombineOp::bor:
    case CombineOp::bxor:
      return w.line("LOP.{} {}, {}, {}", atomic_name(op), to, a, b);
    default:
      break;
  }
  const bool is_signed = op == CombineOp::smin || op == CombineOp::smax;
  const bool most = op == CombineOp::umax || op == CombineOp::smax;
  w.line("IMNMX{} {}, {}, {}, {}", is_signed ? "" : ".U32", to, a, b, most ? "!PT" : "PT");
}

/// A word's place, and the instructions that reach it.
struct Cell {
  std::string atomic, load, text;
};

/// Until nobody has been there since the value was seen.
void by_swaps(Writer& w, CombineOp op, const Cell& at, const std::string& from, bool together) {
  const uint32_t pair = w.wide();  // what is compared, and behind it what comes in its place
  const std::string seen = fmt::format("R{}", pair), wanted = fmt::format("R{}", pair + 1),
                    got = w.word(), again = w.new_label("again"), join = w.new_label("join");
  const Predicate p{w.predicate(), false};
  w.line("{} {}, {}", at.load, seen, at.text);
  if (together) w.line("SSY `({})", join);
  w.label(again);
  operation(w, op, wanted, seen, from);
  w.line("{}.CAS {}, {}, {}, {}", at.atomic, got, at.text, seen, wanted);
  w.line("ISETP.NE.AND {}, PT, {}, {}, PT", p.text(), got, seen);
  w.line("MOV {}, {}", seen, got);
  go(w, p.lead(), "BRA", again);
  if (together) w.line("SYNC");
  w.label(join);
}

}  // namespace

void combine(Writer& w, const Combine& s, bool together) {
  const bool wide = s.op == CombineOp::add_wide;
  const std::string lead = guard(w, s.guard);
  const uint32_t at = w.wide();
  uint32_t offset = 4 * w.program.cells(s.op);
  if (s.cell.immediate) {
    offset += (wide ? 8 : 4) * (s.cell.value & (kCells - 1));
    w.line("MOV R{}, c[0x0][0x148]", at);
    w.line("MOV R{}, c[0x0][0x14c]", at + 1);
  } else {
    const std::string n = w.word();
    w.line("LOP32I.AND {}, {}, {:#x}", n, w.reg(s.cell.value), kCells - 1);
    w.line("ISCADD R{}.CC, {}, c[0x0][0x148], {:#x}", at, n, wide ? 3 : 2);
    w.line("IADD.X R{}, RZ, c[0x0][0x14c]", at + 1);
  }
  const Cell place{"ATOM.E", "LDG.E", fmt::format("[R{}+{:#x}]", at, offset)};
  std::string from = w.reg(s.from);
  if (s.swaps && !wide) return by_swaps(w, s.op, place, from, together);
  if (wide) {
    const uint32_t pair = w.wide();
    w.line("MOV R{}, {}", pair, from);
    w.line("MOV R{}, {}", pair + 1, from);
    from = fmt::format("R{}", pair);
  }
  if (w.random.chance(2))
    return w.line("{}RED.E.{} {}, {}", lead, atomic_name(s.op), place.text, from);
  w.line("{}ATOM.E.{} R{}, {}, {}", lead, atomic_name(s.op), w.wide(), place.text, from);
}

void pool(Writer& w, const Pool& s) {
  const auto place = [&](const std::string& number) {
    const std::string at = w.word();
    w.line("LOP32I.AND {}, {}, {:#x}", at, number, kPooled - 1);
    w.line("SHL {}, {}, 0x2", at, at);
    return fmt::format("[{}]", at);
  };
  const auto cell = [&](const Operand& o) {
    return o.immediate ? fmt::format("[{:#x}]", 4 * (o.value & (kPooled - 1)))
                       : place(w.reg(o.value));
  };
  const std::string self = fmt::format("R{}", Registers::kSelf), start = w.word(), other = w.word();
  put_value(w, "", start, s.start);
  w.line("IADD32I {}, {}, {:#x}", other, self, kPooled / 2);  // groups may be of two lanes
  for (const std::string& number : {self, other}) w.line("STS {}, {}", place(number), start);
  w.line("BAR.SYNC 0x0");
  const Cell at{"ATOMS", "LDS", cell(s.cell)};
  if (s.swaps)
    by_swaps(w, s.op, at, w.reg(s.from), true);
  else
    w.line("ATOMS.{} {}, {}, {}", atomic_name(s.op), w.word(), at.text, w.reg(s.from));
  w.line("BAR.SYNC 0x0");
  w.line("LDS {}, {}", w.reg(s.to), cell(s.read));
  w.line("BAR.SYNC 0x0");
}

}  // namespace lanewise::programs::sass
