// SASS instructions without control flow.
#include "tests/fuzz/programs/sass/writer.hpp"

namespace lanewise::programs::sass {

namespace {
uint32_t up_to_four(uint32_t n) {
  return (n + 3) / 4 * 4;
}
constexpr const char* kOutLow = "R2";
constexpr const char* kOutHigh = "R3";
static_assert(Registers::kOut == 2);
}  // namespace

Registers::Registers(const Program& program) {
  uint32_t at = kFirst + up_to_four(program.stored());
  for (const Function& f : program.functions) {
    functions.push_back(at);
    at += up_to_four(f.registers);
  }
  temporaries = at;
  next = at + kTemporaries;
}

uint32_t Writer::take(uint32_t count) {
  word_ = (word_ + count - 1) / count * count;
  if (word_ + count > Registers::kTemporaries) word_ = 0;
  const uint32_t n = word_;
  word_ += count;
  return n;
}

uint32_t Writer::predicate() {
  do predicate_ = (predicate_ + 1) % predicates_;
  while (held_.at(predicate_));
  return predicate_;
}

std::optional<uint32_t> Writer::lasting_predicate() {
  // The last one stays free, so that there are enough to take in turn.
  for (uint32_t n = kInFunctions; n + 1 < predicates_; ++n)
    if (!held_.at(n)) {
      hold(n);
      return n;
    }
  return std::nullopt;
}

std::string Writer::in_register(const Operand& o) {
  if (!o.immediate) return reg(o.value);
  if (o.value == 0) return "RZ";
  const std::string to = word();
  put_value(*this, "", to, o.value);
  return to;
}

std::string Writer::short_operand(const Operand& o) {
  if (!o.immediate || !is_short(o.value) || random.chance(8)) return in_register(o);
  const auto n = static_cast<int32_t>(o.value);
  return n < 0 ? fmt::format("-{:#x}", -n) : fmt::format("{:#x}", n);
}

namespace {

/// ISETP's name of a relation; `turned`: with the operands the other way round.
std::string relation(Relation r, bool turned) {
  static constexpr std::array<const char*, 10> kNames = {
      "EQ", "NE", "LT.U32", "LE.U32", "GT.U32", "GE.U32", "LT", "LE", "GT", "GE"};
  static constexpr std::array<const char*, 10> kTurned = {
      "EQ", "NE", "GT.U32", "GE.U32", "LT.U32", "LE.U32", "GT", "GE", "LT", "LE"};
  return (turned ? kTurned : kNames)[static_cast<size_t>(r)];
}

bool sees_equality(Relation r) {
  return r == Relation::eq || r == Relation::ne;
}

std::string logic_name(AluOp op) {
  return op == AluOp::band ? "AND" : op == AluOp::bor ? "OR" : "XOR";
}

void add(Writer& w, const std::string& lead, const std::string& to, const std::string& a,
         const Operand& b, bool minus) {
  if (!b.immediate)
    return w.line("{}IADD {}, {}, {}{}", lead, to, a, minus ? "-" : "", w.reg(b.value));
  const uint32_t n = minus ? -b.value : b.value;
  if (Writer::is_short(n) && w.random.chance(2))
    return w.line("{}IADD {}, {}, {}", lead, to, a, w.short_operand(Operand::imm(n)));
  w.line("{}IADD32I {}, {}, {:#x}", lead, to, a, n);
}

void logic(Writer& w, const std::string& lead, const Alu& s) {
  const std::string to = w.reg(s.to), a = w.reg(s.a), name = logic_name(s.op);
  if (s.b.immediate && w.random.chance(2))
    return w.line("{}LOP32I.{} {}, {}, {:#x}", lead, name, to, a, s.b.value);
  w.line("{}LOP.{} {}, {}, {}", lead, name, to, a, w.short_operand(s.b));
}

void least(Writer& w, const std::string& lead, const Alu& s) {
  const bool is_signed = s.op == AluOp::smin || s.op == AluOp::smax;
  const bool most = s.op == AluOp::umax || s.op == AluOp::smax;
  w.line("{}IMNMX{} {}, {}, {}, {}", lead, is_signed ? "" : ".U32", w.reg(s.to), w.reg(s.a),
         w.short_operand(s.b), most ? "!PT" : "PT");
}

void put(Writer& w, const Alu& s, const std::string& lead) {
  const std::string to = w.reg(s.to), a = w.reg(s.a);
  switch (s.op) {
    case AluOp::mov:
      if (s.b.immediate) return put_value(w, lead, to, s.b.value);
      return w.line("{}MOV {}, {}", lead, to, w.reg(s.b.value));
    case AluOp::add:
    case AluOp::sub:
      return add(w, lead, to, a, s.b, s.op == AluOp::sub);
    case AluOp::band:
    case AluOp::bor:
    case AluOp::bxor:
      return logic(w, lead, s);
    case AluOp::shl:
      return w.line("{}SHL {}, {}, {:#x}", lead, to, a, s.b.value & 31);
    case AluOp::shr:
      return w.line("{}SHR.U32 {}, {}, {:#x}", lead, to, a, s.b.value & 31);
    case AluOp::sar:
      return w.line("{}SHR {}, {}, {:#x}", lead, to, a, s.b.value & 31);
    case AluOp::mul:
      return multiply(w, lead, to, a, w.in_register(s.b));
    default:
      return least(w, lead, s);
  }
}

void put(Writer& w, const Select& s, const std::string& lead) {
  const std::string to = w.reg(s.to), a = w.reg(s.a);
  const Operand zero = Operand::imm(0);
  if (s.test.right.immediate && s.test.right.value == zero.value && w.random.chance(2)) {
    // One instruction compares with zero and chooses.
    return w.line("{}ICMP.{} {}, {}, {}, {}", lead, relation(s.test.relation, false), to, a,
                  w.short_operand(s.b), w.reg(s.test.left));
  }
  const Predicate p = test(w, s.test);
  if (!s.b.immediate && w.random.chance(3))
    return w.line("{}SEL {}, {}, {}, {}", lead, to, w.reg(s.b.value), a, (!p).text());
  w.line("{}SEL {}, {}, {}, {}", lead, to, a, w.short_operand(s.b), p.text());
}

void put(Writer& w, const Load& s, const std::string& lead) {
  const std::string n = w.word();
  w.line("LOP32I.AND {}, {}, {:#x}", n, w.reg(s.index), kTableWords - 1);
  load_table(w, lead, w.reg(s.to), n);
}

/// A word of the lane's output: the suffix of the instruction, and the place.
struct Place {
  std::string wide, place;
};
Place slot(Writer& w, const Operand& o) {
  if (o.immediate) {
    const uint32_t offset = 4 * (o.value & (kSlots - 1));
    return {w.random.chance(4) ? "" : ".E", fmt::format("[{}+{:#x}]", kOutLow, offset)};
  }
  const std::string n = w.word();
  w.line("LOP32I.AND {}, {}, {:#x}", n, w.reg(o.value), kSlots - 1);
  const uint32_t at = w.wide();
  if (w.random.chance(3)) {
    w.line("ISCADD R{}, {}, {}, 0x2", at, n, kOutLow);
    return {"", fmt::format("[R{}]", at)};
  }
  w.line("ISCADD R{}.CC, {}, {}, 0x2", at, n, kOutLow);
  w.line("IADD.X R{}, RZ, {}", at + 1, kOutHigh);
  return {".E", fmt::format("[R{}]", at)};
}
void put(Writer& w, const Store& s, const std::string& lead) {
  const Place at = slot(w, s.slot);
  w.line("{}STG{} {}, {}", lead, at.wide, at.place, w.reg(s.from));
}
void put(Writer& w, const LoadOwn& s, const std::string& lead) {
  const Place at = slot(w, s.slot);
  w.line("{}LDG{} {}, {}", lead, at.wide, w.reg(s.to), at.place);
}

}  // namespace

void put_value(Writer& w, const std::string& lead, const std::string& to, uint32_t value) {
  if (value == 0 && w.random.chance(2)) return w.line("{}MOV {}, RZ", lead, to);
  w.line("{}MOV32I {}, {:#x}", lead, to, value);
}

void multiply(Writer& w, const std::string& lead, const std::string& to, const std::string& a,
              const std::string& b) {
  const std::string middle = w.word(), low = w.word();
  w.line("XMAD.MRG {}, {}, {}.H1, RZ", middle, a, b);
  w.line("XMAD {}, {}, {}, RZ", low, a, b);
  w.line("{}XMAD.PSL.CBCC {}, {}.H1, {}.H1, {}", lead, to, a, middle, low);
}

void load_table(Writer& w, const std::string& lead, const std::string& to,
                const std::string& index) {
  const uint32_t at = w.wide();
  const std::string cached = w.random.chance(3) ? ".CI" : "";
  switch (w.random.below(4)) {
    case 0:  // the arena lies in the first 4 GiB
      w.line("ISCADD R{}, {}, c[0x0][0x140], 0x2", at, index);
      return w.line("{}LDG{} {}, [R{}]", lead, cached, to, at);
    case 1:
      w.line("SHL R{}, {}, 0x2", at, index);
      w.line("IADD R{}.CC, R{}, c[0x0][0x140]", at, at);
      break;
    case 2:
      w.line("LEA R{}.CC, {}, c[0x0][0x140], 0x2", at, index);
      w.line("LEA.HI.X R{}, {}, c[0x0][0x144], RZ, 0x2", at + 1, index);
      return w.line("{}LDG.E{} {}, [R{}]", lead, cached, to, at);
    default:
      w.line("ISCADD R{}.CC, {}, c[0x0][0x140], 0x2", at, index);
  }
  w.line("IADD.X R{}, RZ, c[0x0][0x144]", at + 1);
  w.line("{}LDG.E{} {}, [R{}]", lead, cached, to, at);
}

Predicate test_into(Writer& w, const Condition& c, uint32_t to, Predicate also) {
  const bool opposite = also.number == 7 && w.random.chance(2);
  Condition asked = c;
  if (opposite) asked.relation = negated(c.relation);
  std::string a = w.reg(c.left), b;
  const bool turned = (!c.right.immediate || c.right.value == 0) && w.random.chance(3);
  b = turned ? a : w.short_operand(c.right);
  if (turned) a = w.in_register(c.right);
  // The second result is the opposite of the comparison, with the same third operand.
  if (opposite && w.random.chance(2)) {
    w.line("ISETP.{}.AND PT, P{}, {}, {}, PT", relation(c.relation, turned), to, a, b);
    return {to, true};
  }
  w.line("ISETP.{}.AND P{}, PT, {}, {}, {}", relation(asked.relation, turned), to, a, b,
         also.text());
  return {to, opposite};
}

Predicate test(Writer& w, const Condition& c, Predicate also) {
  return test_into(w, c, w.predicate(), also);
}

std::string guard(Writer& w, const Guard& g) {
  return g ? test(w, *g).lead() : "";
}

void go(Writer& w, const std::string& lead, const std::string& what, const std::string& label) {
  const bool unconditional = lead.empty() && what == "BRA" && w.random.chance(3);
  w.line("{}{}{}{}", lead, what, unconditional ? ".U" : "",
         label.empty() ? "" : fmt::format(" `({})", label));
}

void go_if(Writer& w, const Condition& c, const std::string& what, const std::string& label) {
  if (!sees_equality(c.relation) || !w.random.chance(5))
    return go(w, test(w, c).lead(), what, label);
  // By the flags of the difference.
  w.line("IADD RZ.CC, {}, -{}", w.reg(c.left), w.in_register(c.right));
  w.line("{} CC.{}{}", what, relation(c.relation, false),
         label.empty() ? "" : fmt::format(", `({})", label));
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

}  // namespace lanewise::programs::sass
