// Cache-exact mode on a tracker that keeps values: memory behind its caches is the arena, so a load
// of a line that nobody invalidated returns old data, and dropped dirty bytes are gone.
#pragma once

#include <map>

#include "runtime/cache/tracker/tracker.hpp"
#include "runtime/trace/exact.hpp"

namespace lanewise::cache {

/// As a sink it hands the tracker everything but the wave records, which come through access().
class ExactMemory final : public trace::Sink, public trace::ExactMemory {
 public:
  explicit ExactMemory(Tracker& tracker) : tracker_(tracker) {}

  void kernel(const trace::Kernel& k) override { tracker_.kernel(k); }
  void site(const trace::Site& s) override { tracker_.site(s); }
  void buffer(const trace::Buffer& b) override { tracker_.buffer(b); }
  void event(const trace::Event& e) override;
  void finish() override { tracker_.finish(); }

  void begin(std::span<std::byte> arena) override;
  std::vector<uint8_t> access(const trace::WaveRecord& record) override;
  void peek(const trace::WaveRecord& record, uint64_t address, std::span<std::byte> to) override;
  void end() override;

 private:
  using Page = std::vector<uint8_t>;
  void take_in(uint64_t address);
  /// Calls f(block address, where the block lies in the arena, its image, bytes in the arena).
  template <class F>
  void each_block(F f);

  Tracker& tracker_;
  std::span<std::byte> arena_;
  /// By address: the bytes of the arena that caches and arena last agreed on.
  std::map<uint64_t, Page> pages_;
};

}  // namespace lanewise::cache
