// One instruction between text and its operands.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "runtime/isa/gcn/text/expression.hpp"
#include "runtime/isa/gcn/text/format_text.hpp"
#include "runtime/isa/gcn/text/graphics_text.hpp"
#include "runtime/isa/gcn/text/lane_form.hpp"
#include "runtime/isa/gcn/text/number_text.hpp"
#include "runtime/isa/gcn/text/operand_text.hpp"
#include "runtime/isa/gcn/text/swizzle_text.hpp"

namespace lanewise::gcn {
namespace {

bool is_vop12c(Encoding e) {
  return e == Encoding::vop1 || e == Encoding::vop2 || e == Encoding::vopc;
}

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

/// One operand; sources of DPP and SDWA forms have rules of their own.
Operand read_one(Cursor& in, Instruction& i, const SlotSpec& spec, Gen gen) {
  const bool source = spec.slot == Slot::src0 || spec.slot == Slot::vsrc1;
  if (i.form == Form::plain || !source) return read_operand(in, spec, *i.row, gen);
  bool sext = false;
  const Operand o = read_form_source(in, spec, *i.row, i.form, gen, sext);
  (spec.slot == Slot::src0 ? i.sdwa.sext0 : i.sdwa.sext1) = sext;
  return o;
}

/// The fields that a compare or an instruction with one source does not have are 0.
void clear_absent_fields(Instruction& i) {
  if (second_source(*i.row) == 0) i.sdwa.src1_sel = 0;
  if (i.row->encoding == Encoding::vopc) i.sdwa.dst_sel = i.sdwa.dst_unused = 0;
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

/// Between operands stands a comma; the assemblers do with a blank, too.
void expect_separator(Cursor& in) {
  const Cursor before = in;
  if (in.take(',')) return;
  const bool blank = in.at() != before.at() && !in.done();
  if (!blank) in.fail("expected ',' before the next operand" + in.found());
}

/// Condition codes and offsets that the text leaves out, as the assemblers allow: the only vcc of a
/// compare or a selection, the offset 0 of a scalar load.
bool read_left_out(Cursor next, Instruction& i, size_t n, bool first_too) {
  const Row& row = *i.row;
  const Slot slot = row.operands[n].slot;
  const bool first = n == 0, last = n + 1 == row.operands.size();
  if (i.form != Form::plain) return false;
  if (slot == Slot::soff && last && row.encoding == Encoding::smrd && next.done()) {
    i.operands.push_back({.immediate = true, .label = {}});
    return true;
  }
  const auto is_vcc = [](const SlotSpec& s) { return s.slot == Slot::vcc; };
  if (slot != Slot::vcc || std::ranges::count_if(row.operands, is_vcc) != 1) return false;
  if (first ? next.take_word("vcc") && !first_too : !last || !next.done()) return false;
  i.operands.push_back({.code = kVccLo, .count = 2, .label = {}});
  return true;
}

/// `first_too`: the first operand is left out though a vcc stands in its place.
Instruction read_with(const Row& row, Cursor in, size_t name_size, Gen gen, Form form,
                      bool first_too) {
  Instruction i;
  i.row = &row;
  i.form = form;
  if (form == Form::sdwa) clear_absent_fields(i);
  const size_t begin = in.at();
  in.seek(begin + name_size);
  size_t first = 0;
  if (row.has(Slot::vdata)) {
    // Loads to LDS have no data register; some assemblers want one written all the same.
    in.skip_blanks();
    const bool skip = in.rest().find(" lds") != std::string_view::npos &&
                      (in.rest().substr(0, 3) == "off" ||
                       std::count(in.rest().begin(), in.rest().end(), ',') == 2);
    if (skip) {
      i.operands.push_back({.code = kVgpr0, .count = 1, .label = {}});
      first = 1;
    }
  }
  bool implied = false;
  for (size_t n = first; n < row.operands.size(); ++n) {
    const bool follows_target = n == 1 && row.operands[0].slot == Slot::target;
    const bool begins = n == first || follows_target || implied;
    implied = read_left_out(in, i, n, first_too);
    if (implied) continue;
    if (!begins) expect_separator(in);
    if (follows_target) in.take(',');
    if (row.operands[n].slot == Slot::soffset && row.encoding == Encoding::mtbuf)
      read_format_prefix(in, i);
    i.operands.push_back(read_one(in, i, row.operands[n], gen));
  }
  const bool scalar =
      row.encoding == Encoding::smrd && row.has(Slot::soff) && !row.has(Slot::probe);
  const bool carry_text = scalar || is_buffer(row.encoding) || row.encoding == Encoding::ds ||
                          row.encoding == Encoding::flat || row.encoding == Encoding::vop3 ||
                          is_graphics(row.encoding);
  if (form != Form::plain) read_form_modifiers(in, i);
  Once once;
  while (!in.done()) {
    if (!carry_text) in.fail("unexpected text after the operands" + in.found());
    if (!row.operands.empty()) in.take(',');
    if (is_buffer(row.encoding))
      read_buffer_modifier(in, i, gen, once);
    else if (row.encoding == Encoding::ds)
      read_lds_modifier(in, i, once);
    else if (row.encoding == Encoding::flat)
      read_flat_modifier(in, i, once);
    else if (scalar)
      read_scalar_modifier(in, i, gen, once);
    else if (row.encoding == Encoding::mimg && once.cache_flag(in, i))
      continue;
    else if (is_graphics(row.encoding))
      once.check(in.at(), read_graphics_modifier(in, i));
    else
      read_vop3_modifier(in, i, gen, once);
  }
  if (const std::string problem = operand_problem(i, gen); !problem.empty())
    Cursor::fail_value(begin, problem);
  // Flags that the name has already can be left out where no others are.
  const bool names_lds = row.name == "buffer_store_lds_dword";
  if (names_lds && once.empty()) i.lds = true;
  if (is_buffer(row.encoding)) check_buffer(in, i, gen);
  if (const std::string problem = graphics_problem(i, gen); !problem.empty()) in.fail(problem);
  if (is_of_global_share(row) && !i.gds && once.has("offset"))
    in.fail(row.name + " is for the global data share: gds");
  if (is_of_global_share(row)) i.gds = true;
  if (row.encoding == Encoding::flat) check_flat(in, i);
  return i;
}

[[noreturn]] void unknown_name(size_t at, std::string_view name, Gen gen) {
  for (const Row* r : rows_named(name))
    if (r->opcode[static_cast<int>(gen)] < 0)
      Cursor::fail_at(at, fmt::format("{} is not available for {}", name, gcn::name(gen)));
  Cursor::fail_at(at, fmt::format("unknown instruction '{}'", name));
}

Instruction read_instruction(std::string_view text, Gen gen) {
  Cursor in(text);
  in.skip_blanks();
  const size_t at = in.at();
  const std::string written(in.word());
  in.seek(at);
  std::string name = written;
  // AMD's manuals and listings of its own assembler have capitals.
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const bool e32 = name.size() > 4 && name.substr(name.size() - 4) == "_e32";
  const bool e64 = name.size() > 4 && name.substr(name.size() - 4) == "_e64";
  if (e32 || e64) name.resize(name.size() - 4);
  // Without a suffix the short form comes first; the operands and modifiers tell.
  std::vector<Form> forms = {Form::plain};
  if (name.ends_with("_dpp")) forms = {Form::dpp};
  if (name.ends_with("_sdwa")) forms = {Form::sdwa};
  if (forms[0] != Form::plain) {
    if (gen != Gen::gfx8)
      Cursor::fail_at(at, fmt::format("{} is not available for {}", name, gcn::name(gen)));
    name.resize(name.rfind('_'));
  } else if (!e32 && !e64 && gen == Gen::gfx8) {
    forms = {Form::plain, Form::sdwa, Form::dpp};
  }
  SyntaxError furthest{0, "", false};
  for (const Form form : forms) {
    for (const Row* row : rows_named(name)) {
      const Row& r = *row;
      if (r.opcode[static_cast<int>(gen)] < 0) continue;
      const bool is_long = r.encoding == Encoding::vop3;
      // Lanes are read and written by the one name that both lengths have.
      const bool either = r.has(Slot::ssrc1);
      if ((e32 && is_long && !either) || (e64 && (!is_long || either))) continue;
      if (form != Form::plain && !takes_lane_form(r)) continue;
      // LLVM has no lanes of compares: their name asks for them.
      if (form == Form::dpp && forms.size() > 1 && r.encoding == Encoding::vopc) continue;
      for (const bool first_too : {false, true}) {
        if (first_too && r.encoding != Encoding::vopc) continue;
        try {
          return read_with(r, in, written.size(), gen, form, first_too);
        } catch (const SyntaxError& e) {
          const bool better = e.value != furthest.value ? e.value : e.at > furthest.at;
          if (furthest.message.empty() || better) furthest = e;
        }
      }
    }
  }
  if (furthest.message.empty() && forms[0] != Form::plain)
    Cursor::fail_at(at, fmt::format("there is no {}", written));
  if (furthest.message.empty()) unknown_name(at, name, gen);
  throw furthest;
}

}  // namespace

const Operand* Instruction::operand(Slot slot) const {
  for (size_t n = 0; n < row->operands.size(); ++n)
    if (row->operands[n].slot == slot) return &operands[n];
  return nullptr;
}

Parsed parse_instruction(std::string_view text, Gen gen) {
  Parsed result;
  try {
    result.instruction = read_instruction(text, gen);
    result.instruction->text = std::string(text);
  } catch (const SyntaxError& e) {
    result.error = {1, static_cast<uint32_t>(e.at + 1), e.message, false};
  }
  return result;
}

std::string print(const Instruction& i, Gen gen) {
  std::string out = i.row->name;
  // Without a long form, or without one that the name tells.
  const bool one_length = i.row->has(Slot::ssrc1) || i.row->has(Slot::sdst) ||
                          i.row->has(Slot::literal) || i.row->operands.empty();
  static constexpr const char* kSuffixes[] = {"_e32", "_dpp", "_sdwa"};
  const bool tells_itself = i.row->encoding == Encoding::vopc && i.form == Form::sdwa;
  const bool named = i.row->encoding == Encoding::vintrp && gen == Gen::gfx8;
  if ((is_vop12c(i.row->encoding) && !one_length && !tells_itself) || named)
    out += kSuffixes[static_cast<int>(i.form)];
  if (i.row->e64) out += "_e64";
  for (size_t n = 0; n < i.operands.size(); ++n) {
    const Slot slot = i.row->operands[n].slot;
    out += n == 0 || (n == 1 && slot == Slot::esrc) ? " " : ", ";
    const bool sext = (slot == Slot::src0 && i.sdwa.sext0) || (slot == Slot::vsrc1 && i.sdwa.sext1);
    const std::string text = write_operand(i.operands[n], i.row->operands[n], i.row->encoding, gen);
    out += sext ? "sext(" + text + ")" : text;
  }
  if (i.form != Form::plain) return out + write_form(i);
  if (i.row->encoding == Encoding::ds) {
    write_lds_modifiers(i, out);
    return out;
  }
  if (is_graphics(i.row->encoding)) return out + write_graphics_modifiers(i);
  if (const Operand* a = i.operand(Slot::attr); a != nullptr && (a->value & kAttributeHigh) != 0)
    out += " high";
  if (i.row->encoding == Encoding::mtbuf) out += write_format(i, gen);
  const struct {
    const char* name;
    bool set;
  } flags[] = {{" idxen", i.idxen}, {" offen", i.offen}, {" addr64", i.addr64}};
  for (const auto& f : flags)
    if (f.set) out += f.name;
  if (i.offset != 0) out += fmt::format(" offset:{}", i.offset);
  const struct {
    const char* name;
    bool set;
  } tail[] = {
      {" glc", i.glc}, {" slc", i.slc}, {" tfe", i.tfe}, {" lds", i.lds}, {" clamp", i.clamp}};
  for (const auto& f : tail)
    if (f.set) out += f.name;
  static constexpr const char* kOmods[] = {"", " mul:2", " mul:4", " div:2"};
  return out + kOmods[i.omod];
}

}  // namespace lanewise::gcn
