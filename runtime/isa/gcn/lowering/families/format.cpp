// Typed buffer instructions: one element, addressed and range-checked as a whole, converted by the
// format of the instruction (MTBUF) or of the descriptor (MUBUF), which is run-time data.
#include <fmt/format.h>

#include "lanewise/types.hpp"
#include "runtime/isa/gcn/lowering/families/buffer_access.hpp"
#include "runtime/isa/gcn/text/operands/format_text.hpp"

namespace lanewise::gcn {

namespace {

constexpr uint32_t kIdentitySelect = 4 | 5 << 3 | 6 << 6 | 7 << 9;

/// Everything about the element of one access.
struct Element {
  BufferPlace at;
  ir::Operand word;  ///< format word
  uint8_t mode = 0;  ///< ir::FormatMode bits
  ir::Operand size;
};

void warn_about_format(LowerContext& c, const Instruction& i, bool store) {
  if (documented_format(i.dfmt, i.nfmt, store, c.gen())) return;
  c.warnings.push_back(fmt::format(
      "format [{},{}] cannot be {} on {}; the result is what docs/gcn.md says for such formats",
      data_format_name(i.dfmt), number_format_name(i.nfmt, c.gen()), store ? "stored" : "loaded",
      name(c.gen())));
}

void report(LowerContext& c, const ir::Operand& when) {
  c.set_guard({when.reg(), false});
  c.emit(Op::report, Type::none, {}, {}).mode = static_cast<uint8_t>(FaultKind::illegal_encoding);
  c.set_guard({});
}

/// A sticky report of a descriptor's format that is not documented, then the kernel goes on.
void report_bad_format(LowerContext& c, const Element& e) {
  const Reg legal = c.reg(Width::pred);
  c.emit(Op::fmt_legal, Type::none, {legal}, {e.word}).mode = e.mode;
  const Reg bad = c.make(Op::not_, Type::pred, {legal});
  report(c, c.make(Op::and_, Type::pred, {bad, e.at.may}));
}

Element element_of(LowerContext& c, const Instruction& i, bool store) {
  const auto bit = [](ir::FormatMode m) { return static_cast<uint8_t>(m); };
  Element e;
  if (i.row->meaning.d16) e.mode |= bit(ir::FormatMode::d16);
  if (c.gen() == Gen::gfx8) e.mode |= bit(ir::FormatMode::gfx8);
  if (store) e.mode |= bit(ir::FormatMode::store);
  const bool named = i.row->encoding == Encoding::mtbuf;
  if (named) warn_about_format(c, i, store);
  e.word = named ? imm(uint32_t{i.dfmt} << 15 | uint32_t{i.nfmt} << 12 | kIdentitySelect)
                 : c.read_known(*i.operand(Slot::srsrc), 3);
  if (e.word.is_imm()) {
    const unsigned dfmt = e.word.imm >> 15 & 15, nfmt = e.word.imm >> 12 & 7;
    const unsigned bytes = data_format_bytes(dfmt);
    e.size = imm(bytes);
    e.at = buffer_place(c, i, 0, std::max(bytes, 1U), true);
    if (!named && !documented_format(dfmt, nfmt, store, c.gen())) report(c, e.at.may);
  } else {
    e.at = buffer_place(c, i, 0, 0, true);
    e.size = c.make(Op::fmt_bytes, Type::u32, {e.word});
    report_bad_format(c, e);
  }
  return e;
}

}  // namespace

void for_each_part(LowerContext& c, const ir::Operand& size, const ir::Operand& may,
                   const std::function<void(const Part&)>& access) {
  static constexpr Part kParts[] = {{Type::u8, 0, 1, 1},    {Type::u16, 0, 2, 2},
                                    {Type::u32, 0, 4, 16},  {Type::u32, 1, 8, 16},
                                    {Type::u32, 2, 12, 16}, {Type::u32, 3, 16, 16}};
  ir::Operand before = may;  // a word is there where those before it are
  for (const Part& p : kParts) {
    if (size.is_imm()) {
      if (size.imm < p.from || size.imm > p.to) continue;
      if (may.is_reg()) c.set_guard({may.reg(), false});
    } else {
      const bool exactly = p.from == p.to;
      const Reg has = c.compare(exactly ? Cond::eq : Cond::ge, Type::u32, size, imm(p.from));
      const Reg there = c.make(Op::and_, Type::pred, {has, p.word == 0 ? may : before});
      c.set_guard({there, false});
      before = there;
    }
    access(p);
    c.set_guard({});
  }
}

void lower_format_load(LowerContext& c, const Instruction& i) {
  const Element e = element_of(c, i, false);
  const std::vector<Reg> raw{zeroed(c), zeroed(c), zeroed(c), zeroed(c)};
  for_each_part(c, e.size, e.at.may, [&](const Part& p) {
    ir::Inst& load = c.emit(Op::load, Type::u32, {raw[p.word]}, {e.at.va});
    load.mem = buffer_memory(i, p.elem);
    load.mem->offset = 4 * int64_t{p.word};
  });
  const auto word = [&] { return c.reg(Width::b32); };
  std::vector<Reg> out{word(), word(), word(), word()};
  c.emit(Op::fmt_unpack, Type::none, out, {raw[0], raw[1], raw[2], raw[3], e.word, e.at.may}).mode =
      e.mode;
  out.resize(i.row->meaning.count);
  deliver(c, i, out);
}

void lower_format_store(LowerContext& c, const Instruction& i) {
  refuse_tfe_on_store(i);
  const Element e = element_of(c, i, true);
  const Operand& data = *i.operand(Slot::vdata);
  std::vector<ir::Operand> src;
  for (unsigned n = 0; n < 4; ++n)
    src.push_back(n < i.row->meaning.count ? c.read32(data, n) : imm(0));
  src.push_back(e.word);
  const auto word = [&] { return c.reg(Width::b32); };
  const std::vector<Reg> raw{word(), word(), word(), word()};
  c.emit(Op::fmt_pack, Type::none, raw, std::move(src)).mode = e.mode;
  for_each_part(c, e.size, e.at.may, [&](const Part& p) {
    ir::Inst& store = c.emit(Op::store, Type::u32, {}, {e.at.va, raw[p.word]});
    store.mem = buffer_memory(i, p.elem);
    store.mem->offset = 4 * int64_t{p.word};
  });
}

}  // namespace lanewise::gcn
