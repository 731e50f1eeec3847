// Kernels on memory of the host: lw_run works in place or on copies, ptx_run in place.
#include <cstring>

#include "runtime/api/behind.hpp"
#include "tests/unit/capi/support.hpp"

using namespace capi_test;
using api_test::kHeader;
using api_test::kScale;

namespace {

/// out[i] = a[i] + b[i]; a, b and out may be parts of one allocation.
const std::string kAdd = kHeader + R"(
.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 out)
{
  .reg .b32 %r<5>; .reg .b64 %d<8>;
  ld.param.u64 %d1, [a];
  ld.param.u64 %d2, [b];
  ld.param.u64 %d3, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d4, %r1, 4;
  add.u64 %d5, %d1, %d4;
  add.u64 %d6, %d2, %d4;
  add.u64 %d7, %d3, %d4;
  ld.global.u32 %r2, [%d5];
  ld.global.u32 %r3, [%d6];
  add.u32 %r4, %r2, %r3;
  st.global.u32 [%d7], %r4;
  ret;
}
)";

/// Follows a list: adds the value of every node to *sum. A node is a value and the next address.
const std::string kList = kHeader + R"(
.visible .entry sum_list(.param .u64 node, .param .u64 sum)
{
  .reg .b32 %r<3>; .reg .b64 %d<3>; .reg .pred %q;
  ld.param.u64 %d1, [node];
  ld.param.u64 %d2, [sum];
  mov.u32 %r1, 0;
again:
  ld.u32 %r2, [%d1];
  add.u32 %r1, %r1, %r2;
  ld.u64 %d1, [%d1+8];
  setp.ne.u64 %q, %d1, 0;
  @%q bra again;
  st.u32 [%d2], %r1;
  ret;
}
)";

struct Node {
  uint32_t value;
  const Node* next;
};

/// Registers memory while it lives.
struct Registered {
  void* data;
  Registered(void* d, uint64_t bytes) : data(d) { REQUIRE(lw_host_register(d, bytes) == LW_OK); }
  ~Registered() { lw_host_unregister(data); }
};

/// What is logged while it lives.
struct Logged {
  std::string text;
  Logged() {
    lw_set_log([](lw_log_level, const char* message,
                  void* self) { static_cast<Logged*>(self)->text += std::string(message) + "\n"; },
               LW_LOG_INFO, this);
  }
  ~Logged() { lw_set_log(nullptr, LW_LOG_ERROR, nullptr); }
  Logged(const Logged&) = delete;
  Logged& operator=(const Logged&) = delete;
};

void* value(uint64_t bits) {
  return reinterpret_cast<void*>(bits);
}
uint64_t float_bits(float f) {
  uint32_t bits = 0;
  std::memcpy(&bits, &f, 4);
  return bits;
}

}  // namespace

TEST_CASE("C: lw_run on host pointers with sizes") {
  const Device device = open();
  std::vector<float> x = {1, 2, 3, 4};
  const lw_launch_options o = options(1, 4);
  const lw_arg args[] = {lw_arg_host(x.data(), 16), lw_arg_f32(10), lw_arg_u32(4)};
  for (int i = 0; i < 2; ++i)
    REQUIRE(lw_run(device.get(), kScale.c_str(), "scale", &o, args, 3, nullptr) == LW_OK);
  CHECK(x == std::vector<float>{100, 211, 322, 433});
  CHECK(lw_run(device.get(), kScale.c_str(), "nope", &o, args, 3, nullptr) == LW_ERROR_USAGE);
  CHECK(lw_last_detail() == LW_DETAIL_NOT_FOUND);
}

TEST_CASE("C: lw_run opens a device where none is given") {
  std::vector<float> x = {1, 2};
  const lw_launch_options o = options(1, 2);
  const lw_arg args[] = {lw_arg_host(x.data(), 8), lw_arg_f32(3), lw_arg_u32(2)};
  REQUIRE(lw_run(nullptr, kScale.c_str(), nullptr, &o, args, 3, nullptr) == LW_OK);
  CHECK(x == std::vector<float>{3, 7});
}

TEST_CASE("C: the programs that lw_run keeps do not keep a device that was released") {
  Device device = open("reference");
  const std::weak_ptr<lanewise::host::Device> behind = lanewise::host::device_behind(device.get());
  std::vector<float> x = {1, 2};
  const lw_launch_options o = options(1, 2);
  const lw_arg args[] = {lw_arg_host(x.data(), 8), lw_arg_f32(3), lw_arg_u32(2)};
  REQUIRE(lw_run(device.get(), kScale.c_str(), nullptr, &o, args, 3, nullptr) == LW_OK);
  CHECK(!behind.expired());
  device.reset();
  CHECK(behind.expired());
}

