// Every code object at hand: each word is an instruction, and our text of it assembles to it.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "runtime/isa/gcn/objects/code_object.hpp"
#include "tests/support/sanitized.hpp"

using namespace lanewise;

namespace {

gcn::Listing object_at(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  const std::string bytes = text.str();
  return gcn::read_code_object(std::as_bytes(std::span(bytes.data(), bytes.size())));
}

/// Literals that have a shorter code are words in a disassembly, as its text would be shorter.
std::string line_of(const gcn::Instruction& i, gcn::Gen gen) {
  std::string text = gcn::print(i, gen);
  const auto again = gcn::parse_instruction(text, gen).instruction;
  if (again && gcn::encode(*again, gen) == gcn::encode(i, gen)) return text;
  text = ".long ";
  for (const uint32_t w : gcn::encode(i, gen)) text += fmt::format("{:#x}, ", w);
  return text.substr(0, text.size() - 2);
}

std::vector<uint32_t> words_of(const gcn::Kernel& k, gcn::Gen gen) {
  std::vector<uint32_t> words;
  for (const gcn::Instruction& i : k.code)
    for (const uint32_t w : gcn::encode(i, gen)) words.push_back(w);
  return words;
}

}  // namespace

TEST_CASE("gcn objects: all of them disassemble completely and assemble to their words") {
  size_t files = 0, instructions = 0, as_words = 0;
  const std::string folder = std::string(LANEWISE_TEST_DATA) + "/kernels/data/gcn";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".hsaco") continue;
    const std::string name = entry.path().filename();
    CAPTURE(name);
    const gcn::Listing l = object_at(entry.path());
    CHECK(l.ok());
    REQUIRE(!l.kernels.empty());
    ++files;
    std::vector<const gcn::Kernel*> parts;
    for (const gcn::Kernel& k : l.kernels) parts.push_back(&k);
    for (const gcn::Kernel& k : l.functions) parts.push_back(&k);
    for (const gcn::Kernel* k : parts) {
      CAPTURE(k->name);
      std::string text = "k:\n";
      for (const gcn::Instruction& i : k->code) {
        const std::string line = line_of(i, l.gen);
        CHECK_MESSAGE(i.row->kind != gcn::Kind::data, line);
        as_words += line.starts_with(".long") ? 1 : 0;
        text += line + "\n";
        ++instructions;
      }
      const gcn::Listing again = gcn::parse(text, l.gen);
      for (const Diagnostic& d : again.diagnostics) FAIL_CHECK(d.message);
      REQUIRE(again.kernels.size() == 1);
      CHECK(words_of(again.kernels[0], l.gen) == words_of(*k, l.gen));
    }
  }
  CHECK(files >= 90);
  CHECK(instructions > 20000);
  CHECK(as_words < instructions / 100);
  MESSAGE(files << " objects, " << instructions << " instructions, " << as_words << " as words");
}

TEST_CASE(
    "gcn objects: what registers may hold is known soon, also where functions call each other in "
    "loops") {
  if (lanewise::test::kSanitized) return;
  const std::string name =
      std::string(LANEWISE_TEST_DATA) + "/kernels/data/gcn/own/suites.gfx803.hsaco";
  const gcn::Listing l = object_at(name);
  REQUIRE(l.kernels.size() > 4);
  const std::clock_t start = std::clock();
  CHECK(gcn::lower(l).rejected.empty());
  CHECK(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC < 3);
}
