// MUBUF and MTBUF rows of the three generations.
#include "runtime/isa/gcn/tables/builder.hpp"

namespace lanewise::gcn {
namespace {

void plain_rows(TableBuilder& t) {
  t.mubuf(Kind::load, "buffer_load_ubyte", {8, 8, 0x10}, 1, lower_bload, memory(Type::u8, 1));
  t.mubuf(Kind::load, "buffer_load_sbyte", {9, 9, 0x11}, 1, lower_bload, memory(Type::s8, 1));
  t.mubuf(Kind::load, "buffer_load_ushort", {0xa, 0xa, 0x12}, 1, lower_bload, memory(Type::u16, 1));
  t.mubuf(Kind::load, "buffer_load_sshort", {0xb, 0xb, 0x13}, 1, lower_bload, memory(Type::s16, 1));
  t.mubuf(Kind::load, "buffer_load_dword", {0xc, 0xc, 0x14}, 1, lower_bload, memory(Type::u32, 1));
  t.mubuf(Kind::load, "buffer_load_dwordx2", {0xd, 0xd, 0x15}, 2, lower_bload,
          memory(Type::u32, 2));
  t.mubuf(Kind::load, "buffer_load_dwordx3", {0xf, 0xf, 0x16}, 3, lower_bload,
          memory(Type::u32, 3));
  t.mubuf(Kind::load, "buffer_load_dwordx4", {0xe, 0xe, 0x17}, 4, lower_bload,
          memory(Type::u32, 4));
  t.mubuf(Kind::store, "buffer_store_byte", {0x18, 0x18, 0x18}, 1, lower_bstore,
          memory(Type::u8, 1));
  t.mubuf(Kind::store, "buffer_store_short", {0x1a, 0x1a, 0x1a}, 1, lower_bstore,
          memory(Type::u16, 1));
  t.mubuf(Kind::store, "buffer_store_dword", {0x1c, 0x1c, 0x1c}, 1, lower_bstore,
          memory(Type::u32, 1));
  t.mubuf(Kind::store, "buffer_store_dwordx2", {0x1d, 0x1d, 0x1d}, 2, lower_bstore,
          memory(Type::u32, 2));
  t.mubuf(Kind::store, "buffer_store_dwordx3", {0x1f, 0x1f, 0x1e}, 3, lower_bstore,
          memory(Type::u32, 3));
  t.mubuf(Kind::store, "buffer_store_dwordx4", {0x1e, 0x1e, 0x1f}, 4, lower_bstore,
          memory(Type::u32, 4));
}

void format_rows(TableBuilder& t) {
  static constexpr const char* kParts[] = {"x", "xy", "xyz", "xyzw"};
  const auto typed = [](uint8_t count, bool d16) {
    Meaning m = memory(Type::u32, count);
    m.d16 = d16;
    return m;
  };
  for (int n = 0; n < 4; ++n) {
    const auto count = static_cast<uint8_t>(n + 1);
    const std::string part = kParts[n];
    const Meaning full = typed(count, false), half = typed(count, true);
    t.mubuf(Kind::load, "buffer_load_format_" + part, {n, n, n}, count, lower_format_load, full);
    t.mubuf(Kind::store, "buffer_store_format_" + part, {4 + n, 4 + n, 4 + n}, count,
            lower_format_store, full);
    t.mubuf(Kind::load, "buffer_load_format_d16_" + part, {-1, -1, 8 + n}, count, lower_format_load,
            half);
    t.mubuf(Kind::store, "buffer_store_format_d16_" + part, {-1, -1, 12 + n}, count,
            lower_format_store, half);
    t.mtbuf(Kind::load, "tbuffer_load_format_" + part, {n, n}, count, lower_format_load, full);
    t.mtbuf(Kind::store, "tbuffer_store_format_" + part, {4 + n, 4 + n}, count, lower_format_store,
            full);
    t.mtbuf(Kind::load, "tbuffer_load_format_d16_" + part, {-1, 8 + n}, count, lower_format_load,
            half);
    t.mtbuf(Kind::store, "tbuffer_store_format_d16_" + part, {-1, 12 + n}, count,
            lower_format_store, half);
  }
}

void buffer_atomic_rows(TableBuilder& t) {
  const struct {
    const char* name;
    int si, ci, vi;
    AtomOp op;
    Type type;
  } atomics[] = {{"swap", 0x30, 0x30, 0x40, AtomOp::exch, Type::u32},
                 {"cmpswap", 0x31, 0x31, 0x41, AtomOp::cas, Type::u32},
                 {"add", 0x32, 0x32, 0x42, AtomOp::add, Type::u32},
                 {"sub", 0x33, 0x33, 0x43, AtomOp::sub, Type::u32},
                 {"rsub", 0x34, -1, -1, AtomOp::rsub, Type::u32},
                 {"smin", 0x35, 0x35, 0x44, AtomOp::min, Type::s32},
                 {"umin", 0x36, 0x36, 0x45, AtomOp::min, Type::u32},
                 {"smax", 0x37, 0x37, 0x46, AtomOp::max, Type::s32},
                 {"umax", 0x38, 0x38, 0x47, AtomOp::max, Type::u32},
                 {"and", 0x39, 0x39, 0x48, AtomOp::and_, Type::u32},
                 {"or", 0x3a, 0x3a, 0x49, AtomOp::or_, Type::u32},
                 {"xor", 0x3b, 0x3b, 0x4a, AtomOp::xor_, Type::u32},
                 {"inc", 0x3c, 0x3c, 0x4b, AtomOp::inc, Type::u32},
                 {"dec", 0x3d, 0x3d, 0x4c, AtomOp::dec, Type::u32},
                 {"fcmpswap", 0x3e, 0x3e, -1, AtomOp::fcas, Type::f32},
                 {"fmin", 0x3f, 0x3f, -1, AtomOp::min, Type::f32},
                 {"fmax", 0x40, 0x40, -1, AtomOp::max, Type::f32}};
  const auto wide = [](Type type) {
    return type == Type::f32 ? Type::f64 : type == Type::s32 ? Type::s64 : Type::u64;
  };
  const auto x2 = [](int op) { return op < 0 ? -1 : op + 0x20; };
  for (const auto& a : atomics) {
    const std::string name = std::string("buffer_atomic_") + a.name;
    const bool compares = a.op == AtomOp::cas || a.op == AtomOp::fcas;
    Meaning m;
    m.op = Op::atom;
    m.atom = a.op;
    m.type = a.type;
    const auto count = static_cast<uint8_t>(compares ? 2 : 1);
    t.mubuf(Kind::atomic, name, {a.si, a.ci, a.vi}, count, lower_batomic, m);
    m.type = wide(a.type);
    t.mubuf(Kind::atomic, name + "_x2", {x2(a.si), x2(a.ci), x2(a.vi)},
            static_cast<uint8_t>(2 * count), lower_batomic, m);
  }
}

}  // namespace

void buffer_rows(TableBuilder& t) {
  plain_rows(t);
  format_rows(t);
  buffer_atomic_rows(t);
  t.kind(Kind::store, "buffer_store_lds_dword", Encoding::mubuf, {-1, 0x3d},
         {{Slot::srsrc, 4}, {Slot::soffset}}, lower_lds_store);
  t.mubuf(Kind::cache, "buffer_wbinvl1", {0x71, 0x71, 0x3e}, 0, lower_invalidate);
  t.mubuf(Kind::cache, "buffer_wbinvl1_sc", {0x70, -1, -1}, 0, lower_invalidate);
  t.mubuf(Kind::cache, "buffer_wbinvl1_vol", {-1, 0x70, 0x3f}, 0, lower_invalidate);
}

}  // namespace lanewise::gcn
