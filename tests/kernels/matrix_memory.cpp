// Fragments that come from memory and go there: ldmatrix, stmatrix, movmatrix and wmma.
#include <sstream>

#include "tests/kernels/matrix_forms.hpp"
#include "tests/support/shares.hpp"

using namespace kernels;
using kernels::mma::reg_list;

namespace {

std::string kernel_of(const std::string& body, const std::string& registers) {
  return ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
         ".reg .b64 %p, %q;\n.reg .b32 %t, %s, %x<40>, %y<40>;\n.shared .align 16 .b8 m[4096];\n" +
         registers + "ld.param.u64 %p, [p];\nmov.u32 %t, %tid.x;\n" + body + "ret;\n}\n";
}

/// Each lane's 16 bytes go to row `lane` of shared memory.
const char* const kFill =
    "mul.wide.u32 %q, %t, 16;\nadd.u64 %q, %p, %q;\nld.global.v4.b32 {%x0, %x1, %x2, %x3}, [%q];\n"
    "mov.u32 %s, m;\nmad.lo.u32 %s, %t, 16, %s;\nst.shared.v4.b32 [%s], {%x0, %x1, %x2, %x3};\n"
    "bar.sync 0;\n";

std::vector<uint16_t> halves(uint64_t seed) {
  return random_ints<uint16_t>(32 * 8, seed);
}

/// 32 words for each result register, behind the input of 512 bytes.
std::vector<uint32_t> run(const std::string& body, const std::vector<uint16_t>& in, unsigned words,
                          const std::string& registers = "") {
  std::ostringstream out;
  out << body << "mul.wide.u32 %q, %t, " << 4 * words << ";\nadd.u64 %q, %p, %q;\n";
  for (unsigned i = 0; i < words; ++i)
    out << "st.global.b32 [%q+" << 512 + 4 * i << "], %y" << i << ";\n";
  std::vector<uint16_t> memory = in;
  memory.resize(256 + 64 * words);
  auto buffer = device().buffer(memory);
  device()
      .load_text(kernel_of(out.str(), registers), lanewise::Isa::ptx)
      .kernel("k")
      .launch({.grid = {1}, .block = {32}}, buffer)
      .check();
  std::vector<uint32_t> all = buffer.read<uint32_t>();
  return {all.begin() + 128, all.end()};
}

}  // namespace

TEST_CASE("ldmatrix, stmatrix, movmatrix: rows of eight halves") {
  const std::vector<uint16_t> in = halves(1);  // row r of matrix i is row 8 i + r
  const auto element = [&](unsigned i, unsigned row, unsigned column) {
    return uint32_t{in[(8 * i + row) * 8 + column]};
  };
  // Drivers take seconds to compile each: with one or two matrices less of the same is done.
  const bool all = device().info().name == "reference" || lanewise::test::whole_tests();
  for (const unsigned n : all ? std::vector{1U, 2U, 4U} : std::vector{4U})
    for (const bool trans : {false, true}) {
      CAPTURE(n);
      CAPTURE(trans);
      const std::string name = std::string(trans ? ".trans" : "") + ".shared.b16 ";
      const std::vector<uint32_t> got =
          run(kFill + ("ldmatrix.sync.aligned.m8n8.x" + std::to_string(n)) + name +
                  reg_list("y", n) + ", [%s];\n",
              in, n);
      std::vector<uint32_t> want;
      for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned i = 0; i < n; ++i) {
          const unsigned a = lane / 4, b = lane % 4 * 2;
          want.push_back(trans ? element(i, b, a) | element(i, b + 1, a) << 16
                               : element(i, a, b) | element(i, a, b + 1) << 16);
        }
      check_equal(got, want);
      // What stmatrix puts down is what ldmatrix takes up, in the same way or transposed.
      std::ostringstream body;
      body << kFill << "ldmatrix.sync.aligned.m8n8.x" << n << name << reg_list("x", n)
           << ", [%s];\n"
           << "add.u32 %s, %s, 1024;\nst.shared.v4.b32 [%s], {%t, %t, %t, %t};\nbar.sync 0;\n"
           << "stmatrix.sync.aligned.m8n8.x" << n << ".trans.shared.b16 [%s], " << reg_list("x", n)
           << ";\nbar.sync 0;\nld.shared.v4.b32 {%y0, %y1, %y2, %y3}, [%s];\n";
      const std::vector<uint32_t> stored = run(body.str(), in, 4);
      want.clear();
      for (unsigned row = 0; row < 32; ++row)
        for (unsigned w = 0; w < 4; ++w) {
          const unsigned i = row / 8, r = row % 8, c = 2 * w;
          if (i >= n)
            want.push_back(row);
          else
            want.push_back(trans ? element(i, r, c) | element(i, r, c + 1) << 16
                                 : element(i, c, r) | element(i, c + 1, r) << 16);
        }
      check_equal(stored, want);
    }
  const std::vector<uint32_t> moved =
      run(std::string(kFill) +
              "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%x0}, [%s];\n"
              "movmatrix.sync.aligned.m8n8.trans.b16 %y0, %x0;\n",
          in, 1);
  std::vector<uint32_t> want;
  for (unsigned lane = 0; lane < 32; ++lane)
    want.push_back(element(0, lane % 4 * 2, lane / 4) | element(0, lane % 4 * 2 + 1, lane / 4)
                                                            << 16);
  check_equal(moved, want);
}

