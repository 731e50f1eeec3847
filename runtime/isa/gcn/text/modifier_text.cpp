#include "runtime/isa/gcn/text/modifier_text.hpp"

#include <fmt/format.h>

#include <set>

#include "runtime/isa/gcn/text/expression.hpp"
#include "runtime/isa/gcn/text/format_text.hpp"
#include "runtime/isa/gcn/text/graphics_text.hpp"
#include "runtime/isa/gcn/text/lane_form.hpp"
#include "runtime/isa/gcn/text/swizzle_text.hpp"

namespace lanewise::gcn {
namespace {

/// Modifiers that the line has so far: none stands twice.
class Once {
 public:
  void check(size_t at, std::string_view modifier) {
    if (!seen_.insert(std::string(modifier)).second)
      Cursor::fail_value(at, fmt::format("{} is there twice", modifier));
  }
  void set(size_t at, std::string_view modifier, bool& flag) {
    check(at, modifier);
    flag = true;
  }
  bool empty() const { return seen_.empty(); }
  bool has(const std::string& modifier) const { return seen_.contains(modifier); }
  /// `glc`, `slc`, or in so many words that they are off.
  bool cache_flag(Cursor& in, Instruction& i) {
    in.skip_blanks();
    const size_t at = in.at();
    for (const auto& [name, flag] :
         {std::pair{"glc", &Instruction::glc}, std::pair{"slc", &Instruction::slc}}) {
      const bool on = in.take_word(name);
      if (!on && !in.take_word(std::string("no") + name)) continue;
      check(at, name);
      i.*flag = on;
      return true;
    }
    return false;
  }

