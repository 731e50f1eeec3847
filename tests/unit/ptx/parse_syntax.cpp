// One check per syntax form: what the tree holds for it.
#include <doctest/doctest.h>

#include <bit>
#include <limits>
#include <string>

#include "runtime/isa/ptx/ast.hpp"

using namespace lanewise;
using Kind = ptx::Operand::Kind;

namespace {

const std::string kSyntaxHeader = ".version 7.5\n.target sm_75\n.address_size 64\n";

ptx::Module parse_module(const std::string& text) {
  ptx::ParseResult r = ptx::parse(kSyntaxHeader + text);
  for (const Diagnostic& d : r.diagnostics) FAIL_CHECK(d.line, ":", d.column, ": ", d.message);
  return std::move(r.module);
}

ptx::Scope parse_body(const std::string& text) {
  ptx::Module m = parse_module(".entry k() {\n" + text + "\n}\n");
  REQUIRE(m.functions.size() == 1);
  return std::move(m.functions[0].body);
}

ptx::Instruction parse_one(const std::string& text) {
  ptx::Scope scope = parse_body(text);
  REQUIRE(scope.statements.size() == 1);
  REQUIRE(std::holds_alternative<ptx::Instruction>(scope.statements[0]));
  return std::get<ptx::Instruction>(std::move(scope.statements[0]));
}

ptx::Operand last_operand(const std::string& text) {
  ptx::Instruction in = parse_one(text);
  REQUIRE(!in.operands.empty());
  return in.operands.back();
}

int64_t constant(const std::string& text) {
  const ptx::Operand o = last_operand("mov.u64 %rd1, " + text + ";");
  CHECK(o.kind == Kind::integer);
  return static_cast<int64_t>(o.bits);
}

double number(const std::string& text) {
  const ptx::Operand o = last_operand("mov.f64 %fd1, " + text + ";");
  CHECK(o.kind == Kind::float_);
  CHECK(!o.single);
  return std::bit_cast<double>(o.bits);
}

}  // namespace

TEST_CASE("integer constants and expressions") {
  CHECK(constant("5") == 5);
  CHECK(constant("-5") == -5);
  CHECK(constant("0x1F") == 31);
  CHECK(constant("0X1fU") == 31);
  CHECK(constant("017") == 15);
  CHECK(constant("0b101") == 5);
  CHECK(constant("0B11U") == 3);
  CHECK(constant("0") == 0);
  CHECK(constant("18446744073709551615") == -1);
  CHECK(constant("WARP_SZ") == 32);
  CHECK(constant("WARP_SZ*2+1") == 65);
  CHECK(constant("2*3+4<<1") == 20);
  CHECK(constant("(2+3)*4") == 20);
  CHECK(constant("10-2-3") == 5);
  CHECK(constant("~0") == -1);
  CHECK(constant("!5") == 0);
  CHECK(constant("-(4)") == -4);
  CHECK(constant("7 % 4") == 3);
  CHECK(constant("-7/2") == -3);
  CHECK(constant("6&3|8^1") == (6 & (3)) + 9);
  CHECK(constant("1?2:3") == 2);
  CHECK(constant("0?2:0?4:5") == 5);
  CHECK(constant("(5>3)&&(1<2)||0") == 1);
  CHECK(constant("3<=3") == 1);
  CHECK(constant("3!=3") == 0);
  CHECK(constant("1.5>1.0") == 1);
  CHECK(constant("-1 < 0") == 1);
  CHECK(constant("-1 < 0U") == 0);
  CHECK(constant("-1 >> 63") == -1);
  CHECK(constant("(.u64)-1 >> 63") == 1);
  CHECK(constant("(.s64)0xFFFFFFFFFFFFFFFF >> 63") == -1);
  CHECK(constant("(0-0x7FFFFFFFFFFFFFFF-1)/-1") == std::numeric_limits<int64_t>::min());
  CHECK(last_operand("mov.u32 %r1, 4U;").is_unsigned);
  CHECK(!last_operand("mov.u32 %r1, 4;").is_unsigned);
}

TEST_CASE("floating-point constants") {
  CHECK(number("1.5") == 1.5);
  CHECK(number(".5") == 0.5);
  CHECK(number("-.5e1") == -5.0);
  CHECK(number("2.") == 2.0);
  CHECK(number("1e5") == 1e5);
  CHECK(number("1.0E-5") == 1.0E-5);
  CHECK(number("1.0+2.0*3.0") == 7.0);
  CHECK(number("0d3FE0000000000000") == 0.5);
  const ptx::Operand o = last_operand("mov.f32 %f1, 0f3F80000a;");
  CHECK(o.kind == Kind::float_);
  CHECK(o.single);
  CHECK(o.bits == 0x3F80000A);
  CHECK(last_operand("mov.f32 %f1, 0FBF800000;").bits == 0xBF800000);
}

