// The language: sweeps, expressions, errors with their places.
#include <doctest/doctest.h>

#include "runtime/script/language/parser.hpp"
#include "runtime/script/language/substitute.hpp"

using namespace lanewise;
using namespace lanewise::script;

namespace {

std::string errors(const std::string& text) {
  std::string out;
  for (const Diagnostic& d : parse(text, 0).diagnostics)
    out += std::to_string(d.line) + ":" + std::to_string(d.column) + ": " + d.message + "\n";
  return out;
}
bool error_at(const std::string& text, const std::string& place, const std::string& message) {
  const std::string all = errors(text);
  const bool found =
      all.find(place + ": ") != std::string::npos && all.find(message) != std::string::npos;
  if (!found) MESSAGE(all);
  return found;
}

Names names_with_buffer() {
  Names names;
  Array a;
  a.type = ir::Type::u16;
  a.address = 0x10000000;
  for (const unsigned b : {0x01, 0x80, 0x02, 0xff}) a.bytes.push_back(static_cast<std::byte>(b));
  names.arrays["b"] = a;
  return names;
}

Value value_of(const std::string& text) {
  static const Names names = names_with_buffer();
  Env env;
  env.names = &names;
  env.set(Var::lane, 5);
  env.list_index = 1;
  Lexer lexer(text, {});
  return evaluate(*parse_expr(lexer), env);
}
int64_t integer(const std::string& text) {
  const Value v = value_of(text);
  REQUIRE_FALSE(v.is_real);
  return static_cast<int64_t>(v.bits);
}
std::string problem(const std::string& text) {
  try {
    value_of(text);
  } catch (const Problem& p) {
    return std::to_string(p.loc.column) + ": " + p.message;
  }
  return "no problem";
}

const std::string kCode = "code \"\"\"\nret;\n\"\"\"\n";

}  // namespace

TEST_CASE("integer expressions") {
  CHECK(integer("2 + 3 * 4 - 10 / 3") == 11);
  CHECK(integer("-7 / 2") == -3);
  CHECK(integer("-7 % 2") == -1);
  CHECK(integer("1 << 4 | 3 & ~1 ^ 8") == 26);
  CHECK(integer("-8 >> 1") == -4);
  CHECK(integer("-8 >>> 60") == 15);
  CHECK(integer("1 << 64") == 0);
  CHECK(integer("-1 >> 100") == -1);
  CHECK(integer("lane > 4 && lane != 6 ? 0xff : 0b11") == 255);
  CHECK(integer("0xffffffffffffffff") == -1);
  CHECK(integer("!0 + !5") == 1);
  CHECK(integer("min(-1, 1) + max(2, 3) + abs(-9)") == 11);
  CHECK(integer("ult(1, -1) + udiv(-1, 2) - 0x7fffffffffffffff") == 1);
  CHECK(integer("popc(0xf0f)") == 8);
  CHECK(integer("-0x7fffffffffffffff - 1 == (-0x7fffffffffffffff - 1) / -1") == 1);
  CHECK(integer("s8(0x80)") == -128);
  CHECK(integer("u16(-1)") == 0xffff);
  CHECK(integer("s32(0xffffffff)") == -1);
  CHECK(integer("[10, 20, 30]") == 20);
  CHECK(integer("[10, 20, 30][2]") == 30);
  CHECK(integer("(1 +\n 2)") == 3);
}

TEST_CASE("buffers in expressions") {
  CHECK(integer("b + 2") == 0x10000002);
  CHECK(integer("b[0]") == 0x8001);
  CHECK(integer("s16(b, 2)") == -254);
  CHECK(integer("u8(b, 3)") == 255);
  CHECK(integer("u32(b, 0)") == 0xff028001);
}

TEST_CASE("numbers") {
  CHECK(value_of("1.5 + 1").real == 2.5);
  CHECK(integer("bits(f32(1.5))") == 0x3fc00000);
  CHECK(integer("bits(f16(-2))") == 0xc000);
  CHECK(integer("bits(f16(65520.0))") == 0x7c00);
  CHECK(integer("bits(f16(0.00006103515625))") == 0x0400);
  CHECK(integer("bits(f16(0.000000059604644775390625))") == 1);
  CHECK(integer("bits(f16(2047.5))") == 0x6800);
  CHECK(integer("bits(f16(1.00048828125))") == 0x3c00);  // a tie goes to the even neighbour
  CHECK(integer("bits(f32(16777217))") == 0x4b800000);
  CHECK(integer("bits(-as_f32(0x7f800001))") == 0xff800001);
  CHECK(integer("1e3 == 1000") == 1);
  CHECK(integer("nan == nan") == 0);
  CHECK(integer("int(-2.75)") == -2);
  CHECK(encode(value_of("1.5"), 64, Takes::any, {}) == 0x3ff8000000000000);
  CHECK(encode(value_of("3"), 32, Takes::number, {}) == 0x40400000);
  CHECK(encode(value_of("-1"), 16, Takes::any, {}) == 0xffff);
  CHECK_THROWS_AS(encode(value_of("0x10000"), 16, Takes::any, {}), Problem);
  CHECK_THROWS_AS(encode(value_of("-0x8001"), 16, Takes::any, {}), Problem);
  CHECK_THROWS_AS(encode(value_of("f32(1)"), 64, Takes::any, {}), Problem);
  CHECK_THROWS_AS(encode(value_of("1.5"), 32, Takes::integer, {}), Problem);
}

