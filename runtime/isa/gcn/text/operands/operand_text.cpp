#include "runtime/isa/gcn/text/operands/operand_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/isa/gcn/encoding/lane_form.hpp"
#include "runtime/isa/gcn/text/expression.hpp"
#include "runtime/isa/gcn/text/operands/graphics_text.hpp"
#include "runtime/isa/gcn/text/operands/hardware_text.hpp"
#include "runtime/isa/gcn/text/operands/number_text.hpp"
#include "runtime/isa/gcn/text/operands/register_text.hpp"

namespace lanewise::gcn {
namespace {

bool is_scalar_slot(Slot s) {
  return s == Slot::sdst || s == Slot::sdata || s == Slot::ksrc || s == Slot::ssrc0 ||
         s == Slot::ssrc1 || s == Slot::sbase || s == Slot::soff || s == Slot::srsrc ||
         s == Slot::soffset || s == Slot::mask_dst || s == Slot::mask_src || s == Slot::irsrc ||
         s == Slot::isamp;
}
bool is_constant_slot(Slot s) {
  return s == Slot::ssrc0 || s == Slot::ssrc1 || s == Slot::src0 || s == Slot::src1 ||
         s == Slot::src2 || s == Slot::soffset;
}
/// Has an encoding of constants: not where registers alone are read.
bool takes_constant(Slot s, const Row& row) {
  const bool address = row.kind == Kind::jump || row.kind == Kind::absent;
  const bool registers = row.encoding == Encoding::sop1 && (address || row.meaning.moves_source);
  return is_constant_slot(s) && !registers;
}
bool takes_literal(Slot s, const Row& row) {
  const bool lane_select = row.encoding == Encoding::vop2 && s == Slot::ssrc1;
  return takes_constant(s, row) && s != Slot::soffset && row.encoding != Encoding::vop3 &&
         !lane_select && row.name != "s_cbranch_g_fork";
}
/// Reads a VGPR and nothing else, though the encoding has bits for more.
bool takes_vgprs_only(const SlotSpec& spec, const Row& row) {
  const bool source = spec.slot == Slot::src0 || spec.slot == Slot::src1 || spec.slot == Slot::src2;
  return source && (row.meaning.moves_source || row.has(Slot::sdst) || spec.count == 4);
}
/// LDS at M0 as the first source; reversed instructions have it second.
bool takes_lds_direct(const SlotSpec& spec, const Row& row) {
  return spec.slot == Slot::src0 && spec.count == 1 && row.is_vector_alu() &&
         !row.meaning.moves_source && !row.meaning.reversed;
}
/// LLVM lets the conditions stand for every single scalar register and every mask, though not all
/// their places have a code for them.
bool takes_condition(const SlotSpec& spec, const Row& row) {
  const bool single = spec.count == 1 && is_scalar_slot(spec.slot);
  return takes_constant(spec.slot, row) || single || spec.slot == Slot::mask_src ||
         spec.slot == Slot::mask_dst;
}
bool takes_signs(const SlotSpec& spec) {
  return ir::is_float(spec.type);
}

Number read_number(Cursor& in, bool between_bars, Expression& e) {
  if (at_float(in)) return read_float(in);
  // Bars end a number: what else is computed between them stands in parentheses.
  e = between_bars ? read_primary(in) : read_expression(in);
  return {static_cast<uint64_t>(e.number), false};
}

/// An expression with symbols is a literal that the file's end knows.
void take_symbols(size_t at, std::string_view text, const Expression& e, const SlotSpec& spec,
                  const Row& row, Operand& o) {
  for (const Expression::Symbol& symbol : e.symbols)
    if (names_register(symbol.name))
      Cursor::fail_at(at, fmt::format("'{}' is not possible here", text));
  if (ir::size_of(spec.type) != 4 || !takes_literal(spec.slot, row))
    Cursor::fail_at(at, fmt::format("expected a register or a number, found '{}': symbols stand "
                                    "where 32-bit literals can",
                                    e.symbols[0].name));
  o.code = kLiteral;
  o.label = std::string(text);
}

void take_number(size_t at, Number n, const SlotSpec& spec, const Row& row, Gen gen, Operand& o) {
  std::string problem;
  // Short encodings have no bits for signs: those of a constant are its own.
  if ((o.neg || o.abs) && row.encoding != Encoding::vop3) {
    if (!n.is_float && spec.type == ir::Type::f64)
      Cursor::fail_value(at, "an integer in the place of a double has no sign of its own");
    if (!bits_in(n, spec.type, problem)) Cursor::fail_value(at, problem);
    n = with_modifiers(n, o.neg, o.abs, spec.type);
    o.neg = o.abs = false;
  }
  const auto constant = constant_of(n, spec.type, gen, problem);
  if (!constant) Cursor::fail_value(at, problem);
  o.code = constant->code;
  // Halves came with GCN3: the long forms before have no constants for them.
  const bool long_half = ir::size_of(spec.type) == 2 && row.encoding == Encoding::vop3;
  const bool no_halves = long_half && gen != Gen::gfx8;
  // 65535 is -1 as an integer of 16 bits, which LLVM sees in short forms and in floats alone.
  const bool positive =
      long_half && !ir::is_float(spec.type) && constant->code >= kMinusOne && n.bits >> 63 == 0;
  if (no_halves || positive || (constant->code == kLiteral && !takes_literal(spec.slot, row)))
    Cursor::fail_value(at,
                       "a literal constant is not possible here, expected -16 to 64 or a float "
                       "such as 0.5");
  if (constant->code == kLiteral) o.value = constant->literal;
  o.cut = !constant->exact;
}

/// `o` has the signs that stand around the source.
void read_plain_source(Cursor& in, const SlotSpec& spec, const Row& row, Gen gen, Operand& o,
                       bool between_bars = false) {
  in.skip_blanks();
  const size_t at = in.at();
  const bool signs = o.neg || o.abs;
  const auto registers = [&](const Operand& read) {
    if (signs && row.encoding != Encoding::vop3)
      Cursor::fail_at(at, "signs of registers ask for the long form");
    o.code = read.code;
    o.count = read.count;
  };
  RegisterText r;
  if (read_register(in, r)) {
    if (r.kind == 'v' && is_scalar_slot(spec.slot))
      Cursor::fail_at(at, "expected a scalar register or a constant, found a VGPR");
    if (r.kind != 'v' && takes_vgprs_only(spec, row))
      Cursor::fail_at(at, "expected a VGPR" + in.found(at));
    check_register(at, r, spec.count, gen);
    return registers(register_operand(r));
  }
  if (Operand named; read_named(in, spec.count, takes_condition(spec, row), gen, named)) {
    const bool memory =
        spec.slot == Slot::sdata || (spec.slot == Slot::sdst && row.encoding == Encoding::smrd);
    if (named.code == kLdsDirect
            ? !takes_lds_direct(spec, row)
            : takes_vgprs_only(spec, row) ||
                  (memory && (named.code == kM0 || named.code / 2 == kExecLo / 2)))
      Cursor::fail_at(at, "this register is not possible here");
    return registers(named);
  }
  if (!takes_constant(spec.slot, row) || takes_vgprs_only(spec, row))
    Cursor::fail_at(at, "expected a register" + in.found(at));
  const Cursor start = in;
  Expression e;
  const Number n = read_number(in, between_bars, e);
  o.count = spec.count;
  if (e.is_number()) return take_number(at, n, spec, row, gen, o);
  if (signs) Cursor::fail_at(at, "a symbol has no sign");
  take_symbols(at, start.rest().substr(0, in.at() - at), e, spec, row, o);
}

Operand read_source(Cursor& in, const SlotSpec& spec, const Row& row, Gen gen) {
  Operand o;
  read_plain_source(in, spec, row, gen, o);
  return o;
}

/// A minus in front of a register, of bars and of `abs` is a sign.
bool at_sign(Cursor in) {
  if (!in.take('-')) return false;
  if (in.peek() == '-') Cursor::fail_value(in.at(), "two signs: expected neg(...)");
  return in.take('|') || in.take_word("abs") || at_register(in);
}

/// With its sign and bars: `-|v1|`, `neg(v1)`, `-abs(v1)`.
template <class Read>
Operand read_signed(Cursor& in, const Read& read) {
  in.skip_blanks();
  const size_t at = in.at();
  const bool call = in.take_word("neg");
  if (call) in.expect('(', "after 'neg'");
  const bool minus = at_sign(in);
  if (minus && call) Cursor::fail_at(at, "two signs");
  if (minus) in.take('-');
  const bool abs_call = in.take_word("abs");
  if (abs_call) in.expect('(', "after 'abs'");
  const bool bar = in.take('|');
  if (bar && abs_call) Cursor::fail_at(at, "two absolute values");
  Operand o;
  o.neg = call || minus;
  o.abs = abs_call || bar;
  read(o, bar);
  if (bar) in.expect('|', "after the absolute value");
  if (abs_call) in.expect(')', "after the absolute value");
  if (call) in.expect(')', "after the negated operand");
  return o;
}
Operand read_vector_source(Cursor& in, const SlotSpec& spec, const Row& row, Gen gen) {
  // A row with a literal of its own has no long form, and no signs for one.
  if (!takes_signs(spec) || row.has(Slot::literal)) return read_source(in, spec, row, gen);
  return read_signed(
      in, [&](Operand& o, bool bars) { read_plain_source(in, spec, row, gen, o, bars); });
}

Operand read_vgpr(Cursor& in, const SlotSpec& spec, const Row& row, Gen gen) {
  in.skip_blanks();
  const size_t at = in.at();
  RegisterText r;
  if (!read_register(in, r) || r.kind != 'v') Cursor::fail_at(at, "expected a VGPR" + in.found(at));
  // The disassemblers disagree whether TFE's extra register is written out; both are read.
  SlotSpec expected = spec;
  if (is_buffer(row.encoding) && r.count == spec.count + 1U) expected.count = spec.count + 1;
  check_register(at, r, expected.count, gen);
  return register_operand(r);
}

void read_vgpr_into(Cursor& in, const SlotSpec& spec, const Row& row, Gen gen, Operand& o) {
  const Operand read = read_vgpr(in, spec, row, gen);
  o.code = read.code;
  o.count = read.count;
}

Operand read_address(Cursor& in, Gen gen) {
  Operand o;
  o.count = 0;
  if (in.take_word("off")) return o;
  in.skip_blanks();
  const size_t at = in.at();
  RegisterText r;
  if (!read_register(in, r) || r.kind != 'v' || r.count > 2)
    Cursor::fail_at(at, "expected 'off', a VGPR or a pair of VGPRs" + in.found(at));
  check_register(at, r, r.count, gen);
  return register_operand(r);
}

Operand read_immediate(Cursor& in, int64_t low, int64_t high) {
  in.skip_blanks();
  const size_t at = in.at();
  const int64_t value = read_bits(in, "a number");
  if (value < low || value > high)
    Cursor::fail_value(at, fmt::format("number out of range, expected {} to {}", low, high));
  Operand o;
  o.immediate = true;
  o.value = static_cast<uint32_t>(value);
  return o;
}

/// Of scalar loads: a byte, on GCN2 or a literal, on GCN3 20 bits.
int64_t scalar_offset_limit(Gen gen) {
  return gen == Gen::gfx6 ? 255 : gen == Gen::gfx7 ? 0xffffffff : 0xfffff;
}

/// Codes that no register and no constant has are printed by number; nothing decodes to them.
std::string write_source(const Operand& o, const SlotSpec& spec, Gen gen) {
  if (o.code == kLiteral) return literal_text(o.value, spec.type, gen);
  if (o.code >= kVgpr0 || o.code < kZero || (o.code >= kVccz && o.code <= kLdsDirect))
    return register_name(o.code, o.count, gen);
  const std::string text = constant_text(o.code, spec.type);
  return text.empty() ? fmt::format("code_{}", o.code) : text;
}

/// All 32 bits of an instruction that has a literal of its own.
Operand read_literal(Cursor& in, const SlotSpec& spec) {
  in.skip_blanks();
  const size_t at = in.at();
  Expression e;
  const Number n = read_number(in, false, e);
  if (!ir::is_float(spec.type) && e.is_number())
    return lowest_bits(static_cast<int64_t>(n.bits), 32);
  std::string problem;
  const auto bits = bits_in(n, spec.type, problem);
  if (!bits) Cursor::fail_value(at, problem);
  if (!e.is_number()) Cursor::fail_at(at, "expected a number" + in.found(at));
  return immediate(static_cast<uint32_t>(*bits));
}

}  // namespace

Operand read_vgprs(Cursor& in, Gen gen) {
  in.skip_blanks();
  const size_t at = in.at();
  RegisterText r;
  if (!read_register(in, r) || r.kind != 'v') Cursor::fail_at(at, "expected VGPRs" + in.found(at));
  if (r.count > 16) Cursor::fail_value(at, "at most 16 VGPRs are possible here");
  check_register(at, r, r.count, gen);
  return register_operand(r);
}

Operand read_operand(Cursor& in, const SlotSpec& spec, const Row& row, Gen gen) {
  switch (spec.slot) {
    case Slot::idata:
    case Slot::iaddr:
      return read_vgprs(in, gen);
    case Slot::ivsrc:
    case Slot::ivsrc2:
      if (row.encoding != Encoding::vop3) return read_vgpr(in, spec, row, gen);
      return read_signed(in, [&](Operand& o, bool) { read_vgpr_into(in, spec, row, gen, o); });
    case Slot::target:
    case Slot::esrc:
    case Slot::attr:
    case Slot::ipoint:
      return read_graphics_operand(in, spec.slot, gen);
    case Slot::simm16:
      if (row.encoding == Encoding::sopp) return lowest_bits(read_bits(in, "a number"), 16);
      // Compares with numbers that have no sign take none.
      return read_immediate(
          in, row.has(Slot::ksrc) && !ir::is_signed(row.meaning.type) ? 0 : -0x8000, 0xffff);
    case Slot::waitcnt:
      return read_waitcnt(in);
    case Slot::hwreg:
      return read_hwreg(in);
    case Slot::message:
      return read_message(in, gen);
    case Slot::gpr_idx:
      return read_gpr_idx(in);
    case Slot::probe:
      return lowest_bits(read_bits(in, "a number"), 7);
    case Slot::literal:
      return read_literal(in, spec);
    case Slot::label: {
      Operand o;
      o.immediate = true;
      in.skip_blanks();
      if (in.peek() == '-' || in.peek() == '(' || (in.peek() >= '0' && in.peek() <= '9'))
        return read_immediate(in, -0x8000, 0xffff);
      const size_t at = in.at();
      o.label = std::string(in.until(" \t,"));
      if (o.label.empty() || at_register(Cursor(o.label)))
        Cursor::fail_at(at, "expected a label" + in.found(at));
      return o;
    }
    case Slot::vcc: {
      in.skip_blanks();
      if (!in.take_word("vcc")) in.fail("expected vcc" + in.found());
      Operand o;
      o.code = kVccLo;
      o.count = 2;
      return o;
    }
    case Slot::vdst:
    case Slot::vsrc1:
    case Slot::ds_addr:
    case Slot::data0:
    case Slot::data1:
    case Slot::vdata:
      return read_vgpr(in, spec, row, gen);
    case Slot::vaddr:
      return read_address(in, gen);
    case Slot::soff:
      in.skip_blanks();
      if (in.take_word("offset")) {
        in.expect(':', "after 'offset'");
        return read_immediate(in, 0, scalar_offset_limit(gen));
      }
      if (Cursor flag = in; flag.take_word("scc"))
        in.fail("scc is the name of a flag here, expected src_scc");
      if (!at_register(in)) return read_immediate(in, 0, scalar_offset_limit(gen));
      return read_source(in, spec, row, gen);
    case Slot::src0:
    case Slot::src1:
    case Slot::src2:
      return read_vector_source(in, spec, row, gen);
    default:
      return read_source(in, spec, row, gen);
  }
}

Operand read_form_source(Cursor& in, const SlotSpec& spec, const Row& row, Form form, Gen gen,
                         bool& sext) {
  const FormSigns can = form_signs(spec, row, form);
  sext = can.sext && in.take_word("sext");
  if (sext) in.expect('(', "after sext");
  if (sext || !can.real) {
    const Operand o = read_vgpr(in, spec, row, gen);
    if (sext) in.expect(')', "after the extended register");
    return o;
  }
  return read_signed(in, [&](Operand& o, bool) { read_vgpr_into(in, spec, row, gen, o); });
}

std::string write_operand(const Operand& o, const SlotSpec& spec, Encoding encoding, Gen gen) {
  constexpr uint32_t kMostInline = 64;
  switch (spec.slot) {
    case Slot::simm16:
    case Slot::soff:
      // Of SOPP, numbers that could be inline constants are decimal, as LLVM writes them.
      if (encoding == Encoding::sopp && o.value <= kMostInline) return std::to_string(o.value);
      if (o.immediate)
        return fmt::format("{:#x}", spec.slot == Slot::soff ? o.value : o.value & 0xffff);
      return write_source(o, spec, gen);
    case Slot::target:
    case Slot::esrc:
    case Slot::attr:
    case Slot::ipoint:
      return write_graphics_operand(o, spec.slot, gen);
    case Slot::word:
      return fmt::format("{:#x}", o.value);
    case Slot::literal:
      return fmt::format("{:#x}", o.value);
    case Slot::hwreg:
      return write_hwreg(o);
    case Slot::message:
      return write_message(o, gen);
    case Slot::gpr_idx:
      return write_gpr_idx(o);
    case Slot::probe:
      return o.value <= kMostInline ? std::to_string(o.value) : fmt::format("{:#x}", o.value);
    case Slot::waitcnt:
      return write_waitcnt(o.value);
    case Slot::label:
      return o.label.empty() ? std::to_string(o.value & 0xffff) : o.label;
    case Slot::vaddr:
      return o.count == 0 ? "off" : register_name(o.code, o.count, gen);
    default: {
      const std::string_view bar = o.abs ? "|" : "";
      const std::string value = fmt::format("{}{}{}", bar, write_source(o, spec, gen), bar);
      // A minus in front of a constant would be its sign.
      if (o.neg && !o.abs && inline_constant(o.code)) return fmt::format("neg({})", value);
      return (o.neg ? "-" : "") + value;
    }
  }
}

}  // namespace lanewise::gcn