TEST_CASE("addresses") {
  const auto at = [](const std::string& text) { return last_operand("ld.u32 %r1, " + text + ";"); };
  const auto plain = at("[%rd1]");
  CHECK(plain.kind == Kind::address);
  CHECK(plain.name == "%rd1");
  CHECK(!plain.has_offset);
  CHECK(at("[%rd1+4]").offset == 4);
  CHECK(at("[ %rd1 + -4 ]").offset == -4);
  CHECK(at("[%rd1+4+4]").offset == 8);
  CHECK(at("[%rd1+0x10]").offset == 16);
  CHECK(at("[%rd1+4U]").offset == 4);
  CHECK(at("[buf+8]").name == "buf");
  CHECK(at("[100]").name.empty());
  CHECK(at("[100]").offset == 100);
  CHECK(at("[-4]").offset == -4);
  CHECK(at("[%rd1+4294967296]").offset == 4294967296);
  const auto array = at("buf[4]");
  CHECK(array.kind == Kind::array);
  CHECK(array.name == "buf");
  CHECK(array.offset == 4);
  CHECK(array.elements.empty());
  CHECK(at("buf[-1]").offset == -1);
  CHECK(parse_one("ld.global.u32 %r1, [%rd1].unified;").unified == ".unified");
  const auto tex = last_operand("tex.1d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [t, {%r1}];");
  CHECK(tex.name == "t");
  REQUIRE(tex.elements.size() == 1);
  CHECK(tex.elements[0].kind == Kind::vector);
}

TEST_CASE("names, vectors, sinks and pairs") {
  CHECK(last_operand("mov.u32 %r1, %tid.x;").name == "%tid.x");
  CHECK(last_operand("mov.u32 %r1, %tid .x;").name == "%tid.x");
  CHECK(last_operand("mov.u32 %r1, %vec4.r;").name == "%vec4.r");
  CHECK(last_operand("vadd2.u32.u32.u32 %r1.h10, %r2.h32, %r3;").name == "%r3");
  CHECK(last_operand("mov.u64 %rd1, buf;").name == "buf");
  const auto sum = last_operand("mov.u64 %rd1, buf+-4;");
  CHECK(sum.has_offset);
  CHECK(sum.offset == -4);
  const auto negated = last_operand("setp.eq.and.s32 %p1, %r1, %r2, !%p2;");
  CHECK(negated.negated);
  CHECK(negated.name == "%p2");
  const auto pair = parse_one("setp.eq.s32 %p1|%p2, %r1, %r2;").operands[0];
  CHECK(pair.name == "%p1");
  CHECK(pair.pair == "%p2");
  CHECK(parse_one("setp.eq.s32 _ | %p2, %r1, %r2;").operands[0].pair == "%p2");
  CHECK(parse_one("setp.eq.s32 %p1|_, %r1, %r2;").operands[0].pair == "_");
  const auto vector = parse_one("mov.b64 {%r1,_}, %rd1;").operands[0];
  CHECK(vector.kind == Kind::vector);
  REQUIRE(vector.elements.size() == 2);
  CHECK(vector.elements[0].name == "%r1");
  CHECK(vector.elements[1].kind == Kind::sink);
  CHECK(last_operand("st.u32 [%rd1], {%r1};").elements.size() == 1);
  CHECK(last_operand("st.v2.u32 [%rd1], {%r1, 2+3};").elements[1].bits == 5);
  CHECK(parse_one("atom.global.add.u32 _, [%rd1], 1;").operands[0].kind == Kind::sink);
}

TEST_CASE("qualifiers, predicates and text") {
  const auto in =
      parse_one("@!%p1 ld .global.L1::no_allocate.v2.f32\t{%f1, %f2},  /* x */ [%rd1];");
  CHECK(in.opcode == "ld");
  CHECK(in.mods == std::vector<std::string>{"global", "L1::no_allocate", "v2", "f32"});
  CHECK(in.guard == "%p1");
  CHECK(in.guard_negated);
  CHECK(in.text == "@!%p1 ld .global.L1::no_allocate.v2.f32 {%f1, %f2}, [%rd1]");
  CHECK(in.loc.line == 5);
  CHECK(in.loc.column == 1);
  CHECK(!parse_one("@ %p1 exit;").guard_negated);
  CHECK(parse_one("ld.shared::cta.b8x4 %r1, [%r2];").mods ==
        std::vector<std::string>{"shared::cta", "b8x4"});
  CHECK(parse_one("ret;").operands.empty());
  CHECK(parse_one("// a\n/* b\n c */ ret; // d").loc.line == 7);
  CHECK(parse_one("\t\tret;").loc.column == 3);
}

