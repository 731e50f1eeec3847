// Guest registers, predicates and the constant bank as IR.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/isa/sass/lowering/semantics.hpp"

namespace lanewise::sass {

using Kind = OperandSpec::Kind;

namespace {

bool flagged(const Instruction& i, Role role, Field OperandSpec::*member) {
  const OperandSpec* o = i.operand(role);
  return o != nullptr && (o->*member).present() && (o->*member).get(i.word) != 0;
}

uint32_t immediate_bits(const OperandSpec& o, uint64_t word) {
  uint64_t value = o.field.get(word);
  if (o.kind == Kind::fimm)
    return static_cast<uint32_t>(o.sign.present() ? value << 12 | o.sign.get(word) << 31 : value);
  if (o.sign.present() && o.sign.get(word) != 0) value |= ~uint64_t{0} << o.field.len;
  if (o.is_signed && (value >> (o.field.len - 1) & 1) != 0) value |= ~uint64_t{0} << o.field.len;
  return static_cast<uint32_t>(value);
}

unsigned number_of(const OperandSpec& o, uint64_t word) {
  const auto n = static_cast<unsigned>(o.field.get(word));
  return o.inverted ? kPT - n : n;
}

bool writes_guard(const Instruction& i) {
  if (i.form->is(kWritesPredicates)) return true;
  for (const OperandSpec& o : i.form->operands)
    if (o.kind == Kind::pred && (o.role == Role::p || o.role == Role::q) &&
        number_of(o, i.word) == i.guard())
      return true;
  return false;
}

}  // namespace

LowerContext::LowerContext(ir::Program& program, const Kernel& kernel)
    : Builder(program), kernel_(kernel), tracks_flags_(reads_flags(kernel)), tests_windows_(false) {
  for (const Instruction& i : kernel.code)
    tests_windows_ = tests_windows_ || i.form->is(kAsksWindows);
}

void LowerContext::begin(const Instruction& i) {
  pc_ = i.pc;
  guard_ = {};
  set_guard(guard_);
  if (!i.form->has_guard || (i.guard() == kPT && !i.guard_negated())) return;
  Reg guard = predicate(i.guard());
  // An instruction that overwrites its own guard runs under the old value.
  if (i.guard() == kPT || writes_guard(i)) {
    const Reg copy = reg(Width::pred);
    emit(Op::mov, Type::pred, {copy}, {i.guard() == kPT ? imm(1) : Operand(guard)});
    guard = copy;
  }
  guard_ = {guard, i.guard_negated()};
  set_guard(guard_);
}

Reg LowerContext::track_stores() {
  if (!stores_enabled_.valid())
    stores_enabled_ = program().add_reg(Width::pred, std::string(kStoresEnabled));
  return stores_enabled_;
}

ir::Guard LowerContext::narrowed(Operand a) {
  if (guard_.always() && a.is_reg()) return {a.reg(), false};
  const Reg both = reg(Width::pred);
  set_guard({});
  Operand g = imm(1);
  if (!guard_.always())
    g = guard_.negate ? Operand(make(Op::not_, Type::pred, {guard_.reg})) : guard_.reg;
  emit(Op::and_, Type::pred, {both}, {g, a});
  set_guard(guard_);
  return {both, false};
}

void LowerContext::leave_out_lanes_without_stores() {
  if (!stores_enabled_.valid()) return;
  guard_ = narrowed(stores_enabled_);
  set_guard(guard_);
}

Reg LowerContext::writable(unsigned number) {
  if (number >= kRZ) return reg(Width::b32);
  Reg& r = regs_[number];
  if (!r.valid()) r = program().add_reg(Width::b32, fmt::format("R{}", number));
  return r;
}
Operand LowerContext::readable(unsigned number) {
  return number >= kRZ ? imm(0) : Operand(writable(number));
}
Reg LowerContext::predicate(unsigned number) {
  if (number >= kPT) return reg(Width::pred);
  Reg& r = preds_[number];
  if (!r.valid()) r = program().add_reg(Width::pred, fmt::format("P{}", number));
  return r;
}
Reg LowerContext::flag(Flag f) {
  static constexpr const char* kNames[] = {"CC.Z", "CC.S", "CC.O", "CC.C2"};
  const auto n = static_cast<size_t>(f);
  return lazily(flags_[n], Width::pred, kNames[n]);
}

unsigned LowerContext::reg_number(const Instruction& i, Role role) const {
  return number_of(*i.operand(role), i.word);
}

void LowerContext::check_vector(unsigned number, unsigned count) const {
  if (number == kRZ || count == 1) return;
  if (number + count > kRZ)
    throw Unsupported(fmt::format("{} registers from R{} on reach RZ", count, number));
  const unsigned align = count == 3 ? 4 : count;
  if (number % align != 0)
    throw Unsupported(fmt::format("R{} cannot start {} registers, expected a multiple of {}",
                                  number, count, align));
}

Operand LowerContext::raw(const Instruction& i, Role role) {
  const OperandSpec& o = *i.operand(role);
  switch (o.kind) {
    case Kind::reg:
      return readable(reg_number(i, role));
    case Kind::imm:
    case Kind::fimm:
      return imm(immediate_bits(o, i.word));
    case Kind::cbank: {
      const uint64_t v = o.field.get(i.word);
      return constant(static_cast<unsigned>(v >> 14), static_cast<unsigned>(v & 0x3fff) * 4);
    }
    default:
      throw Unsupported("operand cannot be read as a 32-bit value");
  }
}

bool LowerContext::negated(const Instruction& i, Role r) const {
  return flagged(i, r, &OperandSpec::neg);
}
bool LowerContext::absolute(const Instruction& i, Role r) const {
  return flagged(i, r, &OperandSpec::abs);
}
bool LowerContext::inverted(const Instruction& i, Role r) const {
  return flagged(i, r, &OperandSpec::inv);
}
bool LowerContext::high_half(const Instruction& i, Role r) const {
  return flagged(i, r, &OperandSpec::high);
}
bool LowerContext::has_cc(const Instruction& i) const {
  return flagged(i, Role::d, &OperandSpec::cc);
}

Operand LowerContext::fsource(const Instruction& i, Role role) {
  Operand value = raw(i, role);
  if (absolute(i, role)) value = make(Op::fabs, Type::f32, {value});
  if (negated(i, role)) value = make(Op::fneg, Type::f32, {value});
  return value;
}

Operand LowerContext::pred_source(const Instruction& i, Role role) {
  const unsigned n = reg_number(i, role);
  const bool negate = negated(i, role);
  if (n == kPT) return imm(negate ? 0 : 1);
  const Reg p = predicate(n);
  return negate ? Operand(make(Op::not_, Type::pred, {p})) : Operand(p);
}

void LowerContext::write_predicate(const Instruction& i, Role role, Operand value) {
  const unsigned n = reg_number(i, role);
  if (n != kPT) emit(Op::mov, Type::pred, {predicate(n)}, {value});
}

Operand LowerContext::pair(unsigned number) {
  if (number == kRZ) return imm(0);
  check_vector(number, 2);
  return make(Op::pack64, Type::u64, {readable(number), readable(number + 1)});
}

Operand LowerContext::wide_raw(const Instruction& i, Role role) {
  const OperandSpec& o = *i.operand(role);
  switch (o.kind) {
    case Kind::reg:
      return pair(reg_number(i, role));
    case Kind::fimm:
      return imm(o.field.get(i.word) << 44 | o.sign.get(i.word) << 63);
    case Kind::imm:
      return imm(static_cast<uint64_t>(
          static_cast<int64_t>(static_cast<int32_t>(immediate_bits(o, i.word)))));
    default: {
      const auto place = static_cast<unsigned>(o.field.get(i.word));
      const unsigned bank = place >> 14, offset = (place & 0x3fff) * 4;
      if (offset % 8 != 0) throw Unsupported("a 64-bit constant lies at a multiple of 8");
      return make(Op::pack64, Type::u64, {constant(bank, offset), constant(bank, offset + 4)});
    }
  }
}

void LowerContext::write_wide(const Instruction& i, Reg value) {
  const unsigned d = reg_number(i, Role::d);
  check_vector(d, 2);
  if (d == kRZ) return;
  emit(Op::unpack64, Type::u32, {writable(d), writable(d + 1)}, {value});
}

std::vector<unsigned> LowerContext::banks() const {
  std::vector<unsigned> numbers = {0};
  for (const ConstantBank& known : kernel_.banks)
    if (known.serves(pc_) && std::ranges::find(numbers, known.number) == numbers.end())
      numbers.push_back(known.number);
  return numbers;
}

const ConstantBank& LowerContext::constant_bank(unsigned bank) const {
  for (const ConstantBank& known : kernel_.banks)
    if (known.number == bank && known.serves(pc_)) return known;
  throw Unsupported(fmt::format("c[{:#x}]: nothing says what constant bank {} holds", bank, bank));
}

const Reference* LowerContext::reference_at(unsigned offset) const {
  const auto found = kernel_.references.find(offset);
  return found != kernel_.references.end() ? &found->second : nullptr;
}

Operand LowerContext::symbol(const std::string& name, int64_t addend) {
  std::vector<ir::Symbol>& symbols = program().symbols;
  uint32_t n = 0;
  while (n < symbols.size() && symbols[n].name != name) ++n;
  if (n == symbols.size()) symbols.push_back({name});
  return Operand::address_of(n, addend);
}

const Relocation* LowerContext::relocation(const Instruction& i) const {
  for (const Relocation& r : kernel_.relocations)
    if (r.pc == i.pc) return &r;
  return nullptr;
}

Reg LowerContext::sparse_absent() {
  if (sparse_absent_.valid()) return sparse_absent_;
  sparse_absent_ = reg(Width::pred);
  ir::Inst set;
  set.op = Op::mov;
  set.mode = static_cast<uint8_t>(ir::Choice::sparse_absent);
  set.type = Type::pred;
  set.dst = {sparse_absent_};
  set.src = {imm(0)};
  std::vector<ir::Inst>& entry = program().blocks[0].insts;
  entry.insert(entry.begin(), std::move(set));
  return sparse_absent_;
}

/// Bank 0 as a driver fills it before a launch; everything else comes with a cubin.
Operand LowerContext::constant(unsigned bank, unsigned offset) {
  constexpr unsigned kParams = 0x140;
  if (bank != 0) {
    const ConstantBank& known = constant_bank(bank);
    if (offset + 4 > known.size)
      throw Unsupported(fmt::format("c[{:#x}][{:#x}] lies behind the {} bytes of bank {}", bank,
                                    offset, known.size, bank));
    const Reg r = reg(Width::b32);
    ir::Inst& load = emit(Op::load, Type::u32, {r}, {symbol(known.symbol, offset)});
    load.mem.emplace();
    load.mem->space = Space::constant;
    return r;
  }
  if (const Reference* r = reference_at(offset); r != nullptr)
    return make(Op::trunc32, Type::u32, {make(Op::mov, Type::u64, {symbol(r->image)})});
  if (offset >= kParams) {
    ir::Program& p = program();
    p.param_bytes = std::max<uint32_t>(p.param_bytes, offset - kParams + 4);
    const Reg r = reg(Width::b32);
    ir::Inst& load = emit(Op::load, Type::u32, {r}, {imm(offset - kParams)});
    load.mem.emplace();
    load.mem->space = Space::param;
    return r;
  }
  static const std::map<unsigned, SReg> words = {
      {0x08, SReg::ntid_x},   {0x0c, SReg::ntid_y},           {0x10, SReg::ntid_z},
      {0x14, SReg::nctaid_x}, {0x18, SReg::nctaid_y},         {0x1c, SReg::nctaid_z},
      {0x28, SReg::gridid},   {0xfc, SReg::dynamic_smem_size}};
  static const std::map<unsigned, SReg> windows = {{0x00, SReg::shared_window},
                                                   {0x04, SReg::local_window}};
  if (const auto w = windows.find(offset); w != windows.end()) return window(w->second);
  // The stack pointer: local memory grows down from its end.
  if (offset == 0x20) return imm(program().local_bytes);
  // Upper halves of the grid's number, and of the windows' addresses, which code for sm_60 and
  // later reads.
  if (offset == 0x2c || offset == 0x100 || offset == 0x104) return imm(0);
  // How often code for sm_60 and later reads the clock's upper word again until it stays the same:
  // as often as it takes.
  if (offset == 0x10c) return imm(~0U);
  constexpr unsigned kFirstEnvironment = 0x30, kLastEnvironment = 0xac;  // %envreg0 to %envreg31
  if (offset >= kFirstEnvironment && offset <= kLastEnvironment && offset % 4 == 0) return imm(0);
  // What cvta.const adds: the generic address of the module's constants. Without any, isspacep
  // finds that none of the 0 bytes there was meant.
  if (offset == 0xd0 || offset == 0xd4) {
    if (std::ranges::find(kernel_.banks, 3U, &ConstantBank::number) == kernel_.banks.end())
      return imm(0);
    const Reg low = reg(Width::b32), high = reg(Width::b32);
    const Reg base = make(Op::mov, Type::u64, {symbol(constant_bank(3).symbol)});
    emit(Op::unpack64, Type::u32, {low, high}, {base});
    return offset == 0xd0 ? low : high;
  }
  const auto w = words.find(offset);
  if (w == words.end())
    throw Unsupported(fmt::format("c[0x0][{:#x}] holds nothing that is known", offset));
  return special(w->second);
}

}  // namespace lanewise::sass
