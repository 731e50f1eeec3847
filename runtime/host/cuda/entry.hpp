// What every entry point of the CUDA runtime is made with. ENTRY(name, (parameters)) begins one;
// REFUSED(name, why) is one that answers cudaErrorNotSupported. docs/cuda-runtime.md is made of
// these rows by docs/cuda_runtime.py.
#pragma once

#include "runtime/host/core/context.hpp"
#include "runtime/host/core/stream.hpp"
#include "runtime/host/cuda/reasons.hpp"
#include "runtime/host/cuda/types.hpp"

#define LANEWISE_ENTRY extern "C" __attribute__((visibility("default")))
#define ENTRY(name, parameters) LANEWISE_ENTRY int name parameters
/// The same function under a second name: what other versions of the header make of a name.
#define ALSO(second, first) \
  extern "C" decltype(first) second __attribute__((alias(#first), visibility("default")))
/// With the second name that programs call which were compiled for default streams of each thread.
#define ENTRY_PTSZ(name, parameters) LANEWISE_ENTRY_ALSO(name##_ptsz, name, parameters)
#define ENTRY_PTDS(name, parameters) LANEWISE_ENTRY_ALSO(name##_ptds, name, parameters)
#define LANEWISE_ENTRY_ALSO(second, name, parameters) \
  LANEWISE_ENTRY int name parameters;                 \
  ALSO(second, name);                                 \
  ENTRY(name, parameters)
/// The entry point as programs of this version call it, where it is not that of the others.
#define ENTRY_OF(version, name, parameters) \
  LANEWISE_ENTRY int lanewise_cuda##version##_##name parameters
#define REFUSED(name, why)                           \
  LANEWISE_ENTRY int name() {                        \
    static lanewise::cuda::Once once;                \
    return lanewise::cuda::refuse(once, #name, why); \
  }
#define REFUSED_PTSZ(name, why) REFUSED(name, why) REFUSED(name##_ptsz, why)
#define REFUSED_PTDS(name, why) REFUSED(name, why) REFUSED(name##_ptds, why)

namespace lanewise::cuda {

using namespace core;

struct Once {
  std::atomic<bool> done = false;
};
/// cudaErrorNotSupported, with one line on standard error for each name.
int refuse(Once& once, const char* name, const char* why);

int number_of(Code code);
const char* name_of(int number);
int& last_error();
/// Whether it has called the runtime: the primary context is the thread's current one then.
bool& thread_used_runtime();
std::atomic<bool>& used_runtime();
/// The calling thread's last error; returns it. `call` is the entry point that fails.
int keep_error(int number, const char* call);

enum class After : uint8_t { fails, works };  ///< once a kernel has failed

/// Runs the body of an entry point; what it throws is the answer.
template <typename Body>
int answer(const Body& body, After failure = After::fails,
           const char* call = __builtin_FUNCTION()) noexcept {
  if (!thread_used_runtime()) thread_used_runtime() = used_runtime() = true;
  try {
    if (failure == After::fails)
      if (const Context* context = Context::opened();
          context != nullptr && context->failure() != Code::success)
        fail(context->failure());
    body();
    return 0;
  } catch (const Failure& failed) {
    return keep_error(number_of(failed.code()), call);
  } catch (const std::bad_alloc&) {
    return keep_error(number_of(Code::out_of_memory), call);
  } catch (const std::exception& error) {
    report_line(error.what());
    return keep_error(number_of(Code::unknown), call);
  }
}

template <typename T>
T* required(T* pointer) {
  require(pointer != nullptr);
  return pointer;
}

/// 0 and 1 are the default stream that waits for all, 2 is that of the thread.
Stream& stream_of(StreamHandle handle);

}  // namespace lanewise::cuda
