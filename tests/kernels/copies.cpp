// Programs whose tiles come by asynchronous copies (data/ptx/copies.cu, pipeline.cu, tensor.cu,
// sparse_gemm.cu): their values with copies at once and late, and a missing wait in each of them,
// which --check async names.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>

#include "tests/kernels/copy_times.hpp"

using namespace kernels;

namespace {

using lanewise::Arg;
using lanewise::Buffer;
using lanewise::Device;
using lanewise::LaunchOptions;

std::vector<int> small(size_t n, uint64_t seed) {
  std::vector<int> v = random_ints<int>(n, seed);
  for (int& x : v) x = static_cast<int>(static_cast<unsigned>(x) % 9) - 4;
  return v;
}
uint16_t half_of(int x) {
  if (x == 0) return 0;
  const uint32_t b = bits(static_cast<float>(x));
  return static_cast<uint16_t>((b >> 16 & 0x8000) | ((b & 0x7fffffff) - (112U << 23)) >> 13);
}
template <typename T>
std::vector<T> as(const std::vector<int>& v) {
  return {v.begin(), v.end()};
}
template <typename F>
std::vector<uint16_t> narrow(const std::vector<int>& v, F convert) {
  std::vector<uint16_t> out;
  for (const int x : v) out.push_back(convert(x));
  return out;
}
uint16_t bf16_of(int x) {
  return static_cast<uint16_t>(bits(static_cast<float>(x)) >> 16);
}

/// A launch of a program: buffers, other arguments, and what the last buffer holds behind it.
struct Program {
  const char* file;
  const char* kernel;
  lanewise::Dim3 grid;
  uint32_t block;
  std::function<std::vector<Buffer>(Device&)> buffers;
  std::vector<int> numbers;
  std::function<void(const Buffer&)> check;
  /// The text of the wait that is left out, of the first one, or of all, and what stands for it.
  const char* wait;
  bool all = false;
  const char* instead = "";
  const char* rule = "async";
  const char* variant = "sm90";
};

lanewise::Result run(Device& d, const Program& p, const std::string& text, const std::string& time,
                     const char* check) {
  LaunchOptions options{.grid = p.grid, .block = {p.block}};
  options.policies["async.copy"] = time;
  options.policies["check"] = check;
  std::vector<Buffer> buffers = p.buffers(d);
  std::vector<Arg> args(buffers.begin(), buffers.end());
  for (const int n : p.numbers) args.emplace_back(n);
  lanewise::Result result =
      d.load_text(text, lanewise::Isa::ptx).kernel(p.kernel).launch(options, args);
  if (p.check != nullptr) p.check(buffers.back());
  return result;
}

std::string text_of(const Program& p) {
  std::ifstream in(corpus(std::string("ptx/") + p.file + "." + p.variant + ".ptx"));
  return {std::istreambuf_iterator<char>(in), {}};
}

template <typename In, typename Sum, typename F>
Program product(const char* kernel, int tile_m, int tile_n, int k, F convert) {
  const int m = 2 * tile_m, n = 2 * tile_n;
  const std::vector<int> a = small(m * k, 1), b = small(n * k, 2);
  const auto put = [=](Device& d) {
    std::vector<Buffer> all;
    all.push_back(d.buffer(convert(a)));
    all.push_back(d.buffer(convert(b)));
    all.push_back(d.buffer(std::vector<Sum>(m * n)));
    return all;
  };
  const auto check = [=](const Buffer& c) {
    std::vector<Sum> want(m * n);
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j)
        for (int x = 0; x < k; ++x)
          want[i * n + j] += static_cast<Sum>(a[i * k + x] * b[j * k + x]);
    check_equal(c.template read<Sum>(), want);
  };
  return {"copies", kernel, {2, 2}, 32, put, {n, k}, check, "cp.async.wait_group 1;"};
}