 private:
  std::set<std::string> seen_;
};

void read_buffer_modifier(Cursor& in, Instruction& i, Gen gen, Once& once) {
  if (i.row->operands.empty()) in.fail(i.row->name + " takes no flags" + in.found());
  in.skip_blanks();
  const size_t at = in.at();
  const struct {
    std::string_view name;
    bool Instruction::*flag;
  } flags[] = {{"offen", &Instruction::offen},
               {"idxen", &Instruction::idxen},
               {"addr64", &Instruction::addr64},
               {"tfe", &Instruction::tfe},
               {"lds", &Instruction::lds}};
  if (once.cache_flag(in, i)) return;
  for (const auto& f : flags) {
    if (in.take_word(f.name)) return once.set(at, f.name, i.*f.flag);
  }
  if (i.row->encoding == Encoding::mtbuf && in.take_word("format")) {
    once.check(at, "format");
    return read_format(in, i, gen);
  }
  if (in.take_word("offset")) {
    in.expect(':', "after 'offset'");
    once.check(at, "offset");
    const size_t value_at = in.at();
    const int64_t value = read_constant(in, "an offset");
    if (value < 0 || value > 4095) Cursor::fail_value(value_at, "offset goes from 0 to 4095");
    i.offset = static_cast<uint16_t>(value);
    return;
  }
  Cursor::fail_at(at,
                  "expected offen, idxen, addr64, offset:N, glc, slc, tfe or lds" + in.found(at));
}

/// Semaphores, which access no element of memory.
bool is_of_global_share(const Row& row) {
  return row.encoding == Encoding::ds && row.kind == Kind::absent && row.meaning.count == 0;
}

bool is_swizzle(const Instruction& i) {
  return i.row->meaning.swizzle;
}

/// `offset:N`, or for pairs `offset0:N offset1:N`.
void read_lds_modifier(Cursor& in, Instruction& i, Once& once) {
  in.skip_blanks();
  const size_t at = in.at();
  if (i.row->kind == Kind::nothing) in.fail("unexpected text after the operands" + in.found());
  const bool permutes = i.row->kind == Kind::across && !is_swizzle(i);
  if (!permutes && in.take_word("gds")) return once.set(at, "gds", i.gds);
  const bool pair = i.row->meaning.stride != 0;
  const bool second = pair && in.take_word("offset1");
  if (!second && !in.take_word(pair ? "offset0" : "offset"))
    Cursor::fail_at(at, std::string(pair ? "expected offset0:N, offset1:N or gds"
                                         : "expected offset:N or gds") +
                            in.found(at));
  once.check(at, second ? "offset1" : pair ? "offset0" : "offset");
  in.expect(':', "after the offset's name");
  const size_t value_at = in.at();
  if (is_swizzle(i) && in.take_word("swizzle")) {
    i.offset = read_swizzle(in);
    return;
  }
  const int64_t value = read_constant(in, "an offset");
  const int64_t most = pair ? 255 : 65535;
  if (value < 0 || value > most)
    Cursor::fail_value(value_at, fmt::format("offset goes from 0 to {}", most));
  i.offset = static_cast<uint16_t>(i.offset | value << (second ? 8 : 0));
}

void read_flat_modifier(Cursor& in, Instruction& i, Once& once) {
  in.skip_blanks();
  const size_t at = in.at();
  if (once.cache_flag(in, i)) return;
  if (!in.take_word("offset")) Cursor::fail_at(at, "expected glc or slc" + in.found(at));
  once.check(at, "offset");
  in.expect(':', "after 'offset'");
  if (read_constant(in, "an offset") != 0)
    Cursor::fail_value(at, "flat instructions have no offset before GFX9");
}

/// Loads before GCN3 have no bit for the flag, and take it.
void read_scalar_modifier(Cursor& in, Instruction& i, Gen gen, Once& once) {
  in.skip_blanks();
  const size_t at = in.at();
  if (!once.cache_flag(in, i)) Cursor::fail_at(at, "expected glc" + in.found(at));
  if (i.slc) Cursor::fail_value(at, "scalar instructions have no slc");
  i.glc = i.glc && takes_scalar_glc(*i.row, gen);
}

/// The flag and the register for the result come together.
void check_flat(Cursor& in, const Instruction& i) {
  if (i.row->meaning.op != ir::Op::atom || i.row->meaning.returns == i.glc) return;
  Cursor::fail_value(in.at(), i.glc ? i.row->name + " with glc needs a register for the old value"
                                    : i.row->name + " returns the old value with glc only");
}

/// Interpolation of 16 bits picks a half of the attribute.
bool halves_attribute(const Row& row) {
  return row.has(Slot::attr) && row.meaning.type == ir::Type::f16;
}

void read_vop3_modifier(Cursor& in, Instruction& i, Gen gen, Once& once) {
  in.skip_blanks();
  const size_t at = in.at();
  if (i.row->takes_clamp(gen) && in.take_word("clamp")) return once.set(at, "clamp", i.clamp);
  if (halves_attribute(*i.row) && in.take_word("high")) {
    once.check(at, "high");
    for (size_t n = 0; n < i.operands.size(); ++n)
      if (i.row->operands[n].slot == Slot::attr) i.operands[n].value |= kAttributeHigh;
    return;
  }
  const bool mul = i.row->takes_output_scale() && in.take_word("mul");
  if (!mul && (!i.row->takes_output_scale() || !in.take_word("div")))
    Cursor::fail_at(at, "unexpected text after the operands" + in.found(at));
  once.check(at, "the output modifier");
  in.expect(':', "after the output modifier");
  const uint64_t n = in.number("1, 2 or 4");
  if (n != 1 && n != 2 && (n != 4 || !mul))
    Cursor::fail_value(at, "expected mul:2, mul:4 or div:2, or mul:1 or div:1 for none");
  i.omod = static_cast<uint8_t>(n == 1 ? 0 : !mul ? 3 : n == 2 ? 1 : 2);
}

void check_buffer(Cursor& in, const Instruction& i, Gen gen) {
  if (const std::string problem = buffer_problem(i, gen); !problem.empty()) in.fail(problem);
}

void read_form_modifiers(Cursor& in, Instruction& i) {
  Once once;
  bool control_seen = false;
  while (!in.done()) {
    in.take(',');
    in.skip_blanks();
    Cursor start = in;
    if (!read_form_modifier(in, i, control_seen))
      in.fail("unexpected text after the operands" + in.found());
    once.check(start.at(), start.word());
  }
  if (i.row->does(kReadsDst) && i.sdwa.dst_sel != kSelDword)
    Cursor::fail_value(in.at(), i.row->name + " writes a whole register: dst_sel:DWORD");
  if (i.form == Form::dpp && !control_seen)
    in.fail("expected quad_perm:[...], row_shl:N or another choice of lanes");
}

}  // namespace

void clear_absent_fields(Instruction& i) {
  if (second_source(*i.row) == 0) i.sdwa.src1_sel = 0;
  if (i.row->encoding == Encoding::vopc) i.sdwa.dst_sel = i.sdwa.dst_unused = 0;
}

void read_modifiers(Cursor& in, Instruction& i, Gen gen) {
  const bool scalar =
      i.row->encoding == Encoding::smrd && i.row->has(Slot::soff) && !i.row->has(Slot::probe);
  const bool carry_text = scalar || is_buffer(i.row->encoding) || i.row->encoding == Encoding::ds ||
                          i.row->encoding == Encoding::flat || i.row->encoding == Encoding::vop3 ||
                          is_graphics(i.row->encoding);
  if (i.form != Form::plain) read_form_modifiers(in, i);
  Once once;
  while (!in.done()) {
    if (!carry_text) in.fail("unexpected text after the operands" + in.found());
    if (!i.row->operands.empty()) in.take(',');
    if (is_buffer(i.row->encoding))
      read_buffer_modifier(in, i, gen, once);
    else if (i.row->encoding == Encoding::ds)
      read_lds_modifier(in, i, once);
    else if (i.row->encoding == Encoding::flat)
      read_flat_modifier(in, i, once);
    else if (scalar)
      read_scalar_modifier(in, i, gen, once);
    else if (i.row->encoding == Encoding::mimg && once.cache_flag(in, i))
      continue;
    else if (is_graphics(i.row->encoding))
      once.check(in.at(), read_graphics_modifier(in, i));
    else
      read_vop3_modifier(in, i, gen, once);
  }
  // Flags that the name has already can be left out where no others are.
  const bool names_lds = i.row->name == "buffer_store_lds_dword";
  if (names_lds && once.empty()) i.lds = true;
  if (is_buffer(i.row->encoding)) check_buffer(in, i, gen);
  if (const std::string problem = graphics_problem(i, gen); !problem.empty()) in.fail(problem);
  if (is_of_global_share(*i.row) && !i.gds && once.has("offset"))
    in.fail(i.row->name + " is for the global data share: gds");
  if (is_of_global_share(*i.row)) i.gds = true;
  if (i.row->encoding == Encoding::flat) check_flat(in, i);
}

void write_lds_modifiers(const Instruction& i, std::string& out) {
  if (is_swizzle(i)) {
    if (i.offset != 0) out += " offset:" + swizzle_text(i.offset);
  } else if (i.row->meaning.stride == 0) {
    if (i.offset != 0) out += fmt::format(" offset:{}", i.offset);
  } else {
    if ((i.offset & 0xff) != 0) out += fmt::format(" offset0:{}", i.offset & 0xff);
    if (i.offset >> 8 != 0) out += fmt::format(" offset1:{}", i.offset >> 8);
  }
  if (i.gds) out += " gds";
}

}  // namespace lanewise::gcn
