// What every entry point of HIP is made with: rows as those of the CUDA runtime, most of which do
// what a function of that does. SAME(name, runtime, (parameters), (arguments)) is such a row.
// Numbers of errors and of kinds of copies are the same. docs/hip.md is made of these rows.
#pragma once

#include <string_view>

#include "runtime/host/cuda/entry.hpp"

#undef REFUSED
#define SAME(name, runtime, parameters, arguments) \
  extern "C" int runtime parameters;               \
  ENTRY(name, parameters) {                        \
    return runtime arguments;                      \
  }

extern "C" int cuInit(unsigned flags);

namespace lanewise::hip {

using namespace core;
using cuda::After;
using cuda::answer;
using cuda::Dim;
using cuda::EventHandle;
using cuda::required;
using cuda::stream_of;
using cuda::StreamHandle;

/// The device code for GCN3 in a bundle of clang's, or in a code object by itself; throws where
/// there is none.
struct CodeObject {
  const void* data = nullptr;
  size_t bytes = 0;
};
CodeObject code_object_in(const void* data);
/// Its kernels ask for services of the host: their metadata has the argument for that.
inline bool asks_host(const CodeObject& code) {
  return std::string_view(static_cast<const char*>(code.data), code.bytes)
             .find("hidden_hostcall_buffer") != std::string_view::npos;
}

/// Calls an entry point of the driver: a program of HIP need not say that it begins.
template <typename Call>
int in_driver(const Call& call) {
  const int error = cuInit(0);
  return error != 0 ? error : call();
}

/// Bytes of LDS that a group can have without asking.
inline constexpr uint32_t kSharedBytes = 64 << 10;
/// What an image's descriptor has bits for.
inline constexpr size_t kImageSide = 1 << 14, kImageSlices = 1 << 13;
/// Of textureReference, which kernels have as a variable.
inline constexpr size_t kReferenceBytes = 88;
inline void set_limits(Function& f) {
  f.max_dynamic_shared = kSharedBytes;
  f.out_of_bounds = Code::launch_failure;
  f.any_side = true;
}
inline constexpr int kWave = 64;
inline constexpr int kUnits = 36;  ///< of the card

}  // namespace lanewise::hip
