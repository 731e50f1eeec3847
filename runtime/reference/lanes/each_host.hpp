// The source of the handlers, for the namespace that LANEWISE_LANES names. Nothing of it may remain
// as a function that the linker could share with other objects: it may use instructions that the
// host lacks. So all is in an unnamed namespace or inlined, and nothing is the standard library's.
#pragma once

#include "runtime/reference/lanes/handlers.hpp"
#include "runtime/reference/lanes/wave.hpp"
#include "runtime/reference/numbers/host_float.hpp"

#if defined(__clang__)
#define LANEWISE_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#define LANEWISE_INDEPENDENT_FEW LANEWISE_INDEPENDENT
#else
#define LANEWISE_INDEPENDENT _Pragma("GCC ivdep")
// Of up to 16 lanes: g++ would unroll them before it tries vectors.
#define LANEWISE_INDEPENDENT_FEW _Pragma("GCC ivdep") _Pragma("GCC unroll 1")
#endif
#define LANEWISE_LANE(i) [&](size_t i) __attribute__((always_inline))
