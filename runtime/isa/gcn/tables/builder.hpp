// Shorthands for writing rows of the instruction table.
#pragma once

#include <algorithm>
#include "runtime/isa/gcn/lowering/semantics.hpp"

#include "runtime/isa/gcn/tables/row.hpp"

namespace lanewise::gcn {

/// Opcodes of GCN1, GCN2 and GCN3; -1: the instruction does not exist there.
struct Codes {
  int16_t of[3];

  constexpr Codes(int all) : of{narrow(all), narrow(all), narrow(all)} {}  // NOLINT: a number
  constexpr Codes(int old, int gcn3) : of{narrow(old), narrow(old), narrow(gcn3)} {}
  constexpr Codes(int gcn1, int gcn2, int gcn3) : of{narrow(gcn1), narrow(gcn2), narrow(gcn3)} {}
  /// Of the long form, whose numbers begin at these of the short one.
  constexpr Codes shifted(int old, int gcn3) const {
    return {above(of[0], old), above(of[1], old), above(of[2], gcn3)};
  }

 private:
  static constexpr int16_t narrow(int n) { return static_cast<int16_t>(n); }
  static constexpr int above(int code, int by) { return code < 0 ? -1 : code + by; }
};

inline const std::vector<SlotSpec> kThreeSources = {
    {Slot::vdst}, {Slot::src0}, {Slot::src1}, {Slot::src2}};

class TableBuilder {
 public:
  Row& row(std::string name, Encoding encoding, Codes codes, std::vector<SlotSpec> operands,
           LowerFn lower, Meaning meaning = {}, uint16_t effects = 0) {
    Row r;
    r.name = std::move(name);
    r.encoding = encoding;
    std::copy(std::begin(codes.of), std::end(codes.of), std::begin(r.opcode));
    r.operands = std::move(operands);
    r.lower = lower;
    r.meaning = meaning;
    r.effects = effects;
    rows_.push_back(std::move(r));
    return rows_.back();
  }
  Row& kind(Kind k, const std::string& name, Encoding encoding, Codes codes,
            std::vector<SlotSpec> operands, LowerFn lower, Meaning meaning = {},
            uint16_t effects = 0) {
    Row& r = row(name, encoding, codes, std::move(operands), lower, meaning, effects);
    r.kind = k;
    return r;
  }
  /// Has a name and an encoding; the assembler and the disassembler know it, nothing runs it.
  Row& absent(const std::string& name, Encoding encoding, Codes codes,
              std::vector<SlotSpec> operands, uint16_t effects = 0) {
    return kind(Kind::absent, name, encoding, codes, std::move(operands), nullptr, {}, effects);
  }
  void sop1(const std::string& name, Codes codes, uint8_t to, uint8_t from, LowerFn lower,
            Meaning m = {}, uint16_t effects = 0) {
    row(name, Encoding::sop1, codes, {{Slot::sdst, to}, {Slot::ssrc0, from}}, lower, m, effects);
  }
  void sop2(const std::string& name, Codes codes, uint8_t count, LowerFn lower, Meaning m,
            uint16_t effects, uint8_t second = 0) {
    row(name, Encoding::sop2, codes,
        {{Slot::sdst, count}, {Slot::ssrc0, count}, {Slot::ssrc1, second != 0 ? second : count}},
        lower, m, effects);
  }
  /// VOP2 and its VOP3 form.
  void vop2(const std::string& name, Codes codes, LowerFn lower, Meaning m, uint16_t effects = 0) {
    row(name, Encoding::vop2, codes, {{Slot::vdst}, {Slot::src0}, {Slot::vsrc1}}, lower, m,
        effects);
    row(name, Encoding::vop3, codes.shifted(0x100, 0x100),
        {{Slot::vdst}, {Slot::src0}, {Slot::src1}}, lower, m, effects)
        .e64 = true;
  }
  /// VOP1 and its VOP3 form; `to` and `from` are dwords.
  void vop1(const std::string& name, Codes codes, LowerFn lower, Meaning m, uint8_t to = 1,
            uint8_t from = 1, uint16_t effects = 0) {
    const std::vector<SlotSpec> operands = {{Slot::vdst, to}, {Slot::src0, from}};
    row(name, Encoding::vop1, codes, operands, lower, m, effects);
    row(name, Encoding::vop3, codes.shifted(0x180, 0x140), operands, lower, m, effects).e64 = true;
  }
  /// With a carry: out to vcc (or any pair in VOP3), and in from vcc for `in`.
  void vop2_carry(const std::string& name, Codes codes, LowerFn lower, Meaning m, bool in) {
    std::vector<SlotSpec> e32 = {{Slot::vdst}, {Slot::vcc}, {Slot::src0}, {Slot::vsrc1}};
    std::vector<SlotSpec> e64 = {{Slot::vdst}, {Slot::mask_dst, 2}, {Slot::src0}, {Slot::src1}};
    if (in) {
      e32.push_back({Slot::vcc});
      e64.push_back({Slot::mask_src, 2});
    }
    row(name, Encoding::vop2, codes, e32, lower, m,
        static_cast<uint16_t>(kWritesVcc | kClampsInteger | (in ? kReadsVcc : 0)));
    row(name, Encoding::vop3, codes.shifted(0x100, 0x100), e64, lower, m, kClampsInteger).e64 =
        true;
  }
  /// VOPC and its VOP3 form; the sources' sizes are in dwords. `more`: also EXEC, for v_cmpx.
  void vopc(const std::string& name, Codes codes, LowerFn lower, Meaning m, uint8_t first = 1,
            uint8_t second = 1, uint16_t more = 0) {
    row(name, Encoding::vopc, codes, {{Slot::vcc}, {Slot::src0, first}, {Slot::vsrc1, second}},
        lower, m, static_cast<uint16_t>(kWritesVcc | more));
    row(name, Encoding::vop3, codes,
        {{Slot::mask_dst, 2}, {Slot::src0, first}, {Slot::src1, second}}, lower, m, more)
        .e64 = true;
  }
  void vop3(const std::string& name, Codes codes, std::vector<SlotSpec> operands, LowerFn lower,
            Meaning m = {}, uint16_t effects = 0) {
    row(name, Encoding::vop3, codes, std::move(operands), lower, m, effects);
  }
  void mubuf(Kind k, const std::string& name, Codes codes, uint8_t count, LowerFn lower,
             Meaning m = {}) {
    std::vector<SlotSpec> operands = {
        {Slot::vdata, count}, {Slot::vaddr}, {Slot::srsrc, 4}, {Slot::soffset}};
    if (count == 0) operands.clear();
    kind(k, name, Encoding::mubuf, codes, operands, lower, m);
  }
  void mtbuf(Kind k, const std::string& name, Codes codes, uint8_t count, LowerFn lower,
             Meaning m) {
    kind(k, name, Encoding::mtbuf, codes,
         {{Slot::vdata, count}, {Slot::vaddr}, {Slot::srsrc, 4}, {Slot::soffset}}, lower, m);
  }
  std::vector<Row> take() { return std::move(rows_); }

