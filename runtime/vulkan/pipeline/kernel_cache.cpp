#include "runtime/vulkan/pipeline/kernel_cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "runtime/events/collector.hpp"
#include "runtime/support/error.hpp"
#include "runtime/vulkan/pipeline/compile_timeout.hpp"
#include "translator_version.hpp"

namespace lanewise::vulkan {
namespace {

/// Pipelines kept in memory; beyond that all are dropped (they are still on disk).
constexpr size_t kMaxKernels = 512;
constexpr uint32_t kSpirvMagic = 0x07230203;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

struct ModuleHead {
  uint32_t words;
  uint32_t local_size, lanes_per_invocation, clears_backing;
  uint64_t backing_bytes;
  uint32_t mode_length, reason_length;  ///< of the texts after the words
  uint32_t fault_points;                ///< behind the texts, as PackedPoint
  uint32_t subgroup_size;
};
struct PackedPoint {
  uint32_t kind, site, space, bytes, alignment, write, atomic, pointer;
};
std::vector<PackedPoint> packed(const std::vector<spirv::FaultPoint>& points) {
  std::vector<PackedPoint> all;
  for (const spirv::FaultPoint& p : points)
    all.push_back({static_cast<uint32_t>(p.kind), p.site, static_cast<uint32_t>(p.space), p.bytes,
                   p.alignment, p.write ? 1U : 0U, p.atomic ? 1U : 0U, p.pointer});
  return all;
}

}  // namespace

std::vector<std::byte> encode_module(const spirv::Module& module) {
  const ModuleHead head{static_cast<uint32_t>(module.words.size()),
                        module.local_size,
                        module.lanes_per_invocation,
                        module.clears_backing ? 1U : 0U,
                        module.backing_bytes,
                        static_cast<uint32_t>(module.wave_mode.size()),
                        static_cast<uint32_t>(module.wave_reason.size()),
                        static_cast<uint32_t>(module.fault_points.size()),
                        module.subgroup_size};
  const auto points = packed(module.fault_points);
  const size_t point_bytes = points.size() * sizeof(PackedPoint);
  const std::string texts = module.wave_mode + module.wave_reason;
  const uint64_t word_bytes = module.words.size() * sizeof(uint32_t);
  std::vector<std::byte> out(sizeof head + word_bytes + texts.size() + point_bytes);
  std::memcpy(out.data(), &head, sizeof head);
  std::memcpy(out.data() + sizeof head, module.words.data(), word_bytes);
  std::memcpy(out.data() + sizeof head + word_bytes, texts.data(), texts.size());
  if (!points.empty())
    std::memcpy(out.data() + out.size() - point_bytes, points.data(), point_bytes);
  return out;
}

std::optional<spirv::Module> decode_module(std::span<const std::byte> bytes) {
  ModuleHead head;
  if (bytes.size() < sizeof head) return {};
  std::memcpy(&head, bytes.data(), sizeof head);
  const uint64_t word_bytes = uint64_t{head.words} * sizeof(uint32_t);
  const uint64_t text_bytes = uint64_t{head.mode_length} + head.reason_length;
  const uint64_t point_bytes = uint64_t{head.fault_points} * sizeof(PackedPoint);
  if (bytes.size() != sizeof head + word_bytes + text_bytes + point_bytes) return {};
  spirv::Module module;
  module.words.resize(head.words);
  std::memcpy(module.words.data(), bytes.data() + sizeof head, word_bytes);
  if (module.words.empty() || module.words[0] != kSpirvMagic) return {};
  module.local_size = head.local_size;
  module.subgroup_size = head.subgroup_size;
  module.lanes_per_invocation = head.lanes_per_invocation;
  module.backing_bytes = head.backing_bytes;
  module.clears_backing = head.clears_backing != 0;
  const auto* mode = reinterpret_cast<const char*>(bytes.data() + sizeof head + word_bytes);
  module.wave_mode.assign(mode, head.mode_length);
  module.wave_reason.assign(mode + head.mode_length, head.reason_length);
  const std::byte* at = bytes.data() + sizeof head + word_bytes + text_bytes;
  for (uint32_t i = 0; i < head.fault_points; ++i, at += sizeof(PackedPoint)) {
    PackedPoint p;
    std::memcpy(&p, at, sizeof p);
    module.fault_points.push_back({static_cast<FaultKind>(p.kind), p.site,
                                   static_cast<ir::Space>(p.space), p.bytes, p.alignment,
                                   p.write != 0, p.atomic != 0, p.pointer});
  }
  return module;
}

std::string describe(const spirv::Options& options, const spirv::Target& t) {
  std::string text =
      fmt::format("block {} {} {} shared {} memcheck {} wave {}\n", options.block.x,
                  options.block.y, options.block.z, options.dynamic_shared,
                  static_cast<int>(options.memcheck), static_cast<int>(options.wave));
  if (!options.small_arena) text += "large arena\n";
  if (options.imported) text += "imported\n";
  if (!options.pointers) text += "every address is looked up\n";
  if (options.aligned_pointers) text += "aligned pointers\n";
  if (!options.step_budget) text += "no step budget\n";
  if (options.trace_bits != 0)
    text += fmt::format("trace {} {}\n", options.trace_bits, options.trace_form);
  for (const auto& [name, value] : options.policies) text += fmt::format("{}={}\n", name, value);
  for (const bool flag : {t.int64,
                          t.bda,
                          t.storage8,
                          t.storage16,
                          t.float64,
                          t.int64_atomics,
                          t.native_add,
                          t.native_fma,
                          t.native_div,
                          t.native_sqrt,
                          t.native_compare,
                          t.native_add64,
                          t.native_fma64,
                          t.native_div64,
                          t.native_sqrt64,
                          t.native_compare64,
                          t.native_minmax,
                          t.native_minmax64,
                          t.native_round,
                          t.native_round64,
                          t.native_convert,
                          t.native_convert64,
                          t.native_resize,
                          t.native_half,
                          t.fma_by_double,
                          t.flush_mode,
                          t.normal_sums,
                          t.normal_fma,
                          t.own.exp2,
                          t.own.log2,
                          t.own.sin,
                          t.own.cos,
                          t.own.div,
                          t.own.rcp,
                          t.own.sqrt,
                          t.own.rsqrt,
                          t.flushing.add,
                          t.flushing.fma,
                          t.flushing.div,
                          t.flushing.sqrt,
                          t.flushing.compare,
                          t.flushing.minmax,
                          t.flushing.round,
                          t.flushing.convert,
                          t.fma_wide,
                          t.wave_operations,
                          t.quad_operations,
                          t.denorm_preserve,
                          t.rte,
                          t.signed_zero_inf_nan,
                          t.denorm_preserve64,
                          t.rte64,
                          t.signed_zero_inf_nan64}) {
    text += flag ? '1' : '0';
  }
  for (const auto& [name, member] : spirv::kQuirks) text += t.quirks.*member ? '1' : '0';
  return text + fmt::format(" {} {} {} {} {}\n", t.subgroup_size, t.least_subgroup,
                            t.max_invocations, t.most_in_waves, t.max_shared);
}

namespace {
/// Of the whole value, as front ends add offsets to it.
bool has_aligned_pointers(const LaunchRequest& request) {
  return std::ranges::all_of(request.program->params, [&](const ir::Param& p) {
    if (!p.pointer || p.offset >= request.params.size()) return true;
    return (static_cast<uint8_t>(request.params[p.offset]) & 15) == 0;
  });
}
}  // namespace

spirv::Options options_of(const LaunchRequest& request, bool small_arena,
                          const spirv::Quirks& quirks) {
  const bool traced = request.events != nullptr;
  const uint32_t trace_bits = traced ? request.events->plan().code_bits : 0;
  const uint32_t trace_form =
      traced ? events::common_form(request.events->plan(), request.traced_extent,
                                   request.program->local_bytes)
             : 0;
  return {request.block,
          request.dynamic_shared,
          request.memcheck,
          request.wave,
          request.policies,
          trace_bits,
          trace_form,
          small_arena,
          request.imported,
          request.pointers,
          quirks.cuts_loops ? request.step_budget <= spirv::kLoopLimit
                            : request.step_budget != ~uint64_t{0},
          has_aligned_pointers(request)};
}

KernelCache::KernelCache(Pipelines& pipelines, DiskCache& disk, spirv::Target target,
                         Translator translator)
    : pipelines_(pipelines), disk_(disk), target_(target), translator_(std::move(translator)) {}

/// A kernel in the making. It has its own copy of all it needs: the caller may be gone before it is
/// ready.
struct KernelCache::Build {
  ir::Program program;
  spirv::Options options;
  CacheKey key;
  Kernel kernel;
  double translate_ms = 0, pipeline_ms = 0;  ///< valid when it is ready
  std::atomic<double> translated_ms = -1;    ///< -1 while it is being translated
  std::atomic<bool> given_up = false;
};

spirv::Module KernelCache::translate(const Build& build) {
  if (const auto bytes = disk_.load(CacheKind::module, build.key)) {
    auto module = decode_module(*bytes);
    if (module) return std::move(*module);
  }
  spirv::Module module = translator_(build.program, build.options, target_);
  // Drivers trust SPIR-V. What is loaded was validated here: its checksum says that it is what was
  // stored, and nobody but this user could have written it.
  if (disk_.usable() && spirv::validate(module.words).empty())
    disk_.store(CacheKind::module, build.key, encode_module(module));
  return module;
}

void KernelCache::make(Build& build) {
  const auto start = Clock::now();
  build.kernel.pointers = spirv::find_pointers(build.program, build.options, target_);
  spirv::Module& module = build.kernel.module = translate(build);
  build.translated_ms = build.translate_ms = milliseconds_since(start);
  if (build.given_up) return;
  if (module.local_size == 0 || module.local_size > target_.max_invocations) {
    throw Error(ErrorKind::device,
                fmt::format("kernel '{}' needs {} invocations per group, the device offers {}",
                            build.program.name, module.local_size, target_.max_invocations));
  }
  const auto translated = Clock::now();
  try {
    build.kernel.pipeline = pipelines_.create(module.words, module.subgroup_size);
  } catch (const vk::DeviceLostError&) {
    throw;
  } catch (const vk::SystemError& error) {
    throw Error(ErrorKind::device, fmt::format("the driver refused the translated kernel '{}': {}",
                                               build.program.name, error.what()));
  }
  build.pipeline_ms = milliseconds_since(translated);
}

spirv::Module KernelCache::translate_only(const LaunchRequest& request, bool small_arena) const {
  return translator_(*request.program, options_of(request, small_arena, target_.quirks), target_);
}

const Kernel* KernelCache::find_known(uint64_t program, const spirv::Options& options) const {
  if (program == 0) return nullptr;
  const auto [first, last] = known_.equal_range(program);
  const auto found =
      std::find_if(first, last, [&](const auto& entry) { return entry.second.options == options; });
  return found == last ? nullptr : found->second.kernel;
}

const Kernel& KernelCache::get(const LaunchRequest& request, bool small_arena, LaunchTimes& times,
                               Clock::time_point deadline) {
  const auto start = Clock::now();
  const spirv::Options options = options_of(request, small_arena, target_.quirks);
  if (const Kernel* kernel = find_known(request.program_id, options)) return *kernel;
  const CacheKey key = make_key(fmt::format(
      "{}\n{}{}", kTranslatorVersion, describe(options, target_), ir::print(*request.program)));
  const auto keep = [&](const Kernel& kernel) -> const Kernel& {
    if (known_.size() >= kMaxKernels) known_.clear();
    if (request.program_id != 0) known_.emplace(request.program_id, Known{options, &kernel});
    return kernel;
  };
  const auto made_before = kernels_.find(key);
  times.translate_ms += milliseconds_since(start);
  if (made_before != kernels_.end()) return keep(made_before->second);
  const auto build = std::make_shared<Build>();
  build->program = *request.program;
  build->options = options;
  build->key = key;
  if (!ends_by(deadline, [this, build] { make(*build); })) {
    build->given_up = true;
    const double ms = build->translated_ms;
    throw NeverEnded{
        ms < 0 ? fmt::format("kernel '{}' was still being translated when its {} s were over",
                             build->program.name, request.timeout_seconds)
               : fmt::format("the driver was still compiling kernel '{}' when its {} s were over "
                             "(translating it had taken {:.1f} s)",
                             build->program.name, request.timeout_seconds, ms / 1000)};
  }
  times.translate_ms += build->translate_ms;
  times.pipeline_ms += build->pipeline_ms;
  if (kernels_.size() >= kMaxKernels) {
    known_.clear();
    kernels_.clear();
  }
  return keep(kernels_.emplace(key, std::move(build->kernel)).first->second);
}

}  // namespace lanewise::vulkan
