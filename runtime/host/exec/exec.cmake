# `lanewise exec`: what the command asks about a program, the library that the loader asks about each object
# (LD_AUDIT), and stand-ins for the shared CUDA runtimes. The last two are loaded into programs of any kind, so they
# have nothing of the C++ library and no sanitizer in them.
lanewise_layer(exec_object host/exec/object lanewise_elf)
lanewise_has_entry_names(lanewise_exec_object)

set(LANEWISE_PRIVATE_LIBS ${CMAKE_BINARY_DIR}/lib/lanewise CACHE INTERNAL "what is loaded into programs")
file(GLOB exec_object CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/host/exec/object/*.cpp)
file(GLOB exec_takeover CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/host/exec/takeover/*.cpp)
# lanewise_into_programs(NAME CUDA_LIBRARY SOURCES...)
function(lanewise_into_programs name cuda_library)
  add_library(${name} MODULE ${ARGN} ${exec_object})
  # Not lanewise_options, whose sanitizers would come after what turns them off.
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  lanewise_has_entry_names(${name})
  target_compile_options(${name} PRIVATE -Wall -Wextra -Werror -fvisibility=hidden -fno-exceptions -fno-rtti -fno-threadsafe-statics
    -fno-stack-protector -fno-sanitize=all)
  target_compile_definitions(${name} PRIVATE LANEWISE_CUDA_BESIDE="${cuda_library}")
  # Without optimisation, headers of the standard library call into it, which is not there.
  target_compile_options(${name} PRIVATE -O1)
  # The C library's _exit() jumps into it, and so it stays where it is when the program closes it.
  target_link_options(${name} PRIVATE -fno-sanitize=all -nodefaultlibs LINKER:--no-undefined LINKER:--gc-sections LINKER:-z,nodelete)
  target_link_libraries(${name} PRIVATE c gcc)
  # Assembly at file scope names what the same file defines.
  set_target_properties(${name} PROPERTIES UNITY_BUILD OFF PREFIX "" LINKER_LANGUAGE CXX
    LIBRARY_OUTPUT_DIRECTORY ${LANEWISE_PRIVATE_LIBS})
endfunction()

lanewise_into_programs(lanewise_exec liblanewise_cuda.so ${exec_takeover})
set_target_properties(lanewise_exec PROPERTIES OUTPUT_NAME liblanewise_exec)
foreach(version 11.0 12 13)
  string(REGEX REPLACE "[.].*" "" major ${version})
  set(library lanewise_cudart_${major})
  lanewise_into_programs(${library} ../liblanewise_cuda.so host/exec/standin/library.cpp host/exec/takeover/resolve.cpp
    host/exec/takeover/exit_code.cpp)
  set(map ${CMAKE_CURRENT_BINARY_DIR}/cudart_${major}.map)
  file(CONFIGURE OUTPUT ${map} CONTENT "libcudart.so.@version@ { global: cuda*; __cuda*; local: *; };\n" @ONLY)
  target_compile_definitions(${library} PRIVATE LANEWISE_CUDART_MAJOR=${major} LANEWISE_NAMES="cudart_names.def")
  target_link_options(${library} PRIVATE LINKER:--version-script=${map})
  set_target_properties(${library} PROPERTIES LINK_DEPENDS ${map} OUTPUT_NAME libcudart SUFFIX .so.${version}
    LIBRARY_OUTPUT_DIRECTORY ${LANEWISE_PRIVATE_LIBS}/cuda)
  list(APPEND lanewise_stand_ins ${library})
endforeach()

# The driver's library, whose names have no versions of their own.
set(map ${CMAKE_CURRENT_BINARY_DIR}/cuda_driver.map)
file(CONFIGURE OUTPUT ${map} CONTENT "{ global: cu*; local: *; };\n" @ONLY)
lanewise_into_programs(lanewise_cuda_driver ../liblanewise_cuda.so host/exec/standin/library.cpp host/exec/takeover/resolve.cpp
  host/exec/takeover/exit_code.cpp)
target_compile_definitions(lanewise_cuda_driver PRIVATE LANEWISE_CUDART_MAJOR=0 LANEWISE_NAMES="cuda_names.def")
target_link_options(lanewise_cuda_driver PRIVATE LINKER:--version-script=${map})
set_target_properties(lanewise_cuda_driver PROPERTIES LINK_DEPENDS ${map} OUTPUT_NAME libcuda SUFFIX .so.1
  LIBRARY_OUTPUT_DIRECTORY ${LANEWISE_PRIVATE_LIBS}/cuda)
list(APPEND lanewise_stand_ins lanewise_cuda_driver)

# HIP's, whose names stand with the versions in which they appeared.
file(STRINGS ${CMAKE_CURRENT_SOURCE_DIR}/host/exec/hip_names.def rows REGEX "^NAME")
set(versions "")
foreach(row ${rows})
  string(REGEX MATCH "NAME[(]([A-Za-z0-9_]+)[)]  // (hip_[0-9.]+)" _ "${row}")
  list(APPEND versions ${CMAKE_MATCH_2})
  list(APPEND names_${CMAKE_MATCH_2} ${CMAKE_MATCH_1})
endforeach()
list(REMOVE_DUPLICATES versions)
list(SORT versions)
set(content "")
set(before "")
foreach(version ${versions})
  list(JOIN names_${version} "; " names)
  string(APPEND content "${version} { global: ${names}; ")
  if(before STREQUAL "")
    string(APPEND content "local: *; };\n")
  else()
    string(APPEND content "} ${before};\n")
  endif()
  set(before ${version})
endforeach()
set(map ${CMAKE_CURRENT_BINARY_DIR}/hip.map)
file(CONFIGURE OUTPUT ${map} CONTENT "${content}" @ONLY)
lanewise_into_programs(lanewise_hip ../liblanewise_cuda.so host/exec/standin/library.cpp host/exec/takeover/resolve.cpp
  host/exec/takeover/exit_code.cpp)
target_compile_definitions(lanewise_hip PRIVATE LANEWISE_CUDART_MAJOR=0 LANEWISE_NAMES="runtime/host/exec/hip_names.def")
target_link_options(lanewise_hip PRIVATE LINKER:--version-script=${map})
set_target_properties(lanewise_hip PROPERTIES LINK_DEPENDS ${map} OUTPUT_NAME libamdhip64 SUFFIX .so.5
  LIBRARY_OUTPUT_DIRECTORY ${LANEWISE_PRIVATE_LIBS}/cuda)
list(APPEND lanewise_stand_ins lanewise_hip)

target_sources(lanewise_cuda PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/host/exec/faults.cpp)
# What all of these call lies beside them, for programs only: nobody links it.
set_target_properties(lanewise_cuda PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${LANEWISE_PRIVATE_LIBS}
  NO_SONAME ON INSTALL_RPATH $ORIGIN/..)
foreach(library lanewise_exec ${lanewise_stand_ins})
  add_dependencies(${library} lanewise_cuda)
endforeach()
