#include "runtime/isa/gcn/text/lane_form.hpp"

#include <fmt/format.h>

#include "runtime/isa/gcn/text/number_text.hpp"

namespace lanewise::gcn {
namespace {

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
constexpr std::string_view kSels[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                                      "WORD_0", "WORD_1", "DWORD"};
constexpr std::string_view kUnused[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"};

uint64_t field(Cursor& in, const char* what, uint64_t least, uint64_t most) {
  in.expect(':', "after the modifier's name");
  in.skip_blanks();
  const size_t at = in.at();
  const uint64_t value = read_integer(in, what);
  if (value < least || value > most)
    Cursor::fail_value(at, fmt::format("{} goes from {} to {}", what, least, most));
  return value;
}

template <size_t N>
uint8_t name_field(Cursor& in, const std::string_view (&names)[N]) {
  in.expect(':', "after the modifier's name");
  in.skip_blanks();
  const size_t at = in.at();
  for (size_t n = 0; n < N; ++n)
    if (in.take_word(names[n])) return static_cast<uint8_t>(n);
  Cursor::fail_at(at, fmt::format("expected {} or another of its kind{}", names[0], in.found(at)));
}

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

/// quad_perm, a shift, a mirror or a broadcast.
bool read_control(Cursor& in, uint16_t& code) {
  if (in.take_word("quad_perm")) {
    code = read_quad(in);
    return true;
  }
  for (const Named& c : kNamedControls)
    if (in.take_word(c.text)) {
      code = c.code;
      return true;
    }
  for (const Shift& s : kShifts)
    if (in.take_word(s.name)) {
      code = static_cast<uint16_t>(s.base + field(in, "the distance", s.least, s.most));
      return true;
    }
  if (!in.take_word("row_bcast")) return false;
  const size_t at = in.at() + 1;
  const uint64_t lane = field(in, "the lane", 15, 31);
  if (lane != 15 && lane != 31) Cursor::fail_value(at, "row_bcast takes 15 or 31");
  code = lane == 15 ? 0x142 : 0x143;
  return true;
}

bool read_dpp(Cursor& in, Dpp& d, bool& control_seen) {
  const size_t at = in.at();
  if (uint16_t code = 0; read_control(in, code)) {
    if (control_seen) Cursor::fail_at(at, "only one choice of lanes is possible");
    control_seen = true;
    d.ctrl = code;
    return true;
  }
  if (in.take_word("row_mask"))
    d.row_mask = static_cast<uint8_t>(field(in, "row_mask", 0, 15));
  else if (in.take_word("bank_mask"))
    d.bank_mask = static_cast<uint8_t>(field(in, "bank_mask", 0, 15));
  else if (in.take_word("bound_ctrl")) {
    field(in, "bound_ctrl", 0, 1);  // both mean that it is on
    d.bound_ctrl = true;
  } else
    return false;
  return true;
}

/// Compares have no destination to pick a part of, and some instructions one source.
bool read_sdwa(Cursor& in, Instruction& i) {
  const bool compares = i.row->encoding == Encoding::vopc;
  if (in.take_word("clamp"))
    i.clamp = true;
  else if (!compares && in.take_word("dst_sel"))
    i.sdwa.dst_sel = name_field(in, kSels);
  else if (!compares && in.take_word("dst_unused"))
    i.sdwa.dst_unused = name_field(in, kUnused);
  else if (in.take_word("src0_sel"))
    i.sdwa.src0_sel = name_field(in, kSels);
  else if (second_source(*i.row) != 0 && in.take_word("src1_sel"))
    i.sdwa.src1_sel = name_field(in, kSels);
  else
    return false;
  return true;
}

bool control_exists(unsigned code) {
  if (code <= 0xff || (code >= 0x140 && code <= 0x143)) return true;
  for (const Shift& s : kShifts)
    if (code >= unsigned{s.base} + s.least && code <= unsigned{s.base} + s.most) return true;
  return false;
}

std::string control_text(unsigned code) {
  if (code <= 0xff)
    return fmt::format("quad_perm:[{},{},{},{}]", code & 3, code >> 2 & 3, code >> 4 & 3,
                       code >> 6);
  for (const Named& c : kNamedControls)
    if (c.code == code) return std::string(c.text);
  for (const Shift& s : kShifts)
    if (code >= unsigned{s.base} + s.least && code <= unsigned{s.base} + s.most)
      return fmt::format("{}:{}", s.name, code - s.base);
  return code == 0x142 ? "row_bcast:15" : "row_bcast:31";
}

unsigned bit(bool on, unsigned pos) {
  return (on ? 1U : 0U) << pos;
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

namespace {

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

uint32_t encode_form(const Instruction& i) {
  const Operand& a = i.operands[first_source(*i.row)];
  const size_t second = second_source(*i.row);
  const bool neg1 = second != 0 && i.operands[second].neg;
  const bool abs1 = second != 0 && i.operands[second].abs;
  const uint32_t source = a.code - kVgpr0;
  if (i.form == Form::dpp)
    return source | uint32_t{i.dpp.ctrl} << 8 | bit(i.dpp.bound_ctrl, 19) | bit(a.neg, 20) |
           bit(a.abs, 21) | bit(neg1, 22) | bit(abs1, 23) | uint32_t{i.dpp.bank_mask} << 24 |
           uint32_t{i.dpp.row_mask} << 28;
  const bool compares = i.row->encoding == Encoding::vopc;
  uint32_t w = source | uint32_t{i.sdwa.src0_sel} << 16 | bit(i.sdwa.sext0, 19) | bit(a.neg, 20) |
               bit(a.abs, 21) | bit(i.clamp, 13);
  if (!compares) w |= uint32_t{i.sdwa.dst_sel} << 8 | uint32_t{i.sdwa.dst_unused} << 11;
  if (second != 0)
    w |= uint32_t{i.sdwa.src1_sel} << 24 | bit(i.sdwa.sext1, 27) | bit(neg1, 28) | bit(abs1, 29);
  return w;
}

bool decode_form(Instruction& i, uint32_t w) {
  const auto bits = [&](unsigned pos, unsigned len) {
    return static_cast<uint8_t>(w >> pos & ((1U << len) - 1));
  };
  Operand& a = i.operands[first_source(*i.row)];
  const size_t second = second_source(*i.row);
  a.code = kVgpr0 + (w & 0xff);
  a.neg = bits(20, 1) != 0;
  a.abs = bits(21, 1) != 0;
  const bool dpp = i.form == Form::dpp;
  if (second != 0) {
    i.operands[second].neg = bits(dpp ? 22 : 28, 1) != 0;
    i.operands[second].abs = bits(dpp ? 23 : 29, 1) != 0;
  }
  if (dpp) {
    i.dpp.ctrl = static_cast<uint16_t>(w >> 8 & 0x1ff);
    i.dpp.bound_ctrl = bits(19, 1) != 0;
    i.dpp.bank_mask = bits(24, 4);
    i.dpp.row_mask = bits(28, 4);
    return control_exists(i.dpp.ctrl) && signs_exist(i);
  }
  i.clamp = bits(13, 1) != 0;
  if (i.row->encoding != Encoding::vopc) {
    i.sdwa.dst_sel = bits(8, 3);
    i.sdwa.dst_unused = bits(11, 2);
  }
  i.sdwa.src0_sel = bits(16, 3);
  i.sdwa.sext0 = bits(19, 1) != 0;
  if (second != 0) {
    i.sdwa.src1_sel = bits(24, 3);
    i.sdwa.sext1 = bits(27, 1) != 0;
  }
  const bool whole = i.sdwa.dst_sel == kSelDword || !i.row->does(kReadsDst);
  return whole && signs_exist(i) && i.sdwa.dst_sel <= kSelDword && i.sdwa.src0_sel <= kSelDword &&
         i.sdwa.src1_sel <= kSelDword && i.sdwa.dst_unused <= kUnusedPreserve;
}

bool read_form_modifier(Cursor& in, Instruction& i, bool& control_seen) {
  in.skip_blanks();
  return i.form == Form::dpp ? read_dpp(in, i.dpp, control_seen) : read_sdwa(in, i);
}

std::string write_form(const Instruction& i) {
  if (i.form == Form::dpp)
    return fmt::format(" {} row_mask:{:#x} bank_mask:{:#x}{}", control_text(i.dpp.ctrl),
                       i.dpp.row_mask, i.dpp.bank_mask, i.dpp.bound_ctrl ? " bound_ctrl:1" : "");
  std::string out = i.clamp ? " clamp" : "";
  if (i.row->encoding != Encoding::vopc)
    out +=
        fmt::format(" dst_sel:{} dst_unused:{}", kSels[i.sdwa.dst_sel], kUnused[i.sdwa.dst_unused]);
  out += fmt::format(" src0_sel:{}", kSels[i.sdwa.src0_sel]);
  if (second_source(*i.row) != 0) out += fmt::format(" src1_sel:{}", kSels[i.sdwa.src1_sel]);
  return out;
}

}  // namespace lanewise::gcn
