// Several files as one: who sees which name.
#include <algorithm>

#include "runtime/isa/ptx/link.hpp"

#include <doctest/doctest.h>

#include "runtime/isa/ptx/ast.hpp"
#include "runtime/isa/ptx/lower.hpp"
#include "tests/support/contains.hpp"

using namespace lanewise;

namespace {

const std::string kHead = ".version 7.8\n.target sm_52\n.address_size 64\n";

/// Of the linked files: the first diagnostic that is no warning, or nothing.
std::string trouble(const std::vector<std::string>& files) {
  const ptx::ParseResult parsed = ptx::parse(ptx::link(files).text);
  std::vector<Diagnostic> all = parsed.diagnostics;
  if (parsed.ok()) {
    const ptx::LowerResult lowered = ptx::lower(parsed.module);
    all.insert(all.end(), lowered.diagnostics.begin(), lowered.diagnostics.end());
  }
  for (const Diagnostic& d : all)
    if (!d.warning) return d.message;
  return {};
}

std::string device_function(const std::string& linkage, const std::string& name,
                            const std::string& body) {
  return linkage + ".func (.param .b32 r) " + name + " (.param .b32 a)\n{\n .reg .b32 %r<9>;\n" +
         body + " st.param.b32 [r], %r1;\n ret;\n}\n";
}
std::string entry(const std::string& name, const std::string& body) {
  return ".visible .entry " + name + " ()\n{\n .reg .b32 %r<9>;\n" + body + " ret;\n}\n";
}
std::string call(const std::string& name) {
  return " { .param .b32 x; .param .b32 y; st.param.b32 [x], %r1;\n  call (y), " + name +
         ", (x);\n  ld.param.b32 %r1, [y]; }\n";
}
std::string declare(const std::string& name) {
  return ".extern .func (.param .b32 r) " + name + " (.param .b32 a);\n";
}

}  // namespace

TEST_CASE("linked PTX: functions and variables of other files") {
  const std::string uses = kHead + declare("f") + ".extern .global .align 4 .u32 v;\n" +
                           entry("one", " ld.global.u32 %r1, [v];\n" + call("f"));
  const std::string defines = kHead + ".visible .global .align 4 .u32 v = 7;\n" +
                              device_function(".visible ", "f", " ld.param.b32 %r1, [a];\n");
  CHECK(trouble({uses, defines}).empty());
  CHECK(trouble({defines, uses}).empty());
  // Each file calls a function of the other.
  const std::string there = kHead + declare("g") + device_function(".visible ", "f", call("g"));
  const std::string back = kHead + declare("f") +
                           device_function(".visible ", "g", " mov.u32 %r1, 1;\n") +
                           entry("two", call("f"));
  CHECK(trouble({there, back}).empty());
  CHECK(trouble({back, there}).empty());
  CHECK(has(trouble({uses, uses}), "`one` was defined"));
  CHECK(has(trouble({uses, kHead}), "no"));  // it stays undefined
}

TEST_CASE("linked PTX: a file's own names do not meet those of others") {
  const auto file = [](const std::string& n) {
    return kHead + ".global .align 4 .u32 own = " + n + ";\n" +
           device_function("", "mine", " ld.global.u32 %r1, [own];\n") +
           entry("k" + n, call("mine"));
  };
  const std::string linked = ptx::link({file("1"), file("2"), file("3")}).text;
  CHECK(trouble({file("1"), file("2"), file("3")}).empty());
  const ptx::Module module = ptx::parse(linked).module;
  CHECK(module.variables.size() == 3);
  CHECK(module.functions.size() == 6);
  // A comment, a text and a longer name are not the variable.
  const std::string other =
      kHead +
      ".global .align 4 .u32 own = 4; // own\n"
      ".global .align 1 .b8 ownership[4] = {111, 119, 110, 0};\n" +
      entry("k4", " ld.global.u32 %r1, [own+4];\n ld.global.u8 %r2, [ownership];\n");
  const std::string both = ptx::link({file("1"), other}).text;
  CHECK(has(both, "[own__in_1+4]"));
  CHECK(has(both, "[ownership]"));
  // One that others see keeps its name.
  const std::string seen = kHead + ".visible .global .align 4 .u32 own = 5;\n" +
                           entry("k5", " ld.global.u32 %r1, [own];\n");
  const std::string mixed = ptx::link({file("1"), seen}).text;
  CHECK(has(mixed, ".visible .global .align 4 .u32 own = 5;"));
  CHECK(has(mixed, "own__in_0 = 1;"));
  CHECK(trouble({file("1"), seen}).empty());
}

TEST_CASE("linked PTX: weak definitions, shared memory, header and line numbers") {
  const std::string weak = device_function(".weak ", "w", " mov.u32 %r1, 1;\n");
  const std::string strong = device_function(".visible ", "w", " mov.u32 %r1, 2;\n");
  const auto count = [](const std::string& text) {
    return ptx::parse(text).module.functions.size();
  };
  CHECK(count(ptx::link({kHead + weak, kHead + weak}).text) == 1);
  const std::string chosen = ptx::link({kHead + weak, kHead + strong, kHead + weak}).text;
  CHECK(has(chosen, "mov.u32 %r1, 2;"));
  CHECK(!has(chosen, "mov.u32 %r1, 1;"));
  CHECK(has(trouble({kHead + strong, kHead + strong}), "was defined"));

  const std::string shared = ".extern .shared .align 16 .b8 s[];\n";
  const std::string reads = " ld.shared.u32 %r1, [s];\n";
  CHECK(trouble({kHead + shared + entry("a", reads), kHead + shared + entry("b", reads)}).empty());

  const std::string newer = ".version 8.10\n.target sm_90a\n.address_size 64\n";
  const std::string lines = ".file 1 \"x.cu\"\n.file 2 \"y.cu\"\n";
  const std::string linked =
      ptx::link(
          {".version 8.9\n.target sm_90\n.address_size 64\n" + entry("a", " .loc 1 5 0\n") + lines,
           newer + entry("b", " .loc 2 6 0, function_name $L__info_string0, inlined_at 1 9 0\n") +
               lines})
          .text;
  CHECK(linked.starts_with(".version 8.10\n"));
  CHECK(has(linked, ".loc 1 5 0"));
  CHECK(has(linked, ".loc 4 6 0, function_name $L__info_string0__in_1, inlined_at 3 9 0"));
  CHECK(has(linked, ".file 4 \"y.cu\""));
  CHECK(ptx::link({kHead}).text == kHead);
}

TEST_CASE("link: each line knows its file and its line there") {
  const std::string second =
      kHead + "\n.extern .global .u32 x;\n// between\n.visible .global .u32 y\n  = 7;\n";
  const ptx::Linked linked = ptx::link({kHead + ".visible .global .u32 x;\n", second});
  uint32_t at = 1;
  for (const char c : linked.text.substr(0, linked.text.find("= 7"))) at += c == '\n' ? 1 : 0;
  const auto line_of_7 =
      static_cast<uint32_t>(std::ranges::count(second.substr(0, second.find("= 7")), '\n')) + 1;
  CHECK(linked.place(at).file == 1);
  CHECK(linked.place(at).line == line_of_7);
  CHECK(linked.place(1).file == 0);
}
