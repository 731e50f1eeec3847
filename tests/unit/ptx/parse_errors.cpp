// Every error says what and where, all of them are found, and nothing can bring the parser down.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "runtime/isa/ptx/ast.hpp"

using namespace lanewise;

namespace {

const std::string kHeader = ".version 7.5\n.target sm_75\n.address_size 64\n";

/// `LINE:COLUMN message` of each diagnostic.
std::vector<std::string> errors(const std::string& text, size_t max_errors = 100) {
  std::vector<std::string> out;
  for (const Diagnostic& d : ptx::parse(text, max_errors).diagnostics) {
    out.push_back(std::to_string(d.line) + ":" + std::to_string(d.column) + " " + d.message);
  }
  return out;
}

struct Case {
  const char* text;
  const char* error;  ///< place and the beginning of the message
};

/// The text (from line `line` on) gives exactly this one diagnostic.
void check_only(const std::string& before, const Case& c, const std::string& after) {
  const auto found = errors(before + c.text + after);
  CAPTURE(std::string(c.text));
  REQUIRE(!found.empty());
  if (found.size() > 1) FAIL_CHECK("a second message: ", found[1]);
  CHECK(found[0].substr(0, std::string(c.error).size()) == c.error);
}

std::string repeat(const std::string& text, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += text;
  return out;
}

}  // namespace

