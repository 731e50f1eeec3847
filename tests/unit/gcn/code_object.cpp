// Code objects: the compiler's files give the same kernels as its assembly, run, and lie in vain.
#include "runtime/isa/gcn/objects/code_object.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <sstream>

#include "runtime/isa/elf/elf.hpp"
#include "tests/unit/run_support.hpp"

using namespace lanewise;

namespace {

std::string contents(const std::string& name) {
  std::ifstream file(std::string(LANEWISE_TEST_DATA) + "/" + name, std::ios::binary);
  REQUIRE(file.good());
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}
std::span<const std::byte> bytes_of(const std::string& s) {
  return std::as_bytes(std::span(s.data(), s.size()));
}

gcn::Listing read(const std::string& name) {
  const std::string file = contents("data/gcn/" + name + ".gfx600.hsaco");
  gcn::Listing l = gcn::read_code_object(bytes_of(file));
  for (const Diagnostic& d : l.diagnostics) FAIL_CHECK(d.message);
  REQUIRE(!l.kernels.empty());
  return l;
}
ir::Program lowered(const gcn::Listing& l, size_t kernel = 0) {
  gcn::LowerResult r = gcn::lower(l);
  for (const Diagnostic& d : r.diagnostics) FAIL_CHECK(d.message);
  return std::move(r.module.kernels[kernel]);
}

}  // namespace

TEST_CASE("a descriptor points at its function") {
  std::string file = contents("data/gcn/k01_saxpy.gfx600.hsaco");
  const elf::File linked = elf::parse(bytes_of(file));
  const auto is_descriptor = [](const elf::Symbol& s) { return s.name.ends_with(".kd"); };
  const auto kd = std::ranges::find_if(linked.symbols, is_descriptor);
  REQUIRE(kd != linked.symbols.end());
  const elf::Section& section = linked.sections[kd->section];
  const auto begin = section.data.data() - bytes_of(file).data();
  file[static_cast<size_t>(begin) + kd->value - section.address + 16] ^= 4;  // where the code is
  const gcn::Listing l = gcn::read_code_object(bytes_of(file));
  REQUIRE(l.kernels.size() == 1);
  REQUIRE(l.kernels[0].problems.size() == 1);
  CHECK(l.kernels[0].problems[0].message.find("does not point at its function") !=
        std::string::npos);
}

TEST_CASE("a code object says what its assembly says") {
  for (const char* name : {"k01_saxpy", "k11_vec4"}) {
    const gcn::Listing binary = read(name);
    const gcn::Listing text =
        gcn::parse(contents(std::string("kernels/data/gcn/") + name + ".gfx600.s"));
    REQUIRE(binary.kernels.size() == text.kernels.size());
    for (const gcn::Kernel& want : text.kernels) {
      const auto is_it = [&](const gcn::Kernel& k) { return k.name == want.name; };
      const auto found = std::find_if(binary.kernels.begin(), binary.kernels.end(), is_it);
      REQUIRE(found != binary.kernels.end());
      const gcn::Kernel& got = *found;
      REQUIRE(got.code.size() == want.code.size());
      for (size_t n = 0; n < got.code.size(); ++n)
        CHECK(gcn::encode(got.code[n]) == gcn::encode(want.code[n]));
      CHECK(got.kernarg_bytes == want.kernarg_bytes);
      CHECK(got.state.kernarg_ptr == want.state.kernarg_ptr);
      CHECK(got.state.workgroup_id[0] == want.state.workgroup_id[0]);
      CHECK(got.state.workitem_ids == want.state.workitem_ids);
      CHECK(got.denorm_f32 == want.denorm_f32);
      CHECK(got.ieee == want.ieee);
      CHECK(got.dx10_clamp == want.dx10_clamp);
      REQUIRE(got.params.size() == want.params.size());
      for (size_t n = 0; n < got.params.size(); ++n) {
        CHECK(got.params[n].name == want.params[n].name);
        CHECK(got.params[n].offset == want.params[n].offset);
        CHECK(got.params[n].type == want.params[n].type);
      }
    }
  }
}

TEST_CASE("the saxpy and vec4 code objects run") {
  const ir::Program saxpy = lowered(read("k01_saxpy"));
  const uint32_t n = 500;
  std::vector<float> x(n), y(n);
  for (uint32_t i = 0; i < n; ++i) {
    x[i] = 0.3F * static_cast<float>(i);
    y[i] = 5.0F - static_cast<float>(i) / 7;
  }
  test::Bench bench;
  const uint64_t ys = bench.put(y), xs = bench.put(x);
  bench.arg(ys).arg(xs).arg(1.5F).arg(n);
  CHECK(bench.run(saxpy, 2, 256).fault_count == 0);
  const auto result = bench.get<float>(ys, n);
  for (uint32_t i = 0; i < n; ++i) {
    const float product = x[i] * 1.5F;
    CHECK(result[i] == product + y[i]);
  }
  const gcn::Listing vec4 = read("k11_vec4");
  for (size_t k = 0; k < vec4.kernels.size(); ++k) CHECK(!lowered(vec4, k).blocks.empty());
}

