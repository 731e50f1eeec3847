// Code objects that lie: each is refused with a reason, in a time and memory in proportion to its
// size.
#include <doctest/doctest.h>

#include <ctime>
#include <fstream>

#include "runtime/guest/launch_block.hpp"
#include "runtime/isa/elf/elf.hpp"
#include "runtime/isa/gcn/objects/code_object.hpp"
#include "tests/unit/elf_file.hpp"

using namespace lanewise;
using test::ElfFile;

namespace {

std::string contents(const std::string& name) {
  std::ifstream file(std::string(LANEWISE_TEST_DATA) + "/data/gcn/" + name, std::ios::binary);
  REQUIRE_MESSAGE(file.good(), name);
  return std::string{std::istreambuf_iterator<char>(file), {}};
}

gcn::Listing read(const std::string& bytes) {
  return gcn::read_code_object(std::as_bytes(std::span(bytes)));
}

void use(const std::string& bytes) {
  const gcn::Listing l = read(bytes);
  for (const Diagnostic& d : l.diagnostics) CHECK(!d.message.empty());
  if (l.ok()) gcn::lower(l);
}

/// Machines that do other things as well are not slower by this.
double processor_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

void check_refused(const std::string& bytes, const std::string& why) {
  const double start = processor_seconds();
  const gcn::Listing l = read(bytes);
  const double seconds = processor_seconds() - start;
  REQUIRE(!l.ok());
  CHECK_MESSAGE(l.diagnostics[0].message.find(why) != std::string::npos, l.diagnostics[0].message);
  CHECK(seconds < 10);
}

ElfFile amd() {
  ElfFile f;
  f.machine = gcn::kElfMachine;
  f.abi = 0x40;
  f.flags = 0x2a;  // gfx803
  return f;
}

std::string metadata_note(const std::string& desc) {
  std::string note;
  test::append(note, uint32_t{7});
  test::append(note, static_cast<uint32_t>(desc.size()));
  test::append(note, uint32_t{32});
  note += std::string("AMDGPU\0\0", 8) + desc;
  note.resize((note.size() + 3) / 4 * 4);
  return note;
}

}  // namespace

TEST_CASE("a code object cut at any byte") {
  for (const char* name : {"k01_saxpy.gfx600.hsaco", "k01_saxpy.gfx700.mesa3d.hsaco"}) {
    const std::string good = contents(name);
    for (size_t size = 0; size < good.size(); ++size) use(good.substr(0, size));
    CHECK(!read(good.substr(0, good.size() / 2)).ok());
  }
}

TEST_CASE("every word of a code object's headers near the ends of 32 and 64 bits") {
  const std::string good = contents("k01_saxpy.gfx600.hsaco");
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

TEST_CASE("a section whose addresses wrap is not part of the image") {
  ElfFile f = amd();
  f.sections.push_back({.name = ".a", .data = std::string(64, 'a'), .flags = 2, .address = 0x1000});
  f.sections.push_back(
      {.name = ".b", .data = std::string(64, 'b'), .flags = 2, .address = ~uint64_t{0} - 31});
  const gcn::Listing l = read(f.bytes());
  REQUIRE(l.image);
  CHECK(l.image->size == 64);
  CHECK(l.image->init == std::vector<std::byte>(64, std::byte{'a'}));
}

TEST_CASE("metadata nested without end") {
  for (const char* chunk : {"\x91", "\x81\xa1k", "\xdd\xff\xff\xff\xff", "\xdc\x7f\xff"}) {
    std::string desc;
    while (desc.size() < 4'000'000) desc += chunk;
    ElfFile f = amd();
    f.sections.push_back({.name = ".note", .type = elf::kNote, .data = metadata_note(desc)});
    check_refused(f.bytes(), "its metadata are nested too deeply");
  }
  // Empty ones beside each other are not nested.
  ElfFile flat = amd();
  flat.sections.push_back({.name = ".note",
                           .type = elf::kNote,
                           .data = metadata_note("\xdc\x01\xf4" + std::string(500, '\x90'))});
  check_refused(flat.bytes(), "the code object has no kernel");
}

TEST_CASE("functions on top of each other") {
  ElfFile f = amd();
  std::string strings(1, '\0');
  std::vector<test::ElfSymbol> symbols;
  for (unsigned n = 0; n < 1000; ++n) {
    symbols.push_back({.name = static_cast<uint32_t>(strings.size()),
                       .info = elf::kFunction,
                       .section = 1,
                       .value = 0x1000,
                       .size = 100000});
    strings += "f" + std::to_string(n) + '\0';
  }
  f.sections.push_back(
      {.name = ".text", .data = std::string(100000, '\0'), .flags = 2, .address = 0x1000});
  f.sections.push_back({.name = ".strtab", .type = 3, .data = strings});
  f.sections.push_back(
      {.name = ".symtab", .type = elf::kSymtab, .data = test::symbol_table(symbols), .link = 2});
  check_refused(f.bytes(), "its functions lie on top of each other");
}

TEST_CASE("arguments outside the block of arguments, and blocks that no launch could have") {
  const auto rejected = [](const std::string& size, const std::string& arg) {
    const gcn::Listing l = gcn::parse(
        ".amdgcn_target \"amdgcn-amd-amdhsa--gfx803\"\nk:\n s_endpgm\n.amdhsa_kernel k\n"
        " .amdhsa_kernarg_size " +
        size +
        "\n .amdhsa_next_free_vgpr 1\n .amdhsa_next_free_sgpr 8\n"
        ".end_amdhsa_kernel\n.amdgpu_metadata\namdhsa.kernels:\n  - .name: k\n    .args:\n" +
        arg + "amdhsa.version:\n.end_amdgpu_metadata\n");
    for (const Diagnostic& d : l.diagnostics) CAPTURE(d.message);
    REQUIRE(l.ok());
    const gcn::LowerResult r = gcn::lower(l);
    CHECK(r.module.kernels.empty());
    REQUIRE(r.rejected.size() == 1);
    return r.rejected[0].diagnostics[0].message;
  };
  const std::string far =
      "      - .name: far\n        .offset: 4294967288\n        .size: 8\n"
      "        .value_kind: global_buffer\n";
  CHECK(rejected("16", far) ==
        "argument 'far' of kernel 'k' (8 bytes at 4294967288) lies outside its 16 bytes of "
        "arguments");
  CHECK(rejected("4294967295", far) ==
        "kernel 'k' takes 4294967295 bytes of arguments, expected at most 65536");
}

TEST_CASE("scratch memory of a huge grid is a huge number") {
  ir::Program p;
  p.wave_lanes = 64;
  p.needs.scratch_bytes = 1 << 20;
  const uint32_t most = 0xffffffff;
  CHECK(guest::scratch_bytes(p, {most, most, most}, {64, 1, 1}) == ~uint64_t{0});
  CHECK(guest::scratch_bytes(p, {1U << 31, 1U << 31, 4}, {64, 1, 1}) == ~uint64_t{0});
  CHECK(guest::scratch_bytes(p, {2, 1, 1}, {64, 1, 1}) == 2 * 64 << 20);
}
