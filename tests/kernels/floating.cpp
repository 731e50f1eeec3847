// Floating-point kernels of the corpus. Everything but the approximate functions is bit for bit.
#include <algorithm>
#include <bit>
#include <cmath>
#include <ctime>

#include "tests/kernels/support.hpp"

using namespace kernels;

TEST_CASE("saxpy") {
  for (const char* variant : {"sm75", "clang"}) {
    CAPTURE(variant);
    const int n = 1000;
    const float a = 2.7182818f;
    const auto x = random_floats(n, 20), y = random_floats(n, 21);
    auto dx = device().buffer(x), dy = device().buffer(y);
    ptx("saxpy", variant, "saxpy").launch({.grid = {8}, .block = {128}}, n, a, dx, dy).check();
    std::vector<float> want(n);
    for (int i = 0; i < n; ++i) want[i] = std::fma(a, x[i], y[i]);
    check_equal(dy.read<float>(), want);
  }
}

TEST_CASE("sgemm with partial tiles") {
  for (const char* variant : {"sm75", "clang"}) {
    CAPTURE(variant);
    const int m = 45, n = 37, k = 53;
    const float alpha = 1.25f, beta = -0.5f;
    const auto a = random_floats(m * k, 22), b = random_floats(k * n, 23),
               c = random_floats(m * n, 24);
    auto da = device().buffer(a), db = device().buffer(b), dc = device().buffer(c);
    ptx("sgemm", variant, "sgemm")
        .launch({.grid = {3, 3}, .block = {16, 16}}, m, n, k, alpha, da, db, beta, dc)
        .check();
    std::vector<float> want(m * n);
    for (int r = 0; r < m; ++r) {
      for (int col = 0; col < n; ++col) {
        float s = 0;
        // The tile's padding is part of the sum: 0 * 0 keeps s, except for its sign when s is -0.
        for (int i = 0; i < (k + 15) / 16 * 16; ++i) {
          s = std::fma(i < k ? a[r * k + i] : 0.f, i < k ? b[i * n + col] : 0.f, s);
        }
        // nvcc and clang contract al*s + be*C differently.
        const float old = c[r * n + col];
        want[r * n + col] = std::string(variant) == "sm75" ? std::fma(s, alpha, old * beta)
                                                           : std::fma(old, beta, s * alpha);
      }
    }
    check_equal(dc.read<float>(), want);
  }
}

TEST_CASE("reduce: the tree's order of additions") {
  for (const char* variant : {"sm75", "clang"}) {
    CAPTURE(variant);
    const int n = 3000, groups = 3, threads = 256;
    const auto in = random_floats(n, 25, -100, 100);
    auto din = device().buffer(in), dout = device().allocate(4 * groups);
    ptx("reduce", variant, "reduce")
        .launch({.grid = {groups}, .block = {threads}}, din, dout, n)
        .check();
    std::vector<float> want(groups);
    for (int g = 0; g < groups; ++g) {
      std::vector<float> s(threads, 0.f);
      for (int t = 0; t < threads; ++t) {
        for (int i = g * threads + t; i < n; i += groups * threads) s[t] += in[i];
      }
      for (int k = threads / 2; k > 0; k >>= 1) {
        for (int t = 0; t < k; ++t) s[t] += s[t + k];
      }
      want[g] = s[0];
    }
    check_equal(dout.read<float>(), want);
  }
}

TEST_CASE("transpose through padded shared memory") {
  for (const char* variant : {"sm75", "clang"}) {
    CAPTURE(variant);
    const int w = 70, h = 45;
    const auto in = random_floats(w * h, 26);
    auto din = device().buffer(in), dout = device().allocate(4 * w * h);
    ptx("transpose", variant, "transpose")
        .launch({.grid = {3, 2}, .block = {32, 8}}, din, dout, w, h)
        .check();
    std::vector<float> want(w * h);
    for (int y = 0; y < h; ++y) {
      for (int x = 0; x < w; ++x) want[x * h + y] = in[y * w + x];
    }
    check_equal(dout.read<float>(), want);
  }
}

