#include "tests/hardware/truth/card_caches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <unordered_map>

namespace lanewise::truth {
namespace {

using cache::ChaseWay;

constexpr unsigned kUnrolled = 8;     ///< loads of one iteration
constexpr unsigned kWarm = 3;         ///< rounds before the clock runs
constexpr uint32_t kLoads = 1 << 14;  ///< that are timed, at least, and at least a round
constexpr unsigned kRepeats = 3;
constexpr double kLeastNoise = 0.002, kMostNoise = 0.1;
constexpr uint32_t kConstantBytes = 65536;

/// Follows the chain for `warm` iterations, then for `timed` ones between two readings of the
/// clock. The store before the second reading waits for the last load.
std::string kernel(const std::string& name, const std::string& load) {
  std::string body;
  for (unsigned i = 0; i < kUnrolled; ++i)
    body += "cvt.u64.u32 %d3, %r2;\nadd.s64 %d3, %d3, %d1;\n" + load + " %r2, [%d3];\n";
  const bool constant = name == "chase_const";
  return fmt::format(
      R"(.visible .entry {0}(.param .u64 buffer, .param .u64 result, .param .u32 start, .param .u32 warm, .param .u32 timed)
{{
.reg .b64 %d<8>; .reg .b32 %r<6>; .reg .pred %p;
ld.param.u64 %d1, [buffer];
ld.param.u64 %d2, [result];
ld.param.u32 %r2, [start];
ld.param.u32 %r1, [warm];
ld.param.u32 %r3, [timed];
{2}
WARM:
{1}sub.u32 %r1, %r1, 1;
setp.ne.u32 %p, %r1, 0;
@%p bra WARM;
st.global.u32 [%d2+16], %r2;
mov.u64 %d5, %clock64;
TIMED:
{1}sub.u32 %r3, %r3, 1;
setp.ne.u32 %p, %r3, 0;
@%p bra TIMED;
st.global.u32 [%d2+16], %r2;
mov.u64 %d6, %clock64;
sub.s64 %d6, %d6, %d5;
st.global.u64 [%d2], %d6;
ret;
}}
)",
      name, body, constant ? "mov.u64 %d1, table;" : "");
}

std::string chase_text(const Card& card) {
  return card.header() + kernel("chase_ca", "ld.global.ca.u32") +
         kernel("chase_nc", "ld.global.nc.u32") + kernel("chase_cg", "ld.global.cg.u32");
}

uint32_t iterations(uint64_t loads) {
  return static_cast<uint32_t>((loads + kUnrolled - 1) / kUnrolled);
}

/// The least of some launches, which nothing disturbed.
double least_cycles(const Program& program, const std::string& kernel, uint64_t buffer,
                    const Memory& result, uint32_t start, size_t length) {
  const uint32_t warm = iterations(length > 8 * cache::ChaseTarget::kShortRound ? length
                                                                                : kWarm * length),
                 timed = iterations(std::max<uint64_t>(kLoads, length));
  const std::vector<std::vector<std::byte>> arguments = {
      argument(buffer), argument(result.address()), argument(start), argument(warm),
      argument(timed)};
  double least = 1e30;
  // Long lists average over many loads.
  for (unsigned i = 0; i < (length > cache::ChaseTarget::kShortRound ? 1 : kRepeats); ++i) {
    program.launch(kernel, {}, arguments);
    std::vector<uint64_t> cycles(1);
    result.read(std::as_writable_bytes(std::span(cycles)));
    least = std::min(least, static_cast<double>(cycles[0]) / (double{kUnrolled} * timed));
  }
  return least;
}

/// The n-th visit of an address goes to its n-th word.
std::vector<uint32_t> places(std::span<const uint64_t> round) {
  std::unordered_map<uint64_t, uint32_t> visits;
  std::vector<uint32_t> place(round.size());
  for (size_t i = 0; i < round.size(); ++i)
    place[i] = static_cast<uint32_t>(round[i]) + 4 * (visits[round[i]]++ % 8);
  return place;
}

/// How far times of equal rounds lie apart, as a share: somewhat more than some did.
double noise_of(const std::function<double()>& time) {
  double least = 1e30, most = 0;
  for (unsigned i = 0; i < 6; ++i) {
    const double t = time();
    least = std::min(least, t);
    most = std::max(most, t);
  }
  return std::clamp(1.5 * (most / least - 1), kLeastNoise, kMostNoise);
}

class OnCard final : public cache::ChaseTarget {
 public:
  OnCard(const Card& card, uint64_t bytes)
      : program_(card.load(chase_text(card))),
        buffer_(card.allocate(bytes)),
        result_(card.allocate(64)),
        bytes_(bytes) {
    std::vector<uint64_t> round;
    for (uint64_t at = 0; at < std::min<uint64_t>(bytes_ - 4096, 1 << 18); at += 256)
      round.push_back(at);
    noise_ = noise_of([&] { return time(ChaseWay::l2, round); });
  }