TEST_CASE("ldmatrix: a row that is not aligned to 16 bytes is a fault") {
  for (const std::string name : {"", ".trans"}) {
    auto buffer = device().buffer(std::vector<uint32_t>(128));
    const lanewise::Result result =
        device()
            .load_text(
                kernel_of(kFill + ("add.u32 %s, %s, 4;\nldmatrix.sync.aligned.m8n8.x1" + name) +
                              ".shared.b16 {%y0}, [%s];\n",
                          ""),
                lanewise::Isa::ptx)
            .kernel("k")
            .launch({.grid = {1}, .block = {32}}, buffer);
    REQUIRE(!result.faults.empty());
    CHECK(result.faults[0].kind == lanewise::FaultKind::misaligned);
  }
}

namespace {

/// `addend` where it has another type than the sum.
struct Tile {
  unsigned m, n, k;
  std::string factor, sum, addend = {};
};
enum class Values { whole, near_one, edges };

constexpr uint64_t kNan64 = 0x7ff8000000000000;

uint64_t encode(const std::string& type, int value) {
  if (type == "f32" || type == "tf32") return bits(static_cast<float>(value));
  if (type == "bf16") return bits(static_cast<float>(value)) >> 16;
  if (type == "f64") {
    const double x = value;
    uint64_t u = 0;
    std::memcpy(&u, &x, 8);
    return u;
  }
  if (type != "f16") return static_cast<uint32_t>(value);
  if (value == 0) return 0;
  const uint32_t single = bits(static_cast<float>(value));  // whole numbers below 2048
  return (single >> 16 & 0x8000) | ((single & 0x7fffffff) - (112U << 23)) >> 13;
}
unsigned size_of(const std::string& type) {
  if (type == "b1") return 1;
  if (type == "s4" || type == "u4") return 4;
  if (type == "f64") return 64;
  if (type == "f16" || type == "bf16") return 16;
  return type == "s8" || type == "u8" ? 8 : 32;
}

void put(std::vector<uint8_t>& memory, size_t base, size_t index, unsigned size, uint64_t value) {
  for (unsigned b = 0; b < size; ++b) {
    const size_t bit = index * size + b;
    if ((value >> b & 1) != 0) memory[base + bit / 8] |= static_cast<uint8_t>(1U << (bit % 8));
  }
}

/// What the sum must be. An f32 on either side makes f32 sums.
uint64_t sum_of(const Tile& t, const mma::Part& x, const mma::Part& y, uint64_t c) {
  mma::Form f{t.m, t.n, t.k, t.factor, t.factor, t.sum, 90};
  if (t.factor == "b1") f.behind = ".xor.popc";
  if (t.addend == "f16")
    c = bits(static_cast<float>(mma::model::value_of("f16", static_cast<uint32_t>(c))));
  if (t.addend != "f32") return mma::wanted(f, x, y, c, "target");
  f.sum = "f32";
  const auto sum = static_cast<uint32_t>(mma::wanted(f, x, y, c, "target"));
  return mma::model::f16_nearest(mma::model::value_of("f32", sum));
}

void run_tile(const Tile& t, bool a_row, bool b_row, bool c_row, uint64_t seed,
              Values values = Values::whole) {
  CAPTURE(t.m);
  CAPTURE(t.n);
  CAPTURE(t.factor);
  CAPTURE(t.sum);
  CAPTURE(a_row);
  CAPTURE(b_row);
  CAPTURE(c_row);
  std::mt19937_64 rng(seed);
  const bool is_unsigned = t.factor[0] == 'u', bit = t.factor == "b1";
  const auto value = [&] {
    const int v = static_cast<int>(rng() % 8);
    return bit ? v & 1 : is_unsigned ? v : v - 4;
  };
  const std::string addend = t.addend.empty() ? t.sum : t.addend;
  const auto element = [&](const std::string& type, int whole) {
    return values == Values::whole   ? encode(type, whole)
           : values == Values::edges ? mma::edge(type, rng)
                                     : mma::near_one(type, rng);
  };
  mma::Part a(t.m * t.k), b(t.k * t.n), c(t.m * t.n);
  for (auto* part : {&a, &b})
    for (uint64_t& x : *part) x = element(t.factor, value());
  for (uint64_t& x : c) x = element(addend, static_cast<int>(rng() % 64) - 32);
  const unsigned fs = size_of(t.factor), ss = size_of(t.sum), cs = size_of(addend), pad = 128 / fs;
  const unsigned lda = (a_row ? t.k : t.m) + pad, ldb = (b_row ? t.n : t.k) + pad,
                 ldc = (c_row ? t.n : t.m) + 8;
  constexpr size_t kB = 4096, kC = 8192, kD = 16384;
  std::vector<uint8_t> memory(24576), want(8192);
  for (unsigned i = 0; i < t.m; ++i)
    for (unsigned k = 0; k < t.k; ++k)
      put(memory, 0, a_row ? i * lda + k : k * lda + i, fs, a[i * t.k + k]);
  for (unsigned k = 0; k < t.k; ++k)
    for (unsigned j = 0; j < t.n; ++j)
      put(memory, kB, b_row ? k * ldb + j : j * ldb + k, fs, b[k * t.n + j]);
  for (unsigned i = 0; i < t.m; ++i)
    for (unsigned j = 0; j < t.n; ++j) {
      const size_t at = c_row ? i * ldc + j : j * ldc + i;
      put(memory, kC, at, cs, c[i * t.n + j]);
      mma::Part x, y;
      for (unsigned k = 0; k < t.k; ++k) {
        x.push_back(a[i * t.k + k]);
        y.push_back(b[k * t.n + j]);
      }
      put(want, 0, at, ss, sum_of(t, x, y, c[i * t.n + j]));
    }
  const bool half = t.factor == "f16", wide = t.factor == "f64";
  const unsigned na = half ? 8 : std::max(t.m * t.k * fs / (wide ? 2048 : 1024), 1U),
                 nb = half ? 8 : std::max(t.n * t.k * fs / (wide ? 2048 : 1024), 1U),
                 nd = t.m * t.n * ss / (wide ? 2048 : 1024),
                 nc = t.m * t.n * cs / (wide ? 2048 : 1024);
  const std::string shape =
      ".m" + std::to_string(t.m) + "n" + std::to_string(t.n) + "k" + std::to_string(t.k);
  const auto layout = [](bool row) { return row ? std::string(".row") : std::string(".col"); };
  const auto sum_reg = [](const std::string& type) { return type == "f16" ? "b32" : type; };
  const std::string factor_reg = wide ? "f64" : "b32";
  std::ostringstream regs, body;
  regs << ".reg ." << factor_reg << " %a<8>, %b<8>;\n.reg ." << sum_reg(addend) << " %c<8>;\n.reg ."
       << sum_reg(t.sum) << " %d<8>;\n";
  body << "wmma.load.a.sync.aligned" << layout(a_row) << shape << ".global." << t.factor << ' '
       << reg_list("a", na) << ", [%p], " << lda << ";\nadd.u64 %q, %p, " << kB
       << ";\nwmma.load.b.sync.aligned" << layout(b_row) << shape << ".global." << t.factor << ' '
       << reg_list("b", nb) << ", [%q], " << ldb << ";\nadd.u64 %q, %p, " << kC
       << ";\nwmma.load.c.sync.aligned" << layout(c_row) << shape << ".global." << addend << ' '
       << reg_list("c", nc) << ", [%q], " << ldc << ";\nwmma.mma" << (bit ? ".xor.popc" : "")
       << ".sync.aligned" << layout(a_row) << layout(b_row) << shape << '.' << t.sum;
  if (!half) body << '.' << t.factor << '.' << t.factor;
  body << '.' << addend << ' ' << reg_list("d", nd) << ", " << reg_list("a", na) << ", "
       << reg_list("b", nb) << ", " << reg_list("c", nc) << ";\nadd.u64 %q, %p, " << kD
       << ";\nwmma.store.d.sync.aligned" << layout(c_row) << shape << ".global." << t.sum
       << " [%q], " << reg_list("d", nd) << ", " << ldc << ";\n";
  auto buffer = device().buffer(memory);
  device()
      .load_text(kernel_of(body.str(), regs.str()), lanewise::Isa::ptx)
      .kernel("k")
      .launch({.grid = {1}, .block = {32}}, buffer)
      .check();
  const std::vector<uint8_t> all = buffer.read<uint8_t>();
  std::vector<uint8_t> got(all.begin() + kD, all.end());
  if (wide) {  // NaNs of f64 are alike
    for (size_t i = 0; i < got.size(); i += 8) {
      double x = 0;
      std::memcpy(&x, &got[i], 8);
      if (std::isnan(x)) std::memcpy(&got[i], &kNan64, 8);
    }
  }
  check_equal(got, want);
}

}  // namespace

