// Guest registers and masks as IR.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/isa/gcn/lowering/semantics.hpp"
#include "runtime/isa/gcn/text/operands/number_text.hpp"

namespace lanewise::gcn {

namespace {

constexpr unsigned kTrapFirst = 108;

/// Value of an inline constant or literal, as 32 bits.
uint32_t constant_bits(const Operand& o) {
  if (o.half != Operand::Half::none)
    throw Unsupported("an address in a literal of more than 32 bits is not supported");
  if (o.code == kLiteral) return o.value;
  if (const auto value = inline_constant(o.code)) return *value;
  if (o.code == kLdsDirect) throw Unsupported("lds_direct is not executed");
  throw Unsupported(fmt::format("source operand code {} is not supported yet", o.code));
}

bool is_condition(unsigned code) {
  return code >= kVccz && code <= kScc;
}

/// Where the trap handler keeps its state, which no kernel can count on.
void refuse_trap_registers(unsigned code) {
  if (code >= kTrapFirst && code < kM0 && code != kVccLo && code != kVccLo + 1)
    throw Unsupported("registers of the trap handler are not supported");
}

}  // namespace

namespace {

unsigned registers(const Kernel& k, unsigned first, unsigned end) {
  unsigned most = 0;
  for (const Instruction& i : k.code)
    for (const Operand& o : i.operands)
      if (!o.immediate && o.code >= first && o.code < end)
        most = std::max(most, o.code - first + o.count);
  return most;
}

}  // namespace

unsigned Kernel::vgprs() const {
  return std::min(std::max(registers(*this, kVgpr0, kVgpr0 + 256), allocated_vgprs), 256U);
}
unsigned Kernel::sgprs() const {
  return std::min(registers(*this, 0, kSgprs), kSgprs);
}

Diagnostic diagnostic(const Kernel& k, const Instruction& i, const std::string& message,
                      bool warning) {
  if (i.line != 0) return {i.line, i.column, message, warning};
  // From the kernel's begin; of the functions behind it, from that of their section.
  const bool own = k.functions.empty() || i.pc <= k.code[k.functions[0].index - 1].pc;
  const uint64_t place = own ? i.pc : k.base - k.text + i.pc;
  std::string words;
  if (i.row->kind != Kind::data)
    for (const uint32_t w : encode(i, k.gen)) words += fmt::format("{:08x} ", w);
  return {1, 1,
          fmt::format("'{}' at {:#x}: {}{}: {}", k.name, place, words, print(i, k.gen), message),
          warning};
}

Reg LowerContext::sgpr(unsigned code) {
  refuse_trap_registers(code);
  Reg& r = sgprs_[code];
  if (!r.valid()) {
    const std::string name = code == kM0          ? "m0"
                             : code == kVccLo     ? "vcc_lo"
                             : code == kVccLo + 1 ? "vcc_hi"
                             : code >= kSlot0     ? fmt::format("slot{}", code - kSlot0)
                                                  : fmt::format("s{}", code);
    r = program().add_reg(Width::b32, name, true);
  }
  return r;
}
Reg LowerContext::vgpr(unsigned code) {
  Reg& r = vgprs_[code];
  if (!r.valid()) r = program().add_reg(Width::b32, fmt::format("v{}", code - kVgpr0));
  return r;
}
Reg LowerContext::mask(unsigned low) {
  Reg& r = masks_[low];
  if (!r.valid())
    r = program().add_reg(Width::pred, low == kExecLo  ? "exec"
                                       : low == kVccLo ? "vcc"
                                       : low >= kSlot0 ? fmt::format("mask_slot{}", low - kSlot0)
                                                       : fmt::format("mask_s{}", low));
  return r;
}
bool LowerContext::apertures() const {
  const InitialState& s = kernel_.state;
  for (const ir::Param& h : kernel_.hidden)
    if (h.name == "hidden_shared_base" || h.name == "hidden_private_base" ||
        h.name == "hidden_queue_ptr")
      return true;
  return s.bare || s.queue_ptr >= 0;
}

Reg LowerContext::scratch_base() {
  if (!scratch_base_.valid()) scratch_base_ = program().add_reg(Width::b64, "scratch_base", true);
  return scratch_base_;
}

Reg LowerContext::scc() {
  if (!scc_.valid()) scc_ = program().add_reg(Width::pred, "scc");
  return scc_;
}

ir::Operand LowerContext::read32(const Operand& o, unsigned dword) {
  if (o.immediate) return imm(o.value);
  if (!is_scalar(o.code) && o.code >= kVgpr0) return vgpr(o.code + dword);
  const unsigned code = o.code + dword;
  if (code == kExecLo || code == kExecLo + 1) {
    const Reg whole = make(Op::ballot, Type::u64, {exec()});
    const auto [lo, hi] = unpack(whole);
    return code == kExecLo ? lo : hi;
  }
  if (is_scalar(o.code)) return sgpr(code);
  if (is_condition(o.code)) return make(Op::select, Type::u32, {condition(o.code), imm(1), imm(0)});
  if (o.half != Operand::Half::none) {
    const Reg lo = reg(Width::b32), hi = reg(Width::b32);
    emit(Op::unpack64, Type::u64, {lo, hi}, {image_at(o.value)});
    return o.half == Operand::Half::low ? lo : hi;
  }
  return imm(constant_bits(o));
}

void LowerContext::trap(FaultKind kind) {
  emit(Op::trap, Type::none, {}, {}).mode = static_cast<uint8_t>(kind);
}

uint32_t LowerContext::symbol(const std::string& name) {
  std::vector<ir::Symbol>& all = program().symbols;
  const auto found = std::ranges::find(all, name, &ir::Symbol::name);
  const auto number = static_cast<uint32_t>(found - all.begin());
  if (found == all.end()) all.push_back({name});
  return number;
}

ir::Operand LowerContext::image_at(uint64_t offset) {
  if (kernel_.file == nullptr || !kernel_.file->image)
    throw Unsupported("nothing says where this code lies in memory");
  const uint32_t image = symbol(kernel_.file->image->name);
  return make(Op::mov, Type::u64, {ir::Operand::address_of(image, static_cast<int64_t>(offset))});
}

ir::Operand LowerContext::condition(unsigned code) {
  if (code == kScc) return scc();
  const Reg whole = code == kExecz ? make(Op::ballot, Type::u64, {exec()})
                                   : make(Op::pack64, Type::u64, {sgpr(kVccLo), sgpr(kVccLo + 1)});
  return compare(Cond::eq, Type::u64, whole, imm(0));
}

ir::Operand LowerContext::read_known(const Operand& o, unsigned dword) {
  constexpr unsigned kSgprs = 104;  // masks and their like are more than a number
  const auto it =
      o.code < kSgprs || o.code == kM0 ? constants.find(o.code + dword) : constants.end();
  return it != constants.end() ? ir::Operand(imm(it->second)) : read32(o, dword);
}

ir::Operand LowerContext::read64(const Operand& o, bool is_signed) {
  if (is_condition(o.code)) return make(Op::select, Type::u64, {condition(o.code), imm(1), imm(0)});
  if (o.code >= kZero && o.code < kVgpr0) {
    if (const auto real = inline_double(o.code)) return imm(*real);
    const uint32_t v = constant_bits(o);
    if (o.code == kLiteral && !is_signed) return imm(v);
    return imm(static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(v))));
  }
  if (o.code == kExecLo) return make(Op::ballot, Type::u64, {exec()});
  const Reg r = reg(Width::b64);
  emit(Op::pack64, Type::u64, {r}, {read32(o, 0), read32(o, 1)});
  return r;
}

