#include "runtime/isa/gcn/text/operand_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/isa/gcn/text/expression.hpp"
#include "runtime/isa/gcn/text/graphics_text.hpp"
#include "runtime/isa/gcn/text/hardware_text.hpp"
#include "runtime/isa/gcn/text/number_text.hpp"

namespace lanewise::gcn {
namespace {

struct NamedCode {
  std::string_view name;
  int16_t codes[3];  ///< per generation, -1 = not there
  uint8_t count;

  unsigned code(Gen gen) const { return static_cast<unsigned>(codes[static_cast<int>(gen)]); }
  bool exists(Gen gen) const { return codes[static_cast<int>(gen)] >= 0; }
};
/// Of several names for one code the first is printed.
constexpr NamedCode kNamed[] = {{"vcc", {106, 106, 106}, 2},
                                {"vcc_lo", {106, 106, 106}, 1},
                                {"vcc_hi", {107, 107, 107}, 1},
                                {"m0", {124, 124, 124}, 1},
                                {"exec", {126, 126, 126}, 2},
                                {"exec_lo", {126, 126, 126}, 1},
                                {"exec_hi", {127, 127, 127}, 1},
                                {"src_vccz", {251, 251, 251}, 1},
                                {"src_execz", {252, 252, 252}, 1},
                                {"src_scc", {253, 253, 253}, 1},
                                {"vccz", {251, 251, 251}, 1},
                                {"execz", {252, 252, 252}, 1},
                                {"scc", {253, 253, 253}, 1},
                                {"flat_scratch", {-1, 104, 102}, 2},
                                {"flat_scratch_lo", {-1, 104, 102}, 1},
                                {"flat_scratch_hi", {-1, 105, 103}, 1},
                                {"tba", {108, 108, 108}, 2},
                                {"tba_lo", {108, 108, 108}, 1},
                                {"tba_hi", {109, 109, 109}, 1},
                                {"tma", {110, 110, 110}, 2},
                                {"tma_lo", {110, 110, 110}, 1},
                                {"tma_hi", {111, 111, 111}, 1}};
constexpr unsigned kTrapTemps = 12;

bool is_scalar_slot(Slot s) {
  return s == Slot::sdst || s == Slot::sdata || s == Slot::ksrc || s == Slot::ssrc0 ||
         s == Slot::ssrc1 || s == Slot::sbase || s == Slot::soff || s == Slot::srsrc ||
         s == Slot::soffset || s == Slot::mask_dst || s == Slot::mask_src || s == Slot::irsrc ||
         s == Slot::isamp;
}
bool is_source_slot(Slot s) {
  return s == Slot::ssrc0 || s == Slot::ssrc1 || s == Slot::src0 || s == Slot::src1 ||
         s == Slot::src2 || s == Slot::soffset;
}
bool takes_literal(Slot s, const Row& row) {
  const bool lane_select = s == Slot::ssrc1 && row.encoding == Encoding::vop2;
  return is_source_slot(s) && s != Slot::soffset && row.encoding != Encoding::vop3 && !lane_select;
}

unsigned sgpr_limit(Gen gen) {
  return gen == Gen::gfx8 ? 102 : 104;
}

/// Kind letter (t: ttmp), first index and count of what was read.
struct RegisterText {
  char kind = 0;
  unsigned first = 0, count = 0;
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// `s3`, `v[2:3]`, `ttmp4`, without lists; false when it is no register.
bool read_range(Cursor& in, RegisterText& r) {
  in.skip_blanks();
  const size_t start = in.at();
  const size_t prefix = in.rest().substr(0, 4) == "ttmp" ? 4 : 1;
  const char c = in.peek();
  const bool range = in.peek(prefix) == '[';
  if ((c != 's' && c != 'v' && prefix == 1) || (!range && !is_digit(in.peek(prefix)))) return false;
  r.kind = c;
  in.seek(start + prefix);
  if (!range) {
    r.first = static_cast<unsigned>(in.number("a register number"));
    r.count = 1;
    return true;
  }
  in.take('[');
  r.first = static_cast<unsigned>(in.number("a register number"));
  unsigned last = r.first;
  if (in.take(':')) last = static_cast<unsigned>(in.number("a register number"));
  in.expect(']', "after the register range");
  if (last < r.first || last > 255)
    Cursor::fail_value(start, "register range runs backwards or too far");
  r.count = last - r.first + 1;
  return true;
}

/// A range, or the registers one by one: `[s4,s5,s6,s7]`.
bool read_register(Cursor& in, RegisterText& r) {
  in.skip_blanks();
  if (in.peek() != '[') return read_range(in, r);
  const size_t start = in.at();
  in.take('[');
  if (!read_range(in, r)) Cursor::fail_at(start, "expected registers between the brackets");
  while (in.take(',')) {
    RegisterText next;
    const size_t at = in.at();
    if (!read_range(in, next) || next.kind != r.kind || next.first != r.first + r.count)
      Cursor::fail_at(at, "registers of a list must follow one another");
    r.count += next.count;
  }
  in.expect(']', "after the list of registers");
  return true;
}

void check_register(size_t at, const RegisterText& r, const SlotSpec& spec, Gen gen) {
  const unsigned limit = r.kind == 'v' ? 256 : r.kind == 't' ? kTrapTemps : sgpr_limit(gen);
  const std::string kind = r.kind == 't' ? "ttmp" : std::string(1, r.kind);
  if (r.first + r.count > limit)
    Cursor::fail_value(at, fmt::format("register not available: {} has {}0 to {}{}", name(gen),
                                       kind, kind, limit - 1));
  if (r.count != spec.count)
    Cursor::fail_value(at, fmt::format("expected {} register{}, found {}", spec.count,
                                       spec.count == 1 ? "" : "s", r.count));
  const unsigned align = r.count == 1 ? 1 : r.count == 2 ? 2 : 4;
  if (r.kind != 'v' && r.first % align != 0)
    Cursor::fail_value(at, fmt::format("{}[{}:{}] must start at a multiple of {}", kind, r.first,
                                       r.first + r.count - 1, align));
}

Operand register_operand(const RegisterText& r) {
  Operand o;
  o.count = static_cast<uint8_t>(r.count);
  o.code = r.first + (r.kind == 'v' ? kVgpr0 : r.kind == 't' ? kTtmp0 : 0);
  return o;
}

/// What a minus stands in front of is a register's value negated, which only some encodings have,
/// and no symbol.
bool names_register(std::string_view name) {
  Cursor in(name);
  const bool kind = in.take('s') || in.take('v');
  if (!kind && !name.starts_with("ttmp")) return false;
  if (!kind) in.seek(4);
  return !in.rest().empty() && std::ranges::all_of(in.rest(), is_digit);
}

/// A special register by its name.
bool read_named(Cursor& in, const SlotSpec& spec, Gen gen, Operand& o) {
  in.skip_blanks();
  const size_t at = in.at();
  for (const NamedCode& n : kNamed) {
    if (!in.take_word(n.name)) continue;
    if (!n.exists(gen))
      Cursor::fail_value(at,
                         fmt::format("register not available: {} has no {}", name(gen), n.name));
    const bool readable_only = n.code(gen) > 127;
    // Conditions are numbers of any width.
    const bool fits = readable_only ? is_source_slot(spec.slot) || spec.slot == Slot::mask_src
                                    : n.count == spec.count;
    if (!fits) Cursor::fail_at(at, fmt::format("'{}' is not possible here", n.name));
    o.code = n.code(gen);
    o.count = spec.count;
    return true;
  }
  return false;
}

/// A number, computed or not; an expression with symbols is a literal that the file's end knows.
bool read_symbols(Cursor& in, Operand& o, const SlotSpec& spec, const Row& row, Number& number) {
  const size_t at = in.at();
  const Cursor start = in;
  if (!at_expression(in)) {
    number = float_or_integer(in);
    return false;
  }
  const Expression e = read_expression(in);
  if (e.is_number()) {
    constexpr int64_t kMost = 0xffffffff;
    if (e.number > kMost || e.number < -(kMost / 2) - 1)
      Cursor::fail_value(at, "number does not fit in 32 bits");
    number = {static_cast<uint32_t>(e.number), false, e.number < 0};
    return false;
  }
  for (const Expression::Symbol& symbol : e.symbols)
    if (names_register(symbol.name))
      Cursor::fail_at(
          at, fmt::format("'{}' is not possible here", start.rest().substr(0, in.at() - at)));
  if (spec.count != 1 || !takes_literal(spec.slot, row))
    Cursor::fail_at(at, fmt::format("expected a register or a number, found '{}': symbols stand "
                                    "where 32-bit literals can",
                                    e.symbols[0].name));
  o.code = kLiteral;
  o.label = std::string(start.rest().substr(0, in.at() - at));
  return true;
}

Operand read_source(Cursor& in, const SlotSpec& spec, const Row& row, Gen gen) {
  in.skip_blanks();
  const size_t at = in.at();
  RegisterText r;
  if (read_register(in, r)) {
    if (r.kind == 'v' && is_scalar_slot(spec.slot))
      Cursor::fail_at(at, "expected a scalar register or a constant, found a VGPR");
    check_register(at, r, spec, gen);
    return register_operand(r);
  }
  Operand o;
  if (read_named(in, spec, gen, o)) return o;
  if (!is_source_slot(spec.slot)) Cursor::fail_at(at, "expected a register" + in.found(at));
  Number n{};
  if (read_symbols(in, o, spec, row, n)) return o;
  o.count = spec.count;
  if (const auto code = inline_code(n, spec.count == 2, gen)) {
    o.code = *code;
    return o;
  }
  if (!takes_literal(spec.slot, row))
    Cursor::fail_value(at,
                       "a literal constant is not possible here, expected -16 to 64 or a float "
                       "such as 0.5");
  o.code = kLiteral;
  o.value = n.bits;
  return o;
}

/// With its sign and bars, where the encoding has them: `-|v1|`, `neg(v1)`, `-abs(v1)`.
template <class Read>
Operand read_signed(Cursor& in, bool modifiers, const Read& read) {
  in.skip_blanks();
  const char next = in.peek(1);
  const bool call = modifiers && in.take_word("neg");
  if (call) in.expect('(', "after 'neg'");
  const bool minus = modifiers && !call && in.peek() == '-' && (next < '0' || next > '9');
  if (minus) in.take('-');
  const bool abs_call = modifiers && in.take_word("abs");
  if (abs_call) in.expect('(', "after 'abs'");
  const bool abs = abs_call || (modifiers && in.take('|'));
  Operand o = read();
  if (abs) in.expect(abs_call ? ')' : '|', "after the absolute value");
  if (call) in.expect(')', "after the negated operand");
  o.neg = call || minus;
  o.abs = abs;
  return o;
}
Operand read_vector_source(Cursor& in, const SlotSpec& spec, const Row& row, Gen gen) {
  return read_signed(in, row.encoding == Encoding::vop3,
                     [&] { return read_source(in, spec, row, gen); });
}

Operand read_vgpr(Cursor& in, const SlotSpec& spec, const Row& row, Gen gen) {
  in.skip_blanks();
  const size_t at = in.at();
  RegisterText r;
  if (!read_register(in, r) || r.kind != 'v') Cursor::fail_at(at, "expected a VGPR" + in.found(at));
  // The disassemblers disagree whether TFE's extra register is written out; both are read.
  SlotSpec expected = spec;
  if (is_buffer(row.encoding) && r.count == spec.count + 1U) expected.count = spec.count + 1;
  check_register(at, r, expected, gen);
  return register_operand(r);
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
  check_register(at, r, {Slot::vaddr, static_cast<uint8_t>(r.count)}, gen);
  return register_operand(r);
}

Operand read_immediate(Cursor& in, int64_t low, int64_t high) {
  in.skip_blanks();
  const size_t at = in.at();
  const int64_t value = read_constant(in, "a number");
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

struct Counter {
  std::string_view name;
  unsigned pos, len;
};
constexpr Counter kCounters[] = {{"vmcnt", 0, 4}, {"expcnt", 4, 3}, {"lgkmcnt", 8, 4}};

Operand read_waitcnt(Cursor& in) {
  in.skip_blanks();
  if (in.peek() >= '0' && in.peek() <= '9') return read_immediate(in, 0, 0xffff);
  Operand o;
  o.immediate = true;
  o.value = 0xf7f;
  do {
    const size_t at = in.at();
    const Counter* found = nullptr;
    for (const Counter& c : kCounters)
      if (in.take_word(c.name)) found = &c;
    if (found == nullptr)
      Cursor::fail_at(at, "expected vmcnt(n), expcnt(n) or lgkmcnt(n)" + in.found(at));
    in.expect('(', "after the counter's name");
    const uint64_t n = in.number("a count");
    const uint32_t most = (1U << found->len) - 1;
    if (n > most) Cursor::fail_value(at, fmt::format("{} goes up to {}", found->name, most));
    in.expect(')', "after the count");
    o.value = (o.value & ~(most << found->pos)) | static_cast<uint32_t>(n) << found->pos;
    if (!in.take('&')) in.take(',');
  } while (!in.done());
  return o;
}

std::string write_waitcnt(uint32_t value) {
  std::string out;
  for (const Counter& c : kCounters) {
    const uint32_t most = (1U << c.len) - 1, n = value >> c.pos & most;
    if (n != most) out += fmt::format("{}{}({})", out.empty() ? "" : " ", c.name, n);
  }
  const bool plain = (value & ~0xf7fU) == 0 && !out.empty();
  return plain ? out : fmt::format("{:#x}", value);
}

/// A literal whose value has a shorter code is written, as the disassemblers do, like that code.
std::string write_literal(uint32_t bits, bool wide, Gen gen) {
  const auto code = inline_code({bits, false, false}, wide, gen);
  if (!code) return fmt::format("{:#x}", bits);
  if (const std::string text = inline_float_text(*code, wide); !text.empty()) return text;
  return std::to_string(static_cast<int32_t>(bits));
}

/// Codes that no register and no constant has are printed by number; nothing decodes to them.
std::string write_source(const Operand& o, Gen gen) {
  if (o.code >= kVgpr0 || o.code < kZero) return register_name(o.code, o.count, gen);
  if (o.code == kLiteral) return write_literal(o.value, o.count == 2, gen);
  if (const std::string text = inline_float_text(o.code, o.count == 2); !text.empty()) return text;
  if (const auto value = inline_constant(o.code))
    return std::to_string(static_cast<int32_t>(*value));
  for (const NamedCode& n : kNamed)
    if (n.exists(gen) && n.code(gen) == o.code) return std::string(n.name);
  return fmt::format("code_{}", o.code);
}

}  // namespace

bool is_scalar_register(unsigned code, unsigned count, Gen gen) {
  if (code + count <= sgpr_limit(gen)) return true;
  if (code >= kTtmp0 && code + count <= kTtmp0 + kTrapTemps) return true;
  for (const NamedCode& n : kNamed)
    if (n.exists(gen) && n.code(gen) == code && n.count == count) return true;
  return false;
}

std::string register_name(unsigned code, unsigned count, Gen gen) {
  for (const NamedCode& n : kNamed)
    if (n.exists(gen) && n.code(gen) == code && n.count == count) return std::string(n.name);
  const bool vector = code >= kVgpr0;
  const bool trap = !vector && code >= kTtmp0 && code < kTtmp0 + kTrapTemps;
  const unsigned first = vector ? code - kVgpr0 : trap ? code - kTtmp0 : code;
  const std::string_view kind = vector ? "v" : trap ? "ttmp" : "s";
  if (count == 1) return fmt::format("{}{}", kind, first);
  return fmt::format("{}[{}:{}]", kind, first, first + count - 1);
}

Operand read_vgprs(Cursor& in, Gen gen) {
  in.skip_blanks();
  const size_t at = in.at();
  RegisterText r;
  if (!read_register(in, r) || r.kind != 'v') Cursor::fail_at(at, "expected VGPRs" + in.found(at));
  if (r.count > 16) Cursor::fail_value(at, "at most 16 VGPRs are possible here");
  check_register(at, r, {Slot::idata, static_cast<uint8_t>(r.count)}, gen);
  return register_operand(r);
}

Operand read_operand(Cursor& in, const SlotSpec& spec, const Row& row, Gen gen) {
  switch (spec.slot) {
    case Slot::idata:
    case Slot::iaddr:
      return read_vgprs(in, gen);
    case Slot::ivsrc:
    case Slot::ivsrc2:
      return read_signed(in, row.encoding == Encoding::vop3,
                         [&] { return read_vgpr(in, spec, row, gen); });
    case Slot::target:
    case Slot::esrc:
    case Slot::attr:
    case Slot::ipoint:
      return read_graphics_operand(in, spec.slot, gen);
    case Slot::simm16:
      return read_immediate(in, -0x8000, 0xffff);
    case Slot::waitcnt:
      return read_waitcnt(in);
    case Slot::hwreg:
      return read_hwreg(in);
    case Slot::message:
      return read_message(in);
    case Slot::gpr_idx:
      return read_gpr_idx(in);
    case Slot::probe:
      return read_immediate(in, 0, 127);
    case Slot::literal: {
      in.skip_blanks();
      Operand o;
      o.immediate = true;
      o.value = float_or_integer(in).bits;
      return o;
    }
    case Slot::label: {
      Operand o;
      o.immediate = true;
      in.skip_blanks();
      if (in.peek() == '-' || in.peek() == '(' || (in.peek() >= '0' && in.peek() <= '9'))
        return read_immediate(in, -0x8000, 0xffff);
      o.label = std::string(in.until(" \t,"));
      if (o.label.empty()) in.fail("expected a label" + in.found());
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
      if (in.peek() == '(' || (in.peek() >= '0' && in.peek() <= '9'))
        return read_immediate(in, 0, scalar_offset_limit(gen));
      return read_source(in, spec, row, gen);
    case Slot::src0:
    case Slot::src1:
    case Slot::src2:
      return read_vector_source(in, spec, row, gen);
    default:
      return read_source(in, spec, row, gen);
  }
}

Operand read_form_source(Cursor& in, const SlotSpec& spec, const Row& row, Gen gen, bool& sext) {
  sext = in.take_word("sext");
  if (sext) in.expect('(', "after sext");
  const bool neg = in.take('-'), abs = in.take('|');
  Operand o = read_vgpr(in, spec, row, gen);
  if (abs) in.expect('|', "after the absolute value");
  if (sext) in.expect(')', "after the extended register");
  o.neg = neg;
  o.abs = abs;
  return o;
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
      return write_source(o, gen);
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
      const std::string value = fmt::format("{}{}{}", bar, write_source(o, gen), bar);
      // A minus in front of a constant would be its sign.
      if (o.neg && !o.abs && inline_constant(o.code)) return fmt::format("neg({})", value);
      return (o.neg ? "-" : "") + value;
    }
  }
}

}  // namespace lanewise::gcn
