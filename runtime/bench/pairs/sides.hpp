// The two sides of a pair on one device.
#pragma once

#include <string>
#include <vector>

#include "runtime/bench/pairs/pair.hpp"
#include "runtime/vulkan/pipeline/native.hpp"

namespace lanewise::bench {

/// The GLSL of a pair for a device. Throws Error(device) saying what the device lacks.
std::span<const uint32_t> native_words(const Pair& pair, const vulkan::NativeAbilities& can);
/// By name and kind of pointers. Throws Error(usage) when there is none.
std::span<const uint32_t> native_words(const std::string& name, bool pairs_of_words);

/// The module of a pair. Its texture, if it has one, lies in `texels`.
Module guest_module(const Pair& pair, Device& device, const Buffer& texels);

/// Of one launch.
struct Cost {
  double ms = 0;      ///< of the dispatch alone
  double cpu_ms = 0;  ///< processor time of the whole process: what a CPU driver takes, however
                      ///< busy the host is
};

class GuestSide {
 public:
  GuestSide(const Pair& pair, const Problem& problem, const std::string& selector,
            Memcheck memcheck);
  /// From the initial contents.
  Cost run();
  std::string wrong() const;
  /// The code of this launch, in which some accesses may need no check.
  TranslatedKernel translated() const;
  const std::string& mode() const { return mode_; }
  const Times& first_times() const { return first_; }  ///< of the run that compiled
  bool on_cpu() const { return device_.info().type == "cpu"; }

 private:
  const Problem& problem_;
  Device device_;
  LaunchOptions options_;
  std::vector<Buffer> buffers_;
  std::vector<Arg> arguments_;
  Kernel kernel_;
  std::string mode_;
  Times first_;
};

class NativeSide {
 public:
  NativeSide(const Pair& pair, const Problem& problem, const std::string& selector);
  Cost run();
  std::string wrong();

 private:
  const Problem& problem_;
  vulkan::NativeDevice device_;
  Dim3 grid_;
  Bytes push_;
  size_t kernel_ = 0;
};

}  // namespace lanewise::bench
