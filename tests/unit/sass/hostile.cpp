// Cubins that lie: each is refused with a reason, in a time and memory in proportion to its size.
#include <doctest/doctest.h>

#include <ctime>
#include <fstream>

#include "runtime/isa/elf/elf.hpp"
#include "runtime/isa/sass/sass.hpp"
#include "tests/unit/elf_file.hpp"

using namespace lanewise;
using test::ElfFile;
using test::ElfSection;

namespace {

std::string contents(const std::string& name) {
  std::ifstream file(std::string(LANEWISE_TEST_DATA) + "/kernels/data/sass/" + name,
                     std::ios::binary);
  REQUIRE_MESSAGE(file.good(), name);
  return std::string{std::istreambuf_iterator<char>(file), {}};
}

sass::Listing read(const std::string& bytes) {
  return sass::read_cubin(std::as_bytes(std::span(bytes)));
}

/// Everything that a launch would do with it before it runs.
void use(const std::string& bytes) {
  const sass::Listing l = read(bytes);
  for (const Diagnostic& d : l.diagnostics) CHECK(!d.message.empty());
  if (l.ok()) sass::lower(l);
}

/// Machines that do other things as well are not slower by this.
double processor_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

void check_refused(const std::string& bytes, const std::string& why) {
  const double start = processor_seconds();
  const sass::Listing l = read(bytes);
  const double seconds = processor_seconds() - start;
  REQUIRE(!l.ok());
  CHECK_MESSAGE(l.diagnostics[0].message.find(why) != std::string::npos, l.diagnostics[0].message);
  CHECK(seconds < 10);
}

/// A function of one bundle of NOPs.
std::string nops() {
  std::string code;
  for (const uint64_t word :
       {0x001f8000fc0007e0ULL, 0x50b0000000070f00ULL, 0x50b0000000070f00ULL, 0x50b0000000070f00ULL})
    test::append(code, word);
  return code;
}

}  // namespace

TEST_CASE("a cubin cut at any byte") {
  const std::string good = contents("k01_saxpy.cubin");
  const auto bytes = std::as_bytes(std::span(good));
  // Behind the section table stands nothing that is read.
  const uint64_t end =
      elf::read<uint64_t>(bytes, 0x28, "") + 64ULL * elf::read<uint16_t>(bytes, 0x3c, "");
  REQUIRE(end <= good.size());
  for (size_t size = 0; size < end; ++size) CHECK(!read(good.substr(0, size)).ok());
  CHECK(read(good.substr(0, end)).ok());
}

TEST_CASE("every word of a cubin's headers near the ends of 32 and 64 bits") {
  const std::string good = contents("k25_calls.cubin");
  const uint64_t table = elf::read<uint64_t>(std::as_bytes(std::span(good)), 0x28, "");
  const auto mutate = [&](size_t at) {
    for (const uint64_t value :
         {~0ULL, ~0ULL - 15, 1ULL << 63, 0xffffffffULL, 0xfffffff0ULL, 0x80000000ULL, 0ULL}) {
      std::string bad = good;
      std::memcpy(bad.data() + at, &value, 8);
      use(bad);
      bad = good;
      std::memcpy(bad.data() + at, &value, 4);
      use(bad);
    }
  };
  for (size_t at = 0x10; at + 8 <= 64; at += 4) mutate(at);
  for (size_t at = table; at + 8 <= good.size(); at += 8) mutate(at);
}

TEST_CASE("sections on top of each other") {
  ElfFile f;
  for (unsigned n = 0; n < 3000; ++n)
    f.sections.push_back({.name = ".text.k", .lies = true, .offset = 0, .size = 100000});
  check_refused(f.bytes(), "its sections lie on top of each other");
}

TEST_CASE("one long name for every symbol") {
  ElfFile f;
  f.sections.push_back({.name = ".strtab", .type = 3, .data = std::string(1 << 20, 'a') + '\0'});
  f.sections.push_back({.name = ".symtab",
                        .type = elf::kSymtab,
                        .data = test::symbol_table(std::vector<test::ElfSymbol>(100000)),
                        .link = 1});
  check_refused(f.bytes(), "its names are many times as long as the file");
  f.sections[0].data.pop_back();
  f.sections[1].data = test::symbol_table({{}});
  ElfFile open = f;
  open.sections[0].data = "abc";
  check_refused(open.bytes(), "the name of a symbol never ends");
}

