// Shorthands for writing rows of the instruction table.
#pragma once

#include "runtime/isa/gcn/row.hpp"
#include "runtime/isa/gcn/semantics.hpp"

namespace lanewise::gcn {

class TableBuilder {
 public:
  Row& row(std::string name, Encoding encoding, int si, int vi, std::vector<SlotSpec> operands,
           LowerFn lower, Meaning meaning = {}, uint8_t implicit = 0) {
    Row r;
    r.name = std::move(name);
    r.encoding = encoding;
    r.opcode[0] = r.opcode[1] = static_cast<int16_t>(si);
    r.opcode[2] = static_cast<int16_t>(vi);
    r.operands = std::move(operands);
    r.lower = lower;
    r.meaning = meaning;
    r.implicit = implicit;
    rows_.push_back(std::move(r));
    return rows_.back();
  }
  void sop2(const char* name, int op, uint8_t count, LowerFn lower, Meaning m, uint8_t implicit,
            uint8_t second = 0) {
    row(name, Encoding::sop2, op, -1,
        {{Slot::sdst, count}, {Slot::ssrc0, count}, {Slot::ssrc1, second != 0 ? second : count}},
        lower, m, implicit);
  }
  /// VOP2 and its VOP3 form.
  void vop2(const char* name, int op, LowerFn lower, Meaning m) {
    row(name, Encoding::vop2, op, -1, {{Slot::vdst}, {Slot::src0}, {Slot::vsrc1}}, lower, m);
    row(name, Encoding::vop3, 0x100 + op, -1, {{Slot::vdst}, {Slot::src0}, {Slot::src1}}, lower, m)
        .e64 = true;
  }
  void vop1(const char* name, int op, LowerFn lower, Meaning m) {
    row(name, Encoding::vop1, op, -1, {{Slot::vdst}, {Slot::src0}}, lower, m);
    row(name, Encoding::vop3, 0x180 + op, -1, {{Slot::vdst}, {Slot::src0}}, lower, m).e64 = true;
  }
  /// With a carry: out to vcc (or any pair in VOP3), and in from vcc for `in`.
  void vop2_carry(const char* name, int op, LowerFn lower, Meaning m, bool in) {
    std::vector<SlotSpec> e32 = {{Slot::vdst}, {Slot::vcc}, {Slot::src0}, {Slot::vsrc1}};
    std::vector<SlotSpec> e64 = {{Slot::vdst}, {Slot::mask_dst, 2}, {Slot::src0}, {Slot::src1}};
    if (in) {
      e32.push_back({Slot::vcc});
      e64.push_back({Slot::mask_src, 2});
    }
    row(name, Encoding::vop2, op, -1, e32, lower, m,
        static_cast<uint8_t>(kWritesVcc | (in ? kReadsVcc : 0)));
    row(name, Encoding::vop3, 0x100 + op, -1, e64, lower, m).e64 = true;
  }
  void vopc(const std::string& name, int op, LowerFn lower, Meaning m) {
    row(name, Encoding::vopc, op, -1, {{Slot::vcc}, {Slot::src0}, {Slot::vsrc1}}, lower, m,
        kWritesVcc);
    row(name, Encoding::vop3, op, -1, {{Slot::mask_dst, 2}, {Slot::src0}, {Slot::src1}}, lower, m)
        .e64 = true;
  }
  void vop3(const char* name, int op, std::vector<SlotSpec> operands, LowerFn lower, Meaning m) {
    row(name, Encoding::vop3, op, -1, std::move(operands), lower, m);
  }
  void mubuf(const std::string& name, int si, int ci, int vi, uint8_t count, LowerFn lower,
             Meaning m = {}) {
    std::vector<SlotSpec> operands = {
        {Slot::vdata, count}, {Slot::vaddr}, {Slot::srsrc, 4}, {Slot::soffset}};
    if (count == 0) operands.clear();
    row(name, Encoding::mubuf, si, vi, operands, lower, m).opcode[1] = static_cast<int16_t>(ci);
  }
  void mtbuf(const std::string& name, int si, int vi, uint8_t count, LowerFn lower, Meaning m) {
    row(name, Encoding::mtbuf, si, vi,
        {{Slot::vdata, count}, {Slot::vaddr}, {Slot::srsrc, 4}, {Slot::soffset}}, lower, m);
  }
  size_t size() const { return rows_.size(); }
  /// The rows from `first` on exist in GCN3 only, under the opcodes they have.
  void only_gcn3(size_t first) {
    for (size_t n = first; n < rows_.size(); ++n) {
      Row& r = rows_[n];
      r.opcode[2] = r.opcode[0];
      r.opcode[0] = r.opcode[1] = -1;
    }
  }
  std::vector<Row> take() { return std::move(rows_); }

 private:
  std::vector<Row> rows_;
};

inline Meaning op(ir::Op o, ir::Type t = ir::Type::u32) {
  Meaning m;
  m.op = o;
  m.type = t;
  return m;
}
inline Meaning convert(ir::Op o, ir::Type to, ir::Type from) {
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
inline Meaning compare(ir::Cond c, ir::Type t) {
  Meaning m = op(ir::Op::icmp, t);
  m.cond = c;
  return m;
}
inline Meaning branch(ir::Cond c, unsigned code) {
  Meaning m;
  m.cond = c;
  m.count = static_cast<uint8_t>(code);
  return m;
}
inline Meaning memory(ir::Type elem, uint8_t count) {
  Meaning m = op(ir::Op::load, elem);
  m.count = count;
  return m;
}

void buffer_rows(TableBuilder& table);
void lds_rows(TableBuilder& table);
void wave_rows(TableBuilder& table);
void flat_rows(TableBuilder& table);
void wide_vector_rows(TableBuilder& table);
/// What the rows say of themselves; the value tests hold them to it.
void set_claims(std::vector<Row>& rows);
/// Opcodes of GCN3 for rows that have only those of GCN1.
void number_for_gcn3(std::vector<Row>& rows);

}  // namespace lanewise::gcn