TEST_CASE("what is wrong with an expression, and where") {
  CHECK(problem("1 / 0") == "3: division by zero");
  CHECK(problem("1 + wave") == "5: 'wave' has no value here");
  CHECK(problem("1 + nowhere").starts_with("5: unknown name 'nowhere'"));
  CHECK(problem("b[2]").starts_with("2: 'b' has 2 elements"));
  CHECK(problem("u32(b, 1)").starts_with("1: 4 bytes at offset 1"));
  CHECK(problem("[1][-1]").starts_with("4: the list has 1 elements, number -1"));
  CHECK(problem("f(1)").starts_with("1: unknown function 'f'"));
  CHECK(problem("min(1)").starts_with("1: 'min' takes 2 arguments"));
  CHECK(problem("(1").starts_with("3: expected ')'"));
  CHECK(problem("1 +").starts_with("4: expected a value, found the end"));
  CHECK(problem("0x").starts_with("1: malformed number"));
  CHECK(problem("12ab").starts_with("1: malformed number"));
  CHECK(problem("99999999999999999999")
            .starts_with("1: the number 99999999999999999999 is too large"));
  CHECK(problem("1 ` 2") ==
        "no problem");  // what follows an expression is the statement's business
  CHECK(problem("~1.5").starts_with("1: '~' needs an integer"));
  CHECK(problem(std::string(5000, '(')).find("nested too deeply") != std::string::npos);
  CHECK(problem(std::string(5000, '-') + "1").find("nested too deeply") != std::string::npos);
}

TEST_CASE("descriptors put fields where the hardware has them") {
  const auto words = [](const std::string& text) {
    Lexer lexer(text, {});
    return evaluate_words(*parse_expr(lexer), {}, 4);
  };
  CHECK(words("descriptor(base = 0x123456789abc, stride = 0x3fff, num_records = 7)") ==
        std::vector<uint32_t>{0x56789abc, 0x3fff1234, 7, 0});
  CHECK(words("descriptor(swizzle = 1, element_size = 4, index_stride = 64, add_tid = 1)") ==
        std::vector<uint32_t>{0, 0x80000000, 0, 0x00e80000});
  CHECK(words("descriptor(dst_sel_x = 4, num_format = 7, data_format = 1, type = 3)") ==
        std::vector<uint32_t>{0, 0, 0, 0xc000f004});
  CHECK_THROWS_AS(words("descriptor(stride = 16384)"), Problem);
  CHECK_THROWS_AS(words("descriptor(element_size = 5)"), Problem);
  CHECK_THROWS_AS(words("descriptor(nothing = 5)"), Problem);
  CHECK_THROWS_AS(words("descriptor(base = 1, base = 2)"), Problem);
}

TEST_CASE("substitution") {
  CHECK(substitute("a${n}b ${n + 1} ${m}", "n", "4", {}) == "a4b 5 ${m}");
  CHECK(substitute("${n * m}", "n", "-2", {}) == "${(-2) * m}");
  CHECK(substitute("${(-2) * m}", "m", "3", {}) == "-6");
  CHECK(substitute("${type}(x) ${types}", "type", "u8", {}) == "u8(x) ${types}");
  CHECK(substitute("${n", "n", "4", {}) == "${n");
}

TEST_CASE("sweeps make cases") {
  const Script s = parse(
      "isa sass\nfor (t, n) in (u8, 1) (\"u 16\", 2) {\n  for k in 0..4 step 2 {\n case "
      "\"${t} ${n * 10 + k}\" {\n" +
          kCode + "}\n}\n}\n",
      0);
  CHECK(errors("") == "1:1: the script holds no case\n");
  REQUIRE(s.ok());
  REQUIRE(s.cases.size() == 6);
  CHECK(s.cases[0].name == "u8 10");
  CHECK(s.cases[5].name == "u 16 24");
  CHECK(s.cases[5].bindings == "");
  CHECK(s.cases[0].loc.line == 4);
  const Script same = parse("isa sass\nfor k in a b {\ncase \"x\" {\n" + kCode + "}\n}\n", 0);
  REQUIRE(same.cases.size() == 2);
  CHECK(same.cases[1].bindings == "k = b");
}

