// One instruction between text and its operands.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/isa/gcn/encoding/lane_form.hpp"
#include "runtime/isa/gcn/text/lost_bits.hpp"
#include "runtime/isa/gcn/text/modifier_text.hpp"
#include "runtime/isa/gcn/text/operands/format_text.hpp"
#include "runtime/isa/gcn/text/operands/number_text.hpp"
#include "runtime/isa/gcn/text/operands/operand_text.hpp"

namespace lanewise::gcn {
namespace {

bool is_vop12c(Encoding e) {
  return e == Encoding::vop1 || e == Encoding::vop2 || e == Encoding::vopc;
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
  read_modifiers(in, i, gen);
  share_literal(i, gen);
  if (const std::string problem = operand_problem(i, gen); !problem.empty())
    Cursor::fail_value(begin, problem);
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
  bool e64 = name.size() > 4 && name.substr(name.size() - 4) == "_e64";
  if (e32 || e64) name.resize(name.size() - 4);
  // LLVM's names of a later generation for the long forms of sums with a carry.
  for (const char* sum : {"v_add", "v_sub", "v_subrev"})
    if (gen != Gen::gfx8 && !e32 && name == std::string(sum) + "_co_u32") {
      name = std::string(sum) + "_i32";
      e64 = true;
    }
  // Without a suffix the short form comes first; the operands and modifiers decide.
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
  // Without a long form, or without one that the name decides.
  const bool one_length = i.row->has(Slot::ssrc1) || i.row->has(Slot::sdst) ||
                          i.row->has(Slot::literal) || i.row->operands.empty();
  static constexpr const char* kSuffixes[] = {"_e32", "_dpp", "_sdwa"};
  const bool reports_itself = i.row->encoding == Encoding::vopc && i.form == Form::sdwa;
  const bool named = i.row->encoding == Encoding::vintrp && gen == Gen::gfx8;
  if ((is_vop12c(i.row->encoding) && !one_length && !reports_itself) || named)
    out += kSuffixes[static_cast<int>(i.form)];
  if (i.row->e64) out += "_e64";
  for (size_t n = 0; n < i.operands.size(); ++n) {
    const Slot slot = i.row->operands[n].slot;
    out += n == 0 || (n == 1 && slot == Slot::esrc) ? " " : ", ";
    const bool sext = (slot == Slot::src0 && i.sdwa.sext0) || (slot == Slot::vsrc1 && i.sdwa.sext1);
    const std::string text = write_operand(i.operands[n], i.row->operands[n], i.row->encoding, gen);
    out += sext ? "sext(" + text + ")" : text;
  }
  return out + write_modifiers(i, gen);
}

}  // namespace lanewise::gcn
