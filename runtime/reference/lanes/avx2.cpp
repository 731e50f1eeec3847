// Compiled for AVX2 and FMA (runtime/CMakeLists.txt).
#ifdef LANEWISE_LANES_X86
#define LANEWISE_LANES lanes_avx2
#include "runtime/reference/lanes/find.hpp"
#endif
