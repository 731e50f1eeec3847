#include "tests/fuzz/programs/harness/script_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace lanewise::programs {
namespace {

std::string head(const InstructionSet& set, const Text& text) {
  std::string t = fmt::format("  isa {}\n", set.name);
  if (!text.target.empty()) t += fmt::format("  target {}\n", text.target);
  if (!text.version.empty()) t += fmt::format("  ptx_version {}\n", text.version);
  for (const auto& [name, value] : text.policies) t += fmt::format("  policy {} {}\n", name, value);
  if (text.shared != 0) t += fmt::format("  shared {}\n", text.shared);
  return t;
}

std::string code(const Text& text) {
  std::string t;
  if (!text.declarations.empty()) t += "  declarations \"\"\"\n" + text.declarations + "\"\"\"\n";
  return t + "  code \"\"\"\n" + text.code + "\"\"\"\n";
}

std::string number(uint32_t n) {
  if (n == kUntouched) return "u";
  return n < 10 ? fmt::format("{}", n) : fmt::format("{:#x}", n);
}
std::string list(std::span<const uint32_t> words) {
  std::string t, line;
  for (const uint32_t n : words) {
    line += (t.empty() && line.empty() ? "" : ", ") + number(n);
    if (line.size() < 100) continue;
    t += line + "\n";
    line.clear();
  }
  return "[" + t + line + "]";
}

const char* memcheck_name(Memcheck m) {
  return m == Memcheck::arena ? "arena" : m == Memcheck::alloc ? "alloc" : "off";
}

}  // namespace

std::string table_text(const std::vector<uint32_t>& words) {
  const bool same = std::ranges::all_of(words, [&](uint32_t n) { return n == words[0]; });
  return fmt::format("  buffer table u32[{}] = {} readonly\n", words.size(),
                     same ? fmt::format("{:#x}", words[0]) : list(words));
}

std::string code_script(const Program& program, const InstructionSet& set, const Text& text) {
  return "case \"program\" {\n" + head(set, text) +
         fmt::format("  block {}\n  grid {}\n  param u64 src = 0\n  param u64 dst = 0\n",
                     program.block, program.groups) +
         code(text) + "}\n";
}

std::string case_script(const Program& program, const InstructionSet& set, const Text& text,
                        const Outcome& outcome, const Setup& setup, const std::string& name) {
  std::string t = fmt::format("case \"{}\" {{\n", name) + head(set, text);
  t += fmt::format("  block {}\n  grid {}\n", program.block, program.groups);
  t += fmt::format("  memcheck {}\n", memcheck_name(setup.memcheck));
  if (!setup.passes) t += "  policy passes off\n";
  if (setup.wave != WaveMode::automatic)
    t += fmt::format("  mode {}\n", lanewise::name(setup.wave));
  t += fmt::format("  let u = {:#x}\n", kUntouched);
  if (!setup.shared_table) t += table_text(program.table);
  t += fmt::format("  buffer out u32[{}] = u\n", outcome.words.size());
  t += "  param u64 src = table\n  param u64 dst = out\n";
  return t + code(text) + "  expect out == " + list(outcome.words) + "\n}\n";
}

}  // namespace lanewise::programs
