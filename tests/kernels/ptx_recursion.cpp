// PTX functions that call themselves, as nvcc compiles them with and without optimisation, beside
// the same functions on the host.
#include <algorithm>
#include <array>

#include "tests/kernels/support.hpp"

using namespace kernels;
using lanewise::Buffer;
using lanewise::LaunchOptions;

namespace {

constexpr uint32_t kLanesOfWave = 32;
const LaunchOptions kOneWave{.grid = {1}, .block = {kLanesOfWave}};

int32_t ack(int32_t m, int32_t n) {
  return m == 0 ? n + 1 : n == 0 ? ack(m - 1, 1) : ack(m - 1, ack(m, n - 1));
}

int32_t queens(int n, int row, uint32_t c, uint32_t d1, uint32_t d2) {
  if (row == n) return 1;
  int32_t found = 0;
  for (uint32_t f = ~(c | d1 | d2) & ((1U << n) - 1); f != 0; f &= f - 1) {
    const uint32_t b = f & (~f + 1);
    found += queens(n, row + 1, c | b, (d1 | b) << 1, (d2 | b) >> 1);
  }
  return found;
}

struct P {
  double x;
  int64_t n;
  int32_t k;
};
P step(P p) {
  if (p.n <= 0) return p;
  P r = step({p.x * 1.5 + p.k, p.n - 1, p.k + 1});
  r.x += p.x;
  return r;
}

/// Drivers compile the unoptimised form for long.
std::vector<const char*> variants() {
  if (device().info().tier != "cpu") return {"sm75"};
  return {"sm75", "debug"};
}

lanewise::Kernel kernel(const char* variant, const char* name) {
  return ptx("recursion", variant, name);
}

std::vector<int32_t> small_numbers(size_t n, int32_t below, uint64_t seed) {
  std::vector<uint32_t> bits = random_ints<uint32_t>(n, seed);
  std::vector<int32_t> out(n);
  std::ranges::transform(bits, out.begin(), [&](uint32_t x) {
    return static_cast<int32_t>(x % static_cast<uint32_t>(below));
  });
  return out;
}

std::vector<int32_t> sorted_parts(std::vector<int32_t> all, size_t part) {
  for (size_t at = 0; at < all.size(); at += part)
    std::sort(all.begin() + static_cast<ptrdiff_t>(at),
              all.begin() + static_cast<ptrdiff_t>(at + part));
  return all;
}

}  // namespace

TEST_CASE("recursion of PTX: numbers, through each other, with structures") {
  for (const char* variant : variants()) {
    CAPTURE(variant);
    const std::vector<int32_t> in = small_numbers(kLanesOfWave, 12, 5);
    std::vector<int32_t> want(kLanesOfWave), parity(kLanesOfWave), found(kLanesOfWave);
    std::vector<double> sums(kLanesOfWave);
    for (uint32_t i = 0; i < kLanesOfWave; ++i) {
      want[i] = ack(in[i] & 1, in[i] >> 1);
      parity[i] = 1 - static_cast<int32_t>(i & 1);
      found[i] = queens(static_cast<int>(i % 7) + 1, 0, 0, 0, 0);
      const P r = step({1.0, i % 9, static_cast<int32_t>(i)});
      sums[i] = r.x + r.k;
    }
    Buffer a = device().buffer(in), out = device().buffer(std::vector<int32_t>(kLanesOfWave, -1));
    kernel(variant, "ackermann").launch(kOneWave, a, out).check();
    check_equal(out.read<int32_t>(), want);
    kernel(variant, "parity").launch(kOneWave, out).check();
    check_equal(out.read<int32_t>(), parity);
    kernel(variant, "nqueens").launch(kOneWave, out).check();
    check_equal(out.read<int32_t>(), found);
    Buffer doubles = device().buffer(std::vector<double>(kLanesOfWave, 0));
    kernel(variant, "structs").launch(kOneWave, doubles).check();
    check_equal(doubles.read<double>(), sums);
  }
}

