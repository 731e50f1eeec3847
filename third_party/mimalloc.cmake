# mimalloc in place of the C library's malloc: in the program and in tests that wait for drivers' compilers, not in the
# library, whose process has an allocator. Debian: libmimalloc-dev. It may be missing.
# Translation takes a tenth to two fifths less time with it, SwiftShader's compiler a quarter.
add_library(lanewise_malloc INTERFACE)
if(NOT LANEWISE_FUZZ AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")  # sanitizers bring their own
  find_package(mimalloc 2 CONFIG QUIET)
  if(TARGET mimalloc)
    # First of all libraries, so that all find it before the C library's.
    target_link_options(lanewise_malloc BEFORE INTERFACE LINKER:--push-state,--no-as-needed $<TARGET_FILE:mimalloc> LINKER:--pop-state)
  else()
    message(STATUS "mimalloc was not found: the program allocates by the C library")
  endif()
endif()
