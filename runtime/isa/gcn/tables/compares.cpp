// Vector compares. Old generations have a signalling set of each float compare with the same
// results; GCN3 has halves and 16-bit integers instead.
#include "runtime/isa/gcn/tables/builder.hpp"

namespace lanewise::gcn {
namespace {

struct Test {
  const char* name;
  Cond cond;
};
constexpr Test kFloats[] = {
    {"f", Cond::eq},    {"lt", Cond::lt},   {"eq", Cond::eq},   {"le", Cond::le},
    {"gt", Cond::gt},   {"lg", Cond::ne},   {"ge", Cond::ge},   {"o", Cond::num},
    {"u", Cond::nan},   {"nge", Cond::ltu}, {"nlg", Cond::equ}, {"ngt", Cond::leu},
    {"nle", Cond::gtu}, {"neq", Cond::neu}, {"nlt", Cond::geu}, {"tru", Cond::eq}};
constexpr Test kIntegers[] = {{"f", Cond::eq},  {"lt", Cond::lt}, {"eq", Cond::eq},
                              {"le", Cond::le}, {"gt", Cond::gt}, {"ne", Cond::ne},
                              {"ge", Cond::ge}, {"t", Cond::eq}};

int shifted(int base, int n) {
  return base < 0 ? -1 : base + n;
}

/// One family: all tests of a type, as v_cmp or v_cmpx.
template <size_t N>
void family(TableBuilder& t, const std::string& start, const std::string& type,
            const Test (&tests)[N], Op op, Type of, Codes base, bool to_exec) {
  const auto dwords = static_cast<uint8_t>(ir::size_of(of) == 8 ? 2 : 1);
  for (size_t n = 0; n < N; ++n) {
    Meaning m;
    m.op = op;
    m.type = of;
    m.cond = tests[n].cond;
    // The first test holds never, the last always.
    m.count = n == 0 ? 0 : n == N - 1 ? 2 : 1;
    const int by = static_cast<int>(n);
    t.vopc(start + tests[n].name + type,
           {shifted(base.of[0], by), shifted(base.of[1], by), shifted(base.of[2], by)},
           lower_vcmp_any, m, dwords, dwords, to_exec ? kWritesExec : 0);
  }
}

}  // namespace

void compare_rows(TableBuilder& t) {
  const struct {
    const char* type;
    Type of;
    Codes plain, to_exec, signals, signals_to_exec;
  } floats[] = {{"_f32", Type::f32, {0x00, 0x40}, {0x10, 0x50}, {0x40, -1}, {0x50, -1}},
                {"_f64", Type::f64, {0x20, 0x60}, {0x30, 0x70}, {0x60, -1}, {0x70, -1}},
                {"_f16", Type::f16, {-1, 0x20}, {-1, 0x30}, -1, -1}};
  for (const auto& f : floats) {
    family(t, "v_cmp_", f.type, kFloats, Op::fcmp, f.of, f.plain, false);
    family(t, "v_cmpx_", f.type, kFloats, Op::fcmp, f.of, f.to_exec, true);
    if (f.signals.of[0] < 0) continue;
    family(t, "v_cmps_", f.type, kFloats, Op::fcmp, f.of, f.signals, false);
    family(t, "v_cmpsx_", f.type, kFloats, Op::fcmp, f.of, f.signals_to_exec, true);
  }
  const struct {
    const char* type;
    Type of;
    Codes plain, to_exec;
  } integers[] = {{"_i32", Type::s32, {0x80, 0xc0}, {0x90, 0xd0}},
                  {"_u32", Type::u32, {0xc0, 0xc8}, {0xd0, 0xd8}},
                  {"_i64", Type::s64, {0xa0, 0xe0}, {0xb0, 0xf0}},
                  {"_u64", Type::u64, {0xe0, 0xe8}, {0xf0, 0xf8}},
                  {"_i16", Type::s16, {-1, 0xa0}, {-1, 0xb0}},
                  {"_u16", Type::u16, {-1, 0xa8}, {-1, 0xb8}}};
  for (const auto& f : integers) {
    family(t, "v_cmp_", f.type, kIntegers, Op::icmp, f.of, f.plain, false);
    family(t, "v_cmpx_", f.type, kIntegers, Op::icmp, f.of, f.to_exec, true);
  }
  const struct {
    const char* type;
    Type of;
    Codes plain, to_exec;
  } classes[] = {{"f32", Type::f32, {0x88, 0x10}, {0x98, 0x11}},
                 {"f64", Type::f64, {0xa8, 0x12}, {0xb8, 0x13}},
                 {"f16", Type::f16, {-1, 0x14}, {-1, 0x15}}};
  for (const auto& f : classes) {
    const uint8_t dwords = f.of == Type::f64 ? 2 : 1;
    const Meaning m = op(Op::fcmp, f.of);
    t.vopc(std::string("v_cmp_class_") + f.type, f.plain, lower_vcmp_class, m, dwords, 1);
    t.vopc(std::string("v_cmpx_class_") + f.type, f.to_exec, lower_vcmp_class, m, dwords, 1,
           kWritesExec);
  }
}

}  // namespace lanewise::gcn
