#include "runtime/isa/gcn/text/graphics_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <span>

#include "runtime/isa/gcn/text/number_text.hpp"
#include "runtime/isa/gcn/text/operand_text.hpp"
#include "runtime/isa/gcn/text/register_text.hpp"

namespace lanewise::gcn {
namespace {

struct Targets {
  std::string_view name;
  unsigned first, count;
};
constexpr Targets kTargets[] = {
    {"mrtz", 8, 1}, {"null", 9, 1}, {"mrt", 0, 8}, {"pos", 12, 4}, {"param", 32, 32}};
constexpr std::string_view kPoints[] = {"p10", "p20", "p0"}, kChannels = "xyzw";

struct Flag {
  std::string_view name;
  bool Graphics::*graphics;
  bool Instruction::*common;
  unsigned bit;
};
/// In the order of LLVM's text.
constexpr Flag kImageFlags[] = {
    {"unorm", &Graphics::unorm, nullptr, 12}, {"glc", nullptr, &Instruction::glc, 13},
    {"slc", nullptr, &Instruction::slc, 25},  {"r128", &Graphics::r128, nullptr, 15},
    {"tfe", nullptr, &Instruction::tfe, 16},  {"lwe", &Graphics::lwe, nullptr, 17},
    {"da", &Graphics::da, nullptr, 14},       {"d16", &Graphics::d16, nullptr, 63}};
constexpr Flag kExportFlags[] = {{"done", &Graphics::done, nullptr, 11},
                                 {"compr", &Graphics::compr, nullptr, 10},
                                 {"vm", &Graphics::vm, nullptr, 12}};
constexpr unsigned kDmask = 8;

std::span<const Flag> flags_of(Encoding e) {
  return e == Encoding::mimg  ? std::span<const Flag>(kImageFlags)
         : e == Encoding::exp ? std::span<const Flag>(kExportFlags)
                              : std::span<const Flag>();
}
bool get(const Instruction& i, const Flag& f) {
  return f.common != nullptr ? i.*f.common : i.graphics.*f.graphics;
}
void set(Instruction& i, const Flag& f) {
  (f.common != nullptr ? i.*f.common : i.graphics.*f.graphics) = true;
}

/// `mrt0`, `param31`: a name and a number behind it; a name for one place has none.
Operand read_target(Cursor& in) {
  in.skip_blanks();
  const size_t at = in.at();
  const std::string_view word = in.word();
  for (const Targets& t : kTargets) {
    if (!word.starts_with(t.name)) continue;
    for (unsigned n = 0; n < t.count; ++n)
      if (word == (t.count == 1 ? std::string(t.name) : fmt::format("{}{}", t.name, n)))
        return immediate(t.first + n);
  }
  Cursor::fail_at(
      at, "expected mrt0 to mrt7, mrtz, null, pos0 to pos3 or param0 to param31" + in.found(at));
}
std::string write_target(unsigned code) {
  for (const Targets& t : kTargets)
    if (code >= t.first && code < t.first + t.count)
      return t.count == 1 ? std::string(t.name) : fmt::format("{}{}", t.name, code - t.first);
  return fmt::format("invalid_target_{}", code);
}

/// `attr3.y`
Operand read_attribute(Cursor& in) {
  in.skip_blanks();
  const size_t at = in.at();
  const std::string_view word = in.word();
  unsigned n = 0;
  size_t digits = 4;
  for (; digits < word.size() && digits < 7 && word[digits] >= '0' && word[digits] <= '9'; ++digits)
    n = n * 10 + static_cast<unsigned>(word[digits] - '0');
  if (!word.starts_with("attr") || digits == 4 || digits != word.size())
    Cursor::fail_at(at, "expected an attribute such as attr0.x" + in.found(at));
  if (n > 63) Cursor::fail_value(at, "attributes go from attr0 to attr63");
  in.expect('.', "after the attribute");
  const size_t channel = kChannels.find(in.peek());
  if (in.word().size() != 1 || channel == std::string_view::npos)
    Cursor::fail_at(at, "expected the channel x, y, z or w of the attribute");
  return immediate(n | static_cast<unsigned>(channel) << 6);
}

/// Registers that the data takes by the instruction's dmask.
unsigned data_registers(const Instruction& i) {
  const bool gathers = i.row->meaning.op == ir::Op::select;
  const auto components = static_cast<unsigned>(std::popcount(i.graphics.dmask));
  return (gathers ? 4 : std::max(components, 1U)) + (i.tfe ? 1 : 0);
}

std::string dmask_problem(const Instruction& i) {
  const uint8_t mask = i.graphics.dmask;
  if (i.row->meaning.op == ir::Op::select && std::popcount(mask) != 1)
    return i.row->name + " takes one component: dmask with one bit";
  if (i.row->kind != Kind::absent || i.row->meaning.op != ir::Op::atom) return {};
  const bool exchange = i.row->meaning.atom == ir::AtomOp::cas;
  const bool whole = exchange ? mask == 3 || mask == 15 : mask == 1 || mask == 3;
  if (!whole)
    return i.row->name +
           (exchange ? " takes dmask:0x3 or dmask:0xf" : " takes dmask:0x1 or dmask:0x3");
  if (i.tfe && mask != 1) return "tfe is possible with dmask:0x1 only";
  return {};
}

std::string image_problem(const Instruction& i, Gen gen) {
  if (i.graphics.d16 && (gen != Gen::gfx8 || !i.row->meaning.d16))
    return gen != Gen::gfx8 ? fmt::format("d16 does not exist on {}", name(gen))
                            : "d16 is not possible with " + i.row->name;
  if (std::string problem = dmask_problem(i); !problem.empty()) return problem;
  const unsigned data = data_registers(i), found = i.operand(Slot::idata)->count;
  if (data != found)
    return fmt::format("dmask and tfe ask for {} data register{}, found {}", data,
                       data == 1 ? "" : "s", found);
  const unsigned address = i.operand(Slot::iaddr)->count;
  const unsigned least = i.row->least_address, most = i.row->most_address;
  const unsigned rounded = most <= 4 ? 4 : most <= 8 ? 8 : 16;
  const bool fits = (address >= least && address <= std::min(most, 8U)) || address == rounded;
  if (!fits)
    return fmt::format("{} takes {} to {} address registers, found {}", i.row->name, least, rounded,
                       address);
  return {};
}

std::string export_problem(const Instruction& i) {
  if (!i.graphics.compr) return {};
  const auto differ = [&](size_t a, size_t b) {
    return i.operands[a].count != i.operands[b].count || i.operands[a].code != i.operands[b].code;
  };
  return differ(1, 2) || differ(3, 4)
             ? "compr takes two registers, each written twice: v0, v0, v1, v1"
             : "";
}

}  // namespace

Operand read_graphics_operand(Cursor& in, Slot slot, Gen gen) {
  if (slot == Slot::target) return read_target(in);
  if (slot == Slot::attr) return read_attribute(in);
  if (slot == Slot::esrc) {
    in.skip_blanks();
    const size_t at = in.at();
    Operand o;
    o.code = kVgpr0;
    o.count = 0;
    if (in.take_word("off")) return o;
    o = read_vgprs(in, gen);
    if (o.count != 1) Cursor::fail_at(at, "expected one VGPR or off");
    return o;
  }
  in.skip_blanks();
  for (uint32_t n = 0; n < std::size(kPoints); ++n)
    if (in.take_word(kPoints[n])) return immediate(n);
  in.fail("expected p10, p20 or p0" + in.found());
}

std::string write_graphics_operand(const Operand& o, Slot slot, Gen gen) {
  switch (slot) {
    case Slot::target:
      return write_target(o.value);
    case Slot::attr:
      return fmt::format("attr{}.{}", o.value & 63, kChannels[o.value >> 6 & 3]);
    case Slot::ipoint:
      return o.value < std::size(kPoints) ? std::string(kPoints[o.value])
                                          : fmt::format("invalid_param_{}", o.value);
    default:
      return o.count == 0 ? "off" : register_name(o.code, 1, gen);
  }
}

std::string_view read_graphics_modifier(Cursor& in, Instruction& i) {
  in.skip_blanks();
  const size_t at = in.at();
  if (i.row->encoding == Encoding::mimg && in.take_word("dmask")) {
    in.expect(':', "after 'dmask'");
    const uint64_t mask = read_integer(in, "a mask of components");
    if (mask > 15) Cursor::fail_value(at, "dmask goes from 0 to 0xf");
    i.graphics.dmask = static_cast<uint8_t>(mask);
    return "dmask";
  }
  for (const Flag& f : flags_of(i.row->encoding)) {
    if (!in.take_word(f.name)) continue;
    set(i, f);
    return f.name;
  }
  Cursor::fail_at(at, "unexpected text after the operands" + in.found(at));
}

std::string write_graphics_modifiers(const Instruction& i) {
  std::string out;
  if (i.graphics.dmask != 0) out = fmt::format(" dmask:{:#x}", i.graphics.dmask);
  for (const Flag& f : flags_of(i.row->encoding))
    if (get(i, f)) out += fmt::format(" {}", f.name);
  return out;
}

std::string graphics_problem(const Instruction& i, Gen gen) {
  if (i.row->encoding == Encoding::mimg) return image_problem(i, gen);
  if (i.row->has(Slot::attr) && i.row->meaning.count == 0 && i.omod != 0)
    return i.row->name + " takes no output modifier";
  return i.row->encoding == Encoding::exp ? export_problem(i) : std::string();
}

uint64_t graphics_flags(const Instruction& i) {
  uint64_t w = uint64_t{i.graphics.dmask} << kDmask;
  for (const Flag& f : flags_of(i.row->encoding))
    if (get(i, f)) w |= uint64_t{1} << f.bit;
  if (i.row->encoding != Encoding::exp) return w;
  for (unsigned n = 0; n < 4; ++n) {
    const Operand& o = i.operands[n + 1];
    w |= uint64_t{o.count} << n;
    // With halves, two registers stand for four components.
    const unsigned place = i.graphics.compr ? n / 2 : n;
    if (o.count != 0) w |= uint64_t{o.code - kVgpr0} << (32 + 8 * place);
  }
  return w;
}

void read_graphics_flags(Instruction& i, uint64_t word) {
  for (const Flag& f : flags_of(i.row->encoding))
    if ((word >> f.bit & 1) != 0) set(i, f);
  if (i.row->encoding == Encoding::mimg) {
    i.graphics.dmask = static_cast<uint8_t>(word >> kDmask & 15);
    i.operands[0].count = static_cast<uint8_t>(data_registers(i));
    i.operands[1].count = i.row->least_address;
  }
  if (i.row->encoding != Encoding::exp) return;
  for (unsigned n = 0; n < 4; ++n) {
    Operand& o = i.operands[n + 1];
    o.count = word >> n & 1;
    const unsigned place = i.graphics.compr ? n / 2 : n;
    o.code = kVgpr0 + (o.count != 0 ? word >> (32 + 8 * place) & 255 : 0);
  }
}

}  // namespace lanewise::gcn