TEST_CASE("C: overlapping and registered host memory is one memory") {
  const Device device = open();
  std::vector<uint32_t> all = {1, 2, 3, 4, 0, 0};
  const lw_launch_options o = options(1, 2);
  {
    // b begins inside a; out is the registered range around it.
    const Registered r(all.data(), 24);
    const lw_arg args[] = {lw_arg_host(all.data(), 12), lw_arg_host(all.data() + 2, 8),
                           lw_arg_host(all.data() + 4, 0)};
    REQUIRE(lw_run(device.get(), kAdd.c_str(), nullptr, &o, args, 3, nullptr) == LW_OK);
    CHECK(all == std::vector<uint32_t>{1, 2, 3, 4, 4, 6});
    CHECK(lw_host_register(all.data() + 1, 4) == LW_ERROR_USAGE);
  }
  const lw_arg args[] = {lw_arg_host(all.data(), 8), lw_arg_host(all.data() + 2, 8),
                         lw_arg_host(all.data() + 4, 0)};
  CHECK(lw_run(device.get(), kAdd.c_str(), nullptr, &o, args, 3, nullptr) == LW_ERROR_USAGE);
  CHECK(lw_last_detail() == LW_DETAIL_NOT_FOUND);
  CHECK(lw_host_unregister(all.data()) == LW_ERROR_USAGE);
}

TEST_CASE("C: lw_run writes nothing beyond what it was given") {
  const Device device = open();
  std::vector<float> x = {1, 2, 3, 4};
  lw_launch_options o = options(1, 4);
  o.memcheck = LW_MEMCHECK_ALLOC;
  const lw_arg args[] = {lw_arg_host(x.data(), 8), lw_arg_f32(10), lw_arg_u32(4)};
  lw_result* raw = nullptr;
  CHECK(lw_run(device.get(), kScale.c_str(), nullptr, &o, args, 3, &raw) == LW_ERROR_GUEST);
  const Result result(raw);
  CHECK(lw_last_detail() == LW_DETAIL_FAULT);
  CHECK(x == std::vector<float>{10, 21, 3, 4});
}

TEST_CASE("C: large host memory is used in place where the device can, and is as safe") {
  const Device device = open();
  // SwiftShader has no buffer addresses here.
  const bool can = api_test::selector() != "SwiftShader";
  const auto in_place = [&](uint32_t memcheck, bool read_only, lw_status wanted) {
    Logged log;
    // Not at the start of a page, and with neighbours that belong to somebody else.
    std::vector<float> x(40000, 1.0f);
    float* const mine = x.data() + 1001;
    lw_launch_options o = options(150, 256);
    o.memcheck = memcheck;
    const uint64_t bytes = 30000 * sizeof(float);
    const lw_arg args[] = {read_only ? lw_arg_host_const(mine, bytes) : lw_arg_host(mine, bytes),
                           lw_arg_f32(2), lw_arg_u32(wanted == LW_OK ? 30000 : 30001)};
    CHECK(lw_run(device.get(), kScale.c_str(), nullptr, &o, args, 3, nullptr) == wanted);
    bool right = true;
    for (size_t i = 0; i < x.size(); ++i) {
      const bool inside = i >= 1001 && i < 31001 && !read_only;
      right = right && x[i] == (inside ? 2.0f + static_cast<float>(i - 1001) : 1.0f);
    }
    CHECK(right);
    return log.text.find("is used in place") != std::string::npos;
  };
  CHECK(in_place(LW_MEMCHECK_ALLOC, false, LW_OK) == can);
  CHECK(in_place(LW_MEMCHECK_ARENA, false, LW_OK) == can);
  CHECK(!in_place(LW_MEMCHECK_OFF, false, LW_OK));
  CHECK(in_place(LW_MEMCHECK_ALLOC, false, LW_ERROR_GUEST) == can);
  CHECK(in_place(LW_MEMCHECK_ALLOC, true, LW_ERROR_GUEST) == can);
}

