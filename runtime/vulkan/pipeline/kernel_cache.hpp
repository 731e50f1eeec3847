// From a launch request to a ready pipeline: in memory, else from disk, else translated.
#pragma once

#include <functional>
#include <map>

#include "runtime/ir/passes/memory/pointers.hpp"
#include "runtime/vulkan/pipeline/pipeline_cache.hpp"

namespace lanewise::vulkan {

using Translator =
    std::function<spirv::Module(const ir::Program&, const spirv::Options&, const spirv::Target&)>;

struct Kernel {
  spirv::Module module;
  ir::PointerParams pointers;  ///< whose bounds the module wants in the launch block
  Pipeline pipeline;
  mutable bool dispatched = false;   ///< the driver has seen it in a dispatch
  mutable double ms_per_group = -1;  ///< when it ran last, submission included; -1 = it never did
};

/// The bytes of a module as the disk cache keeps them.
std::vector<std::byte> encode_module(const spirv::Module& module);
/// Empty when the bytes are not a module's.
std::optional<spirv::Module> decode_module(std::span<const std::byte> bytes);

/// Everything that decides what a translation looks like, as text.
std::string describe(const spirv::Options& options, const spirv::Target& target);

/// What of a launch decides how its kernel is translated.
spirv::Options options_of(const LaunchRequest& request, bool small_arena,
                          const spirv::Quirks& quirks);

class KernelCache {
 public:
  KernelCache(Pipelines& pipelines, DiskCache& disk, spirv::Target target, Translator translator);

  /// Adds the time it took to `times`. Throws Error(guest) or Error(device), and NeverEnded when
  /// the kernel was not ready by then.
  const Kernel& get(const LaunchRequest& request, bool small_arena, LaunchTimes& times,
                    Clock::time_point deadline);
  /// What get() would find without work; null when it would have some.
  const Kernel* find_ready(const LaunchRequest& request, bool small_arena) const {
    return find_known(request.program_id, options_of(request, small_arena, target_.quirks));
  }
  /// The translation alone, whatever the caches hold.
  spirv::Module translate_only(const LaunchRequest& request, bool small_arena) const;
  const spirv::Target& target() const { return target_; }

 private:
  struct Build;
  spirv::Module translate(const Build& build);
  void make(Build& build);

  Pipelines& pipelines_;
  DiskCache& disk_;
  spirv::Target target_;
  Translator translator_;
  struct Less {
    bool operator()(const CacheKey& a, const CacheKey& b) const {
      return a.high != b.high ? a.high < b.high : a.low < b.low;
    }
  };
  std::map<CacheKey, Kernel, Less> kernels_;
  /// The same again by LaunchRequest::program_id, which takes no look at the program.
  struct Known {
    spirv::Options options;
    const Kernel* kernel;
  };
  std::multimap<uint64_t, Known> known_;
  const Kernel* find_known(uint64_t program, const spirv::Options& options) const;
};

}  // namespace lanewise::vulkan