TEST_CASE("recursion of PTX: sorting in place and with an array in every frame, a tree") {
  for (const char* variant : variants()) {
    CAPTURE(variant);
    const std::vector<int32_t> twelve = small_numbers(size_t{12} * kLanesOfWave, 100, 6);
    Buffer parts = device().buffer(twelve);
    kernel(variant, "quick").launch(kOneWave, parts, 12).check();
    check_equal(parts.read<int32_t>(), sorted_parts(twelve, 12));
    const std::vector<int32_t> sixteen = small_numbers(size_t{16} * kLanesOfWave, 100, 7);
    Buffer merged = device().buffer(sixteen);
    kernel(variant, "merge").launch(kOneWave, merged).check();
    check_equal(merged.read<int32_t>(), sorted_parts(sixteen, 16));

    const std::vector<int32_t> values = small_numbers(kLanesOfWave, 1000, 8);
    std::vector<int32_t> left(kLanesOfWave, -1), right(kLanesOfWave, -1), sums = values;
    for (int32_t i = kLanesOfWave - 1; i >= 0; --i) {
      for (auto& [child, n] : {std::pair{&left, 2 * i + 1}, {&right, 2 * i + 2}}) {
        if (n >= static_cast<int32_t>(kLanesOfWave)) continue;
        (*child)[static_cast<size_t>(i)] = n;
        sums[static_cast<size_t>(i)] += sums[static_cast<size_t>(n)];
      }
    }
    Buffer l = device().buffer(left), r = device().buffer(right), v = device().buffer(values);
    Buffer out = device().buffer(std::vector<int32_t>(kLanesOfWave, -1));
    kernel(variant, "trees").launch(kOneWave, l, r, v, out).check();
    check_equal(out.read<int32_t>(), sums);
  }
}

namespace {

struct Big {
  std::array<int32_t, 80> v;
};
struct Node {
  virtual ~Node() = default;
  virtual Big eval(Big b, int depth) const = 0;
};
struct Leaf : Node {
  int32_t k;
  explicit Leaf(int32_t x) : k(x) {}
  Big eval(Big b, int depth) const override {
    b.v[static_cast<size_t>((depth * 7 + k) % 80)] += k;
    return b;
  }
};
struct Both : Node {
  const Node *first, *second;
  Both(const Node* f, const Node* s) : first(f), second(s) {}
  Big eval(Big b, int depth) const override {
    const Big x = first->eval(b, depth + 1);
    const int32_t s = x.v[static_cast<size_t>(depth % 80)];
    Big y = second->eval(x, depth + 1);
    y.v[static_cast<size_t>((s + depth) & 63)] ^= b.v[static_cast<size_t>(depth * 3 % 80)] + 5;
    return y;
  }
};

int32_t tree(uint32_t lane, int32_t x) {
  const Leaf a(x), b(x * 3 + 1);
  const Both c(&a, &b), d(&c, &a), e(&d, &c);
  const Node* const all[4] = {&a, &c, &d, &e};
  Big z{};
  for (int32_t i = 0; i < 80; ++i) z.v[static_cast<size_t>(i)] = i * x;
  z = all[lane & 3]->eval(z, 1);
  uint32_t sum = 0;
  for (const int32_t v : z.v) sum = sum * 31 + static_cast<uint32_t>(v);
  return static_cast<int32_t>(sum);
}

uint32_t area(uint32_t a, bool nested, uint32_t s) {
  return (a ^ s) + (nested && s != 0 ? area(a, nested, s - 1) : 0);
}

}  // namespace