TEST_CASE("settings outside a case hold for what follows, inside a for to its end") {
  const Script s = parse("isa sass\nwaves 2\ncase \"a\" {\n" + kCode +
                             "}\nfor n in 3 {\nwaves ${n}\ncase "
                             "\"b\" {\n" +
                             kCode + "}\n}\ncase \"c\" {\nwaves 5\n" + kCode + "}\ncase \"d\" {\n" +
                             kCode + "}\n",
                         0);
  REQUIRE(s.cases.size() == 4);
  CHECK(s.cases[0].waves == 2);
  CHECK(s.cases[1].waves == 3);
  CHECK(s.cases[2].waves == 5);
  CHECK(s.cases[3].waves == 2);
}

TEST_CASE("every error is reported, with its place") {
  const std::string text =
      "isa vax\ncase \"x\" {\n  buffer b u7[4]\n  reg R1 = \n  frobnicate 3\n  expect R1 == 1\n" +
      kCode + "  waves 0\n}\n";
  const std::string all = errors(text);
  CHECK(all.find("1:5: unknown ISA 'vax'") != std::string::npos);
  CHECK(all.find("3:12: unknown type 'u7'") != std::string::npos);
  CHECK(all.find("4:12: expected a value, found the end of the line") != std::string::npos);
  CHECK(all.find("5:3: unknown statement 'frobnicate'") != std::string::npos);
  CHECK(all.find("6:3: nothing has run before") != std::string::npos);
  CHECK(all.find("10:9: expected a number of waves from 1 to 64") != std::string::npos);
  CHECK(parse(text, 2).diagnostics.size() == 2);
}

TEST_CASE("single errors") {
  CHECK(error_at("case \"x\" {\n}\n", "1:1", "runs nothing"));
  CHECK(error_at("case \"x\" {\n", "2:1", "expected '}' at the end of the case"));
  CHECK(error_at("}", "1:1", "'}' without '{'"));
  CHECK(error_at("isa ptx junk", "1:9", "expected the end of the line, found 'junk'"));
  CHECK(error_at("case \"x", "1:6", "must end on its line"));
  CHECK(error_at("isa sass\ncase \"x\" {\ncode \"\"\"\nEXIT ;\n", "4:1", "never closed"));
  CHECK(error_at("for n in 1 2 {", "1:14", "never closed"));
  CHECK(error_at("for n in {\n}", "1:1", "no values"));
  CHECK(error_at("for (a, b) in (1, 2) 3 {\n}", "1:22", "expected 2 values, found 1"));
  CHECK(error_at("for n in 5..1 {\n}", "1:10", "ends before it starts"));
  CHECK(error_at("let x = ${n}", "1:9", "no 'for' binds"));
  CHECK(error_at("for n in 1 {\nlet x = ${n / 0}\n}", "2:3", "division by zero"));
  CHECK(error_at("for n in 1 {\nlet x = \n}", "2:9", "(with n = 1)"));
  CHECK(error_at("let lane = 4", "1:5", "a variable of its own"));
  CHECK(error_at("buffer b u8[1]\nbuffer b u8[1]", "2:8", "declared on line 1"));
  CHECK(error_at("buffer b u8[]", "1:1", "how many elements"));
  CHECK(error_at("memcheck maybe", "1:10", "expected arena, alloc or off"));
  CHECK(error_at("code \"\"\"\n\"\"\"", "1:1", "belongs inside a case"));
  CHECK(error_at("case \"x\" {\ncode \"\"\"\n\"\"\"\n}", "3:1", "does not say its ISA"));
  CHECK(error_at("isa sass\ncase \"x\" {\n" + kCode + kCode + "}", "7:1", "one code block"));
  CHECK(error_at(
      "isa sass\nfor n in 1 {\ncase \"x\" {\n" + kCode + "}\ncase \"x\" {\n" + kCode + "}\n}",
      "8:1", "on line 3 already"));
  CHECK(error_at("isa sass\ncase \"x\" {\n" + kCode + "expect fault melted\n}", "6:14",
                 "expected out_of_range"));
  CHECK(error_at(std::string("isa \x01"), "1:5", "unexpected byte 0x01"));
  CHECK(error_at(std::string("a\0b", 3), "1:1", "binary file"));
}

TEST_CASE("nothing grows without bound") {
  std::string loops;
  for (int n = 0; n < 20; ++n)
    loops += std::string("for v").append(std::to_string(n)).append(" in 0..999 {\n");
  CHECK(errors(loops + std::string(20, '}')).find("nested too deeply") != std::string::npos);
  std::string lets = "let a0 = 1\n";
  for (int n = 1; n < 60; ++n) {
    const std::string before = std::string("a").append(std::to_string(n - 1));
    lets += std::string("let a").append(std::to_string(n)).append(" = ") + before + " + " + before +
            "\n";
  }
  const Script s = parse(
      "isa sass\n" + lets + "case \"x\" {\nreg R0 = a59\ncode \"\"\"\nEXIT ;\n\"\"\"\n}\n", 0);
  REQUIRE(s.ok());
  RunOptions options;
  options.step_limit = 1 << 20;
  const CaseResult r = check(s.cases[0], options);
  REQUIRE(r.diagnostics.size() == 1);
  CHECK(r.diagnostics[0].message.find("too long to evaluate") != std::string::npos);
}
