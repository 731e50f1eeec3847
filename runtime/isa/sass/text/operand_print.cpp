// Operands from word to text.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/isa/sass/text/number_text.hpp"
#include "runtime/isa/sass/text/operand_parts.hpp"
#include "runtime/isa/sass/text/operand_text.hpp"

namespace lanewise::sass {

std::string write_special(uint64_t code) {
  const std::string_view name = special_registers().at(code);
  return name.empty() ? fmt::format("SR{}", code) : std::string(name);
}

std::string register_name(unsigned number) {
  return number == kRZ ? "RZ" : fmt::format("R{}", number);
}

unsigned next_register(const OperandSpec& spec, const Instruction& i) {
  const auto first = static_cast<unsigned>(spec.field.get(i.word));
  if (first == kRZ) return kRZ;
  return std::min(first + (i.mod(ModId::wide) != 0 ? 2 : 1), kRZ);
}

namespace {

using Kind = OperandSpec::Kind;

std::string write_place(const OperandSpec& spec, uint64_t word, bool is_signed) {
  const uint64_t base = kBase.get(word), raw = spec.field.get(word);
  const unsigned unused = 64U - std::max<unsigned>(spec.field.len, 1);  // [Ra] has no offset
  const int64_t offset = (static_cast<int64_t>(raw << unused) >> unused) * (1 << spec.shift);
  if (base != kRZ)
    return offset == 0 ? fmt::format("[R{}]", base) : fmt::format("[R{}+{}]", base, hex(offset));
  if (raw == 0 && !is_signed) return "[RZ]";
  return is_signed ? fmt::format("[{}]", hex(offset)) : fmt::format("[{:#x}]", raw << spec.shift);
}

std::string write_target(const OperandSpec& spec, const Instruction& i) {
  if (!i.label.empty() && !is_address(i.label)) return "`(" + i.label + ")";
  const unsigned shift = 64U - spec.field.len;
  const int64_t rel = static_cast<int64_t>(spec.field.get(i.word) << shift) >> shift;
  return hex(static_cast<int64_t>(i.pc) + 8 + rel);
}

std::string write_scoreboards(uint64_t mask) {
  std::string out = "{";
  for (unsigned n = 6; n-- > 0;)
    if ((mask >> n & 1) != 0) out += fmt::format("{}{}", out.size() > 1 ? "," : "", n);
  return out + "}";
}

std::string write_signs(uint64_t codes, unsigned len) {
  std::string out;
  for (unsigned at = len; at >= 2; at -= 2) out += kSigns[codes >> (at - 2) & 3];
  return out;
}

std::string write_plain(const OperandSpec& spec, const Instruction& i) {
  const uint64_t value = spec.field.get(i.word);
  switch (spec.kind) {
    case Kind::reg:
      if (spec.never_zero && value == kRZ) return std::string(kNoRegister);
      return register_name(static_cast<unsigned>(value));
    case Kind::pred: {
      const uint64_t p = spec.inverted ? 7 - value : value;
      return p == kPT ? "PT" : fmt::format("P{}", p);
    }
    case Kind::cbank: {
      const uint64_t place = spec.field.len == 21 ? value : value << 2;
      return fmt::format("c[{:#x}]{}[{}]", place >> 16, spec.spaced ? " " : "",
                         hex(static_cast<int16_t>(place)));
    }
    case Kind::imm:
    case Kind::fimm:
      return write_number(spec, i.word);
    case Kind::address:
      return write_place(spec, i.word, false);
    case Kind::cindex:
      return fmt::format("c[{:#x}]{}", kBank.get(i.word), write_place(spec, i.word, true));
    case Kind::next: {
      const unsigned next = next_register(spec, i);
      return next == kRZ ? std::string(kNoRegister) : register_name(next);
    }
    case Kind::zero:
      return "RZ";
    case Kind::target:
      return write_target(spec, i);
    case Kind::sreg:
      return write_special(value);
    case Kind::sb:
      return value < 6 ? fmt::format("SB{}", value) : fmt::format("???{}", value);
    case Kind::sbmask:
      return write_scoreboards(value);
    case Kind::flags:
      return "CC";
    case Kind::bits:
      return value == 0 ? "PR" : "CC";
    case Kind::indirect:
      return fmt::format("{} {}", register_name(static_cast<unsigned>(kBase.get(i.word))),
                         write_number(spec, i.word));
    case Kind::named:
      return std::string(spec.names[value]);
    case Kind::attribute:
      return value == 0 && !spec.pattern ? "a[RZ]" : fmt::format("a[{:#x}]", value);
    case Kind::attribute_at:
      return fmt::format("a{}", write_place(spec, i.word, false));
    case Kind::signs:
      return write_signs(value, spec.field.len);
    case Kind::cctest:
      return "CC." + std::string(flag_tests()[value]);
  }
  return {};
}

}  // namespace

std::string write_operand(const OperandSpec& spec, const Instruction& i) {
  std::string out;
  const bool number = spec.kind == Kind::imm || spec.kind == Kind::fimm;
  const bool neg = flagged(spec.neg, i.word), abs = flagged(spec.abs, i.word);
  const bool inv = flagged(spec.inv, i.word), behind = number && !spec.prefixed;
  if (neg && !behind) out += spec.kind == Kind::pred ? "!" : "-";
  if (inv && !number) out += "~";
  if (abs && !number) out += "|";
  out += write_plain(spec, i);
  if (behind) out += fmt::format("{}{}{}", neg ? ".NEG" : "", abs ? ".ABS" : "", inv ? ".INV" : "");
  if (spec.part.present() && !part_name(spec, i.word).empty())
    out.append(1, '.').append(part_name(spec, i.word));
  if (abs && !number) out += "|";
  if (spec.high.len == 2) {
    static constexpr const char* kHalves[] = {"", ".H0", ".H1", ".???3"};
    out += kHalves[spec.high.get(i.word)];
  } else if (flagged(spec.high, i.word)) {
    out += ".H1";
  }
  if (flagged(spec.cc, i.word)) out += ".CC";
  if (spec.reuse >= 0 && i.control.reuse(static_cast<unsigned>(spec.reuse))) out += ".reuse";
  return out;
}

}  // namespace lanewise::sass
