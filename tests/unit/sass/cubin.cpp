// Cubins: what is read from them, that broken ones are refused, and that disassembly assembles
// back.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "runtime/isa/elf/elf.hpp"
#include "runtime/isa/sass/sass.hpp"
#include "tests/unit/run_support.hpp"

using namespace lanewise;

namespace {

using Blob = std::vector<std::byte>;

Blob load(const std::string& name) {
  std::ifstream file(std::string(LANEWISE_TEST_DATA) + "/kernels/data/sass/" + name,
                     std::ios::binary);
  REQUIRE_MESSAGE(file.good(), name);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  return {bytes, bytes + text.size()};
}

/// Nothing of it runs, or not all of its kernels.
bool complains(const sass::Listing& l) {
  return !l.ok() || std::ranges::any_of(
                        l.kernels, [](const sass::Kernel& k) { return !k.diagnostics.empty(); });
}

sass::Listing read(const std::string& name) {
  return sass::read_cubin(load(name));
}

}  // namespace

TEST_CASE("a cubin says parameters, registers, stack and code") {
  const sass::Listing l = read("k01_saxpy.cubin");
  for (const Diagnostic& d : l.diagnostics) FAIL_CHECK(d.message);
  CHECK(l.arch == 50);
  REQUIRE(l.kernels.size() == 2);
  const sass::Kernel& k = l.kernels[1];
  CHECK(k.name == "saxpy");
  CHECK(k.registers == 7);
  CHECK(k.param_bytes == 24);
  REQUIRE(k.params.size() == 4);
  const uint32_t offsets[] = {0, 4, 8, 16}, sizes[] = {4, 4, 8, 8};
  for (size_t n = 0; n < 4; ++n) {
    CHECK(k.params[n].offset == offsets[n]);
    CHECK(k.params[n].size == sizes[n]);
  }
  CHECK(k.code.size() == 24);
  CHECK(k.code[0].pc == 8);
  CHECK(k.code[1].control.write_sb() == 0);
  CHECK(sass::print(k.code[1]) == "S2R R0, SR_CTAID.X");
}

TEST_CASE("shared memory, constant bank 2, variables, relocations and device functions") {
  const sass::Listing shared = read("k05_hist.cubin");
  REQUIRE(shared.kernels.size() == 3);
  CHECK(shared.kernels[0].shared_bytes == 28);
  CHECK(shared.kernels[2].shared_bytes == 1024);
  const sass::Listing calls = read("k25_calls.cubin");
  REQUIRE(calls.kernels.size() == 3);
  const sass::Kernel& indirect = calls.kernels[0];
  REQUIRE(indirect.relocations.size() == 2);
  CHECK(indirect.relocations[0].symbol == "tabf");
  CHECK(indirect.relocations[0].high != indirect.relocations[1].high);
  REQUIRE(indirect.banks.size() == 1);
  CHECK(indirect.banks[0].number == 2);
  CHECK(indirect.banks[0].bytes.size() == 24);
  REQUIRE(indirect.labels.size() == 2);
  CHECK(indirect.labels[0].name == "$indirect$_Z2f0i");
  CHECK(indirect.code[indirect.labels[0].index].pc == 0xe8);
}

TEST_CASE("variables begin with the addresses of others, and of functions") {
  const sass::Listing l = sass::read_cubin(load("../../../pairs/data/indirect.rdc.cubin"));
  for (const Diagnostic& d : l.diagnostics) FAIL_CHECK(d.message);
  const auto relocs = [&](const std::string& name) {
    const auto g = std::ranges::find(l.globals, name, &ir::Global::name);
    REQUIRE(g != l.globals.end());
    std::vector<std::tuple<uint64_t, std::string, int64_t>> out;
    for (const ir::Global::Reloc& r : g->relocs) out.emplace_back(r.offset, r.symbol, r.addend);
    std::ranges::sort(out);
    return out;
  };
  using Relocs = std::vector<std::tuple<uint64_t, std::string, int64_t>>;
  CHECK(relocs("places") == Relocs{{0, "numbers", 0}, {8, "numbers", 12}, {16, "numbers", 28}});
  CHECK(relocs("steps") == Relocs{{0, "_Z4nextj", 0}, {8, "_Z6squarej", 0}, {16, "_Z5mixedj", 0}});
  CHECK(sass::lower(l).module.functions ==
        std::vector<std::string>{"_Z5mixedj", "_Z6squarej", "_Z4nextj"});
}