ir::Operand LowerContext::read16(const Operand& o) {
  if (const auto half = inline_half(o.code)) return imm(*half);
  const ir::Operand v = read32(o);
  return v.is_imm() ? imm(v.imm & 0xffff) : v;
}

ir::Operand LowerContext::read_double(const Operand& o) {
  return o.code == kLiteral ? ir::Operand(imm(uint64_t{constant_bits(o)} << 32)) : read64(o, true);
}

FloatMode LowerContext::mode() const {
  const auto word = constants.find(kModeKey);
  if (word == constants.end())
    throw Unsupported("rounding and subnormals depend on the path that led here");
  if (word->second >> 10 != 0)
    throw Unsupported("the MODE register asks for more than rounding, subnormals and clamps");
  return FloatMode::of(word->second);
}

ir::Operand LowerContext::read_mask(const Operand& o) {
  if (is_scalar(o.code)) return mask(o.code & ~1U);
  const ir::Operand value = read64(o);
  if (value.is_imm() && (value.imm == 0 || value.imm == ~uint64_t{0})) return imm(value.imm & 1);
  const Reg r = reg(Width::pred);
  emit(Op::maskbit, Type::none, {r}, {value});
  return r;
}

ir::Operand LowerContext::read_float(const Operand& o) {
  ir::Operand v = read32(o);
  if (o.abs) v = make(Op::fabs, Type::f32, {v});
  if (o.neg) v = make(Op::fneg, Type::f32, {v});
  return v;
}