TEST_CASE("errors in instructions and declarations of a body") {
  // clang-format off
  const Case cases[] = {
      {"ld.u32 %r1, [%rd1-4];", "1:18 found `-`, a negative offset is written `+-`"},
      {"ld.u32 %r1, [buf-4];", "1:17 found `-`, a negative offset"},
      {"mov.u64 %rd1, buf-4;", "1:18 found `-`, a negative offset"},
      {"ld.u32 %r1, [%rd1+%rd2];", "1:19 found `%rd2`, an integer constant after `+` was expected"},
      {"ld.u32 %r1, [4+%rd2];", "1:16 found `%rd2`, a constant was expected"},
      {"ld.u32 %r1, [%rd1*4];", "1:18 found `*`, `]` or `+` and an offset was expected"},
      {"ld.u32 %r1, [(%rd1)];", "1:15 found `%rd1`, a constant was expected"},
      {"ld.u32 %r1, [buf[4]];", "1:17 found `[`, `]`"},
      {"ld.u32 %r1, buf[%r2+4];", "1:20 found `+`, `]` after the index was expected"},
      {"ld.u32 %r1, [];", "1:14 found `]`, a register, a variable or an integer"},
      {"ld.u32 %r1, [%rd1+1.0];", "1:19 a floating-point constant, an integer constant after `+`"},
      {"ld.u32 %r1, [%tid.x];", "1:18 found `.x`"},
      {"ld.u32 %r1, [%rd1, %rd2];", "1:18 found `,`, `]`"},
      {"ld.u32 %r1, [%rd1].foo;", "1:19 found `.foo`, `.unified`"},
      {"ld. u32 %r1, [%rd1];", "1:3 `.` stands alone"},
      {"ld.reg.u32 %r1, [%rd1];", "1:3 found `.reg`, a qualifier or type was expected"},
      {"st.u32 [%rd1], _;", "1:16 `_` or `a|b` behind the first operand"},
      {"st.v2.u32 [%rd1], {};", "1:20 found `}`, an operand was expected"},
      {"st.v2.u32 [%rd1], {%r1 %r2};", "1:24 found `%r2` where `,` or `}` was expected"},
      {"mov.u32 %r1,, %r2;", "1:13 found `,`, an operand was expected"},
      {"mov.u32 %r1, %r2, ;", "1:19 found `;`, an operand was expected"},
      {"mov.u32 %r1 %r2;", "1:13 found `%r2` where `,` or `;` after the operands was expected"},
      {"mov.u32 %r1, %tid.xy;", "1:18 found `.xy`, a component such as `.x` was expected"},
      {"mov.u32 %r1, \"x\";", "1:14 found `\"x\"`, an operand was expected"},
      {"mov.u32 %r1, #;", "1:14 preprocessor directives"},
      {"mov.u32 %r1, 08;", "1:14 malformed number `08`"},
      {"mov.u32 %r1, 0x;", "1:14 malformed number `0x`"},
      {"mov.u32 %r1, 0x1fu;", "1:14 malformed number `0x1fu`"},
      {"mov.u32 %r1, 12ab;", "1:14 malformed number `12ab`"},
      {"mov.f32 %f1, 1.0f;", "1:14 malformed number `1.0f`"},
      {"mov.f32 %f1, 0f3F80000;", "1:14 malformed number `0f3F80000`, 8 hex digits"},
      {"mov.f64 %fd1, 0d3F80000;", "1:15 malformed number `0d3F80000`, 16 hex digits"},
      {"mov.u64 %rd1, 99999999999999999999999;", "1:15 `99999999999999999999999` does not fit 64 bits"},
      {"mov.f64 %fd1, 1e999;", "1:15 `1e999` does not fit a double"},
      {"mov.u32 %r1, 4/0;", "1:15 division by zero"},
      {"mov.u32 %r1, 4 % (1-1);", "1:16 division by zero"},
      {"mov.u32 %r1, 1<<64;", "1:15 shift of a constant by 64 or more"},
      {"mov.f32 %f1, 1.0+2;", "1:17 operands of `+` are an integer and a floating-point"},
      {"mov.f32 %f1, 1.0%2.0;", "1:17 found `%2`"},
      {"mov.f32 %f1, -0f3F800000;", "1:15 `0f3F800000` stands in an expression"},
      {"mov.u32 %r1, (.f32)1;", "1:15 a cast to `.f32`, `(.s64)` or `(.u64)` was expected"},
      {"mov.u32 %r1, (2+3;", "1:18 found `;`, `)` at the end of the constant expression"},
      {"mov.u32 %r1, 1?2;", "1:17 found `;`, `:` of the `?`"},
      {";", "1:1 an empty statement"},
      {"@%p1;", "1:5 found `;`, an instruction after the predicate was expected"},
      {"@1 ret;", "1:2 found `1`, a predicate register after `@`"},
      {"@%p1 { ret; }", "1:6 found `{`, an instruction after the predicate"},
      {"%r1 = 5;", "1:1 found `%r1`, an instruction, a directive or a label"},
      {".foo .u32 x;", "1:1 unknown directive `.foo`"},
      {".branchtargets a;", "1:1 `.branchtargets` has no name"},
      {"x: .branchtargets 5;", "1:19 found `5`, a label or function name"},
      {"x: .callprototype (.param .b32 _) f;", "1:35 found `f`, `_` in place"},
      {".loc 1 2 3, foo", "1:13 found `foo`, `function_name` or `inlined_at`"},
      {".pragma nounroll;", "1:9 found `nounroll`, a string was expected"},
      {".pragma \"foo\";", "1:9 unknown pragma `\"foo\"` has no effect"},
      {".reg .b32 %r<4000000000>;", "1:14 `4000000000` registers, at most 1048576"},
      {".reg .b32 %r<99999999999999999999999>;", "1:14 `99999999999999999999999` does not fit"},
      {".reg .b32 %r<4;", "1:15 found `;`, `>` after the number of registers"},
      {".reg .b32;", "1:10 found `;`, the name of a variable"},
      {".reg %r<4>;", "1:6 found `%r`, a type such as `.b32`"},
      {".reg .b33 x;", "1:6 unknown type `.b33`"},
      {".reg .b32 x y;", "1:13 found `y` where `,` or `;` after the declaration"},
      {".reg .b32 x[4];", "1:12 a register array, `<N>` was expected"},
      {".reg .b32 x = 4;", "1:11 `x` has a value"},
      {".reg .shared .b32 x;", "1:6 a second state space `.shared`"},
      {".shared .pred x;", "1:15 `x` is a predicate in memory"},
      {".local .align 3 .b8 x[4];", "1:15 the alignment is `3`, a power of two"},
      {".local .b8 x[0];", "1:12 `x` has no size"},
      {".local .b8 x[-4];", "1:14 found `-`, the size of the array"},
      {".local .b8 x[];", "1:12 `x` has no size"},
      {".local .b8 x[99999999999999];", "1:12 `x` is larger than 1 TiB"},
  };
  // clang-format on
  for (const Case& c : cases) {
    std::string error = c.error;
    error[0] = '6';
    check_only(kHeader + ".entry k()\n{\n", {c.text, error.c_str()}, "\n@%p1 ret;\n}\n");
  }
}

