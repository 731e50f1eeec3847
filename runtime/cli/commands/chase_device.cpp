#include "runtime/cli/commands/chase_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace lanewise::cli {
namespace {

using cache::ChaseWay;

constexpr unsigned kUnrolled = 16;    ///< loads of one iteration
constexpr unsigned kWarm = 3;         ///< rounds
constexpr uint32_t kLoads = 1 << 16;  ///< that are timed, and at least a round
constexpr unsigned kRepeats = 5;

/// Each word that is visited holds the offset of the next one.
std::string kernel_text() {
  std::string text = ".version 7.0\n.target sm_70\n.address_size 64\n";
  for (const char* op : {"ca", "nc", "cg"}) {
    text += fmt::format(
        R"(.visible .entry chase_{0}(.param .u64 buffer, .param .u64 result, .param .u32 iterations)
{{
.reg .b64 %rd<4>; .reg .b32 %r<4>; .reg .pred %p;
ld.param.u64 %rd1, [buffer];
ld.param.u64 %rd2, [result];
ld.param.u32 %r1, [iterations];
ld.global.u32 %r2, [%rd2];
again:
)",
        op);
    for (unsigned i = 0; i < kUnrolled; ++i)
      text += fmt::format(
          "cvt.u64.u32 %rd3, %r2;\nadd.s64 %rd3, %rd3, %rd1;\nld.global.{}.u32 %r2, [%rd3];\n", op);
    text +=
        "sub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p, %r1, 0;\n@%p bra again;\nst.global.u32 [%rd2], "
        "%r2;\nret;\n}\n";
  }
  return text;
}

class OnDevice final : public cache::ChaseTarget {
 public:
  OnDevice(const Device& device, uint64_t bytes)
      : device_(device),
        module_(device_.load_text(kernel_text(), Isa::ptx, "chase.ptx")),
        buffer_(device_.allocate(bytes)),
        result_(device_.allocate(4)) {
    // How far times of the same round lie apart, twice over.
    const std::vector<uint64_t> one{0};
    std::vector<double> times;
    for (unsigned i = 0; i < 4; ++i) times.push_back(time(ChaseWay::l2, one));
    const auto [least, most] = std::ranges::minmax(times);
    noise_ = std::max(0.01, 2 * (most - least) / least);
  }

  uint64_t bytes() const override {
    return buffer_.size() - 4096;
  }  // what is a little further, is there, too
  unsigned warm_rounds() const override { return kWarm; }
  unsigned timed_rounds() const override { return 64; }
  double noise() const override { return noise_; }
  std::string unit() const override { return "ns"; }

  double time(ChaseWay way, std::span<const uint64_t> round) override {
    write(round);
    const auto length = static_cast<uint32_t>(round.size());
    const uint32_t before = iterations(kWarm * length),
                   all = before + iterations(std::max(kLoads, length));
    double best_before = 1e30, best_all = 1e30;
    for (unsigned i = 0; i < kRepeats; ++i) {
      best_before = std::min(best_before, launch(way, round[0], before));
      best_all = std::min(best_all, launch(way, round[0], all));
    }
    return std::max(0.001, (best_all - best_before) * 1e6 / ((all - before) * double{kUnrolled}));
  }

 private:
  static uint32_t iterations(uint32_t loads) { return (loads + kUnrolled - 1) / kUnrolled; }
  /// The n-th visit of an address goes to its n-th word.
  void write(std::span<const uint64_t> round) {
    std::unordered_map<uint64_t, uint32_t> visits;
    std::vector<uint32_t> place(round.size());
    for (size_t i = 0; i < round.size(); ++i)
      place[i] = static_cast<uint32_t>(round[i]) + 4 * (visits[round[i]]++ % 8);
    const uint32_t end = *std::ranges::max_element(place) + 4;
    words_.assign(end / 4, 0);
    for (size_t i = 0; i < place.size(); ++i) words_[place[i] / 4] = place[(i + 1) % place.size()];
    buffer_.write(std::as_bytes(std::span(words_)));
  }
  double launch(ChaseWay way, uint64_t start, uint32_t count) {
    constexpr const char* kNames[] = {"chase_ca", "chase_nc", "chase_cg"};
    result_.write(std::vector<uint32_t>{static_cast<uint32_t>(start)});
    LaunchOptions options;
    options.grid = {1};
    options.block = {1};
    options.memcheck = device_.info().type == "cpu" || device_.info().type == "reference"
                           ? Memcheck::alloc
                           : Memcheck::off;
    const Result r =
        module_.kernel(kNames[static_cast<size_t>(way)]).launch(options, buffer_, result_, count);
    r.check();
    return r.times.dispatch_ms;
  }

  Device device_;
  Module module_;
  Buffer buffer_, result_;
  double noise_ = 0.01;
  std::vector<uint32_t> words_;
};

}  // namespace

std::unique_ptr<cache::ChaseTarget> device_target(const Device& device, uint64_t bytes) {
  return std::make_unique<OnDevice>(device, bytes);
}

}  // namespace lanewise::cli