TEST_CASE("a kernel with its header in front of the code runs") {
  const std::string file = contents("data/gcn/k01_saxpy.gfx700.mesa3d.hsaco");
  const gcn::Listing l = gcn::read_code_object(bytes_of(file));
  for (const Diagnostic& d : l.diagnostics) FAIL_CHECK(d.message);
  REQUIRE(l.kernels.size() == 1);
  CHECK(l.kernels[0].kernarg_bytes >= 24);
  const ir::Program saxpy = lowered(l);
  const uint32_t n = 300;
  std::vector<float> x(n), y(n, 1.0F);
  for (uint32_t i = 0; i < n; ++i) x[i] = static_cast<float>(i);
  test::Bench bench;
  const uint64_t ys = bench.put(y), xs = bench.put(x);
  bench.arg(ys).arg(xs).arg(2.0F).arg(n);
  CHECK(bench.run(saxpy, 2, 256).fault_count == 0);
  const auto result = bench.get<float>(ys, n);
  for (uint32_t i = 0; i < n; ++i) CHECK(result[i] == 2 * x[i] + 1);
}

TEST_CASE("damaged files give diagnostics") {
  const std::string good = contents("data/gcn/k01_saxpy.gfx600.hsaco");
  std::mt19937 random(4);
  for (int n = 0; n < 3000; ++n) {
    std::string bad = good;
    for (int k = 0; k < 1 + n % 5; ++k) bad[random() % bad.size()] = static_cast<char>(random());
    if (n % 3 == 0) bad.resize(random() % bad.size());
    const gcn::Listing l = gcn::read_code_object(bytes_of(bad));
    for (const Diagnostic& d : l.diagnostics) CHECK(!d.message.empty());
    if (l.ok()) CHECK(!l.kernels.empty());
  }
  CHECK(!gcn::read_code_object({}).ok());
  const std::string words = "\x01\x02\x03";
  std::vector<Diagnostic> diagnostics;
  CHECK(gcn::decode_code(bytes_of(words), gcn::Gen::gfx6, diagnostics).empty());
  CHECK(!diagnostics.empty());
}

TEST_CASE("an object for another GPU is refused by the GPU's name") {
  std::string other = contents("data/gcn/k01_saxpy.gfx600.hsaco");
  constexpr size_t kFlags = 48;
  other[kFlags] = 0x2c;
  const std::string target = "amdhsa--gfx600";
  for (size_t at = 0; (at = other.find(target, at)) != std::string::npos; ++at)
    other.replace(at, target.size(), "amdhsa--gfx900");
  const gcn::Listing l = gcn::read_code_object(bytes_of(other));
  REQUIRE(l.diagnostics.size() == 1);
  CHECK(l.diagnostics[0].message ==
        "code object for gfx900, expected gfx600 to gfx810: compile it for one of these, as with "
        "-mcpu=gfx803");
}

TEST_CASE("missing waits are warnings at their place") {
  const auto warnings = [](const std::string& body) {
    const gcn::Listing l = gcn::parse(body + "s_endpgm\n");
    REQUIRE(l.ok());
    const gcn::LowerResult r = gcn::lower(l);
    for (const Diagnostic& d : r.diagnostics) CHECK_MESSAGE(d.warning, d.message);
    return r.diagnostics;
  };
  const std::string load = "buffer_load_dword v1, v0, s[4:7], 0 offen\n";
  CHECK(warnings(load + "s_waitcnt vmcnt(0)\nv_mov_b32 v2, v1\n").empty());
  const auto missing = warnings(load + "v_mov_b32 v2, v1\n");
  REQUIRE(missing.size() == 1);
  CHECK(missing[0].line == 2);
  CHECK(missing[0].message.find("v1 is used") != std::string::npos);
  CHECK(missing[0].message.find("vmcnt") != std::string::npos);
  // One more load was issued since: one may stay outstanding.
  const std::string two = load + "buffer_load_dword v3, v0, s[4:7], 0 offen\n";
  CHECK(warnings(two + "s_waitcnt vmcnt(1)\nv_mov_b32 v2, v1\n").empty());
  CHECK(warnings(two + "s_waitcnt vmcnt(1)\nv_mov_b32 v2, v3\n").size() == 1);
  // Scalar loads return in any order.
  const std::string scalar = "s_load_dword s2, s[0:1], 0x0\ns_load_dword s3, s[0:1], 0x1\n";
  CHECK(warnings(scalar + "s_waitcnt lgkmcnt(1)\nv_mov_b32 v2, s2\n").size() == 1);
  CHECK(warnings(scalar + "s_waitcnt lgkmcnt(0)\nv_mov_b32 v2, s2\n").empty());
  // Overwriting counts, and so does the path around a loop.
  CHECK(warnings(load + "v_mov_b32 v1, 0\n").size() == 1);
  CHECK(warnings(".Ltop:\nv_mov_b32 v2, v1\n" + load + "s_cmp_eq_u32 s2, s3\n" +
                 "s_cbranch_scc0 .Ltop\n")
            .size() == 1);
}
