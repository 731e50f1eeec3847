// First in each header, so that an older standard is named instead of what it lacks.
#pragma once

#if defined(__cplusplus) && __cplusplus < 201709L && (!defined(_MSVC_LANG) || _MSVC_LANG < 202002L)
#error "lanewise's C++ headers need C++20: compile with -std=c++20, or use lanewise.h, which is C11"
#endif