TEST_CASE("C: host memory that is only read is never written") {
  const Device device = open();
  std::vector<uint32_t> a = {1, 2}, b = {3, 4}, out = {0, 0};
  const lw_launch_options o = options(1, 2);
  lw_arg args[] = {lw_arg_host_const(a.data(), 8), lw_arg_host_const(b.data(), 8),
                   lw_arg_host(out.data(), 8)};
  REQUIRE(lw_run(device.get(), kAdd.c_str(), nullptr, &o, args, 3, nullptr) == LW_OK);
  CHECK(out == std::vector<uint32_t>{4, 6});
  out = {0, 0};
  args[2] = lw_arg_host_const(out.data(), 8);
  CHECK(lw_run(device.get(), kAdd.c_str(), nullptr, &o, args, 3, nullptr) == LW_ERROR_GUEST);
  CHECK(std::string(lw_last_error()).find("to be read only") != std::string::npos);
  CHECK(out == std::vector<uint32_t>{0, 0});
}

TEST_CASE("ptx_run works in the caller's memory") {
  std::vector<float> x = {1, 2, 3, 4};
  void* const args[] = {x.data(), value(float_bits(10)), value(4)};
  CHECK(ptx_run(kScale.c_str(), 3, args, 2, 1, 1, 2, 1, 1, 0) == 0);
  CHECK(x == std::vector<float>{10, 21, 32, 43});
}

TEST_CASE("ptx_run follows host pointers that lie in memory") {
  const Node c{5, nullptr}, b{30, &c}, a{200, &b};
  uint32_t sum = 0;
  void* const args[] = {const_cast<Node*>(&a), &sum};
  CHECK(ptx_run(kList.c_str(), 2, args, 1, 1, 1, 1, 1, 1, 0) == 0);
  CHECK(sum == 235);
}

TEST_CASE("ptx_run stays inside registered memory when there is any") {
  std::vector<float> x = {1, 2, 3, 4};
  void* const args[] = {x.data(), value(float_bits(10)), value(4)};
  const Registered r(x.data(), 8);
  CHECK(ptx_run(kScale.c_str(), 3, args, 4, 1, 1, 1, 1, 1, 0) == LW_ERROR_GUEST);
  CHECK(lw_last_detail() == LW_DETAIL_FAULT);
  CHECK(std::string(lw_last_error()).find("(8 bytes; right behind its end)") != std::string::npos);
  CHECK(x == std::vector<float>{10, 21, 3, 4});
}

TEST_CASE("ptx_run reports wild pointers and writes to constants") {
  static const char kText[] = "read only";
  void* const wild[] = {value(0x10), value(float_bits(10)), value(1)};
  CHECK(ptx_run(kScale.c_str(), 3, wild, 1, 1, 1, 1, 1, 1, 0) == LW_ERROR_GUEST);
  CHECK(std::string(lw_last_error()).find("null-page access") != std::string::npos);
  const auto aligned = (reinterpret_cast<uint64_t>(kText) + 3) & ~uint64_t{3};
  void* const constant[] = {value(aligned), value(float_bits(10)), value(1)};
  CHECK(ptx_run(kScale.c_str(), 3, constant, 1, 1, 1, 1, 1, 1, 0) == LW_ERROR_GUEST);
  CHECK(std::string(lw_last_error()).find("read-only") != std::string::npos);
}

TEST_CASE("ptx_run refuses what makes no sense") {
  std::vector<float> x = {1};
  void* const args[] = {x.data(), value(float_bits(10)), value(1)};
  CHECK(ptx_run(nullptr, 3, args, 1, 1, 1, 1, 1, 1, 0) == LW_ERROR_USAGE);
  CHECK(ptx_run("no ptx", 3, args, 1, 1, 1, 1, 1, 1, 0) == LW_ERROR_GUEST);
  CHECK(ptx_run(kScale.c_str(), 2, args, 1, 1, 1, 1, 1, 1, 0) == LW_ERROR_USAGE);
  CHECK(ptx_run(kScale.c_str(), 3, nullptr, 1, 1, 1, 1, 1, 1, 0) == LW_ERROR_USAGE);
  CHECK(ptx_run(kScale.c_str(), 3, args, 0, 1, 1, 1, 1, 1, 0) == LW_ERROR_USAGE);
  CHECK(ptx_run(kScale.c_str(), 3, args, 1, 1, 1, 1, -1, 1, 0) == LW_ERROR_USAGE);
  CHECK(ptx_run(kScale.c_str(), 3, args, 1, 1, 1, 1, 1, 1, -1) == LW_ERROR_USAGE);
  CHECK(x[0] == 1);
}
