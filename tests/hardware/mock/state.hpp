// What the mock driver holds: programs, memory, arrays, all of them the reference engine's.
#pragma once

#include <cstdlib>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lanewise/lanewise.hpp"

namespace mock {

using namespace lanewise;

inline constexpr int kSuccess = 0, kInvalidValue = 1, kInvalidPtx = 218, kNotFound = 500,
                     kLaunchFailed = 719;

struct Loaded {
  Module module;
  std::map<std::string, Kernel> kernels;
  std::string text;
  bool faults = false;
};
struct Symbol {
  Loaded* module;
  std::string name;
  uint64_t size;
  std::vector<std::byte> bytes = {};  ///< as last written
};
struct Function {
  std::string name;
  Loaded* module = nullptr;
  Kernel kernel;
  std::vector<ParamInfo> params;
};

struct State {
  Device device = Device::open("reference");
  std::map<uint64_t, Buffer> buffers;
  std::map<uint64_t, Symbol> symbols;
  std::map<std::string, Function> functions;
  long launches = 0;
  bool lost = false;
};
State& state();

/// An environment variable; empty without it.
const char* setting(const char* name);

/// The allocation that an address lies in, and where.
std::optional<std::pair<Buffer, uint64_t>> buffer_at(uint64_t address, uint64_t size);

/// What a call does, or the error that it gives.
template <typename F>
int call(F f) {
  if (state().lost) return kLaunchFailed;
  try {
    return f();
  } catch (const std::exception&) {
    return kInvalidValue;
  }
}

/// With MOCK_CUDA_CACHE=PRESET, kernels that time loads get times out of caches of that shape
/// (caches.cpp) in place of the engine's clock. False for other kernels.
bool run_timed(const Function& f, uint32_t groups, void** arguments);
/// Nothing is kept in them any more.
void reset_caches();
/// Bytes of L2 of that preset; 0 without it.
uint64_t modelled_l2();

}  // namespace mock
