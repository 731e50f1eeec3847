// What every entry point of the CUDA driver is made with. ENTRY, ALSO and REFUSED are as in the
// table of the runtime (cuda/entry.hpp); SAME(name, runtime, (parameters), (arguments)) is one that
// does what this function of the runtime does, SAME_WITHOUT_CONTEXT one that needs no current
// context for it. docs/cuda-driver.md is made of these rows.
#pragma once

#include "runtime/host/cuda/entry.hpp"
#include "runtime/host/driver/contexts.hpp"

#undef REFUSED
#define REFUSED(name, why)                                                          \
  LANEWISE_ENTRY int name() {                                                       \
    static lanewise::cuda::Once once;                                               \
    return lanewise::driver::refuse(once, #name, why, __builtin_return_address(0)); \
  }
#define SAME(name, runtime, parameters, arguments) \
  LANEWISE_SAME(context, name, runtime, parameters, arguments)
#define SAME_WITHOUT_CONTEXT(name, runtime, parameters, arguments) \
  LANEWISE_SAME(device, name, runtime, parameters, arguments)
#define SAME_PTSZ(name, runtime, parameters, arguments) \
  SAME(name, runtime, parameters, arguments)            \
  ALSO(name##_ptsz, name);
#define LANEWISE_SAME(needs, name, runtime, parameters, arguments)   \
  extern "C" int runtime parameters;                                 \
  ENTRY(name, parameters) {                                          \
    using namespace lanewise::driver;                                \
    return forward([&] { return runtime arguments; }, Needs::needs); \
  }

namespace lanewise::driver {

using namespace core;
namespace cuda = lanewise::cuda;  // NOLINT(misc-unused-alias-decls): for what stands outside
using cuda::EventHandle;
using cuda::required;
using cuda::stream_of;
using cuda::StreamHandle;

/// CUdeviceptr
using Address = uint64_t;

/// One line says so, unless it is NVRTC that asks, on its own and not for the program.
int refuse(cuda::Once& once, const char* name, const char* why, const void* caller);
int number_of(Code code);
/// Where the runtime's number is none of the driver's.
int number_of_runtime(int number);

/// What a call needs: cuInit, and a current context.
enum class Needs : uint8_t { nothing, device, context };
void check_needs(Needs needs);

/// Returns the number.
int failed_with(int number, const char* call);

/// Runs the body of an entry point; what it throws is the answer.
template <typename Body>
int answer(const Body& body, Needs needs = Needs::context,
           const char* call = __builtin_FUNCTION()) noexcept {
  try {
    check_needs(needs);
    body();
    return 0;
  } catch (const Failure& failed) {
    return failed_with(number_of(failed.code()), call);
  } catch (const std::bad_alloc&) {
    return failed_with(number_of(Code::out_of_memory), call);
  } catch (const std::exception& error) {
    report_line(error.what());
    return failed_with(number_of(Code::unknown), call);
  }
}

/// The runtime's last error is not the driver's to change.
class KeepsLastError {
 public:
  KeepsLastError();
  ~KeepsLastError();
  KeepsLastError(const KeepsLastError&) = delete;
  KeepsLastError& operator=(const KeepsLastError&) = delete;

 private:
  int last_;
  bool used_, thread_used_;
};
template <typename Call>
int forward(const Call& call, Needs needs = Needs::context) noexcept {
  int number = 0;
  const int own = answer(
      [&] {
        const KeepsLastError keeps;
        number = call();
      },
      needs);
  return own != 0 ? own : number_of_runtime(number);
}

}  // namespace lanewise::driver