TEST_CASE("errors between functions") {
  // clang-format off
  const Case cases[] = {
      {".foo", "4:1 unknown directive `.foo`"},
      {"foo", "4:1 found `foo`, a directive such as"},
      {"}", "4:1 found `}`, a directive such as"},
      {".address_size 64", "4:1 `.address_size` behind other directives"},
      {".address_size 48", "4:15 an address size of `48`, 32 or 64 was expected"},
      {".version 7.5", "4:10 a second `.version`"},
      {".visible .foo;", "4:10 found `.foo`, `.entry`, `.func` or a variable after `.visible`"},
      {".visible .weak .global .u32 x;", "4:10 a second linkage `.weak`"},
      {".reg .b32 x;", "4:1 `.reg`, `.local` or `.param` outside a function"},
      {".align 4 .b32 x;", "4:1 no state space"},
      {".global .u32 x[2] = {1,2,3};", "4:26 more values than the 2 of this dimension"},
      {".global .u32 x[2][2] = {1,2};", "4:25 found `1`, `{` of the next dimension"},
      {".global .u32 x[2] = {{1},2};", "4:22 braces deeper than the array has dimensions"},
      {".global .u32 x = {1};", "4:18 braces around the value of a scalar"},
      {".global .u32 x[2] = 1;", "4:21 found `1`, `{` before the values"},
      {".global .u32 x[2] = {1,};", "4:24 found `}`, a constant, a name or"},
      {".global .u8 x = 0xfff(y);", "4:17 the mask is `0xfff`, one byte"},
      {".global .u64 x = y-4;", "4:19 found `-`, a negative offset"},
      {".global .b8 x[2][4000000000] = {{1},{2}};", "4:36 rows left open add up to more"},
      {".extern .global .u32 x = 1;", "4:22 `x` is `.extern` and has a value"},
      {".global .u32 x; .global .u32 x;", "4:30 `x` was defined in line 4 already"},
      {".entry f() { ret; }\n.entry f() { ret; }", "5:8 `f` was defined in line 4 already"},
      {".func f();\n.entry f() { ret; }", "5:8 `f` was declared in line 4"},
      {".entry (.param .b32 r) f() { ret; }", "4:8 a kernel with a result"},
      {".entry f(.reg .b32 r) { ret; }", "4:10 a kernel parameter outside `.param`"},
      {".entry f(.param .b32) { ret; }", "4:21 found `)`, the name of a parameter"},
      {".entry f(.param .b32 a .param .b32 b) { ret; }", "4:24 found `.param` where `,` or `)`"},
      {".entry f(.param .b32 a[]) { ret; }", "4:22 `a` is a kernel parameter without size"},
      {".entry f() .maxntid 0 { ret; }", "4:21 0 threads, at least 1"},
      {".entry f() .reqntid 1,1,1,1 { ret; }", "4:27 more than 3 thread counts"},
      {".entry f() .foo { ret; }", "4:12 unknown directive `.foo` of a function"},
      {".entry f() .maxntid 0 { ret; }", "4:21 0 threads, at least 1 was expected"},
      {".entry f() .maxntid 4;", "4:22 found `;`, `{` after the directives"},
      {".func f() .noreturn .noreturn { ret; }", "4:21 `.noreturn` is no directive"},
      {".func f() .maxnreg 4 { ret; }", "4:11 `.maxnreg` is no directive"},
      {".entry .attribute(.unified(1, 2)) f() { ret; }", "4:8 `.attribute` of a kernel"},
      {".entry f(.param .b32 a[2][2]) { ret; }", "4:26 a second dimension"},
      {".entry f(.param .u64 .ptr .align 4 .global a) { ret; }", "4:36 found `.global`"},
      {".global .v2 .align 4 .u32 x;", "4:13 found `.align` behind the vector size"},
      {".section .debug_info { .b8 1 2 }", "4:30 found `2`"},
      {".section .debug_info { .b8 256 }", "4:28 `256` does not fit `.b8`"},
      {".metadata_section { .b8 1 }", "4:21 found `.b8`"},
      {".global .v2 .u32 x = {1};", "4:25 found `;`, a value for each"},
      {".global .texref x = {filter_mode};", "4:33 found `}`, `=`"},
      {".entry f() ret;", "4:12 found `ret`, `{` or `;` after the function's header"},
      {".entry f() .noreturn { ret; }", "4:12 `.noreturn` of a kernel"},
      {".file 1 a", "4:9 found `a`, the file's name in quotes"},
      {".alias f;", "4:9 found `;` where `,` between the two names"},
      {".section .x { .b8 1", "6:1 the file ends, `}` was expected for the `{` of line 4"},
      {".entry f() { ret;", "6:1 the file ends, `}` was expected for the `{` of line 4"},
      {"/* no end", "4:1 the comment has no end"},
      {".entry f() { /* no end", "4:14 the comment has no end"},
      {".file 1 \"abc", "4:9 the string has no end"},
      {".global .u32 \xC3\xA9x;", "4:14 byte 0xC3 is not part of PTX"},
  };
  // clang-format on
  for (const Case& c : cases) check_only(kHeader, c, "\n\n");
}

