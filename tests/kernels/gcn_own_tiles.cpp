// Kernels with barriers in loops that end by the group's size or by an argument, against the host;
// the lanes of their waves need not run one after the other.
#include "tests/kernels/gcn_support.hpp"

using namespace kernels;
using namespace kernels::gcn;

namespace {

/// Subgroups of 4, a wave in sixteen parts, are distinguished from others here.
void check_mode(const lanewise::Result& result) {
  const lanewise::DeviceInfo info = device().info();
  if (info.tier == "cpu" || info.subgroup_size < 8 || std::getenv("LANEWISE_WAVE") != nullptr)
    return;
  CHECK(result.wave_mode != "serial");
}

}  // namespace

TEST_CASE("gcn own: a product of matrices by tiles of four") {
  constexpr uint32_t rows = 8, columns = 64, depth = 64, group = 8;
  // Whole numbers, whose sums are exact in any order.
  const auto whole = [](size_t n, uint64_t seed) {
    std::vector<float> v;
    for (const uint32_t x : random_ints<uint32_t>(n, seed))
      v.push_back(static_cast<float>(x % 17) - 8);
    return v;
  };
  const auto a = whole(rows * depth, 41), b = whole(depth * columns, 42);
  std::vector<float> want(rows * columns);
  for (uint32_t y = 0; y < rows; ++y)
    for (uint32_t x = 0; x < columns; ++x)
      for (uint32_t k = 0; k < depth; ++k)
        want[y * columns + x] += a[y * depth + k] * b[k * columns + x];
  each_kind("own/", "tiles", "product", [&](lanewise::Kernel& k, const std::string&) {
    auto x = buffer(a), y = buffer(b), out = buffer(std::vector<float>(want.size()));
    const uint32_t width = depth / 4, place = 0;
    auto result = k.launch({.grid = {columns / 4 / group, rows / group},
                            .block = {group, group},
                            .dynamic_shared = group * group * 16},
                           x, y, out, width, place);
    result.check();
    check_all(out.read<float>(), want);
    check_mode(result);
  });
}

TEST_CASE("gcn own: sums of groups whose size the kernel does not know") {
  constexpr uint32_t groups = 3, lanes = 128, n = 1000;
  const auto in = random_ints<uint32_t>(n, 43);
  std::vector<uint32_t> want(groups);
  for (uint32_t i = 0; i < n; ++i) want[i / (2 * lanes) % groups] += in[i];
  each_kind("own/", "tiles", "total", [&](lanewise::Kernel& k, const std::string&) {
    auto x = buffer(in), out = buffer(std::vector<uint32_t>(groups));
    const uint32_t place = 0;
    auto result = k.launch({.grid = {groups}, .block = {lanes}, .dynamic_shared = 4 * lanes}, x,
                           out, n, place);
    result.check();
    check_all(out.read<uint32_t>(), want);
    check_mode(result);
  });
}

TEST_CASE("gcn own: steps in a tile that loses its rim") {
  constexpr int32_t steps = 4, columns = 100, border = 4, groups = 2, lanes = 64;
  std::vector<int32_t> in;
  for (const uint32_t x : random_ints<uint32_t>(columns, 44))
    in.push_back(static_cast<int32_t>(x % 1000));
  const auto at = [](const std::vector<int32_t>& v, int32_t i) {
    return i < 0 || i >= columns ? 0 : v[static_cast<size_t>(i)];
  };
  // What a lane outside holds stays 0 for all steps.
  std::vector<int32_t> want = in;
  for (int32_t s = 0; s < steps; ++s) {
    std::vector<int32_t> next(columns);
    for (int32_t i = 0; i < columns; ++i)
      next[static_cast<size_t>(i)] = at(want, i - 1) + 2 * at(want, i) + at(want, i + 1);
    want = next;
  }
  each_kind("own/", "tiles", "spread", [&](lanewise::Kernel& k, const std::string&) {
    auto x = buffer(in), out = buffer(std::vector<int32_t>(columns));
    const uint32_t now = 0, next = 4 * lanes;
    auto result = k.launch({.grid = {groups}, .block = {lanes}, .dynamic_shared = 8 * lanes}, steps,
                           x, out, columns, border, now, next);
    result.check();
    check_all(out.read<int32_t>(), want);
    check_mode(result);
  });
}
