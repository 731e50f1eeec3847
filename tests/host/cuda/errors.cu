// Planted errors, one for each number: CUDA's code at CUDA's call.
#include <cassert>

#include "check.h"
__global__ void write_to(int* p, int i) { p[i] = 1; }
__global__ void misaligned(char* p) { *reinterpret_cast<int*>(p + 1) = 1; }
__global__ void traps() { asm volatile("trap;"); }
__global__ void asserts(int x) { assert(x == 0); }
__global__ void shared_out_of_range(int i) {
  __shared__ int s[16];
  s[i] = i;
  if (s[(i + 1) % 16] == 123456) asm volatile("trap;");
}
__global__ void __launch_bounds__(64) bounded(int* p) { *p = 1; }
__global__ void recursive(int* p, int n);
extern __shared__ char dynamic[];
__global__ void large(int* p) { *p = dynamic[0]; }
__global__ void reads_null(const int* p, int* out) { *out = *p; }
__constant__ int constant[4];
__global__ void loops(volatile int* p) {
  while (*p == 0) {
  }
}
int code(cudaError_t e) { return static_cast<int>(e); }
int main(int argc, char** argv) {
  const int which = argc > 1 ? std::atoi(argv[1]) : 0;
  int *p, *q;
  MUST(cudaMalloc(&p, 64));
  MUST(cudaMemset(p, 0, 64));
  int launch = 0, sync = 0, wanted_launch = 0, wanted_sync = 0;
  const auto launched = [&] { launch = code(cudaGetLastError()); };
  switch (which) {
    case 0: write_to<<<1, 1>>>(p, 16), launched(), wanted_sync = cudaErrorIllegalAddress; break;
    case 1: write_to<<<1, 1>>>(p, -1000000), launched(), wanted_sync = cudaErrorIllegalAddress; break;
    case 2: misaligned<<<1, 1>>>(reinterpret_cast<char*>(p)), launched(), wanted_sync = cudaErrorMisalignedAddress; break;
    case 3: reads_null<<<1, 1>>>(nullptr, p), launched(), wanted_sync = cudaErrorIllegalAddress; break;
    case 4: traps<<<1, 1>>>(), launched(), wanted_sync = cudaErrorLaunchFailure; break;
    case 5: asserts<<<1, 1>>>(1), launched(), wanted_sync = cudaErrorAssert; break;
    case 6: shared_out_of_range<<<1, 1>>>(20000), launched(), wanted_sync = cudaErrorIllegalAddress; break;
    case 7: write_to<<<1, 2048>>>(p, 0), launched(), wanted_launch = cudaErrorInvalidConfiguration; break;
    case 8: write_to<<<0, 1>>>(p, 0), launched(), wanted_launch = cudaErrorInvalidConfiguration; break;
    case 9: write_to<<<dim3(1, 70000), 1>>>(p, 0), launched(), wanted_launch = cudaErrorInvalidConfiguration; break;
    case 10: write_to<<<1, dim3(1, 1, 128)>>>(p, 0), launched(), wanted_launch = cudaErrorInvalidConfiguration; break;
    case 11: large<<<1, 1, 1 << 20>>>(p), launched(), wanted_launch = cudaErrorInvalidValue; break;
    case 12: cudaFree(p), launch = code(cudaFree(p)), wanted_launch = cudaErrorInvalidValue; break;
    case 13: launch = code(cudaMemcpy(p, p, 65, cudaMemcpyDeviceToDevice)), wanted_launch = cudaErrorInvalidValue; break;
    case 14: launch = code(cudaMemcpy(p, &launch, 4, static_cast<cudaMemcpyKind>(9))), wanted_launch = cudaErrorInvalidMemcpyDirection; break;
    case 15: launch = code(cudaMemcpyToSymbol(&launch, p, 4)), wanted_launch = cudaErrorInvalidSymbol; break;
    case 16: launch = code(cudaMemcpy2D(p, 4, p, 4, 8, 2, cudaMemcpyDeviceToDevice)), wanted_launch = cudaErrorInvalidPitchValue; break;
    case 17: launch = code(cudaMalloc(&p, size_t{1} << 50)), wanted_launch = cudaErrorMemoryAllocation; break;
    case 18: launch = code(cudaSetDevice(7)), wanted_launch = cudaErrorInvalidDevice; break;
    case 19: launch = code(cudaStreamSynchronize(reinterpret_cast<cudaStream_t>(p))), wanted_launch = cudaErrorInvalidResourceHandle; break;
    case 20: launch = code(cudaLaunchKernel(reinterpret_cast<const void*>(&main), dim3(1), dim3(1), nullptr, 0, nullptr)), wanted_launch = cudaErrorInvalidDeviceFunction; break;
    case 21: bounded<<<1, 128>>>(p), launched(), wanted_launch = cudaErrorLaunchOutOfResources; break;
    case 22: launch = code(cudaHostUnregister(&launch)), wanted_launch = cudaErrorHostMemoryNotRegistered; break;
    case 23: launch = code(cudaMemset(&launch, 0, 4)), wanted_launch = cudaErrorInvalidValue; break;
    // A finding: it is reported, and no call fails for it.
    case 24: MUST(cudaMalloc(&q, 64)); write_to<<<1, 1>>>(q, 0); MUST(cudaFree(p)); write_to<<<1, 1>>>(p, 0), launched(); break;
    case 25: write_to<<<1, 1>>>(&launch, 0), launched(), wanted_sync = cudaErrorIllegalAddress; break;
    default: return 2;
  }
  sync = code(cudaDeviceSynchronize());
  expect("at the call", launch, wanted_launch);
  expect("when waiting", sync, wanted_sync);
  if (wanted_sync != 0) {
    expect("it stays", code(cudaMemset(p, 0, 4)), wanted_sync);
    expect("last", code(cudaGetLastError()), wanted_sync);
  }
  return done("errors");
}