TEST_CASE("the header") {
  CHECK(errors("").size() == 2);
  CHECK(errors(".target sm_75\n.version 7.5\n")[0].starts_with(
      "1:1 the file begins without `.version`"));
  CHECK(errors(".target sm_75\n.version 7.5\n").size() == 1);
  CHECK(errors("\n\n.version 7.5\n.entry k() { ret; }")[0].starts_with(
      "1:1 the file begins without `.target`"));
  CHECK(errors(".version 7\n.target sm_75")[0].starts_with("1:10 found `7`, a version such as"));
  CHECK(errors(".version 7.5\n.target sm75")[0].starts_with("2:9 unknown target `sm75`"));
  CHECK(errors(".version 7.5\n.target sm_70, sm_75")[0].starts_with("2:16 a second target"));
  CHECK(
      errors(".version 7.5\n.target sm_75, map_f32_to_f16")[0].starts_with("2:16 unknown target"));
}

TEST_CASE("binary files give one message") {
  CHECK(errors(std::string("\x7F"
                           "ELF\2\1\0\0",
                           8)) ==
        std::vector<std::string>{"1:1 this is an ELF file (a cubin?), PTX text was expected"});
  const auto found = errors(kHeader + std::string("ab\0\1\2", 5) + kHeader);
  REQUIRE(found.size() == 1);
  CHECK(found[0] == "4:3 byte 0x00: this is a binary file, PTX text was expected");
}

TEST_CASE("every error is reported, in order") {
  const auto found = errors(kHeader +
                            ".entry k(.param .b33 a, .param .b32 b[0])\n{\n"
                            "\tmov.u32 %r1, [%r2-4];\n"
                            "\tadd.u32 %r1, %r2, %r3\n"
                            "\tmov.u32 %r1, 1\n\t@%p1 bra $L;\n"
                            "\tst.v2.u32 [%rd1 4], {%r1, %r2}; mov.u32 %r1 5;\n"
                            "\tret\n}\n.foo x;\n.visible .entry j() {\n.entry i() { ret; }\n");
  const std::vector<std::string> places = {"4:17",  "4:37",  "6:19", "7:23", "8:16",
                                           "10:18", "10:46", "11:5", "13:1", "15:1"};
  REQUIRE(found.size() == places.size());
  for (size_t i = 0; i < places.size(); ++i) {
    CHECK(found[i].substr(0, found[i].find(' ')) == places[i]);
  }
}

TEST_CASE("the limit on errors") {
  const std::string text = kHeader + ".entry k() {\n" + repeat("mov.u32 %r1 5;\n", 300) + "}\n";
  CHECK(errors(text).size() == 100);
  CHECK(errors(text, 7).size() == 7);
  CHECK(errors(text, 0).size() == 300);
  CHECK(errors(text, 7)[6].starts_with("11:13"));
  CHECK(errors(repeat("` ", 300), 5).size() == 5);
}

TEST_CASE("hostile nesting ends in a message") {
  const std::string in_body = kHeader + ".entry k() {\n";
  auto found = errors(in_body + repeat("{", 100000) + repeat("}", 100000) + "\nret;\n}\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].starts_with("5:129 scopes are nested deeper than 128"));
  found = errors(in_body + "mov.u32 %r1, " + repeat("(", 100000) + ";\nret;\n}\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].starts_with("5:214 the expression is nested deeper than 200"));
  CHECK(errors(in_body + "mov.u32 %r1, " + repeat("-", 100000) + "1;\n}\n").size() == 1);
  CHECK(errors(in_body + "mov.u32 %r1, " + repeat("1?", 100000) + "1;\n}\n").size() == 1);
  CHECK(errors(in_body + "st.u32 [%rd1], " + repeat("{", 100000) + ";\n}\n").size() >= 1);
  CHECK(errors(kHeader + ".global .u32 x = " + repeat("{", 100000) + ";\n").size() == 1);
  CHECK(errors(kHeader + ".global .u32 x" + repeat("[2]", 100000) + ";\n").size() == 1);
}

TEST_CASE("every prefix of a file ends well") {
  const std::string text =
      kHeader +
      ".global .u32 t[2][2] = {{1,0xff},{generic(t)+4}};\n.visible .entry k(.param .u64 p)\n{\n"
      "\t.reg .b32 %r<4>; // x\n$L: @!%p1 ld.v2.u32 {%r1, _}, [%rd1+-4];\n{ call (r), f, (a, 1); "
      "}\n}\n";
  CHECK(errors(text).empty());
  for (size_t i = 0; i < text.size(); ++i) {
    const auto found = errors(text.substr(0, i));
    CHECK(found.size() <= 4);
  }
}