bool LowerContext::number_wanted(unsigned low) const {
  return numbers.test(low) || numbers.test(low + 1);
}

bool LowerContext::mask_wanted(unsigned low) const {
  return analysis_.masks.test(low) || number_wanted(low);
}

void LowerContext::refresh_masks(unsigned code, unsigned count) {
  for (unsigned low = code & ~1U; low < code + count; low += 2) {
    if ((!analysis_.masks.test(low) && low != kExecLo) || unread_bits.test(low)) continue;
    const Reg whole = reg(Width::b64);
    emit(Op::pack64, Type::u64, {whole}, {sgpr(low), sgpr(low + 1)});
    emit(Op::maskbit, Type::none, {mask(low)}, {whole});
  }
}

void LowerContext::write32(unsigned code, ir::Operand value) {
  if (code == kExecLo || code == kExecLo + 1)
    throw Unsupported("writing half of exec is not supported yet, expected a 64-bit write");
  emit(Op::mov, Type::u32, {sgpr(code)}, {value});
  refresh_masks(code, 1);
}

void LowerContext::write64(unsigned code, ir::Operand value) {
  emit(Op::unpack64, Type::u64, {sgpr(code), sgpr(code + 1)}, {value});
  refresh_masks(code, 2);
}

void LowerContext::write_mask(unsigned low, ir::Operand value) {
  if (!mask_wanted(low)) return;
  emit(Op::mov, Type::pred, {mask(low)}, {value});
  if (!number_wanted(low) || low == kExecLo) return;
  const Reg whole = make(Op::ballot, Type::u64, {mask(low)});
  emit(Op::unpack64, Type::u64, {sgpr(low), sgpr(low + 1)}, {whole});
}

void LowerContext::write_mask(unsigned low, ir::Operand value, ir::Operand number) {
  if (!mask_wanted(low)) return;
  emit(Op::mov, Type::pred, {mask(low)}, {value});
  if (number_wanted(low)) emit(Op::unpack64, Type::u64, {sgpr(low), sgpr(low + 1)}, {number});
}

bool LowerContext::makes_number(unsigned low) const {
  return analysis_.makes_number(index, low, numbers, scc_live);
}

ir::Inst& LowerContext::emit_vector(Op op, Type type, std::vector<Reg> dst,
                                    std::vector<ir::Operand> src) {
  if (narrowed_.valid())
    set_guard({narrowed_, false});
  else if (!exec_full)
    set_guard({exec(), false});
  ir::Inst& inst = emit(op, type, std::move(dst), std::move(src));
  set_guard({});
  return inst;
}

void LowerContext::narrow(ir::Operand lanes) {
  const Reg r = reg(Width::pred);
  emit(Op::mov, Type::pred, {r}, {active(lanes)});
  narrowed_ = r;
}

ir::Operand LowerContext::active(ir::Operand predicate) {
  if (exec_full) return predicate;
  return make(Op::and_, Type::pred, {predicate, exec()});
}

void LowerContext::set_scc_nonzero(Type type, ir::Operand value) {
  if (scc_live) emit(Op::icmp, type, {scc()}, {value, imm(0)}).cond = Cond::ne;
}

Reg LowerContext::any_lane(ir::Operand predicate) {
  return compare(Cond::ne, Type::u64, make(Op::ballot, Type::u64, {predicate}), imm(0));
}

}  // namespace lanewise::gcn
