// Compiled for AVX-512 F, BW, DQ and VL (runtime/CMakeLists.txt).
#ifdef LANEWISE_LANES_X86
#define LANEWISE_LANES lanes_avx512
#include "runtime/reference/lanes/find.hpp"
#endif