 private:
  std::vector<Row> rows_;
};

inline Meaning op(Op o, Type t = Type::u32) {
  Meaning m;
  m.op = o;
  m.type = t;
  return m;
}
inline Meaning convert(Op o, Type to, Type from) {
  Meaning m = op(o, to);
  m.from = from;
  return m;
}
inline Meaning reversed(Meaning m) {
  m.reversed = true;
  return m;
}
inline Meaning inverted(Meaning m) {
  m.invert = true;
  return m;
}
inline Meaning compare(Cond c, Type t) {
  Meaning m = op(Op::icmp, t);
  m.cond = c;
  return m;
}
inline Meaning branch(Cond c, unsigned code) {
  Meaning m;
  m.cond = c;
  m.count = static_cast<uint8_t>(code);
  return m;
}
inline Meaning memory(Type elem, uint8_t count) {
  Meaning m = op(Op::load, elem);
  m.count = count;
  return m;
}

void buffer_rows(TableBuilder& table);
void lds_rows(TableBuilder& table);
void wave_rows(TableBuilder& table);
void flat_rows(TableBuilder& table);
void wide_vector_rows(TableBuilder& table);
void compare_rows(TableBuilder& table);
void real_rows(TableBuilder& table);
void integer_rows(TableBuilder& table);
void more_control_rows(TableBuilder& table);
void graphics_rows(TableBuilder& table);
/// Gives each source the type of the numbers that can stand there.
void set_operand_types(std::vector<Row>& rows);
/// What the rows say of themselves; the value tests hold them to it.
void set_claims(std::vector<Row>& rows);

}  // namespace lanewise::gcn
