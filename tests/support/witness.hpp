// An engine that notes every access of a run: what `explain` says is compared with this.
#pragma once

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "runtime/reference/reference.hpp"

namespace witness {

/// Line of the instruction, thread of the group, address, bytes.
using Access = std::tuple<uint32_t, uint32_t, uint64_t, uint32_t>;

/// The reference engine. It notes group 0 of the first launch, instructions of the guest only.
class Engine final : public lanewise::Engine {
 public:
  Engine()
      : engine_(lanewise::reference::make_engine(
            {}, [this](const lanewise::reference::Touch& t) { note(t); })) {}
  const lanewise::EngineInfo& info() const override { return engine_->info(); }
  void reserve(uint64_t bytes) override { engine_->reserve(bytes); }
  void write(uint64_t address, std::span<const std::byte> data) override {
    engine_->write(address, data);
  }
  void read(uint64_t address, std::span<std::byte> data) override { engine_->read(address, data); }
  lanewise::LaunchResult launch(const lanewise::LaunchRequest& request) override {
    program_ = request.program;
    return engine_->launch(request);
  }
  /// In order of line, thread and address.
  std::vector<Access> accesses() const {
    std::vector<Access> out = accesses_;
    std::ranges::sort(out);
    return out;
  }

 private:
  void note(const lanewise::reference::Touch& t) {
    if (t.group[0] + t.group[1] + t.group[2] != 0) return;
    const uint32_t site = program_->blocks[t.block].insts[t.inst].site;
    if (site >= program_->sites.size() || program_->sites[site].text.empty()) return;
    accesses_.emplace_back(program_->sites[site].line, t.lane, t.address, t.bytes);
  }

  std::unique_ptr<lanewise::Engine> engine_;
  const lanewise::ir::Program* program_ = nullptr;
  std::vector<Access> accesses_;
};

}  // namespace witness
