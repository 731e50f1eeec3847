// Shared by the Vulkan engine's tests: engines with a hand-written kernel instead of a translation.
#pragma once

#include <chrono>
#include <cstring>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "runtime/layout/addresses.hpp"
#include "runtime/support/error.hpp"
#include "runtime/vulkan/launch/engine.hpp"
#include "tests/support/selectors.hpp"

namespace lanewise::test {

/// Every software driver that is installed; throws when one is missing and must not be.
inline const std::vector<SoftwareDriver>& installed_drivers() {
  static const std::vector<SoftwareDriver> installed = selectable_drivers();
  return installed;
}

inline vulkan::Options checked_options(std::string cache = "off") {
  vulkan::Options options;
  options.validation = true;
  options.cache_dir = std::move(cache);
  return options;
}

inline std::unique_ptr<vulkan::VulkanEngine> engine_running(const SoftwareDriver& driver,
                                                            const spirv::Module& module) {
  return vulkan::make_engine_with(
      driver.part, checked_options(),
      [module](const ir::Program&, const spirv::Options&, const spirv::Target&) { return module; });
}

template <size_t N>
spirv::Module kernel_module(const uint32_t (&words)[N], uint32_t local_size) {
  spirv::Module module;
  module.words.assign(std::begin(words), std::end(words));
  module.local_size = local_size;
  module.wave_mode = "lane";
  return module;
}

/// One invocation, with a time limit.
inline LaunchRequest limited(const ir::Program& program, double seconds) {
  LaunchRequest request;
  request.program = &program;
  request.grid = request.block = {1, 1, 1};
  request.timeout_seconds = seconds;
  return request;
}
inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// An empty program: the kernel comes from elsewhere.
inline ir::Program empty_program() {
  ir::Program program;
  program.name = "by_hand";
  program.blocks.emplace_back();
  program.blocks.back().label = "entry";
  program.sites.resize(8);
  return program;
}

inline std::vector<uint32_t> read_words(Engine& engine, uint64_t offset, size_t count) {
  std::vector<uint32_t> words(count);
  engine.read(guest::kArenaBase + offset, std::as_writable_bytes(std::span(words)));
  return words;
}

/// Runs a call that must throw Error and returns it.
template <typename Call>
Error error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  throw std::logic_error("no Error was thrown");
}

inline bool mentions(const Error& error, const std::string& text) {
  return std::string(error.what()).find(text) != std::string::npos;
}

}  // namespace lanewise::test
