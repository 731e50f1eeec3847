#include "runtime/isa/gcn/text/operands/graphics_text.hpp"

#include <fmt/format.h>

#include <iterator>

#include "runtime/isa/gcn/text/operands/number_text.hpp"
#include "runtime/isa/gcn/text/operands/operand_text.hpp"
#include "runtime/isa/gcn/text/operands/register_text.hpp"

namespace lanewise::gcn {
namespace {

struct Targets {
  std::string_view name;
  unsigned first, count;
};
constexpr Targets kTargets[] = {
    {"mrtz", 8, 1}, {"null", 9, 1}, {"mrt", 0, 8}, {"pos", 12, 4}, {"param", 32, 32}};
constexpr std::string_view kPoints[] = {"p10", "p20", "p0"}, kChannels = "xyzw";

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
  return {};
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

}  // namespace

bool is_target(unsigned code) {
  return !write_target(code).empty();
}

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

}  // namespace lanewise::gcn
