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
# others carry oracles that compute (a sample of the values where sanitizers are).
set(LANEWISE_WAITING_TESTS api capi cli explain gcn guest host kernels ptx script spirv spirv_library support trace
  vulkan)

# lanewise_test_program(NAME): how test_NAME is compiled, once it has all its other options. With LANEWISE_BATCH
# doctest and the standard headers are precompiled: once for all programs that are compiled alike.
function(lanewise_test_program name)
  set(program test_${name})
  target_compile_definitions(${program} PRIVATE LANEWISE_TEST_DATA="${LANEWISE_UNPACKED}/tests")
  target_link_libraries(${program} PRIVATE lanewise_malloc)
  set(alike computing)
  if(name MATCHES "^(values.*|pairs)$")  # -frounding-math
    set(alike rounding)
  elseif(name IN_LIST LANEWISE_WAITING_TESTS OR (LANEWISE_FUZZ AND LANEWISE_BATCH))
    lanewise_level(${program} -O0)
    set(alike waiting)
  endif()
  if(NOT LANEWISE_BATCH)
    return()
  endif()
  lanewise_batches(${program})
  get_property(first GLOBAL PROPERTY lanewise_precompiled_${alike})
  if(first)
    target_precompile_headers(${program} REUSE_FROM ${first})
  else()
    target_precompile_headers(${program} PRIVATE ${CMAKE_SOURCE_DIR}/tests/support/precompiled.hpp)
    set_property(GLOBAL PROPERTY lanewise_precompiled_${alike} ${program})
  endif()
endfunction()

# lanewise_libraries_first(PROGRAM): the linker meets the libraries before the program's own files. A function of a
# header that both have is taken from where it meets it first: from tests that are not optimised, all that a layer does
# with strings and vectors would be slow, and not what users run. What is not optimised anywhere comes last.
function(lanewise_libraries_first program)
  get_target_property(found ${program} LINK_LIBRARIES)
  set(seen)
  set(optimised)
  set(cold)
  while(found)
    list(POP_FRONT found library)
    string(REGEX REPLACE "^\\$<LINK_ONLY:(.+)>$" "\\1" library "${library}")
    if(NOT library MATCHES "^lanewise_[a-z_]+$" OR NOT TARGET ${library} OR library IN_LIST seen)
      continue()
    endif()
    list(APPEND seen ${library})
    get_target_property(needs ${library} INTERFACE_LINK_LIBRARIES)
    if(needs)
      list(APPEND found ${needs})
    endif()
    get_target_property(type ${library} TYPE)
    get_target_property(folder ${library} SOURCE_DIR)
    get_target_property(level ${library} OWN_LEVEL)
    if(NOT type STREQUAL STATIC_LIBRARY OR NOT folder STREQUAL ${CMAKE_SOURCE_DIR}/runtime)
      continue()
    endif()
    if(level STREQUAL -O0)
      list(APPEND cold $<TARGET_FILE:${library}>)
    else()
      list(APPEND optimised $<TARGET_FILE:${library}>)
    endif()
  endwhile()
  if(optimised)
    target_link_options(${program} BEFORE PRIVATE LINKER:--whole-archive ${optimised} ${cold} LINKER:--no-whole-archive)
  endif()
endfunction()
