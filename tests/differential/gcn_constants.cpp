// Descriptors that are constants of the kernel, which the translator takes apart, beside the same
// descriptors read from memory: every engine must leave the same bytes and report the same faults.
#include <algorithm>

#include "tests/differential/gcn_formats.hpp"

namespace gcn_constants {

using namespace lanewise;
using namespace lanewise::test;
using namespace lanewise::test::formats;

namespace {

using Descriptor = std::array<uint32_t, 4>;
constexpr uint32_t kUntouched = 0x5eed5eed;

class Random {
 public:
  explicit Random(uint32_t seed) : bits_(seed) {}
  uint32_t any() { return static_cast<uint32_t>(bits_()); }
  uint32_t pick(std::initializer_list<uint32_t> list) { return list.begin()[any() % list.size()]; }
  Descriptor descriptor() {
    const uint32_t format = any() % 16 << 15 | any() % 8 << 12 | (any() & 0xfff);
    return {pick({0, 4, 64}), pick({0, 4, 8, 12, 20}) << 16 | pick({0, 1}) << 31,
            pick({16, 31, 100, 1000, 0xffffffff}),
            format | (any() & 0xf) << 19 | pick({0, 0, 1}) << 23 | pick({0, 0, 0, 0, 1}) << 30};
  }

 private:
  std::mt19937 bits_;
};

std::string constants(const Descriptor& d) {
  std::string text;
  for (unsigned k = 0; k < 4; ++k) text += fmt::format("s_mov_b32 s{}, 0x{:x}\n", 8 + k, d[k]);
  return text;
}
std::string loads(uint32_t n, gcn::Gen gen) {
  return fmt::format("s_load_dwordx4 s[8:11], s[18:19], {}\ns_waitcnt lgkmcnt(0)\n",
                     gen == gcn::Gen::gfx8 ? 16 * n : 4 * n);
}

/// v2: index 0..31, v3: offset 0, 3, 6 ...; every access leaves four dwords a lane.
std::string stream(const std::vector<Descriptor>& descriptors, bool constant, gcn::Gen gen) {
  static constexpr const char* kAccess[] = {
      "buffer_load_dwordx2 v[4:5], v[2:3], s[8:11], s26 idxen offen offset:4",
      "buffer_load_format_xyzw v[4:7], v[2:3], s[8:11], 0 idxen offen",
      "buffer_load_dword v4, v3, s[8:11], 0 offen",
      "buffer_load_format_xy v[4:5], v2, s[8:11], s26 idxen"};
  std::string body =
      "v_and_b32 v2, 31, v0\nv_lshrrev_b32 v3, 5, v0\nv_mul_u32_u24 v3, 3, v3\ns_mov_b32 s26, 8\n";
  for (uint32_t n = 0; n < descriptors.size(); ++n) {
    body += constant ? constants(descriptors[n]) : loads(n, gen);
    for (int v = 4; v < 8; ++v) body += fmt::format("v_mov_b32 v{}, 9\n", v);
    body += fmt::format(
        "{}\ns_waitcnt vmcnt(0)\ns_mov_b32 s25, 0x{:x}\n"
        "buffer_store_dwordx4 v[4:7], v1, s[12:15], s25 idxen\n",
        kAccess[n % 4], n * kGroup * 16);
  }
  return frame(body, gen);
}

size_t decoded_at_run_time(const ir::Program& program) {
  size_t count = 0;
  for (const ir::Block& block : program.blocks)
    for (const ir::Inst& inst : block.insts)
      count += inst.op == ir::Op::buffer_address && !inst.src[3].is_imm();
  return count;
}

}  // namespace

TEST_CASE("constant descriptors and descriptors from memory do the same") {
  for (const gcn::Gen gen : {gcn::Gen::gfx6, gcn::Gen::gfx8}) {
    Random random(21 + static_cast<uint32_t>(gen));
    Batch b;
    b.groups = 1;
    // Typed accesses are most of the time; one of them will do beside the fuzzed ones.
    const uint32_t accesses = gen == gcn::Gen::gfx6 ? 3 : 1;
    for (uint32_t n = 0; n < accesses; ++n) b.descriptors.push_back(random.descriptor());
    b.memory.resize(16384);
    for (uint32_t& w : b.memory) w = random.any();
    b.lanes.assign(size_t{accesses} * kGroup * 4, kUntouched);
    std::vector<Descriptor> placed = b.descriptors;
    for (Descriptor& d : placed) d[0] += static_cast<uint32_t>(memory_address(accesses));
    const ir::Program constant = lower_stream(stream(placed, true, gen), gen);
    const ir::Program loaded = lower_stream(stream(placed, false, gen), gen);
    // What remains are the descriptors that frame() loads.
    CHECK(decoded_at_run_time(constant) < decoded_at_run_time(loaded));
    Done want;
    for (const TestEngine& engine : test_engines()) {
      CAPTURE(engine.label);
      const Done a = run_batch(*engine.engine, constant, b),
                 c = run_batch(*engine.engine, loaded, b);
      if (engine.label == "reference") {
        want = c;
        CHECK(std::ranges::count(c.lanes, kUntouched) == 0);
      }
      CHECK(a.faults == want.faults);
      CHECK(c.faults == want.faults);
      const auto what = [&](size_t n) {
        return fmt::format("access {} lane {}", n / 4 / kGroup, n / 4 % kGroup);
      };
      compare_words(c.lanes, want.lanes, what);
      compare_words(a.lanes, want.lanes, what);
    }
  }
  CHECK(validation_messages() == 0);
}

}  // namespace gcn_constants
