// Instructions that are named and not executed refuse the kernel that holds them, by its name,
// their address, words and text; the other kernel of the object runs. The words are LLVM's.
#include <cstring>
#include <fstream>
#include <iterator>

#include "tests/kernels/gcn_support.hpp"

using namespace kernels;
using namespace kernels::gcn;

namespace {

using Words = std::vector<uint32_t>;

struct Refused {
  const char* text;
  Words old, gcn3;  ///< gfx600 and gfx700, gfx803
};
const Refused kRefused[] = {
    {"exp mrt0 v0, v1, v2, v3 done vm", {0xf800180f, 0x03020100}, {0xc400180f, 0x03020100}},
    {"v_interp_p1_f32", {0xc8000001}, {0xd4000001}},
    {"s_cbranch_g_fork s[0:1], s[2:3]", {0x95800200}, {0x94800200}},
    {"s_cbranch_i_fork s[0:1], 5", {0xb8800005}, {0xb8000005}},
    {"s_cbranch_join s4", {0xbe803204}, {0xbe802e04}},
    {"s_setvskip s0, s1", {0xbf100100}, {0xbf100100}},
    {"s_rfe_b64 s[0:1]", {0xbe802200}, {0xbe801f00}},
    {"ds_add_u32 v0, v1 gds", {0xd8020000, 0x00000100}, {0xd8010000, 0x00000100}}};

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}
template <typename T>
T at(const std::string& file, size_t offset) {
  T value;
  REQUIRE(offset + sizeof value <= file.size());
  std::memcpy(&value, file.data() + offset, sizeof value);
  return value;
}

/// Where the section's bytes stand in the file.
size_t section(const std::string& elf, const std::string& name) {
  const auto headers = at<uint64_t>(elf, 40);
  const size_t count = at<uint16_t>(elf, 60), names = at<uint16_t>(elf, 62);
  const auto strings = at<uint64_t>(elf, headers + 64 * names + 24);
  for (size_t n = 0; n < count; ++n) {
    const size_t header = headers + 64 * n;
    if (elf.c_str() + strings + at<uint32_t>(elf, header) == name)
      return at<uint64_t>(elf, header + 24);
  }
  FAIL("no section " << name);
  return 0;
}

/// The object with two s_nop, these words and s_endpgm at the begin of its first kernel.
std::string patched(std::string elf, const std::string& kind, Words words) {
  words.insert(words.begin(), {0xbf800000, 0xbf800000});
  words.push_back(0xbf810000);
  // In front of mesa3d's code is a header of 256 bytes.
  const size_t code = section(elf, ".text") + (kind.ends_with("mesa3d") ? 256 : 0);
  std::memcpy(elf.data() + code, words.data(), 4 * words.size());
  return elf;
}

std::string refusal(lanewise::Module& module, const char* kernel) {
  try {
    module.kernel(kernel);
  } catch (const lanewise::Error& e) {
    return e.what();
  }
  return "not refused";
}

/// The corpus' own case for this kernel, one lane.
void run_other(lanewise::Module& module) {
  Words p(17, 10);
  auto words = buffer(p);
  auto ints = buffer(std::vector<int32_t>(2));
  auto longs = buffer(std::vector<uint64_t>(2));
  module.kernel("gatomics").launch({.grid = {1}, .block = {1}}, words, ints, longs, 7U).check();
  CHECK(words.read<uint32_t>()[0] == 17);
}

}  // namespace

TEST_CASE("gcn refusals: a kernel with an instruction that is not executed, beside one that runs") {
  for (const char* kind : kKinds) {
    CAPTURE(kind);
    const std::string file =
        contents(corpus(std::string("gcn/corpus/k05_histogram.") + kind + ".hsaco"));
    bool ran = false;
    for (const Refused& r : kRefused) {
      CAPTURE(r.text);
      const Words& words = std::string(kind) == "gfx803" ? r.gcn3 : r.old;
      lanewise::Module module =
          device().load_text(patched(file, kind, words), lanewise::Isa::automatic);
      const std::string message = refusal(module, "histogram");
      CAPTURE(message);
      CHECK(message.find("'histogram' at 0x8") != std::string::npos);
      char word[9];
      std::snprintf(word, sizeof word, "%08x", words[0]);
      CHECK(message.find(word) != std::string::npos);
      CHECK(message.find(r.text) != std::string::npos);
      CHECK(message.find("not executed") != std::string::npos);
      // Drivers compile the same kernel again each time.
      if (!ran || device().info().tier == "cpu") run_other(module);
      ran = true;
    }
  }
}