Program attention() {
  constexpr int kKeys = 48, kSize = 16;
  const std::vector<int> q = small(16 * kSize, 3), k = small(kKeys * kSize, 4),
                         v = small(kKeys * kSize, 5);
  const auto put = [=](Device& d) {
    std::vector<Buffer> all;
    for (const std::vector<int>* from : {&q, &k, &v})
      all.push_back(d.buffer(narrow(*from, half_of)));
    all.push_back(d.buffer(std::vector<float>(16 * kSize)));
    return all;
  };
  const auto check = [=](const Buffer& out) {
    const std::vector<float> got = out.read<float>();
    for (int row = 0; row < 16; ++row) {
      std::vector<double> score(kKeys), want(kSize);
      double most = -1e30, total = 0;
      for (int key = 0; key < kKeys; ++key) {
        for (int i = 0; i < kSize; ++i) score[key] += q[row * kSize + i] * k[key * kSize + i] / 4.0;
        most = std::max(most, score[key]);
      }
      for (int key = 0; key < kKeys; ++key) {
        const double weight = std::exp(score[key] - most);
        total += weight;
        for (int i = 0; i < kSize; ++i) want[i] += weight * v[key * kSize + i];
      }
      for (int i = 0; i < kSize; ++i)
        CHECK(std::abs(got[row * kSize + i] - want[i] / total) < 0.02);
    }
  };
  return {"copies", "attention_stages", {1}, 32, put, {kKeys}, check, "cp.async.wait_group 1;"};
}

Program convolution() {
  constexpr int kWidth = 32, kHeight = 3;
  const std::vector<int> in = small(kWidth * kHeight * 16, 6), w = small(9 * 8 * 16, 7);
  const auto put = [=](Device& d) {
    std::vector<Buffer> all;
    all.push_back(d.buffer(narrow(in, half_of)));
    all.push_back(d.buffer(narrow(w, half_of)));
    all.push_back(d.buffer(std::vector<float>(kWidth * kHeight * 8)));
    return all;
  };
  const auto check = [=](const Buffer& out) {
    std::vector<float> want(kWidth * kHeight * 8);
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x)
        for (int place = 0; place < 9; ++place) {
          const int from_x = x + place % 3 - 1, from_y = y + place / 3 - 1;
          if (from_x < 0 || from_x >= kWidth || from_y < 0 || from_y >= kHeight) continue;
          for (int to = 0; to < 8; ++to)
            for (int c = 0; c < 16; ++c)
              want[(y * kWidth + x) * 8 + to] += static_cast<float>(
                  in[(from_y * kWidth + from_x) * 16 + c] * w[(place * 8 + to) * 16 + c]);
        }
    check_equal(out.read<float>(), want);
  };
  return {"copies",          "convolution", {kWidth / 16, kHeight},  32, put,
          {kWidth, kHeight}, check,         "cp.async.wait_group 1;"};
}

Program roles(const char* wait, const char* instead) {
  constexpr int kChunks = 5, kGroups = 2;
  const std::vector<int> in = small(kGroups * kChunks * 64, 8);
  const auto put = [=](Device& d) {
    std::vector<Buffer> all;
    all.push_back(d.buffer(in));
    all.push_back(d.buffer(std::vector<int>(in.size())));
    return all;
  };
  const auto check = [=](const Buffer& out) {
    std::vector<int> want(in.size());
    for (size_t i = 0; i < in.size(); ++i) want[i] = in[i / 64 * 64 + 63 - i % 64] * 3 + 1;
    check_equal(out.read<int>(), want);
  };
  return {"copies", "bulk_roles", {kGroups}, 96, put, {kChunks}, check, wait, false, instead};
}

std::vector<Program> programs() {
  std::vector<Program> all;
  all.push_back(product<uint16_t, float>("product_bf16", 16, 16, 48,
                                         [](const auto& v) { return narrow(v, bf16_of); }));
  all.push_back(product<float, float>("product_tf32", 16, 16, 24,
                                      [](const auto& v) { return as<float>(v); }));
  all.push_back(product<double, double>("product_f64", 8, 8, 12,
                                        [](const auto& v) { return as<double>(v); }));
  all.push_back(
      product<int8_t, int>("product_s8", 16, 16, 48, [](const auto& v) { return as<int8_t>(v); }));
  all.push_back(attention());
  all.push_back(convolution());
  all.push_back(roles("cp.async.bulk.wait_group.read 0;", ""));
  return all;
}

