// Runs a lowered kernel on the reference engine: buffers in one arena, parameters as raw bytes.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "runtime/layout/addresses.hpp"
#include "runtime/reference/reference.hpp"

namespace lanewise::test {

class Bench {
 public:
  Bench() : engine_(reference::make_engine()) { engine_->reserve(kArena); }

  /// A buffer with these contents; its guest address.
  template <typename T>
  uint64_t put(const std::vector<T>& values) {
    const uint64_t address = next_;
    next_ += (values.size() * sizeof(T) + 255) / 256 * 256;
    engine_->write(address, std::as_bytes(std::span(values)));
    return address;
  }
  template <typename T>
  void write(uint64_t address, const std::vector<T>& values) {
    engine_->write(address, std::as_bytes(std::span(values)));
  }
  template <typename T>
  std::vector<T> get(uint64_t address, size_t count) {
    std::vector<T> values(count);
    engine_->read(address, std::as_writable_bytes(std::span(values)));
    return values;
  }
  template <typename T>
  Bench& arg(T value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    params_.resize((params_.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T));
    params_.insert(params_.end(), bytes, bytes + sizeof(T));
    return *this;
  }
  /// No parameters.
  void clear() { params_.clear(); }
  /// `schedule`: as the policy names it.
  LaunchResult run(const ir::Program& program, uint32_t groups, uint32_t lanes,
                   const std::string& schedule = {}) {
    std::vector<std::byte> copy = params_;
    copy.resize(std::max<size_t>(copy.size(), program.param_bytes));
    LaunchRequest request;
    request.program = &program;
    request.grid = {groups, 1, 1};
    request.block = {lanes, 1, 1};
    request.params = copy;
    request.param_address = guest::kArenaBase;
    if (!schedule.empty()) request.policies = {{"schedule", schedule}};
    engine_->write(guest::kArenaBase, copy);
    return engine_->launch(request);
  }

 private:
  static constexpr uint64_t kArena = 1 << 20;
  std::unique_ptr<Engine> engine_;
  uint64_t next_ = guest::kArenaBase + 4096;
  std::vector<std::byte> params_;
};

}  // namespace lanewise::test
