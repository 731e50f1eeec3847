# What test programs share, so that each costs its own files only.

# main() with doctest in it; the second one fails where the validation layer had anything to say.
add_library(lanewise_test_main OBJECT unit/main.cpp)
target_link_libraries(lanewise_test_main PUBLIC lanewise_options doctest::doctest)
add_library(lanewise_device_test_main OBJECT kernels/main.cpp)
target_link_libraries(lanewise_device_test_main PUBLIC lanewise_options lanewise_vulkan doctest::doctest)
foreach(main lanewise_test_main lanewise_device_test_main)
  target_compile_definitions(${main} PRIVATE LANEWISE_TEST_DATA="${LANEWISE_UNPACKED}/tests")
endforeach()

# These wait for the runtime, for drivers and for programs: optimising them costs more than it gives. The
# others carry oracles that compute.
set(LANEWISE_WAITING_TESTS api capi cli explain gcn guest host kernels ptx script spirv spirv_library support trace
  vulkan)

# lanewise_test_program(NAME): how test_NAME is compiled, once it has all its other options. With LANEWISE_BATCH
# doctest and the standard headers are precompiled: once for all programs that are compiled alike.
function(lanewise_test_program name)
  set(program test_${name})
  target_compile_definitions(${program} PRIVATE LANEWISE_TEST_DATA="${LANEWISE_UNPACKED}/tests")
  set(alike computing)
  if(name IN_LIST LANEWISE_WAITING_TESTS)
    lanewise_level(${program} -O0)
    set(alike waiting)
  elseif(name MATCHES "^(values.*|pairs)$")  # -frounding-math
    set(alike rounding)
  endif()
  if(NOT LANEWISE_BATCH)
    return()
  endif()
  get_property(first GLOBAL PROPERTY lanewise_precompiled_${alike})
  if(first)
    target_precompile_headers(${program} REUSE_FROM ${first})
  else()
    target_precompile_headers(${program} PRIVATE ${CMAKE_SOURCE_DIR}/tests/support/precompiled.hpp)
    set_property(GLOBAL PROPERTY lanewise_precompiled_${alike} ${program})
  endif()
endfunction()
