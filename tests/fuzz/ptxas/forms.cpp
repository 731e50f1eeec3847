#include "tests/fuzz/ptxas/forms.hpp"

namespace ptxas {
namespace {

using Forms = std::vector<std::string>;

/// The pattern once for each word in place of $.
void add(Forms& out, const std::string& pattern, std::initializer_list<const char*> words) {
  for (const char* word : words) {
    std::string form = pattern;
    for (size_t at; (at = form.find('$')) != std::string::npos;) form.replace(at, 1, word);
    out.push_back(form);
  }
}

void integer_arithmetic(Forms& f) {
  add(f, "add$ {R}, {R}, {R};", {".u32", ".s32", ".sat.s32"});
  add(f, "sub$ {R}, {R}, {R};", {".u32", ".s32", ".sat.s32"});
  add(f, "$ {R}, {R}, {R};",
      {"mul.lo.s32", "mul.hi.s32", "mul.hi.u32", "mul24.lo.s32", "mul24.lo.u32", "mul24.hi.s32",
       "mul24.hi.u32", "min.s32", "min.u32", "max.s32", "max.u32", "and.b32", "or.b32", "xor.b32",
       "shl.b32", "shr.u32", "shr.s32"});
  add(f, "$ {R}, {R}, {R}, {R};",
      {"mad.lo.s32",     "mad.lo.u32",     "mad.hi.s32",      "mad.hi.u32",     "mad.hi.sat.s32",
       "mad24.lo.s32",   "mad24.lo.u32",   "mad24.hi.s32",    "mad24.hi.u32",   "sad.s32",
       "sad.u32",        "bfe.u32",        "bfe.s32",         "prmt.b32",       "prmt.b32.f4e",
       "prmt.b32.b4e",   "prmt.b32.rc8",   "prmt.b32.ecl",    "prmt.b32.ecr",   "prmt.b32.rc16",
       "shf.l.wrap.b32", "shf.r.wrap.b32", "shf.l.clamp.b32", "shf.r.clamp.b32"});
  add(f, "bfi.b32 {R}, {R}, {R}, $;", {"{R}, {R}", "{n}, {n}"});
  add(f, "lop3.b32 {R}, {R}, {R}, {R}, $;", {"0x96", "0xe8", "0xca", "0x1b", "0x40"});
  add(f, "$ {R}, {R};",
      {"neg.s32", "abs.s32", "not.b32", "cnot.b32", "popc.b32", "clz.b32", "brev.b32", "bfind.u32",
       "bfind.s32", "bfind.shiftamt.u32", "bfind.shiftamt.s32"});
  add(f, "$ {L}, {L}, {L};",
      {"add.s64", "sub.s64", "mul.lo.s64", "mul.hi.s64", "mul.hi.u64", "min.s64", "min.u64",
       "max.s64", "max.u64", "and.b64", "or.b64", "xor.b64"});
  add(f, "$ {L}, {L}, {R};", {"shl.b64", "shr.u64", "shr.s64"});
  add(f, "$ {L}, {R}, {R};", {"mul.wide.s32", "mul.wide.u32"});
  add(f, "$ {L}, {R}, {R}, {L};", {"mad.wide.s32", "mad.wide.u32"});
  add(f, "$ {L}, {L}, {L}, {L};", {"mad.lo.s64", "mad.hi.s64", "mad.hi.u64", "sad.s64", "sad.u64"});
  add(f, "{ .reg .b32 p, l; and.b32 p, {r}, 255; and.b32 l, {r}, 255; $, p, l; }",
      {"bfe.u64 {L}, {L}", "bfe.s64 {L}, {L}", "bfi.b64 {L}, {L}, {L}"});
  add(f, "$ {L}, {L};", {"neg.s64", "abs.s64", "not.b64", "cnot.b64", "brev.b64"});
  add(f, "$ {R}, {L};", {"popc.b64", "clz.b64", "bfind.u64", "bfind.s64", "bfind.shiftamt.u64"});
}

/// By zero the result is not specified.
void quotients(Forms& f) {
  for (const char* type : {"s32", "u32"})
    add(f, "{ .reg .b32 y; or.b32 y, {r}, 1; $." + std::string(type) + " {R}, {R}, y; }",
        {"div", "rem"});
  for (const char* type : {"s64", "u64"})
    add(f, "{ .reg .b64 y; or.b64 y, {l}, 1; $." + std::string(type) + " {L}, {L}, y; }",
        {"div", "rem"});
  for (const char* type : {"s16", "u16"})
    add(f, "{ .reg .b16 y; or.b16 y, {h}, 1; $." + std::string(type) + " {H}, {H}, y; }",
        {"div", "rem"});
}

void integer_rest(Forms& f) {
  quotients(f);
  for (const char* type : {"s32", "u32"})
    add(f, std::string("setp.$.") + type + " {P}, {R}, {R};", {"eq", "ne", "lt", "le", "gt", "ge"});
  for (const char* type : {"s64", "u64"})
    add(f, std::string("setp.$.") + type + " {P}, {L}, {L};", {"eq", "ne", "lt", "le", "gt", "ge"});
  add(f, "setp.lt.$ {P}, {R}, {R}, {P};", {"and.s32", "or.u32", "xor.s32"});
  add(f, "set.$ {R}, {R}, {R};", {"lt.u32.s32", "ge.u32.u32", "ne.s32.s32"});
  add(f, "$ {P}, {P}, {P};", {"and.pred", "or.pred", "xor.pred"});
  add(f, "selp.$;", {"b32 {R}, {R}, {R}, {P}", "b64 {L}, {L}, {L}, {P}"});
  add(f, "slct.$ {R}, {R}, {R}, {R};", {"u32.s32", "s32.s32", "b32.s32"});
  add(f, "cvt.$ {L}, {R};", {"s64.s32", "u64.u32"});
  add(f, "cvt.$ {R}, {L};", {"u32.u64", "sat.s32.s64", "sat.u32.s64", "sat.u32.u64"});
  add(f, "cvt.$ {H}, {R};", {"u16.u32", "sat.s16.s32", "sat.u16.s32", "sat.u16.u32"});
  add(f, "cvt.$ {R}, {H};", {"u32.u16", "s32.s16", "s32.s8", "u32.u8"});
  add(f, "cvt.$ {R}, {R};", {"s32.s8", "u32.u8", "sat.s8.s32", "sat.u8.s32", "sat.s32.u32"});
  add(f, "$ {H}, {H}, {H};",
      {"add.s16", "sub.s16", "mul.lo.s16", "mul.hi.s16", "mul.hi.u16", "min.s16", "max.u16",
       "and.b16", "xor.b16"});
  add(f, "$ {R}, {H}, {H};", {"mul.wide.s16", "mul.wide.u16"});
  // ptxas -O3 makes zero of a count that is known to be negative.
  add(f, "{ .reg .b32 n; and.b32 n, {r}, 31; $ {H}, {H}, n; }", {"shl.b16", "shr.u16", "shr.s16"});
  add(f, "{ .reg .b32 t; add.cc.u32 t, {r}, {r}; addc.u32 {R}, {R}, {R}; }", {""});
}

void floats(Forms& f, const std::string& type, const std::string& r) {
  const std::string three = " " + r + ", " + r + ", " + r + ";", two = " " + r + ", " + r + ";";
  for (const char* round : {"rn", "rz", "rm", "rp"}) {
    add(f, "$." + std::string(round) + "." + type + three, {"add", "sub", "mul", "div"});
    add(f, "fma." + std::string(round) + "." + type + " " + r + "," + three, {""});
    add(f, "$." + std::string(round) + "." + type + two, {"rcp", "sqrt"});
  }
  add(f, "$." + type + three, {"min", "max"});
  add(f, "$." + type + two, {"neg", "abs"});
  add(f, "cvt.$." + type + "." + type + two, {"rni", "rzi", "rmi", "rpi"});
  add(f, "setp.$." + type + " {P}, " + r + ", " + r + ";",
      {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"});
  add(f, "selp." + type + " " + r + ", " + r + ", " + r + ", {P};", {""});
  for (const char* round : {"rni", "rzi", "rmi", "rpi"}) {
    add(f, "cvt." + std::string(round) + ".$." + type + " {R}, " + r + ";", {"s32", "u32"});
    add(f, "cvt." + std::string(round) + ".$." + type + " {L}, " + r + ";", {"s64", "u64"});
  }
  for (const char* round : {"rn", "rz", "rm", "rp"}) {
    add(f, "cvt." + std::string(round) + "." + type + ".$ " + r + ", {R};", {"s32", "u32"});
    add(f, "cvt." + std::string(round) + "." + type + ".$ " + r + ", {L};", {"s64", "u64"});
  }
  add(f, "testp.$." + type + " {P}, " + r + ";",
      {"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
}

}  // namespace

const Forms& integer_forms() {
  static const Forms forms = [] {
    Forms f;
    integer_arithmetic(f);
    integer_rest(f);
    return f;
  }();
  return forms;
}

const Forms& exact_float_forms() {
  static const Forms forms = [] {
    Forms f;
    floats(f, "f32", "{F}");
    floats(f, "f64", "{D}");
    for (const char* round : {"rn", "rz", "rm", "rp"}) {
      add(f, "$." + std::string(round) + ".ftz.f32 {F}, {F}, {F};", {"add", "sub", "mul", "div"});
      add(f, "$." + std::string(round) + ".ftz.f32 {F}, {F};", {"rcp", "sqrt"});
      add(f, "$." + std::string(round) + ".sat.f32 {F}, {F}, {F};", {"add", "mul"});
      add(f, "fma." + std::string(round) + "$.f32 {F}, {F}, {F}, {F};",
          {".ftz", ".sat", ".ftz.sat"});
      add(f, "cvt." + std::string(round) + "$ {F}, {D};", {".f32.f64", ".ftz.f32.f64"});
      add(f, "{ .reg .b16 h; cvt." + std::string(round) + ".f16.f32 h, {f}; cvt.f32.f16 {F}, h; }",
          {""});
    }
    add(f, "$ {F}, {F}, {F};", {"min.ftz.f32", "max.ftz.f32"});
    add(f, "$ {D}, {F};", {"cvt.f64.f32", "cvt.ftz.f64.f32"});
    add(f, "set.$.f32 {R}, {F}, {F};", {"lt.u32", "geu.s32", "nan.u32"});
    add(f, "set.$.f32 {F}, {F}, {F};", {"lt.f32", "neu.ftz.f32"});
    add(f, "slct.f32.s32 {F}, {F}, {F}, {R};", {""});
    add(f, "slct.$.f32 {R}, {R}, {R}, {F};", {"u32", "ftz.b32"});
    add(f, "cvt.$ {F}, {F};", {"sat.f32.f32", "ftz.f32.f32", "rni.ftz.f32.f32"});
    return f;
  }();
  return forms;
}

const Forms& approximate_forms() {
  static const Forms forms = [] {
    Forms f;
    for (const char* op : {"rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2"})
      add(f, std::string(op) + ".approx$.f32 {F}, {F};", {"", ".ftz"});
    add(f, "div.$.f32 {F}, {F}, {F};", {"approx", "approx.ftz", "full", "full.ftz"});
    add(f, "$ {D}, {D};", {"rcp.approx.ftz.f64", "rsqrt.approx.f64"});
    return f;
  }();
  return forms;
}

}  // namespace ptxas