TEST_CASE("variables on top of each other, and constant banks that no device has") {
  ElfFile f;
  f.sections.push_back({.name = ".nv.global.init", .data = std::string(100000, 'x')});
  f.sections.push_back({.name = ".strtab", .type = 3, .data = std::string("\0v\0", 3)});
  f.sections.push_back(
      {.name = ".symtab",
       .type = elf::kSymtab,
       .data = test::symbol_table(std::vector<test::ElfSymbol>(
           5000, {.name = 1, .info = elf::kObject, .section = 1, .value = 0, .size = 100000})),
       .link = 2});
  check_refused(f.bytes(), "its variables lie on top of each other");
  ElfFile bank;
  bank.sections.push_back({.name = ".nv.constant3", .data = std::string(70000, 'x')});
  check_refused(bank.bytes(), "constant bank 3 of 70000 bytes, expected at most 65536");
}

TEST_CASE("lists of a jump's targets that do not end") {
  std::string bytes = contents("../../../pairs/data/small_types/seed20363.O2.cubin");
  const size_t at = bytes.find("\x04\x34");
  REQUIRE(at != std::string::npos);
  bytes.replace(at + 12, 4, "\xff\xff\xff\xff");
  check_refused(bytes, "a list of a jump's targets lies outside the file");
}

TEST_CASE("lines of the source that lie: the kernels run, and a warning says why there are none") {
  const std::string good = contents("lines/lines.cubin");
  const sass::Listing l = read(good);
  REQUIRE(l.ok());
  CHECK(l.diagnostics.empty());
  const elf::File file = elf::parse(std::as_bytes(std::span(good)));
  const elf::Section* lines = file.section(".debug_line");
  REQUIRE(lines != nullptr);
  size_t warned = 0;
  for (size_t at = lines->offset; at < lines->offset + lines->size; ++at)
    for (const unsigned value : {0x00U, 0x01U, 0x7fU, 0x80U, 0xffU}) {
      std::string bad = good;
      bad[at] = static_cast<char>(value);
      const sass::Listing listing = read(bad);
      CHECK(listing.ok());
      if (!listing.diagnostics.empty()) {
        ++warned;
        CHECK(listing.diagnostics[0].message.starts_with("broken .debug_line: "));
      }
      sass::lower(listing);
    }
  CHECK(warned > 50);

  // One long folder for each of many files.
  std::string header(1, '\x01');                 // smallest instruction
  header += std::string("\x01\xfb\x0e\x01", 4);  // statement, base, range, first special one
  header += std::string(1000, 'd') + std::string(2, '\0');
  for (unsigned n = 0; n < 200000; ++n) header += std::string("f\0\x01\0\0", 5);
  header += '\0';
  std::string unit("\x02\0", 2);
  for (unsigned n = 0; n < 4; ++n) unit += static_cast<char>(header.size() >> 8 * n);
  unit += header;
  std::string section;
  for (unsigned n = 0; n < 4; ++n) section += static_cast<char>(unit.size() >> 8 * n);
  ElfFile f;
  f.sections.push_back({.name = ".debug_line", .data = section + unit});
  const std::string bytes = f.bytes();
  CHECK_THROWS_WITH(elf::source_lines(elf::parse(std::as_bytes(std::span(bytes)))),
                    "the paths of source files are many times as long as their table");
}

TEST_CASE("tens of thousands of functions and relocations take a time in proportion") {
  ElfFile f;
  std::string strings(1, '\0'), relocations;
  std::vector<test::ElfSymbol> symbols;
  constexpr unsigned kFunctions = 20000;
  for (unsigned n = 0; n < kFunctions; ++n) {
    const std::string name = "f" + std::to_string(n);
    symbols.push_back({.name = static_cast<uint32_t>(strings.size()),
                       .info = elf::kFunction,
                       .other = 0x10,
                       .section = static_cast<uint16_t>(n + 1),
                       .size = 32});
    strings += name + '\0';
    f.sections.push_back({.name = ".text." + name, .data = nops()});
  }
  // Many symbols and relocations of the first function.
  for (unsigned n = 0; n < 100000; ++n) {
    symbols.push_back(
        {.name = 0, .info = elf::kFunction, .section = 1, .value = uint64_t{8} * (n % 4)});
    test::append(relocations, uint64_t{8});
    test::append(relocations, uint64_t{1} << 32 | 0x2b);
  }
  const auto sections = static_cast<uint32_t>(f.sections.size());
  f.sections.push_back({.name = ".strtab", .type = 3, .data = strings});
  f.sections.push_back({.name = ".symtab",
                        .type = elf::kSymtab,
                        .data = test::symbol_table(symbols),
                        .link = sections + 1});
  f.sections.push_back({.name = ".rel.text.f0",
                        .type = elf::kRel,
                        .data = relocations,
                        .link = sections + 2,
                        .info = 1});
  const double start = processor_seconds();
  const sass::Listing l = read(f.bytes());
  const double seconds = processor_seconds() - start;
  CHECK(l.ok());
  CHECK(l.kernels.size() == kFunctions);
  CHECK(l.kernels[0].diagnostics.size() == 100);
  CHECK(seconds < 20);
}