TEST_CASE("calls") {
  const auto split = parse_one("call.uni (retval0), \n_Z1fi, \n(\nparam0, \n5\n);");
  REQUIRE(split.operands.size() == 3);
  CHECK(split.operands[0].kind == Kind::list);
  CHECK(split.operands[0].elements[0].name == "retval0");
  CHECK(split.operands[1].name == "_Z1fi");
  REQUIRE(split.operands[2].elements.size() == 2);
  CHECK(split.operands[2].elements[1].bits == 5);
  CHECK(parse_one("call (r), %rd1, (a, b), proto;").operands.size() == 4);
  CHECK(parse_one("call.uni \nf, \n(\na\n);").operands.size() == 2);
  CHECK(parse_one("call f;").operands.size() == 1);
  CHECK(parse_one("call f, ();").operands[1].elements.empty());
  CHECK(parse_one("call (r), f, (2+3);").operands[2].elements[0].bits == 5);
}

TEST_CASE("labels, scopes and lists of targets") {
  const auto scope = parse_body(
      "$L__BB0_2:\nt: .branchtargets a, b;\nc: .calltargets f;\n{ // callseq\n.reg .b32 x; ret; }\n"
      "p: .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 .b8 _[16]) .noreturn;\n"
      "q: .callprototype _;\n.loc 1 2 3\n.loc 1 15 3, function_name $L__info+4, inlined_at 1 2 3\n"
      ".pragma \"nounroll\";\na: b: ret;");
  REQUIRE(scope.statements.size() == 11);
  CHECK(std::get<ptx::Label>(scope.statements[0]).name == "$L__BB0_2");
  CHECK(std::get<ptx::TargetList>(scope.statements[1]).targets ==
        std::vector<std::string>{"a", "b"});
  CHECK(std::get<ptx::TargetList>(scope.statements[2]).name == "c");
  CHECK(std::get<std::unique_ptr<ptx::Scope>>(scope.statements[3])->statements.size() == 2);
  const auto& p = std::get<ptx::CallPrototype>(scope.statements[4]);
  CHECK(p.results.size() == 1);
  REQUIRE(p.params.size() == 2);
  CHECK(p.params[1].dims == std::vector<uint64_t>{16});
  CHECK(std::get<ptx::CallPrototype>(scope.statements[5]).params.empty());
  CHECK(std::get<ptx::SourceLine>(scope.statements[7]).line == 15);
  CHECK(std::get<ptx::Label>(scope.statements[9]).name == "b");
}

TEST_CASE("declarations") {
  const auto scope = parse_body(
      ".reg .pred %p<5>;\n.reg .b32 %r<3>, a, %q<4>;\n.reg .v4 .f32 v;\n"
      ".local .align 16 .b8 depot[28];\n.shared .f32 t[2][3];\n.param .b32 p0;");
  REQUIRE(scope.statements.size() == 8);
  const auto variable = [&](size_t i) { return std::get<ptx::Variable>(scope.statements[i]); };
  CHECK(variable(0).type == "pred");
  CHECK(variable(0).range == 5);
  CHECK(variable(2).name == "a");
  CHECK(!variable(2).range);
  CHECK(variable(3).range == 4);
  CHECK(variable(4).vector == 4);
  CHECK(variable(5).align == 16);
  CHECK(variable(5).space == "local");
  CHECK(variable(6).dims == std::vector<uint64_t>{2, 3});
  CHECK(variable(7).space == "param");
}

