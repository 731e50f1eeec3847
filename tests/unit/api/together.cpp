// Launches that wait in a queue together: devices may share submissions among them, which nobody
// must be able to see.
#include <atomic>
#include <thread>

#include "lanewise/queue.hpp"
#include "tests/unit/api/support.hpp"

using namespace api_test;
using namespace lanewise;

namespace {

/// A queue whose line fills before any of it is carried out.
class HeldQueue {
 public:
  explicit HeldQueue(const Device& device) : queue(device) {
    queue.call([this] {
      while (!open_) std::this_thread::yield();
    });
  }
  void run() {
    open_ = true;
    queue.finish();
  }
  Queue queue;

 private:
  std::atomic<bool> open_ = false;
};

/// Each group's shared memory passes a value from lane to lane: p[i] = 3 * p[i] + p[i ^ 1] + k.
const std::string kMix = kHeader + R"(
.visible .entry mix(.param .u64 p, .param .u32 k)
{
  .reg .b32 %r<9>; .reg .b64 %d<4>; .shared .b32 s[64];
  ld.param.u64 %d1, [p];
  ld.param.u32 %r1, [k];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %d2, %r2, 4;
  add.u64 %d3, %d1, %d2;
  ld.global.u32 %r3, [%d3];
  mov.u32 %r4, s;
  shl.b32 %r5, %r2, 2;
  add.u32 %r5, %r4, %r5;
  st.shared.u32 [%r5], %r3;
  bar.sync 0;
  xor.b32 %r6, %r5, 4;
  ld.shared.u32 %r7, [%r6];
  mad.lo.u32 %r8, %r3, 3, %r7;
  add.u32 %r8, %r8, %r1;
  st.global.u32 [%d3], %r8;
  ret;
}
)";

/// o[slot] = the word at a; a counts as an integer, so all of memory is searched for it.
const std::string kPeek = kHeader + R"(
.visible .entry peek(.param .u64 a, .param .u64 o, .param .u32 slot)
{
  .reg .b32 %r<3>; .reg .b64 %d<6>;
  ld.param.u64 %d1, [a];
  ld.param.u64 %d2, [o];
  ld.param.u32 %r1, [slot];
  xor.b64 %d3, %d1, 255;
  ld.global.u32 %r2, [%d3];
  mul.wide.u32 %d4, %r1, 4;
  add.u64 %d5, %d2, %d4;
  st.global.u32 [%d5], %r2;
  ret;
}
)";

/// Counts down from n; p[0] += 1 at the end.
const std::string kCount = kHeader + R"(
.visible .entry count(.param .u64 p, .param .u32 n)
{
  .reg .b32 %r<3>; .reg .b64 %d; .reg .pred %q;
  ld.param.u64 %d, [p];
  ld.param.u32 %r1, [n];
again:
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %q, %r1, 0;
  @%q bra again;
  atom.global.add.u32 %r2, [%d], 1;
  ret;
}
)";

}  // namespace

TEST_CASE("launches that wait together run in order, each on what the one before it left") {
  Device device = Device::open(selector());
  const auto mix = device.load_text(kMix, Isa::ptx).kernel();
  const auto scale = device.load_text(kScale, Isa::ptx).kernel();
  std::vector<uint32_t> expected(64);
  for (uint32_t i = 0; i < 64; ++i) expected[i] = i * i;
  const Buffer p = device.buffer(expected, "p"), f = device.buffer(std::vector<float>(8, 1.0F));
  HeldQueue held(device);
  std::vector<Event> events;
  for (uint32_t k = 0; k < 150; ++k) {
    events.push_back(held.queue.launch(mix, {.grid = {1}, .block = {64}}, {p, k}));
    if (k % 3 == 0) held.queue.launch(scale, {.grid = {2}, .block = {4}}, {f, 1.0F, 8});
    const std::vector<uint32_t> before = expected;
    for (uint32_t i = 0; i < 64; ++i) expected[i] = 3 * before[i] + before[i ^ 1] + k;
  }
  held.run();
  CHECK(p.read<uint32_t>() == expected);
  for (const Event& e : events) CHECK(e.result().ok());
  const std::vector<float> sums = f.read<float>();
  for (size_t i = 0; i < 8; ++i) CHECK(sums[i] == 1.0F + 50.0F * static_cast<float>(i));
}

