// Where calls of the CUDA runtime go: the functions of liblanewise_cuda.so, found by name.
#pragma once

#include <cstdint>

#include "runtime/host/exec/object/inspect.hpp"

namespace lanewise::exec {

/// An entry point of the runtime that a program calls. Its slot holds where its jump goes: to
/// `first call` code until the function is known.
struct Entry {
  const char* name = nullptr;
  void** slot = nullptr;
  CudaMajor major = CudaMajor::none;
  bool reported = false;  ///< that it is missing
};

/// The function that serves a first call; what is missing answers cudaErrorNotSupported.
void* serve_first_call(Entry& entry);

/// The path of a file beside this library.
struct Beside {
  explicit Beside(const char* file);
  char path[4096];
};

}  // namespace lanewise::exec

/// Jumped to with the number of an entry on the stack, above the caller's return address: saves
/// what may hold arguments, asks lanewise_first_call, and jumps to what it returns.
extern "C" void lanewise_first_call_code();
/// Each library that has entries defines it.
extern "C" void* lanewise_first_call(uint64_t number);