  uint64_t bytes() const override { return bytes_ - 4096; }
  unsigned warm_rounds() const override { return kWarm; }
  unsigned timed_rounds() const override { return 64; }
  double noise() const override { return noise_; }
  std::string unit() const override { return "cycles"; }

  double time(ChaseWay way, std::span<const uint64_t> round) override {
    write(round);
    constexpr const char* kNames[] = {"chase_ca", "chase_nc", "chase_cg"};
    return least_cycles(*program_, kNames[static_cast<size_t>(way)], buffer_->address(), *result_,
                        static_cast<uint32_t>(round[0]), round.size());
  }

 private:
  void write(std::span<const uint64_t> round) {
    const std::vector<uint32_t> place = places(round);
    words_.assign((*std::ranges::max_element(place) + 4) / 4, 0);
    for (size_t i = 0; i < place.size(); ++i) words_[place[i] / 4] = place[(i + 1) % place.size()];
    buffer_->write(std::as_bytes(std::span(words_)));
  }

  std::shared_ptr<const Program> program_;
  std::unique_ptr<Memory> buffer_, result_;
  uint64_t bytes_;
  double noise_ = 0;
  std::vector<uint32_t> words_;
};

}  // namespace

std::unique_ptr<cache::ChaseTarget> card_target(const Card& card, uint64_t bytes) {
  return std::make_unique<OnCard>(card, bytes);
}

namespace {

class Constants final : public cache::ChaseTarget {
 public:
  explicit Constants(const Card& card)
      : program_(card.load(card.header() +
                           fmt::format(".const .align 256 .b8 table[{}];\n", kConstantBytes) +
                           kernel("chase_const", "ld.const.u32"))),
        result_(card.allocate(64)) {
    noise_ = noise_of([&] { return time(ChaseWay::l1, std::vector<uint64_t>{0, 256, 512, 768}); });
  }

  uint64_t bytes() const override { return kConstantBytes - 1024; }
  unsigned warm_rounds() const override { return kWarm; }
  unsigned timed_rounds() const override { return 64; }
  double noise() const override { return noise_; }
  std::string unit() const override { return "cycles"; }

  double time(ChaseWay way, std::span<const uint64_t> round) override {
    if (way != ChaseWay::l2) return chase(round);
    // What a miss takes: a list of lines that is far too long for the first level.
    if (below_ == 0) {
      std::vector<uint64_t> all;
      for (uint64_t at = 0; at < kConstantBytes / 2; at += kFar) all.push_back(at);
      below_ = chase(all);
    }
    return below_;
  }

 private:
  static constexpr uint64_t kFar = 256;
  double chase(std::span<const uint64_t> round) {
    const std::vector<uint32_t> place = places(round);
    std::vector<uint32_t> words(kConstantBytes / 4);
    for (size_t i = 0; i < place.size(); ++i) words[place[i] / 4] = place[(i + 1) % place.size()];
    program_->write_variable("table", std::as_bytes(std::span(words)));
    return least_cycles(*program_, "chase_const", 0, *result_, place[0], round.size());
  }

  std::shared_ptr<const Program> program_;
  std::unique_ptr<Memory> result_;
  double below_ = 0, noise_ = 0;
};

}  // namespace

std::unique_ptr<cache::ChaseTarget> constant_target(const Card& card) {
  return std::make_unique<Constants>(card);
}

double constant_cycles(const Card& card, uint32_t bytes, uint32_t stride) {
  std::vector<uint64_t> round;
  for (uint64_t at = 0; at < uint64_t{bytes} / stride * stride; at += stride) round.push_back(at);
  Constants constants(card);
  return constants.time(ChaseWay::l1, round);
}

}  // namespace lanewise::truth
