#include "runtime/isa/gcn/encoding/lane_form.hpp"

#include <fmt/format.h>

#include "runtime/isa/gcn/text/operands/number_text.hpp"

namespace lanewise::gcn {
namespace {

/// Where source 0 comes from: codes in order of distance.
struct Shift {
  std::string_view name;
  uint16_t base;  ///< the code of distance 0
  uint8_t least, most;
};
constexpr Shift kShifts[] = {{"row_shl", 0x100, 1, 15}, {"row_shr", 0x110, 1, 15},
                             {"row_ror", 0x120, 1, 15}, {"wave_shl", 0x12f, 1, 1},
                             {"wave_rol", 0x133, 1, 1}, {"wave_shr", 0x137, 1, 1},
                             {"wave_ror", 0x13b, 1, 1}};
struct Named {
  std::string_view text;
  uint16_t code;
};
constexpr Named kNamedControls[] = {{"row_mirror", 0x140}, {"row_half_mirror", 0x141}};
constexpr unsigned kBroadcast15 = 0x142, kBroadcast31 = 0x143;
uint16_t read_quad(Cursor& in) {
  in.expect(':', "after quad_perm");
  in.expect('[', "before the four lanes");
  uint16_t code = 0;
  for (unsigned n = 0; n < 4; ++n) {
    if (n != 0) in.expect(',', "between the lanes");
    in.skip_blanks();
    const size_t at = in.at();
    const uint64_t lane = read_integer(in, "a lane of the quad");
    if (lane > 3) Cursor::fail_value(at, "lanes of a quad go from 0 to 3");
    code = static_cast<uint16_t>(code | lane << (2 * n));
  }
  in.expect(']', "after the four lanes");
  return code;
}

bool signs_exist(const Instruction& i) {
  for (size_t n = 0; n < i.operands.size(); ++n) {
    const SlotSpec& spec = i.row->operands[n];
    const FormSigns can = form_signs(spec, *i.row, i.form);
    const bool sext = spec.slot == Slot::src0    ? i.sdwa.sext0
                      : spec.slot == Slot::vsrc1 ? i.sdwa.sext1
                                                 : false;
    const bool real = i.operands[n].neg || i.operands[n].abs;
    if ((sext && (real || !can.sext)) || (real && !can.real)) return false;
  }
  return true;
}

}  // namespace

bool takes_lane_form(const Row& row) {
  const bool short_form = row.encoding == Encoding::vop1 || row.encoding == Encoding::vop2 ||
                          row.encoding == Encoding::vopc;
  const bool has_form = row.has(Slot::src0) && !row.has(Slot::sdst) && !row.has(Slot::ssrc1) &&
                        !row.has(Slot::literal) && !row.does(kReadsM0);
  if (!short_form || !has_form) return false;
  for (const SlotSpec& s : row.operands)
    if (s.slot != Slot::vcc && s.count != 1) return false;
  return true;
}

size_t first_source(const Row& row) {
  size_t n = 0;
  while (row.operands[n].slot != Slot::src0) ++n;
  return n;
}
size_t second_source(const Row& row) {
  for (size_t n = 0; n < row.operands.size(); ++n)
    if (row.operands[n].slot == Slot::vsrc1) return n;
  return 0;
}

FormSigns form_signs(const SlotSpec& spec, const Row& row, Form form) {
  const bool real = ir::is_float(spec.type), parts = form == Form::sdwa;
  // A selection moves bits, which can be floats.
  if (row.name == "v_cndmask_b32") return {parts, parts};
  return {real, parts && !real};
}

bool form_exists(const Instruction& i) {
  if (!takes_lane_form(*i.row) || !signs_exist(i)) return false;
  if (i.form == Form::dpp) return !lanes_text(i.dpp.ctrl).empty();
  const bool whole = i.sdwa.dst_sel == kSelDword || !i.row->does(kReadsDst);
  return whole && i.sdwa.dst_sel <= kSelDword && i.sdwa.src0_sel <= kSelDword &&
         i.sdwa.src1_sel <= kSelDword && i.sdwa.dst_unused <= kUnusedPreserve;
}

std::optional<uint32_t> read_lanes(Cursor& in) {
  const auto distance = [&](const char* what, uint64_t least, uint64_t most) {
    in.expect(':', "after the modifier's name");
    in.skip_blanks();
    const size_t at = in.at();
    const uint64_t value = read_integer(in, what);
    if (value < least || value > most)
      Cursor::fail_value(at, fmt::format("{} goes from {} to {}", what, least, most));
    return static_cast<unsigned>(value);
  };
  if (in.take_word("quad_perm")) return read_quad(in);
  for (const Named& c : kNamedControls)
    if (in.take_word(c.text)) return c.code;
  for (const Shift& s : kShifts)
    if (in.take_word(s.name)) return s.base + distance("the distance", s.least, s.most);
  if (!in.take_word("row_bcast")) return std::nullopt;
  const size_t at = in.at() + 1;
  const unsigned lane = distance("the lane", 15, 31);
  if (lane != 15 && lane != 31) Cursor::fail_value(at, "row_bcast takes 15 or 31");
  return lane == 15 ? kBroadcast15 : kBroadcast31;
}

std::string lanes_text(unsigned code) {
  if (code <= 0xff)
    return fmt::format("quad_perm:[{},{},{},{}]", code & 3, code >> 2 & 3, code >> 4 & 3,
                       code >> 6);
  for (const Named& c : kNamedControls)
    if (c.code == code) return std::string(c.text);
  for (const Shift& s : kShifts)
    if (code >= unsigned{s.base} + s.least && code <= unsigned{s.base} + s.most)
      return fmt::format("{}:{}", s.name, code - s.base);
  return code == kBroadcast15   ? "row_bcast:15"
         : code == kBroadcast31 ? "row_bcast:31"
                                : std::string();
}

}  // namespace lanewise::gcn