TEST_CASE("wmma: tiles go through fragments, in every layout") {
  uint64_t seed = 1;
  std::vector<Tile> tiles;
  for (const auto& [m, n] : {std::pair(16U, 16U), {8U, 32U}, {32U, 8U}}) {
    for (const std::string sum : {"f32", "f16"}) tiles.push_back({m, n, 16, "f16", sum});
    tiles.push_back({m, n, 16, "bf16", "f32"});
    for (const std::string factor : {"s8", "u8"}) tiles.push_back({m, n, 16, factor, "s32"});
  }
  tiles.push_back({16, 16, 8, "tf32", "f32"});
  tiles.push_back({8, 8, 4, "f64", "f64"});
  for (const Tile& t : tiles)
    for (const unsigned which : {0U, 3U, 5U, 6U})
      run_tile(t, (which & 1) != 0, (which & 2) != 0, (which & 4) != 0, seed++);
  for (const std::string factor : {"s4", "u4"})
    for (const bool c_row : {false, true})
      run_tile({8, 8, 32, factor, "s32"}, true, false, c_row, seed++);
  for (const bool c_row : {false, true})
    run_tile({8, 8, 128, "b1", "s32"}, true, false, c_row, seed++);
}

TEST_CASE("wmma: sums follow the rule of the target") {
  uint64_t seed = 5002;  // so that devices run one in each draw (mma::runs_here)
  std::vector<Tile> tiles{{16, 16, 8, "tf32", "f32"}, {8, 8, 4, "f64", "f64"}};
  for (const auto& [m, n] : {std::pair(16U, 16U), {8U, 32U}, {32U, 8U}}) {
    for (const std::string sum : {"f32", "f16"}) tiles.push_back({m, n, 16, "f16", sum});
    tiles.push_back({m, n, 16, "f16", "f32", "f16"});
    tiles.push_back({m, n, 16, "f16", "f16", "f32"});
    tiles.push_back({m, n, 16, "bf16", "f32"});
    for (const std::string factor : {"s8", "u8"}) tiles.push_back({m, n, 16, factor, "s32"});
  }
  for (const std::string factor : {"s4", "u4"}) tiles.push_back({8, 8, 32, factor, "s32"});
  tiles.push_back({8, 8, 128, "b1", "s32"});
  for (const Tile& t : tiles)
    for (const Values values : {Values::near_one, Values::edges})
      for (int draw = 0; draw < 3; ++draw, ++seed)
        if (mma::runs_here(seed)) run_tile(t, true, false, true, seed, values);
}