TEST_CASE("disassembly assembles back to every word and control word") {
  size_t cubins = 0;
  const std::string folder = std::string(LANEWISE_TEST_DATA) + "/kernels/data/sass";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".cubin") continue;
    ++cubins;
    const std::string name = entry.path().filename();
    CAPTURE(name);
    const sass::Listing l = read(name);
    for (const Diagnostic& d : l.diagnostics) FAIL_CHECK(d.message);
    const std::string text = sass::print(l);
    const sass::Listing again = sass::parse(text);
    for (const Diagnostic& d : again.diagnostics) FAIL_CHECK(d.line << ": " << d.message);
    REQUIRE(again.kernels.size() == l.kernels.size());
    for (size_t k = 0; k < l.kernels.size(); ++k) {
      CHECK(again.kernels[k].name == l.kernels[k].name);
      CHECK(sass::encode_bundles(again.kernels[k]) == sass::encode_bundles(l.kernels[k]));
    }
    // Comments say whose address a number will be; words alone do not.
    const bool relocated = std::ranges::any_of(
        l.kernels, [](const sass::Kernel& k) { return !k.relocations.empty(); });
    if (!relocated) CHECK(sass::print(again) == text);
  }
  CHECK(cubins == 55);
}

TEST_CASE("halves of a variable's address assemble, and run only where the variable is") {
  const sass::Listing l =
      sass::parse("MOV32I R8, 32@lo(table) ;\nMOV32I R9, 32@hi(table) ;\nEXIT ;\n");
  REQUIRE(l.ok());
  REQUIRE(l.kernels.size() == 1);
  CHECK(l.kernels[0].code[0].word == 0x010000000007f008);
  REQUIRE(l.kernels[0].relocations.size() == 2);
  CHECK(l.kernels[0].relocations[0].symbol == "table");
  CHECK(!l.kernels[0].relocations[0].high);
  CHECK(l.kernels[0].relocations[1].high);
  const sass::LowerResult r = sass::lower(l);
  CHECK(r.module.kernels.empty());
  REQUIRE(r.rejected.size() == 1);
  CHECK(r.rejected[0].diagnostics[0].message.ends_with("nothing here is called 'table'"));
  CHECK(!sass::parse("MOV32I R8, 32@up(table) ;\n").ok());
}

TEST_CASE(
    "a call that no relocation explains, and one of a function that is not here, are refused") {
  sass::Listing l = sass::parse("JCAL 0x0 ;\nEXIT ;\n");
  const sass::LowerResult unknown = sass::lower(l);
  REQUIRE(unknown.diagnostics.size() == 1);
  CHECK(unknown.diagnostics[0].message ==
        "nothing says where this goes: a relocation was expected");
  l.kernels[0].calls.push_back({sass::pc_of(0), "elsewhere"});
  const sass::LowerResult absent = sass::lower(l);
  REQUIRE(absent.diagnostics.size() == 1);
  CHECK(absent.diagnostics[0].message == "calls 'elsewhere', which has no body in this file");
}

TEST_CASE("cubins lower to well-formed programs") {
  const sass::LowerResult r = sass::lower(read("k03_transpose.cubin"));
  for (const Diagnostic& d : r.diagnostics) FAIL_CHECK(d.message);
  for (const ir::Program& p : r.module.kernels)
    for (const std::string& defect : ir::verify(p)) FAIL_CHECK(defect);
}

