// The reference engine with a notebook: what chosen instructions read, wrote and touched, lane by
// lane.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/reference/reference.hpp"

namespace lanewise::explain {

/// A lane in a long loop comes by often; what one launch keeps stays within bounds.
inline constexpr size_t kMaxVisits = 1 << 16;

/// Which executions are of interest.
struct Query {
  uint32_t line = 0;             ///< of the site, 0 = every line
  std::optional<uint32_t> lane;  ///< thread of the group; none = all
  uint32_t group = 0;            ///< linear, x fastest
  uint32_t visit = 1;            ///< in loops: the how manieth time, from 1; 0 = every time
  std::optional<size_t> launch;  ///< the how manieth launch of the case, from 0; none = all
};

/// One IR instruction as a lane executed it.
struct Executed {
  const ir::Inst* inst = nullptr;
  bool ran = false;                     ///< its guard was true
  bool settled = false;                 ///< `after` is known
  std::vector<uint64_t> sources;        ///< one per operand, immediates too
  std::vector<uint64_t> before, after;  /// destinations
  std::optional<reference::Touch> touch;
};

/// One guest instruction as a lane executed it.
struct Visit {
  uint32_t thread = 0;  ///< of the group
  uint32_t site = 0;
  std::vector<Executed> steps;
};

struct Recording {
  ir::Program program;
  Dim3 grid, block;
  std::vector<Allocation> allocations;
  Allocation parameters;  ///< of the kernel, where it loads them by their address
  std::vector<Visit> visits;
  std::map<uint32_t, uint32_t> times;  ///< site -> how often one lane came there at most
  bool cut = false;                    ///< there were more visits than `kMaxVisits`
};

class Recorder final : public Engine {
 public:
  explicit Recorder(const Query& query);
  const EngineInfo& info() const override { return engine_->info(); }
  void reserve(uint64_t bytes) override { engine_->reserve(bytes); }
  void write(uint64_t address, std::span<const std::byte> data) override {
    engine_->write(address, data);
  }
  void read(uint64_t address, std::span<std::byte> data) override { engine_->read(address, data); }
  LaunchResult launch(const LaunchRequest& request) override;
  const std::vector<std::unique_ptr<Recording>>& recordings() const { return recordings_; }

 private:
  struct Lane {
    uint32_t site = ir::kNone;           ///< where it is
    uint32_t block = 0, inst = 0;        ///< the latest instruction there
    size_t visit = ~size_t{0};           ///< being written down
    size_t open = ~size_t{0};            ///< visit whose last step waits for its results
    std::map<uint32_t, uint32_t> times;  ///< site -> visits so far
  };
  bool wanted_place(const uint32_t (&group)[3], uint32_t lane) const;
  bool wanted_site(uint32_t site) const;
  void step(const reference::Step& s);
  void touch(const reference::Touch& t);
  void settle(Lane& lane, const reference::Registers& registers);

  Query query_;
  std::unique_ptr<Engine> engine_;
  std::vector<std::unique_ptr<Recording>> recordings_;
  Recording* now_ = nullptr;  ///< the launch under way, when it is of interest
  std::map<uint32_t, Lane> lanes_;
  size_t launches_ = 0;
};

}  // namespace lanewise::explain
