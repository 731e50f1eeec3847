// The reference engine with an eye on stores and on operations whose result is not fixed.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "runtime/diff/freedom.hpp"
#include "runtime/reference/reference.hpp"

namespace lanewise::diff {

class Watcher final : public Engine {
 public:
  struct Write {
    uint64_t address = 0, group = 0;
    uint32_t bytes = 0, lane = 0, site = 0;
  };

  Watcher(WaveSchedule schedule, bool last_group_first);
  const EngineInfo& info() const override { return engine_->info(); }
  void reserve(uint64_t bytes) override { engine_->reserve(bytes); }
  void write(uint64_t address, std::span<const std::byte> data) override {
    engine_->write(address, data);
  }
  void read(uint64_t address, std::span<std::byte> data) override { engine_->read(address, data); }
  LaunchResult launch(const LaunchRequest& request) override;

  const std::vector<Write>& writes() const { return writes_; }
  bool all_writes() const { return all_writes_; }
  const ir::Program& program() const { return program_; }
  /// Sum of what the operations of one lane may add to its error; of the lane with the most.
  double bound() const;

 private:
  struct Lane {
    double error = 0;
    const ir::Inst* open = nullptr;  ///< its result comes with the next step
    double relative = 0;             ///< error of that instruction
  };
  void step(const reference::Step& s);
  void touch(const reference::Touch& t);
  uint64_t linear(const uint32_t (&group)[3]) const;

  std::unique_ptr<Engine> engine_;
  WaveSchedule schedule_;
  bool last_group_first_;
  ir::Program program_;
  std::unique_ptr<Freedom> freedom_;
  Dim3 grid_;
  std::vector<Write> writes_;
  bool all_writes_ = true;
  std::map<std::pair<uint64_t, uint32_t>, Lane> lanes_;
};

}  // namespace lanewise::diff