TEST_CASE("a word that nobody knows refuses its own kernel and no other") {
  Blob bytes = load("k02_reduce.cubin");
  const sass::Listing good = sass::read_cubin(bytes);
  REQUIRE(good.kernels.size() == 2);
  // The second instruction of the first kernel becomes a TEXS.
  const std::vector<std::byte> code = sass::encode_bundles(good.kernels[0]);
  const auto at = std::search(bytes.begin(), bytes.end(), code.begin(), code.end());
  REQUIRE(at != bytes.end());
  const uint64_t texs = 0xd00fffffff070000;
  for (unsigned n = 0; n < 8; ++n) at[16 + n] = static_cast<std::byte>(texs >> (8 * n));
  const sass::Listing bad = sass::read_cubin(bytes);
  CHECK(bad.ok());
  REQUIRE(bad.kernels[0].diagnostics.size() == 1);
  CHECK(bad.kernels[0].diagnostics[0].message ==
        "kernel '" + bad.kernels[0].name +
            "': at 0x0010: word d00fffffff070000: TEXS is not supported in this form");
  const sass::LowerResult r = sass::lower(bad);
  REQUIRE(r.module.kernels.size() == 1);
  CHECK(r.module.kernels[0].name == good.kernels[1].name);
  REQUIRE(r.rejected.size() == 1);
  CHECK(r.rejected[0].name == good.kernels[0].name);
  // The word keeps its place: the code assembles back to what it was.
  const sass::Listing again = sass::parse(sass::print(bad));
  REQUIRE(again.ok());
  CHECK(sass::encode_bundles(again.kernels[0]) == sass::encode_bundles(bad.kernels[0]));
}

TEST_CASE("broken cubins are refused, never read past their end") {
  const Blob good = load("k25_calls.cubin");
  const size_t program_headers = 6512;  // the last part, which nobody needs
  for (size_t size = 0; size < program_headers; size += 7) {
    const Blob cut(good.begin(), good.begin() + static_cast<ptrdiff_t>(size));
    CHECK(complains(sass::read_cubin(cut)));
  }
  std::mt19937 random(7);
  size_t refused = 0;
  for (int round = 0; round < 3000; ++round) {
    Blob bad = good;
    for (int n = 0; n < 4; ++n) bad[random() % bad.size()] = static_cast<std::byte>(random());
    const sass::Listing l = sass::read_cubin(bad);
    refused += complains(l) ? 1 : 0;
    for (const Diagnostic& d : l.diagnostics) CHECK(!d.message.empty());
  }
  CHECK(refused > 100);
  CHECK(sass::read_cubin({}).diagnostics[0].message == "broken cubin: this is no ELF file");
}

TEST_CASE("compiled reductions run from their cubin: shared memory, loops, shuffles, atomics") {
  const sass::LowerResult r = sass::lower(read("k02_reduce.cubin"));
  for (const Diagnostic& d : r.diagnostics) FAIL_CHECK(d.message);
  REQUIRE(r.module.kernels.size() == 2);
  const uint32_t n = 900;
  for (const ir::Program& p : r.module.kernels) {
    CAPTURE(p.name);
    CHECK(ir::verify(p).empty());
    REQUIRE(p.params.size() == 3);
    test::Bench bench;
    if (p.name == "reduce") {
      std::vector<float> in(n);
      for (uint32_t i = 0; i < n; ++i) in[i] = static_cast<float>(i % 17);
      const uint64_t from = bench.put(in), to = bench.put(std::vector<float>(2, -1.0F));
      bench.arg(from).arg(to).arg(n);
      CHECK(bench.run(p, 2, 256).fault_count == 0);
      float expected[2] = {0, 0};
      for (uint32_t i = 0; i < n; ++i) expected[i / 512] += in[i];
      const auto sums = bench.get<float>(to, 2);
      CHECK(sums[0] == expected[0]);
      CHECK(sums[1] == expected[1]);
    } else {
      std::vector<uint32_t> in(n);
      uint32_t expected = 5;
      for (uint32_t i = 0; i < n; ++i) expected += in[i] = i * 2654435761U;
      const uint64_t from = bench.put(in), to = bench.put(std::vector<uint32_t>(1, 5));
      bench.arg(from).arg(to).arg(n);
      CHECK(bench.run(p, 2, 64).fault_count == 0);
      CHECK(bench.get<uint32_t>(to, 1)[0] == expected);
    }
  }
}

TEST_CASE("a jump that no table explains is refused") {
  const sass::LowerResult r = sass::lower(sass::parse("BRX R0 -0x10 ;\nEXIT ;\n"));
  REQUIRE(r.diagnostics.size() == 1);
  CHECK(r.diagnostics[0].message ==
        "nothing says where this can go: a table in constant bank 2 was expected");
}
