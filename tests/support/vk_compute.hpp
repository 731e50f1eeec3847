// A small Vulkan compute runner for tests, in the plain C API: one device, one dispatch at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace lanewise::test {

struct ComputeFacts {
  std::string name;
  bool int64 = false, float64 = false, int64_atomics = false;
  bool storage8 = false, storage16 = false, device_address = false;
};

class Compute {
 public:
  /// Opens the first device of one driver, named by its ICD file. Null when there is none.
  static std::unique_ptr<Compute> open(const std::string& icd_file);
  ~Compute();
  Compute(const Compute&) = delete;
  Compute& operator=(const Compute&) = delete;

  const ComputeFacts& facts() const { return facts_; }

  struct Job {
    std::vector<uint32_t> spirv;                  ///< entry point "main", storage buffers in set 0
    std::vector<std::vector<uint32_t>*> buffers;  ///< binding i; null = unused; written back
    uint32_t groups = 1;
    /// Device addresses of bindings, and at which word of binding 1 they go.
    std::vector<std::pair<size_t, size_t>> addresses = {};
  };
  /// Empty on success, else what failed.
  std::string run(const Job& job);

 private:
  struct State;
  explicit Compute(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
  ComputeFacts facts_;
};

}  // namespace lanewise::test