TEST_CASE("mandelbrot: every pixel") {
  for (const char* variant : {"sm75", "clang"}) {
    CAPTURE(variant);
    const int w = 64, h = 48, most = 200;
    const float x0 = -2.2f, y0 = -1.2f, scale = 0.05f;
    auto out = device().allocate(4 * w * h);
    ptx("mandelbrot", variant, "mandelbrot")
        .launch({.grid = {8, 6}, .block = {8, 8}}, out, w, h, x0, y0, scale, most)
        .check();
    std::vector<uint32_t> want(w * h);
    for (int y = 0; y < h; ++y) {
      for (int x = 0; x < w; ++x) {
        const float cx = std::fma(static_cast<float>(x), scale, x0);
        const float cy = std::fma(static_cast<float>(y), scale, y0);
        float zx = 0, zy = 0;
        int i = 0;
        // clang contracts the escape test, nvcc does not.
        const auto norm = [&] {
          return std::string(variant) == "sm75" ? zx * zx + zy * zy : std::fma(zx, zx, zy * zy);
        };
        while (i < most && norm() < 4.f) {
          const float t = (zx * zx - zy * zy) + cx;
          zy = std::fma(zx + zx, zy, cy);
          zx = t;
          ++i;
        }
        want[y * w + x] =
            i == most ? 0 : 0xff000000u | (i * 7 & 255) << 16 | (i * 5 & 255) << 8 | (i * 3 & 255);
      }
    }
    check_equal(out.read<uint32_t>(), want);
  }
}

namespace {
/// What the kernel below leaves of a lane's number: products, sums of products, sums.
template <typename Float, typename Bits>
void start_from_zero(float number, Bits nan, std::vector<Bits>& want) {
  Float product = 0, fused = 0, sum = 0;
  for (int round = 0; round < 2; ++round) {
    product *= Float{number};
    fused = std::fma(product, Float{number}, fused);
    sum += Float{number};
  }
  for (const Float x : {product, fused, sum})
    want.push_back(std::isnan(x) ? nan : std::bit_cast<Bits>(x));
}
}  // namespace

TEST_CASE("a compiler that knows what a loop starts with does not fold 0 * x or 0 + x") {
  lanewise::Kernel kernel = device()
                                .load_text(R"(
.version 7.8
.target sm_75
.address_size 64
.visible .entry zeros(.param .u64 a,.param .u64 o,.param .u64 q){ .reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .f64 %d<9>; .reg .pred %p<3>;
 ld.param.u64 %rd1,[a]; ld.param.u64 %rd2,[o]; ld.param.u64 %rd3,[q]; mov.u32 %r1,%tid.x; mul.wide.u32 %rd5,%r1,4;
 add.s64 %rd1,%rd1,%rd5; mul.wide.u32 %rd5,%r1,12; add.s64 %rd2,%rd2,%rd5; shl.b64 %rd5,%rd5,1; add.s64 %rd3,%rd3,%rd5;
 ld.global.f32 %f1,[%rd1]; cvt.f64.f32 %d1,%f1; mov.u32 %r2,0;
 mov.f32 %f2,0f00000000; mov.f32 %f3,%f2; mov.f32 %f4,%f3; mov.f64 %d2,0d0000000000000000; mov.f64 %d3,%d2; mov.f64 %d4,%d3;
L: mul.f32 %f2,%f2,%f1; fma.rn.f32 %f3,%f2,%f1,%f3; add.f32 %f4,%f4,%f1;
 mul.f64 %d2,%d2,%d1; fma.rn.f64 %d3,%d2,%d1,%d3; add.f64 %d4,%d4,%d1;
 add.u32 %r2,%r2,1; setp.lt.u32 %p1,%r2,2; @%p1 bra L;
 st.global.f32 [%rd2],%f2; st.global.f32 [%rd2+4],%f3; st.global.f32 [%rd2+8],%f4;
 st.global.f64 [%rd3],%d2; st.global.f64 [%rd3+8],%d3; st.global.f64 [%rd3+16],%d4; ret; }
)",
                                           lanewise::Isa::ptx)
                                .kernel();
  const std::vector<float> in = {INFINITY, -INFINITY, NAN, -1, 2, -0.0F, 0, 0x1p-149F};
  std::vector<uint32_t> want;
  std::vector<uint64_t> want_wide;
  for (const float x : in) {
    start_from_zero<float>(x, 0x7fffffffU, want);
    start_from_zero<double>(x, uint64_t{0xfff8000000000000}, want_wide);
  }
  auto din = device().buffer(in), out = device().allocate(4 * want.size()),
       wide = device().allocate(8 * want.size());
  kernel.launch({.grid = {1}, .block = {8}}, din, out, wide).check();
  check_equal(out.read<uint32_t>(), want);
  check_equal(wide.read<uint64_t>(), want_wide);
}