/// Programs whose values tests/kernels/tensor.cpp has.
std::vector<Program> known_programs() {
  const auto words = [](std::vector<size_t> counts) {
    return [counts](Device& d) {
      std::vector<Buffer> all;
      for (const size_t n : counts) all.push_back(d.buffer(std::vector<uint32_t>(n)));
      return all;
    };
  };
  const char* passes = "setp.eq.u32 p, 0, 0;";
  std::vector<Program> all = {
      {"tensor",
       "gemm_f16",
       {2, 2},
       64,
       words({2048, 512, 1024}),
       {16, 64},
       {},
       "cp.async.wait_group 1;"},
      {"sparse_gemm",
       "gemm_sparse",
       {2, 2},
       32,
       words({1024, 96, 768, 512}),
       {16, 96},
       {},
       "cp.async.wait_group 1;",
       true},
      {"pipeline", "four_stages", {2}, 64, words({896, 128}), {7}, {}, "cp.async.wait_group", true},
      {"pipeline",
       "barrier_copy",
       {2},
       64,
       words({256, 256}),
       {},
       {},
       "mbarrier.try_wait",
       true,
       passes},
      // Copies that are none: stores of one warp that another one reads.
      {"pipeline",
       "warp_roles",
       {2},
       64,
       words({448, 64}),
       {7},
       {},
       "mbarrier.try_wait",
       true,
       passes,
       "race"},
  };
  all.push_back(all[3]);
  all.back().variant = "sm80";
  all.back().wait = "mbarrier.test_wait";
  return all;
}

/// Those that nvcc 11.8 compiles: for sm_80, which has neither bulk copies nor `try_wait`.
std::vector<Program> older(std::vector<Program> all) {
  std::erase_if(all, [](const Program& p) {
    return std::string(p.kernel) == "bulk_roles" || std::string(p.variant) == "sm80";
  });
  for (Program& p : all) {
    p.variant = "cuda11";
    if (std::string(p.wait) == "mbarrier.try_wait") p.wait = "mbarrier.test_wait";
  }
  return all;
}

/// The program without its wait.
std::string without_wait(const Program& p) {
  std::string text = text_of(p);
  size_t at = text.find(std::string(".entry ") + p.kernel + "(");
  REQUIRE(at != std::string::npos);
  const size_t end = std::min(text.find(".entry ", at + 1), text.size());
  unsigned found = 0;
  while ((at = text.find(p.wait, at)) < end && (p.all || found == 0)) {
    text.replace(at, text.find(';', at) + 1 - at, p.instead);
    ++found;
  }
  REQUIRE(found != 0);
  return text;
}

}  // namespace

TEST_CASE("asynchronous copies: programs with them, at once and late, and without one wait") {
  Device d = Device::open("reference");
  std::vector<Program> all = programs();
  all.push_back(
      roles("mbarrier.try_wait.parity.shared::cta.b64 p, [%r28]", "setp.eq.u32 p, 0, 0;"));
  for (const Program& p : known_programs()) all.push_back(p);
  for (const Program& p : older(all)) all.push_back(p);
  for (Program& p : all)
    for (const bool late : {false, true}) {
      const char* const time = late ? "late" : "immediate";
      Program clean = p;
      if (!late && std::string(p.kernel) != "bulk_roles" && std::string(p.variant) == "sm90")
        clean.variant = "sm80";
      CAPTURE(std::string(p.kernel));
      CAPTURE(std::string(p.variant));
      CAPTURE(late);
      run(d, clean, text_of(clean), time, "race,async").check();
      Program broken = p;
      broken.check = nullptr;
      const lanewise::Result r = run(d, broken, without_wait(p), time, "race,async");
      CHECK(std::ranges::any_of(r.faults, [&](const auto& f) { return f.rule == p.rule; }));
      for (const lanewise::FaultReport& f : r.faults) {
        if (f.rule != "async") continue;
        CHECK(f.line != 0);
        CHECK(f.other_line != 0);
        CHECK(f.other_text.find("cp.async") != std::string::npos);
      }
    }
}

// On devices: the check above is the reference engine's. Whole tests run late copies, too.
namespace {

void run_on_device(const Program& p) {
  for (const std::string& time : copy_times()) {
    CAPTURE(time);
    run(device(), p, text_of(p), time, "none").check();
  }
}

}  // namespace

TEST_CASE("tiles by asynchronous copies: warps with roles") {
  run_on_device(roles("", ""));
}

TEST_CASE("tiles by asynchronous copies: a convolution as product of matrices") {
  run_on_device(convolution());
}

TEST_CASE("tiles by asynchronous copies: products and attention") {
  for (const Program& p : programs()) {
    const std::string kernel = p.kernel;
    if (kernel == "bulk_roles" || kernel == "convolution") continue;
    SUBCASE(p.kernel) {
      CAPTURE(kernel);
      run_on_device(p);
    }
  }
}
