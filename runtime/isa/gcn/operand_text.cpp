#include "runtime/isa/gcn/operand_text.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstdlib>

namespace lanewise::gcn {
namespace {

struct NamedCode {
  std::string_view name;
  unsigned code;
  unsigned count;
};
constexpr NamedCode kNamed[] = {{"vcc", 106, 2},     {"vcc_lo", 106, 1}, {"vcc_hi", 107, 1},
                                {"m0", 124, 1},      {"exec", 126, 2},   {"exec_lo", 126, 1},
                                {"exec_hi", 127, 1}, {"vccz", 251, 1},   {"execz", 252, 1},
                                {"scc", 253, 1}};
constexpr float kInlineFloats[] = {0.5F, -0.5F, 1.0F, -1.0F, 2.0F, -2.0F, 4.0F, -4.0F};

bool is_scalar_slot(Slot s) {
  return s == Slot::sdst || s == Slot::ksrc || s == Slot::ssrc0 || s == Slot::ssrc1 ||
         s == Slot::sbase || s == Slot::soff || s == Slot::srsrc || s == Slot::soffset ||
         s == Slot::mask_dst || s == Slot::mask_src;
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

/// `s3`, `v[2:3]`: kind letter, first index and count; false when it is no register.
bool read_register(Cursor& in, char& kind, unsigned& first, unsigned& count) {
  in.skip_blanks();
  const size_t start = in.at();
  const char c = in.peek();
  const bool range = in.peek(1) == '[';
  if ((c != 's' && c != 'v') || (!range && (in.peek(1) < '0' || in.peek(1) > '9'))) return false;
  kind = c;
  in.seek(start + 1);
  if (!range) {
    first = static_cast<unsigned>(in.number("a register number"));
    count = 1;
    return true;
  }
  in.take('[');
  first = static_cast<unsigned>(in.number("a register number"));
  unsigned last = first;
  if (in.take(':')) last = static_cast<unsigned>(in.number("a register number"));
  in.expect(']', "after the register range");
  if (last < first || last > 255)
    Cursor::fail_value(start, "register range runs backwards or too far");
  count = last - first + 1;
  return true;
}

void check_register(size_t at, char kind, unsigned first, unsigned count, const SlotSpec& spec,
                    Gen gen) {
  const unsigned limit = kind == 'v' ? 256 : sgpr_limit(gen);
  if (first + count > limit)
    Cursor::fail_value(at, fmt::format("register not available: {} has {}0 to {}{}", name(gen),
                                       kind, kind, limit - 1));
  if (count != spec.count)
    Cursor::fail_value(at, fmt::format("expected {} register{}, found {}", spec.count,
                                       spec.count == 1 ? "" : "s", count));
  const unsigned align = count == 1 ? 1 : count == 2 ? 2 : 4;
  if (kind == 's' && first % align != 0)
    Cursor::fail_value(at, fmt::format("s[{}:{}] must start at a multiple of {}", first,
                                       first + count - 1, align));
}

uint32_t float_or_integer(Cursor& in, bool& is_float) {
  const size_t at = in.at();
  const bool negative = in.take('-');
  const bool hex = in.peek() == '0' && (in.peek(1) == 'x' || in.peek(1) == 'X');
  const size_t digits = in.at();
  const std::string text(in.until(" \t,|)"));
  is_float = !hex && text.find_first_of(".eE") != std::string::npos;
  if (is_float) {
    char* end = nullptr;
    const float value = std::strtof(text.c_str(), &end);
    if (*end != '\0') Cursor::fail_at(at, "expected a number, found '" + text + "'");
    return std::bit_cast<uint32_t>(negative ? -value : value);
  }
  in.seek(digits);
  const uint64_t magnitude = in.number("a register or a number");
  if (magnitude > 0xffffffff || (negative && magnitude > 0x80000000))
    Cursor::fail_value(at, "number does not fit in 32 bits");
  return static_cast<uint32_t>(negative ? 0 - magnitude : magnitude);
}

/// Inline constants have codes of their own; everything else is a literal dword.
Operand constant_operand(uint32_t value, bool is_float, size_t at, bool literal_allowed) {
  Operand o;
  const auto integer = static_cast<int32_t>(value);
  if (!is_float && integer >= 0 && integer <= 64) {
    o.code = kZero + static_cast<unsigned>(integer);
    return o;
  }
  if (!is_float && integer < 0 && integer >= -16) {
    o.code = 192U + static_cast<unsigned>(-integer);
    return o;
  }
  if (is_float && value == 0) {
    o.code = kZero;
    return o;
  }
  for (unsigned n = 0; n < 8; ++n) {
    if (value != std::bit_cast<uint32_t>(kInlineFloats[n])) continue;
    o.code = 240 + n;
    return o;
  }
  if (!literal_allowed)
    Cursor::fail_value(at,
                       "a literal constant is not possible here, expected -16 to 64 or a float "
                       "such as 0.5");
  o.code = kLiteral;
  o.value = value;
  return o;
}

Operand read_source(Cursor& in, const SlotSpec& spec, const Row& row, Gen gen) {
  in.skip_blanks();
  const size_t at = in.at();
  char kind = 0;
  unsigned first = 0, count = 0;
  Operand o;
  o.count = spec.count;
  if (read_register(in, kind, first, count)) {
    if (kind == 'v' && is_scalar_slot(spec.slot))
      Cursor::fail_at(at, "expected a scalar register or a constant, found a VGPR");
    check_register(at, kind, first, count, spec, gen);
    o.code = kind == 'v' ? kVgpr0 + first : first;
    return o;
  }
  for (const NamedCode& n : kNamed) {
    if (!in.take_word(n.name)) continue;
    const bool readable_only = n.code > 127;
    if (n.count != spec.count || (readable_only && !is_source_slot(spec.slot)))
      Cursor::fail_at(at, fmt::format("'{}' is not possible here", n.name));
    o.code = n.code;
    return o;
  }
  if (!is_source_slot(spec.slot)) Cursor::fail_at(at, "expected a register" + in.found(at));
  bool is_float = false;
  const uint32_t value = float_or_integer(in, is_float);
  Operand c = constant_operand(value, is_float, at, takes_literal(spec.slot, row));
  c.count = spec.count;
  return c;
}

Operand read_vector_source(Cursor& in, const SlotSpec& spec, const Row& row, Gen gen) {
  const bool modifiers = row.encoding == Encoding::vop3;
  in.skip_blanks();
  const char next = in.peek(1);
  const bool neg = modifiers && in.peek() == '-' && (next < '0' || next > '9');
  if (neg) in.take('-');
  const bool abs = modifiers && in.take('|');
  Operand o = read_source(in, spec, row, gen);
  if (abs) in.expect('|', "after the absolute value");
  o.neg = neg;
  o.abs = abs;
  return o;
}

Operand read_vgpr(Cursor& in, const SlotSpec& spec, const Row& row, Gen gen) {
  in.skip_blanks();
  const size_t at = in.at();
  char kind = 0;
  unsigned first = 0, count = 0;
  if (!read_register(in, kind, first, count) || kind != 'v')
    Cursor::fail_at(at, "expected a VGPR" + in.found(at));
  // The disassemblers disagree whether TFE's extra register is written out; both are read.
  SlotSpec expected = spec;
  if (is_buffer(row.encoding) && count == spec.count + 1U) expected.count = spec.count + 1;
  check_register(at, kind, first, count, expected, gen);
  Operand o;
  o.code = kVgpr0 + first;
  o.count = static_cast<uint8_t>(count);
  return o;
}

Operand read_address(Cursor& in, Gen gen) {
  Operand o;
  o.count = 0;
  if (in.take_word("off")) return o;
  in.skip_blanks();
  const size_t at = in.at();
  char kind = 0;
  unsigned first = 0, count = 0;
  if (!read_register(in, kind, first, count) || kind != 'v' || count > 2)
    Cursor::fail_at(at, "expected 'off', a VGPR or a pair of VGPRs" + in.found(at));
  check_register(at, kind, first, count, {Slot::vaddr, static_cast<uint8_t>(count)}, gen);
  o.code = kVgpr0 + first;
  o.count = static_cast<uint8_t>(count);
  return o;
}

Operand read_immediate(Cursor& in, int64_t low, int64_t high) {
  in.skip_blanks();
  const size_t at = in.at();
  const bool negative = in.take('-');
  const uint64_t magnitude = in.number("a number");
  const int64_t value =
      negative ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
  if (magnitude > 0xffffffff || value < low || value > high)
    Cursor::fail_value(at, fmt::format("number out of range, expected {} to {}", low, high));
  Operand o;
  o.immediate = true;
  o.value = static_cast<uint32_t>(value);
  return o;
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

std::string write_source(const Operand& o) {
  if (o.code >= kVgpr0 || o.code < kZero) return register_name(o.code, o.count);
  if (o.code <= 192) return std::to_string(o.code - kZero);
  if (o.code <= 208) return fmt::format("-{}", o.code - 192);
  if (o.code >= 240 && o.code < 248) return fmt::format("{:.1f}", kInlineFloats[o.code - 240]);
  if (o.code == kLiteral) return fmt::format("{:#x}", o.value);
  for (const NamedCode& n : kNamed)
    if (n.code == o.code) return std::string(n.name);
  return fmt::format("code_{}", o.code);
}

}  // namespace

std::string register_name(unsigned code, unsigned count) {
  for (const NamedCode& n : kNamed)
    if (n.code == code && n.count == count) return std::string(n.name);
  const bool vector = code >= kVgpr0;
  const unsigned first = vector ? code - kVgpr0 : code;
  if (count == 1) return fmt::format("{}{}", vector ? 'v' : 's', first);
  return fmt::format("{}[{}:{}]", vector ? 'v' : 's', first, first + count - 1);
}

Operand read_operand(Cursor& in, const SlotSpec& spec, const Row& row, Gen gen) {
  switch (spec.slot) {
    case Slot::simm16:
      return read_immediate(in, -0x8000, 0xffff);
    case Slot::waitcnt:
      return read_waitcnt(in);
    case Slot::label: {
      Operand o;
      o.immediate = true;
      in.skip_blanks();
      if (in.peek() == '-' || (in.peek() >= '0' && in.peek() <= '9'))
        return read_immediate(in, -0x8000, 0x7fff);
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
      if (in.peek() >= '0' && in.peek() <= '9')
        return read_immediate(in, 0, gen == Gen::gfx8 ? 0xfffff : 255);
      return read_source(in, spec, row, gen);
    case Slot::src0:
    case Slot::src1:
    case Slot::src2:
      return read_vector_source(in, spec, row, gen);
    default:
      return read_source(in, spec, row, gen);
  }
}

std::string write_operand(const Operand& o, const SlotSpec& spec) {
  switch (spec.slot) {
    case Slot::simm16:
    case Slot::soff:
      if (o.immediate)
        return fmt::format("{:#x}", o.value & (spec.slot == Slot::soff ? 0xfffff : 0xffff));
      return write_source(o);
    case Slot::waitcnt:
      return write_waitcnt(o.value);
    case Slot::label:
      return o.label.empty() ? std::to_string(static_cast<int16_t>(o.value)) : o.label;
    case Slot::vaddr:
      return o.count == 0 ? "off" : register_name(o.code, o.count);
    default:
      return fmt::format("{}{}{}{}", o.neg ? "-" : "", o.abs ? "|" : "", write_source(o),
                         o.abs ? "|" : "");
  }
}

}  // namespace lanewise::gcn