TEST_CASE("cachehints: every load and store operator moves the right data") {
  const int n = 100;
  const auto a = random_floats(5 * n, 27), c = random_floats(4 * n, 28);
  auto da = device().buffer(a), db = device().allocate(4 * 5 * n), dc = device().buffer(c),
       dd = device().allocate(16 * n);
  ptx("cachehints", "sm75", "cachehints")
      .launch({.grid = {2}, .block = {64}}, da, db, dc, dd, n)
      .check();
  check_equal(db.read<float>(), a);
  check_equal(dd.read<float>(), c);
}

TEST_CASE("calls: structs by value, a loop, a local by pointer") {
  for (const char* variant : {"sm75", "clang"}) {
    CAPTURE(variant);
    const int threads = 48, n = 6;
    const auto a = random_floats(threads + 1, 29);
    auto da = device().buffer(a), dout = device().allocate(4 * threads);
    ptx("calls", variant, "calls").launch({.grid = {1}, .block = {threads}}, da, dout, n).check();
    std::vector<float> want(threads);
    for (int i = 0; i < threads; ++i) {
      const float x = a[i] + static_cast<float>(i), y = a[i + 1];
      const int k = n * i, fact = 720;
      float sum = std::fma(x, y, 1.f) + static_cast<float>(k);
      sum = sum + static_cast<float>(fact);
      sum = static_cast<float>(fact) + sum;
      want[i] = sum + 0.5f;
    }
    check_equal(dout.read<float>(), want);
  }
}

TEST_CASE("indirect calls through a table of functions") {
  for (const char* variant : {"sm75", "clang"}) {
    CAPTURE(variant);
    const int threads = 40;
    const auto s = random_ints<int32_t>(threads, 30);
    const auto a = random_floats(threads, 31);
    auto ds = device().buffer(s), da = device().buffer(a), dout = device().allocate(4 * threads);
    ptx("calls", variant, "indirect")
        .launch({.grid = {1}, .block = {threads}}, ds, da, dout)
        .check();
    std::vector<float> want(threads);
    for (int i = 0; i < threads; ++i) want[i] = (s[i] & 1) != 0 ? a[i] * 2.f : a[i] - 2.f;
    check_equal(dout.read<float>(), want);
  }
}

TEST_CASE("switchk: ten operations chosen at run time") {
  for (const char* variant : {"sm75", "clang"}) {
    CAPTURE(variant);
    const int threads = 220;
    std::vector<int32_t> op(threads);
    auto a = random_floats(threads, 32, 0.01f, 30.f);
    for (int i = 0; i < threads; ++i) op[i] = i % 11;
    // sin of large and special arguments takes the slow reduction with 64-bit integers and f64.
    a[2] = 1e6f;
    a[13] = 123456789.f;
    a[24] = std::ldexp(1.f, 100);
    a[35] = INFINITY;
    auto dop = device().buffer(op), da = device().buffer(a), dout = device().allocate(4 * threads);
    ptx("switchk", variant, "switchk")
        .launch({.grid = {1}, .block = {threads}}, dop, da, dout)
        .check();
    const auto got = dout.read<float>();
    for (int i = 0; i < threads; ++i) {
      CAPTURE(i);
      CAPTURE(op[i]);
      CAPTURE(a[i]);
      CAPTURE(got[i]);
      const float v = a[i];
      switch (op[i]) {
        case 0:
          CHECK(bits(got[i]) == bits(v + 1));
          break;
        case 1:
          CHECK(bits(got[i]) == bits(v * 2));
          break;
        case 2:
          // CUDA documents sinf with 2 ulp over the whole range.
          if (std::isinf(v)) {
            CHECK(std::isnan(got[i]));
          } else {
            const double exact = std::sin(static_cast<double>(v));
            CHECK(std::fabs(got[i] - exact) <= 2 * std::ldexp(1.0, std::ilogb(exact) - 23));
          }
          break;
        case 3:
          CHECK(bits(got[i]) == bits(-v));
          break;
        case 4: {
          // ex2.approx: 2 ulp, on an argument rounded once.
          const double exact = std::exp2(static_cast<double>(v * 1.44269504f));
          CHECK(std::fabs(got[i] - exact) <= 2 * std::ldexp(1.0, std::ilogb(exact) - 23));
          break;
        }
        case 5:
          CHECK(bits(got[i]) == bits(std::sqrt(v)));
          break;
        case 6:
          CHECK(bits(got[i]) == bits(v * (v * v)));
          break;
        case 7:
          CHECK(bits(got[i]) == bits(1.f / v));
          break;
        case 8:
          CHECK(bits(got[i]) == bits(std::floor(v)));
          break;
        case 9: {
          // lg2.approx: absolute error 2^-22 near 1, relative 2^-22 elsewhere.
          const double exact = std::log2(static_cast<double>(v));
          CHECK(std::fabs(got[i] - exact) <= std::ldexp(std::max(1.0, std::fabs(exact)), -22));
          break;
        }
        default:
          CHECK(bits(got[i]) == 0);
          break;
      }
    }
  }
}

