// LDS instructions: same opcodes in all generations.
#include "runtime/isa/gcn/tables/builder.hpp"

namespace lanewise::gcn {
namespace {

Row& ds(TableBuilder& t, Kind kind, const std::string& name, Codes codes,
        std::vector<SlotSpec> operands, LowerFn lower, const Meaning& m) {
  return t.kind(kind, name, Encoding::ds, codes, std::move(operands), lower, m);
}

/// `count` elements each at its own place; stride 0 = one place, offset in bytes.
Meaning element(Type type, uint8_t count, uint16_t stride) {
  Meaning m = memory(type, count);
  m.stride = stride;
  return m;
}

void lds_access_rows(TableBuilder& t) {
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

struct AtomicName {
  const char *name, *type, *wide_type;
  int op;
  AtomOp atom;
  Type of, wide;
};
constexpr AtomicName kAtomics[] = {{"add", "u32", "u64", 0, AtomOp::add, Type::u32, Type::u64},
                                   {"sub", "u32", "u64", 1, AtomOp::sub, Type::u32, Type::u64},
                                   {"rsub", "u32", "u64", 2, AtomOp::rsub, Type::u32, Type::u64},
                                   {"inc", "u32", "u64", 3, AtomOp::inc, Type::u32, Type::u64},
                                   {"dec", "u32", "u64", 4, AtomOp::dec, Type::u32, Type::u64},
                                   {"min", "i32", "i64", 5, AtomOp::min, Type::s32, Type::s64},
                                   {"max", "i32", "i64", 6, AtomOp::max, Type::s32, Type::s64},
                                   {"min", "u32", "u64", 7, AtomOp::min, Type::u32, Type::u64},
                                   {"max", "u32", "u64", 8, AtomOp::max, Type::u32, Type::u64},
                                   {"and", "b32", "b64", 9, AtomOp::and_, Type::u32, Type::u64},
                                   {"or", "b32", "b64", 10, AtomOp::or_, Type::u32, Type::u64},
                                   {"xor", "b32", "b64", 11, AtomOp::xor_, Type::u32, Type::u64},
                                   {"min", "f32", "f64", 18, AtomOp::min, Type::f32, Type::f64},
                                   {"max", "f32", "f64", 19, AtomOp::max, Type::f32, Type::f64}};
/// The numbers of forms that return the old value, and of those on 64 bits, above the plain ones.
constexpr int kReturning = 32, kWide = 64;

void lds_atomic_rows(TableBuilder& t) {
  const auto pair = [&](const std::string& name, const std::string& type, Codes plain,
                        Codes returning, std::vector<SlotSpec> operands, Meaning m) {
    const auto dwords = static_cast<uint8_t>(ir::size_of(m.type) / 4);
    ds(t, Kind::atomic, "ds_" + name + "_" + type, plain, operands, lower_lds_atomic, m);
    m.returns = true;
    operands.insert(operands.begin(), {Slot::vdst, dwords});
    ds(t, Kind::atomic, "ds_" + name + "_rtn_" + type, returning, operands, lower_lds_atomic, m);
  };
  for (const bool wide : {false, true}) {
    const auto dwords = static_cast<uint8_t>(wide ? 2 : 1);
    const int base = wide ? kWide : 0;
    const std::vector<SlotSpec> one = {{Slot::ds_addr}, {Slot::data0, dwords}},
                                two = {
                                    {Slot::ds_addr}, {Slot::data0, dwords}, {Slot::data1, dwords}};
    for (const AtomicName& a : kAtomics) {
      Meaning m = memory(wide ? a.wide : a.of, 1);
      m.atom = a.atom;
      pair(a.name, wide ? a.wide_type : a.type, base + a.op, base + kReturning + a.op, one, m);
    }
    Meaning m = memory(wide ? Type::u64 : Type::u32, 1);
    m.atom = AtomOp::cas;
    const std::string bits = wide ? "b64" : "b32";
    pair("cmpst", bits, base + 16, base + kReturning + 16, two, m);
    m.atom = AtomOp::mskor;
    pair("mskor", bits, base + 12, base + kReturning + 12, two, m);
    m.type = wide ? Type::f64 : Type::f32;
    m.atom = AtomOp::fcas;
    pair("cmpst", wide ? "f64" : "f32", base + 17, base + kReturning + 17, two, m);
    m.type = wide ? Type::u64 : Type::u32;
    m.atom = AtomOp::exch;
    m.returns = true;
    ds(t, Kind::atomic, "ds_wrxchg_rtn_" + bits, base + 45,
       {{Slot::vdst, dwords}, {Slot::ds_addr}, {Slot::data0, dwords}}, lower_lds_atomic, m);
    for (const bool far : {false, true}) {
      m.stride = static_cast<uint16_t>(4 * dwords * (far ? 64 : 1));
      ds(t, Kind::atomic, (far ? "ds_wrxchg2st64_rtn_" : "ds_wrxchg2_rtn_") + bits,
         base + (far ? 47 : 46),
         {{Slot::vdst, static_cast<uint8_t>(2 * dwords)},
          {Slot::ds_addr},
          {Slot::data0, dwords},
          {Slot::data1, dwords}},
         lower_lds_exchanges, m);
    }
  }
  Meaning add = memory(Type::f32, 1);
  add.atom = AtomOp::add;
  pair("add", "f32", {-1, 21}, {-1, 53}, {{Slot::ds_addr}, {Slot::data0}}, add);
  Meaning wrap = memory(Type::u32, 1);
  wrap.atom = AtomOp::wrap;
  wrap.returns = true;
  ds(t, Kind::atomic, "ds_wrap_rtn_b32", {-1, 52, 52},
     {{Slot::vdst}, {Slot::ds_addr}, {Slot::data0}, {Slot::data1}}, lower_lds_atomic, wrap);
  wrap.atom = AtomOp::mskor;
  ds(t, Kind::atomic, "ds_condxchg32_rtn_b64", {-1, 126, 126},
     {{Slot::vdst, 2}, {Slot::ds_addr}, {Slot::data0, 2}}, lower_lds_conditional, wrap);
  Meaning count = memory(Type::u32, 1);
  count.atom = AtomOp::sub;
  ds(t, Kind::atomic, "ds_consume", {61, 189}, {{Slot::vdst}}, lower_lds_count, count).effects =
      kReadsM0 | kReadsExec;
  count.atom = AtomOp::add;
  ds(t, Kind::atomic, "ds_append", {62, 190}, {{Slot::vdst}}, lower_lds_count, count).effects =
      kReadsM0 | kReadsExec;
}

/// The second operand comes from another place of LDS.
void lds_second_place_rows(TableBuilder& t) {
  const auto row = [&](const std::string& name, Codes codes, Type type, AtomOp atom) {
    Meaning m = memory(type, 1);
    m.atom = atom;
    ds(t, Kind::atomic, name, codes, {{Slot::ds_addr}}, lower_lds_second_place, m);
  };
  for (const bool wide : {false, true}) {
    const int base = 128 + (wide ? kWide : 0);
    for (const AtomicName& a : kAtomics)
      row(std::string("ds_") + a.name + "_src2_" + (wide ? a.wide_type : a.type), base + a.op,
          wide ? a.wide : a.of, a.atom);
    row(wide ? "ds_write_src2_b64" : "ds_write_src2_b32", base + 13, wide ? Type::u64 : Type::u32,
        AtomOp::exch);
  }
  row("ds_add_src2_f32", {-1, 149}, Type::f32, AtomOp::add);
}

/// Semaphores of the global data share: no element of memory is accessed.
void global_share_rows(TableBuilder& t) {
  Meaning none;
  none.count = 0;
  ds(t, Kind::barrier, "ds_gws_barrier", {29, 157}, {{Slot::ds_addr}}, lower_grid_barrier, none)
      .effects = kReadsM0 | kReadsExec;
  const auto semaphore = [&](const std::string& name, Codes codes, bool takes_value) {
    t.absent(name, Encoding::ds, codes,
             takes_value ? std::vector<SlotSpec>{{Slot::ds_addr}} : std::vector<SlotSpec>{})
        .meaning = none;
  };
  semaphore("ds_gws_sema_release_all", {-1, 24, 152}, false);
  semaphore("ds_gws_init", {25, 153}, true);
  semaphore("ds_gws_sema_v", {26, 154}, false);
  semaphore("ds_gws_sema_br", {27, 155}, true);
  semaphore("ds_gws_sema_p", {28, 156}, false);
  t.absent("ds_ordered_count", Encoding::ds, {63, 191}, {{Slot::vdst}, {Slot::ds_addr}})
      .meaning.count = 0;
}

}  // namespace

void lds_rows(TableBuilder& t) {
  lds_access_rows(t);
  lds_atomic_rows(t);
  lds_second_place_rows(t);
  global_share_rows(t);
  t.kind(Kind::nothing, "ds_nop", Encoding::ds, {-1, 20, 20}, {}, lower_nothing);
}

}  // namespace lanewise::gcn