TEST_CASE("module variables and their values") {
  const auto m = parse_module(
      ".extern .shared .align 4 .b8 s[];\n"
      ".visible .global .attribute(.managed, .unified(1, 2)) .u32 g;\n"
      ".global .u64 a[] = {g, g+4, generic(g), generic(g)+8};\n"
      ".global .u8 b[3] = {0xff(g), 0xFF00(generic(g)+4), 7};\n"
      ".const .f32 f[2] = {1.5, 0f3F800000};\n"
      ".global .u32 n[2][3] = {{1}, {2, -3}};\n.global .v2 .u32 v = {1, 2};\n"
      ".common .global .u32 c[4];\n.weak .global .u32 w = (2+3);\n");
  REQUIRE(m.variables.size() == 9);
  CHECK(m.variables[0].is_extern);
  CHECK(m.variables[0].dims == std::vector<uint64_t>{0});
  CHECK(m.variables[1].visible);
  CHECK(m.variables[1].attributes == std::vector<std::string>{"managed", "unified"});
  const auto& a = m.variables[2];
  CHECK(a.dims == std::vector<uint64_t>{4});
  CHECK(a.init[1].value.offset == 4);
  CHECK(!a.init[1].generic);
  CHECK(a.init[3].generic);
  CHECK(a.init[3].value.offset == 8);
  const auto& b = m.variables[3];
  CHECK(b.init[0].mask == 0xFF);
  CHECK(b.init[1].mask == 0xFF00);
  CHECK(b.init[1].generic);
  CHECK(b.init[2].mask == 0);
  CHECK(m.variables[4].init[1].value.single);
  const auto& n = m.variables[5];
  REQUIRE(n.init.size() == 6);
  CHECK(n.init[0].value.bits == 1);
  CHECK(n.init[1].value.bits == 0);
  CHECK(n.init[3].value.bits == 2);
  CHECK(static_cast<int64_t>(n.init[4].value.bits) == -3);
  CHECK(m.variables[6].init.size() == 2);
  CHECK(m.variables[7].common);
  CHECK(m.variables[8].weak);
  CHECK(m.variables[8].init[0].value.bits == 5);
}

TEST_CASE("functions") {
  const auto m = parse_module(
      ".func (.param .b32 r) f (.param .b32 a, .param .align 8 .b8 b[24])\n;\n"
      ".weak .func (.reg .u32 r) g (.reg .u32 a) .noreturn { ret; }\n"
      ".visible .entry k(.param .u64 .ptr .global .align 8 p, .param .u64 .ptr .align 1 q)\n"
      ".maxntid 256, 2\n.minnctapersm 2 .maxnreg 32 .pragma \"nounroll\";\n{ ret; }\n"
      ".entry j .reqntid 32 { }\n.func (.param .b32 r) f (.param .b32 a, .param .b32 b) { ret; }\n"
      ".extern .func h;\n.func e();\n.alias e, g;\n");
  REQUIRE(m.functions.size() == 6);
  const auto& f = m.functions[0];
  CHECK(f.name == "f");
  CHECK(f.has_body);
  CHECK(f.loc.line == 12);
  CHECK(f.results[0].name == "r");
  CHECK(m.functions[1].weak);
  CHECK(m.functions[1].noreturn);
  const auto& k = m.functions[2];
  CHECK(k.entry);
  CHECK(k.visible);
  REQUIRE(k.params.size() == 2);
  CHECK(k.params[0].pointer);
  CHECK(k.params[0].pointer_space == "global");
  CHECK(k.params[0].pointer_align == 8);
  CHECK(k.params[0].align == 0);
  CHECK(k.params[1].pointer_space.empty());
  CHECK(k.maxntid[0] == 256);
  CHECK(k.maxntid[1] == 2);
  CHECK(k.maxntid[2] == 1);
  CHECK(k.reqntid[0] == 0);
  CHECK(m.functions[3].reqntid[0] == 32);
  CHECK(m.functions[4].is_extern);
  CHECK(!m.functions[4].has_body);
  REQUIRE(m.aliases.size() == 1);
  CHECK(m.aliases[0].target == "g");
}

TEST_CASE("files, sections and the header") {
  const auto r = ptx::parse(
      "# 1 \"x.cu\"\r\n.version 7.8\r\n.target sm_90a, debug\r\n.address_size 32\r\n"
      "@@DWARF .section x\r\n.file 1 \"a.cu\", 12, 34\r\n.file 2 \"b \xC3\xA9.cu\"\r\n"
      ".section .debug_str { $L: .b8 1,2 \n.b32 .debug_str+4, x-y }\n.section .debug_loc { }\n");
  CHECK(r.diagnostics.empty());
  CHECK(r.module.version_minor == 8);
  CHECK(r.module.target == "sm_90a");
  CHECK(r.module.target_options == std::vector<std::string>{"debug"});
  CHECK(r.module.address_size == 32);
  REQUIRE(r.module.files.size() == 2);
  CHECK(r.module.files[0].second == "a.cu");
  CHECK(ptx::parse(std::string(kSyntaxHeader) + std::string(2, '\0')).ok());
}