TEST_CASE("launches that wait together do not see each other's parameters") {
  Device device = Device::open(selector());
  const auto peek = device.load_text(kPeek, Isa::ptx).kernel();
  const Buffer o = device.allocate(4 * 40, "o");
  // Parameters lie behind all that was ever allocated.
  const uint64_t next = Buffer(device.allocate(4, "next")).address() + 512;
  REQUIRE(next % 256 == 0);
  const LaunchOptions options{.grid = {1}, .block = {1}};
  // One alone first, so that the kernel is ready.
  CHECK(peek.launch(options, o.address() ^ 255, o, 0).fault_count == 0);
  // Its own: it does not ask for their address, so nothing is there for it.
  CHECK(peek.launch(options, next ^ 255, o, 0).fault_count == 1);
  HeldQueue held(device);
  std::vector<Event> events;
  for (uint32_t i = 0; i < 30; ++i)
    events.push_back(held.queue.launch(peek, options, {next ^ 255, o, i}));
  held.run();
  for (uint32_t i = 0; i < 30; ++i) {
    CAPTURE(i);
    const Result& r = events[i].result();
    REQUIRE(r.faults.size() == 1);
    CHECK(r.faults[0].kind == FaultKind::out_of_range);
    CHECK(r.faults[0].address == next);
  }
}

TEST_CASE("faults of launches that wait together name what lies near, their parameters too") {
  Device device = Device::open(selector());
  const auto peek = device.load_text(kPeek, Isa::ptx).kernel();
  const Buffer o = device.allocate(4 * 40, "o");
  const uint64_t parameters = Buffer(device.allocate(4, "next")).address() + 512;
  const LaunchOptions options{.grid = {1}, .block = {1}};
  const Result alone = peek.launch(options, (parameters + 24) ^ 255, o, 0);
  REQUIRE(alone.faults.size() == 1);
  CHECK(alone.faults[0].allocation == "kernel parameters");
  HeldQueue held(device);
  std::vector<Event> events;
  for (uint32_t i = 0; i < 5; ++i)
    events.push_back(held.queue.launch(peek, options, {(parameters + 24) ^ 255, o, i}));
  held.run();
  REQUIRE(events[0].result().faults.size() == 1);
  CHECK(format(events[0].result().faults[0]) == format(alone.faults[0]));
  REQUIRE(events[4].result().faults.size() == 1);
  CHECK(events[4].result().faults[0].allocation == "o");
}

TEST_CASE("a launch without steps left, or with wrong arguments, stops none that waits with it") {
  Device device = Device::open(selector());
  const auto count = device.load_text(kCount, Isa::ptx).kernel();
  const Buffer p = device.buffer(std::vector<uint32_t>{0}, "p");
  LaunchOptions options{.grid = {1}, .block = {2}};
  options.policies["steps"] = "1000";
  count.launch(options, p, 10).check();
  HeldQueue held(device);
  std::vector<Event> events;
  for (int i = 0; i < 20; ++i) {
    if (i % 7 == 3)
      events.push_back(held.queue.launch(count, options, {p, 5000}));
    else if (i % 7 == 5)
      events.push_back(held.queue.launch(count, options, {p}));
    else
      events.push_back(held.queue.launch(count, options, {p, 900}));
  }
  held.run();
  uint32_t right = 1;
  for (int i = 0; i < 20; ++i) {
    CAPTURE(i);
    if (i % 7 == 5) {
      CHECK(refused([&] { events[i].wait(); }) != ErrorDetail::none);
    } else if (i % 7 == 3) {
      CHECK_FALSE(events[i].result().ok());
    } else {
      CHECK(events[i].result().ok());
      ++right;
    }
  }
  CHECK(p.read<uint32_t>()[0] == 2 * right);
}
