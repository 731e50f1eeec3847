// LDS instructions: same opcodes in all generations.
#include "runtime/isa/gcn/tables/builder.hpp"

namespace lanewise::gcn {
namespace {

using ir::AtomOp;
using ir::Type;

void ds(TableBuilder& t, Kind kind, const std::string& name, Codes codes,
        std::vector<SlotSpec> operands, LowerFn lower, const Meaning& m) {
  t.kind(kind, name, Encoding::ds, codes, std::move(operands), lower, m);
}

/// `count` elements each at its own place; stride 0 = one place, offset in bytes.
Meaning element(Type type, uint8_t count, uint16_t stride) {
  Meaning m = memory(type, count);
  m.stride = stride;
  return m;
}

void access_rows(TableBuilder& t) {
  const auto read = [&](const char* name, int op, Type type, uint8_t count, uint16_t stride) {
    const auto dwords = static_cast<uint8_t>(count * (ir::size_of(type) == 8 ? 2 : 1));
    ds(t, Kind::load, name, op, {{Slot::vdst, dwords}, {Slot::ds_addr}}, lower_lds_read,
       element(type, count, stride));
  };
  const auto write = [&](const char* name, int op, Type type, uint8_t count, uint16_t stride) {
    const auto dwords = static_cast<uint8_t>(ir::size_of(type) == 8 ? 2 : 1);
    std::vector<SlotSpec> operands = {{Slot::ds_addr}, {Slot::data0, dwords}};
    if (count == 2) operands.push_back({Slot::data1, dwords});
    ds(t, Kind::store, name, op, std::move(operands), lower_lds_write,
       element(type, count, stride));
  };
  read("ds_read_b32", 54, Type::u32, 1, 0);
  read("ds_read2_b32", 55, Type::u32, 2, 4);
  read("ds_read2st64_b32", 56, Type::u32, 2, 256);
  read("ds_read_i8", 57, Type::s8, 1, 0);
  read("ds_read_u8", 58, Type::u8, 1, 0);
  read("ds_read_i16", 59, Type::s16, 1, 0);
  read("ds_read_u16", 60, Type::u16, 1, 0);
  read("ds_read_b64", 118, Type::u64, 1, 0);
  read("ds_read2_b64", 119, Type::u64, 2, 8);
  read("ds_read2st64_b64", 120, Type::u64, 2, 512);
  for (const uint8_t dwords : {uint8_t{3}, uint8_t{4}}) {
    const std::string size = dwords == 3 ? "b96" : "b128";
    const int last = dwords == 3 ? 0 : 1;
    ds(t, Kind::load, "ds_read_" + size, {-1, 254 + last, 254 + last},
       {{Slot::vdst, dwords}, {Slot::ds_addr}}, lower_lds_read, element(Type::u32, dwords, 0));
    ds(t, Kind::store, "ds_write_" + size, {-1, 222 + last, 222 + last},
       {{Slot::ds_addr}, {Slot::data0, dwords}}, lower_lds_write, element(Type::u32, dwords, 0));
  }
  write("ds_write_b32", 13, Type::u32, 1, 0);
  write("ds_write2_b32", 14, Type::u32, 2, 4);
  write("ds_write2st64_b32", 15, Type::u32, 2, 256);
  write("ds_write_b8", 30, Type::u8, 1, 0);
  write("ds_write_b16", 31, Type::u16, 1, 0);
  write("ds_write_b64", 77, Type::u64, 1, 0);
  write("ds_write2_b64", 78, Type::u64, 2, 8);
  write("ds_write2st64_b64", 79, Type::u64, 2, 512);
}

void atomic_rows(TableBuilder& t) {
  const struct {
    const char *name, *suffix;
    int op;
    AtomOp atom;
    Type type;
  } atomics[] = {
      {"add", "u32", 0, AtomOp::add, Type::u32},   {"sub", "u32", 1, AtomOp::sub, Type::u32},
      {"rsub", "u32", 2, AtomOp::rsub, Type::u32}, {"inc", "u32", 3, AtomOp::inc, Type::u32},
      {"dec", "u32", 4, AtomOp::dec, Type::u32},   {"min", "i32", 5, AtomOp::min, Type::s32},
      {"max", "i32", 6, AtomOp::max, Type::s32},   {"min", "u32", 7, AtomOp::min, Type::u32},
      {"max", "u32", 8, AtomOp::max, Type::u32},   {"and", "b32", 9, AtomOp::and_, Type::u32},
      {"or", "b32", 10, AtomOp::or_, Type::u32},   {"xor", "b32", 11, AtomOp::xor_, Type::u32}};
  for (const auto& a : atomics) {
    Meaning m = memory(a.type, 1);
    m.atom = a.atom;
    const std::string name = std::string("ds_") + a.name + "_";
    ds(t, Kind::atomic, name + a.suffix, a.op, {{Slot::ds_addr}, {Slot::data0}}, lower_lds_atomic,
       m);
    m.returns = true;
    ds(t, Kind::atomic, name + "rtn_" + a.suffix, 32 + a.op,
       {{Slot::vdst}, {Slot::ds_addr}, {Slot::data0}}, lower_lds_atomic, m);
  }
  Meaning m = memory(Type::u32, 1);
  m.atom = AtomOp::cas;
  ds(t, Kind::atomic, "ds_cmpst_b32", 16, {{Slot::ds_addr}, {Slot::data0}, {Slot::data1}},
     lower_lds_atomic, m);
  m.returns = true;
  ds(t, Kind::atomic, "ds_cmpst_rtn_b32", 48,
     {{Slot::vdst}, {Slot::ds_addr}, {Slot::data0}, {Slot::data1}}, lower_lds_atomic, m);
  m.atom = AtomOp::exch;
  ds(t, Kind::atomic, "ds_wrxchg_rtn_b32", 45, {{Slot::vdst}, {Slot::ds_addr}, {Slot::data0}},
     lower_lds_atomic, m);
}

}  // namespace

void lds_rows(TableBuilder& t) {
  access_rows(t);
  atomic_rows(t);
}

}  // namespace lanewise::gcn
