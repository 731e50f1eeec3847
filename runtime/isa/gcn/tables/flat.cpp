// Flat instructions of GCN2 and GCN3: numbered like the buffer instructions of their generation.
#include "runtime/isa/gcn/tables/builder.hpp"

namespace lanewise::gcn {
namespace {

void flat(TableBuilder& t, Kind kind, const std::string& name, int ci, int vi,
          std::vector<SlotSpec> operands, LowerFn lower, const Meaning& m) {
  t.kind(kind, name, Encoding::flat, {-1, ci, vi}, std::move(operands), lower, m);
}

void flat_access_rows(TableBuilder& t) {
  const auto load = [&](const char* name, int ci, int vi, Type type, uint8_t count) {
    flat(t, Kind::load, std::string("flat_load_") + name, ci, vi,
         {{Slot::vdst, count}, {Slot::ds_addr, 2}}, lower_flat_load, memory(type, count));
  };
  const auto store = [&](const char* name, int ci, int vi, Type type, uint8_t count) {
    flat(t, Kind::store, std::string("flat_store_") + name, ci, vi,
         {{Slot::ds_addr, 2}, {Slot::data0, count}}, lower_flat_store, memory(type, count));
  };
  load("ubyte", 8, 0x10, Type::u8, 1);
  load("sbyte", 9, 0x11, Type::s8, 1);
  load("ushort", 0xa, 0x12, Type::u16, 1);
  load("sshort", 0xb, 0x13, Type::s16, 1);
  load("dword", 0xc, 0x14, Type::u32, 1);
  load("dwordx2", 0xd, 0x15, Type::u32, 2);
  load("dwordx3", 0xf, 0x16, Type::u32, 3);
  load("dwordx4", 0xe, 0x17, Type::u32, 4);
  store("byte", 0x18, 0x18, Type::u8, 1);
  store("short", 0x1a, 0x1a, Type::u16, 1);
  store("dword", 0x1c, 0x1c, Type::u32, 1);
  store("dwordx2", 0x1d, 0x1d, Type::u32, 2);
  store("dwordx3", 0x1f, 0x1e, Type::u32, 3);
  store("dwordx4", 0x1e, 0x1f, Type::u32, 4);
}

/// With GLC there is a register for the old value, without it there is none.
void atomic_pair(TableBuilder& t, const std::string& name, int ci, int vi, uint8_t dwords,
                 Meaning m) {
  const bool compares = m.atom == AtomOp::cas || m.atom == AtomOp::fcas;
  const auto data = static_cast<uint8_t>(compares ? 2 * dwords : dwords);
  flat(t, Kind::atomic, name, ci, vi, {{Slot::ds_addr, 2}, {Slot::data0, data}}, lower_flat_atomic,
       m);
  m.returns = true;
  flat(t, Kind::atomic, name, ci, vi,
       {{Slot::vdst, dwords}, {Slot::ds_addr, 2}, {Slot::data0, data}}, lower_flat_atomic, m);
}

void flat_atomic_rows(TableBuilder& t) {
  const struct {
    const char* name;
    int ci, vi;
    AtomOp op;
    Type type, wide;
  } atomics[] = {{"swap", 0x30, 0x40, AtomOp::exch, Type::u32, Type::u64},
                 {"cmpswap", 0x31, 0x41, AtomOp::cas, Type::u32, Type::u64},
                 {"add", 0x32, 0x42, AtomOp::add, Type::u32, Type::u64},
                 {"sub", 0x33, 0x43, AtomOp::sub, Type::u32, Type::u64},
                 {"smin", 0x35, 0x44, AtomOp::min, Type::s32, Type::s64},
                 {"umin", 0x36, 0x45, AtomOp::min, Type::u32, Type::u64},
                 {"smax", 0x37, 0x46, AtomOp::max, Type::s32, Type::s64},
                 {"umax", 0x38, 0x47, AtomOp::max, Type::u32, Type::u64},
                 {"and", 0x39, 0x48, AtomOp::and_, Type::u32, Type::u64},
                 {"or", 0x3a, 0x49, AtomOp::or_, Type::u32, Type::u64},
                 {"xor", 0x3b, 0x4a, AtomOp::xor_, Type::u32, Type::u64},
                 {"inc", 0x3c, 0x4b, AtomOp::inc, Type::u32, Type::u64},
                 {"dec", 0x3d, 0x4c, AtomOp::dec, Type::u32, Type::u64},
                 {"fcmpswap", 0x3e, -1, AtomOp::fcas, Type::f32, Type::f64},
                 {"fmin", 0x3f, -1, AtomOp::min, Type::f32, Type::f64},
                 {"fmax", 0x40, -1, AtomOp::max, Type::f32, Type::f64}};
  const auto x2 = [](int op) { return op < 0 ? -1 : op + 0x20; };
  for (const auto& a : atomics) {
    Meaning m;
    m.op = Op::atom;
    m.atom = a.op;
    m.type = a.type;
    const std::string name = std::string("flat_atomic_") + a.name;
    atomic_pair(t, name, a.ci, a.vi, 1, m);
    m.type = a.wide;
    atomic_pair(t, name + "_x2", x2(a.ci), x2(a.vi), 2, m);
  }
}

}  // namespace

void flat_rows(TableBuilder& t) {
  flat_access_rows(t);
  flat_atomic_rows(t);
}

}  // namespace lanewise::gcn
