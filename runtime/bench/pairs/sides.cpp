#include "runtime/bench/pairs/sides.hpp"

#include <fmt/format.h>

#include <cstring>
#include <ctime>
#include <sstream>

#include "runtime/api/behind.hpp"
#include "runtime/bench/pairs/guest_text.hpp"
#include "runtime/bench/pairs/problems.hpp"
#include "shaders/native/native_kernels.hpp"

namespace lanewise::bench {
namespace {

// --- the guest's parameters ----------------------------------------------------------------------

/// Word 3 of a GCN1 descriptor: four components in order; 8_8_8_8 as numbers of 0 to 1, or one
/// word.
constexpr uint32_t kSelectXyzw = 4 | 5 << 3 | 6 << 6 | 7 << 9;
constexpr uint32_t kTexels = kSelectXyzw | 0 << 12 | 10 << 15;
constexpr uint32_t kOneWord = kSelectXyzw | 4 << 12 | 4 << 15;

Arg descriptor(const Buffer& buffer, uint64_t bytes, uint32_t format) {
  constexpr uint32_t kStride = 4;
  const uint64_t base = buffer.address();
  const uint32_t words[4] = {static_cast<uint32_t>(base),
                             static_cast<uint32_t>(base >> 32) | kStride << 16,
                             static_cast<uint32_t>(bytes / kStride), format};
  return Arg::raw(std::as_bytes(std::span(words)));
}

Arg argument(const std::string& name, const Problem& problem, const std::vector<Buffer>& buffers) {
  const auto index = static_cast<size_t>(name[1] - '0');
  switch (name[0]) {
    case 'p':
      return buffers.at(index);
    case 'v':
      return descriptor(buffers.at(index), problem.buffers[index].size(), kOneWord);
    case 't':
      return descriptor(buffers.at(index), problem.buffers[index].size(), kTexels);
    case 'i':
      return problem.integers.at(index);
    default:
      return problem.number;
  }
}

// --- the hand-written kernel's parameters --------------------------------------------------------

/// common.glsl: four pointers, four integers, a float.
struct Push {
  uint64_t pointers[4] = {};
  int32_t integers[4] = {};
  float number = 0;
  uint32_t unused = 0;
};

double cpu_milliseconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

}  // namespace

std::span<const uint32_t> native_words(const std::string& name, bool pairs_of_words) {
  for (const shaders::NativeKernel& k : shaders::native_kernels())
    if (name == k.name) return pairs_of_words ? k.words : k.pointers;
  throw Error(ErrorKind::usage, fmt::format("there is no hand-written kernel '{}'", name));
}

std::span<const uint32_t> native_words(const Pair& pair, const vulkan::NativeAbilities& can) {
  if (!can.pointers) throw Error(ErrorKind::device, "GLSL needs buffer addresses (Vulkan 1.2)");
  if (pair.doubles && !can.float64) throw Error(ErrorKind::device, "GLSL needs 64-bit floats");
  if (pair.crosses_lanes && !can.ballot) throw Error(ErrorKind::device, "GLSL needs ballots");
  const bool small = pair.glsl_small != nullptr && (can.subgroup_size < 32 || !can.shuffle);
  return native_words(small ? pair.glsl_small : pair.glsl, !can.int64 || !can.storage8);
}

Module guest_module(const Pair& pair, Device& device, const Buffer& texels) {
  Module module = device.load_text(std::string(guest_text(pair.file)), pair.isa, pair.file);
  if (pair.texture.name == nullptr) return module;
  TextureOptions o;
  o.width = o.height = kSide;
  o.unnormalised = 1;
  o.filter = pair.texture.linear ? LW_FILTER_LINEAR : LW_FILTER_NEAREST;
  for (uint32_t& mode : o.address_mode) mode = LW_ADDRESS_CLAMP;
  if (pair.texture.bytes) {
    o.texel_kind = LW_TEXEL_UNSIGNED;
    o.channels = 4;
    o.channel_bits = 8;
    o.fractions = 1;
  }
  module.bind_texture(pair.texture.name, device.texture(o, texels));
  return module;
}

GuestSide::GuestSide(const Pair& pair, const Problem& problem, const std::string& selector,
                     Memcheck memcheck)
    : problem_(problem), device_(Device::open(selector)), options_(launch_options(pair, memcheck)) {
  for (size_t i = 0; i < problem.buffers.size(); ++i)
    buffers_.push_back(device_.allocate(problem.buffers[i].size(), fmt::format("p{}", i)));
  std::istringstream names(pair.parameters);
  for (std::string name; names >> name;) arguments_.push_back(argument(name, problem, buffers_));
  kernel_ = guest_module(pair, device_, buffers_[0]).kernel(pair.kernel);
}

Cost GuestSide::run() {
  for (size_t i = 0; i < buffers_.size(); ++i) buffers_[i].write(problem_.buffers[i]);
  const double before = cpu_milliseconds();
  const Result result = kernel_.launch(options_, arguments_).check();
  if (mode_.empty()) first_ = result.times;
  mode_ = result.wave_mode;
  return {result.times.dispatch_ms, cpu_milliseconds() - before};
}

TranslatedKernel GuestSide::translated() const {
  TranslatedKernel made = kernel_.translated(options_);
  const detail::COptions options(options_);
  made.spirv = host::words_of_launch(kernel_.c_handle(), *options.get(), detail::to_c(arguments_));
  return made;
}

std::string GuestSide::wrong() const {
  std::vector<Bytes> after;
  for (const Buffer& b : buffers_) after.push_back(b.read<std::byte>());
  return problem_.wrong(after);
}

NativeSide::NativeSide(const Pair& pair, const Problem& problem, const std::string& selector)
    : problem_(problem), device_(selector), grid_(pair.grid), push_(sizeof(Push)) {
  kernel_ = device_.add_kernel(native_words(pair, device_.abilities()));
  Push push;
  for (size_t i = 0; i < problem.buffers.size(); ++i)
    push.pointers[i] = device_.address(device_.add_buffer(problem.buffers[i].size()));
  std::copy(problem.integers.begin(), problem.integers.end(), push.integers);
  push.number = problem.number;
  std::memcpy(push_.data(), &push, sizeof push);
}

Cost NativeSide::run() {
  for (size_t i = 0; i < problem_.buffers.size(); ++i) device_.write(i, problem_.buffers[i]);
  const double before = cpu_milliseconds(), ms = device_.run(kernel_, push_, grid_);
  return {ms, cpu_milliseconds() - before};
}

std::string NativeSide::wrong() {
  std::vector<Bytes> after = problem_.buffers;
  for (size_t i = 0; i < after.size(); ++i) device_.read(i, after[i]);
  return problem_.wrong(after);
}

}  // namespace lanewise::bench