TEST_CASE("many sines and cosines compile in seconds") {
  std::string text =
      ".version 7.0\n.target sm_50\n.address_size 64\n"
      ".visible .entry sines(.param .u64 from, .param .u64 to) {\n"
      ".reg .b64 %rd<6>;\n.reg .b32 %r<2>;\n.reg .f32 %f<5>;\n"
      "ld.param.u64 %rd1, [from];\nld.param.u64 %rd2, [to];\nmov.u32 %r1, %tid.x;\n"
      "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd1, %rd3;\nadd.s64 %rd5, %rd2, %rd3;\n"
      "ld.global.f32 %f1, [%rd4];\nmov.f32 %f4, 0f00000000;\n";
  constexpr int kPairs = 24;
  for (int i = 0; i < kPairs; ++i)
    text +=
        "add.f32 %f1, %f1, 0f3f800000;\nsin.approx.f32 %f2, %f1;\ncos.approx.f32 %f3, %f2;\n"
        "add.f32 %f4, %f4, %f3;\n";
  text += "st.global.f32 [%rd5], %f4;\nret;\n}\n";
  auto from = random_floats(61, 77, -1000, 1000);
  from.insert(from.end(), {0.785398245f, 1e30f, -3e38f});
  auto in = device().buffer(from), out = device().allocate(4 * from.size());
  const std::clock_t start = std::clock();  // processor time: other programs do not count
  device()
      .load_text(text, lanewise::Isa::ptx)
      .kernel("sines")
      .launch({.grid = {1}, .block = {64}}, in, out)
      .check();
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  // llvmpipe compiles every call in place: 18 s and more where each sine reduces its angle with
  // arrays and branches. SwiftShader is slow for other reasons.
  if (device().info().name.find("llvmpipe") != std::string::npos) CHECK(seconds < 10);
  // The reference engine has its own sine, of the same bits.
  auto reference = lanewise::Device::open("reference");
  auto in2 = reference.buffer(from), out2 = reference.allocate(4 * from.size());
  reference.load_text(text, lanewise::Isa::ptx)
      .kernel("sines")
      .launch({.grid = {1}, .block = {64}}, in2, out2)
      .check();
  check_equal(out.read<float>(), out2.read<float>());
}

TEST_CASE("setp of pairs: one destination has the comparison of the lower halves") {
  const std::vector<uint32_t> in = {0x3c00'4000, 0x4000'3c00, 0x3f80'4000, 0x4000'3f80};
  auto memory = device().buffer(in);
  const std::string text = R"(.version 7.8
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .b64 %p;
  .reg .b32 %r<4>, %s<6>;
  .reg .pred %a<6>;
  ld.param.u64 %p, [p];
  ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%p];
  setp.lt.f16x2 %a0, %r0, %r1;
  setp.gt.f16x2 %a1, %r0, %r1;
  setp.lt.bf16x2 %a2, %r2, %r3;
  setp.gt.bf16x2 %a3, %r2, %r3;
  selp.u32 %s0, 1, 0, %a0;
  selp.u32 %s1, 1, 0, %a1;
  selp.u32 %s2, 1, 0, %a2;
  selp.u32 %s3, 1, 0, %a3;
  st.global.v4.b32 [%p], {%s0, %s1, %s2, %s3};
  ret;
}
)";
  device().load_text(text, lanewise::Isa::ptx).kernel("k").launch({}, memory).check();
  CHECK(memory.read<uint32_t>() == std::vector<uint32_t>{0, 1, 0, 1});
}