TEST_CASE("recursion of PTX: by way of virtual functions, with large arguments and results") {
  for (const char* variant : variants()) {
    CAPTURE(variant);
    const std::vector<int32_t> in = small_numbers(kLanesOfWave, 64, 9);
    std::vector<int32_t> sums(kLanesOfWave);
    std::vector<uint32_t> areas(kLanesOfWave);
    for (uint32_t i = 0; i < kLanesOfWave; ++i) {
      sums[i] = tree(i, in[i]);
      const auto x = static_cast<uint32_t>(in[i]);
      areas[i] = area(x, x % 2 == 1, x >> 1 & 15);
    }
    Buffer from = device().buffer(in), to = device().buffer(std::vector<int32_t>(kLanesOfWave, -1));
    ptx("virtual", variant, "areas").launch(kOneWave, from, to).check();
    check_equal(to.read<uint32_t>(), areas);
    if (device().info().tier != "cpu") continue;  // drivers compile 2,500 accesses for long
    ptx("virtual", variant, "trees").launch(kOneWave, from, to).check();
    check_equal(to.read<int32_t>(), sums);
  }
}

TEST_CASE("recursion of PTX: one without an end is a stack overflow") {
  Buffer out = device().buffer(std::vector<int32_t>(2, -1));
  const lanewise::Result result = kernel("debug", "deep").launch({.grid = {1}, .block = {2}}, out);
  CHECK(result.fault_count == 2);
  REQUIRE(!result.faults.empty());
  CHECK(result.faults[0].kind == lanewise::FaultKind::stack_overflow);
}

TEST_CASE("recursion of PTX: a launch sets the size of the stack") {
  const std::string text = R"(.version 7.0
.target sm_70
.address_size 64
.func (.param .b32 r) count(.param .b32 n)
{
  .reg .pred %p;
  .reg .b32 %r<5>;
  ld.param.u32 %r1, [n];
  mov.u32 %r2, 0;
  setp.eq.u32 %p, %r1, 0;
  @%p bra done;
  sub.u32 %r3, %r1, 1;
  {
    .param .b32 a;
    .param .b32 b;
    st.param.b32 [a], %r3;
    call.uni (b), count, (a);
    ld.param.b32 %r4, [b];
  }
  add.u32 %r2, %r4, %r1;
done:
  st.param.b32 [r], %r2;
  ret;
}
.visible .entry k(.param .u64 out, .param .u32 n)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd;
  ld.param.u64 %rd, [out];
  ld.param.u32 %r1, [n];
  {
    .param .b32 a;
    .param .b32 b;
    st.param.b32 [a], %r1;
    call.uni (b), count, (a);
    ld.param.b32 %r2, [b];
  }
  st.global.u32 [%rd], %r2;
  ret;
}
)";
  const lanewise::Kernel k = device().load_text(text, lanewise::Isa::ptx).kernel("k");
  Buffer out = device().buffer(std::vector<uint32_t>(1), "out");
  const auto run = [&](uint32_t depth, const std::string& stack) {
    LaunchOptions options{.grid = {1}, .block = {1}};
    options.policies["stack"] = stack;
    return k.launch(options, out, depth);
  };
  CHECK(run(1000, "declared").ok());
  CHECK(out.read<uint32_t>()[0] == 500500);
  const auto text_of = [](const lanewise::Result& r) {
    return r.ok() ? std::string() : lanewise::format(r.faults.at(0));
  };
  CHECK(text_of(run(5000, "declared")).find("65536 bytes are there for a lane's calls") !=
        std::string::npos);
  // A megabyte for each lane is too much for some drivers; they say so before.
  std::string refused;
  bool deep = false;
  try {
    deep = run(5000, "1000000").ok() && out.read<uint32_t>()[0] == 12502500;
  } catch (const lanewise::Error& e) {
    refused = e.what();
  }
  CAPTURE(refused);
  CHECK((deep || refused.find("too large for this driver's compiler") != std::string::npos));
  const std::string full = text_of(run(1000, "8000"));
  CAPTURE(full);
  CHECK(full.find("stack overflow: 8000 bytes are there") != std::string::npos);
  CHECK(full.find("--stack BYTES") != std::string::npos);
  CHECK(full.find("called from k\n") != std::string::npos);
  CHECK_THROWS_AS(run(1, "1000000000"), lanewise::Error);
}
