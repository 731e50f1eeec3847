# The runtime of host programs: its core over the C API, and the library of CUDA's entry points, which programs load in
# place of libcudart.
lanewise_layer(host_core host/core lanewise_support Threads::Threads)
file(GLOB cuda_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/host/cuda/*.cpp ${CMAKE_CURRENT_SOURCE_DIR}/host/driver/*.cpp ${CMAKE_CURRENT_SOURCE_DIR}/host/hip/*.cpp)
add_library(lanewise_cuda SHARED ${cuda_sources})
target_link_libraries(lanewise_cuda PRIVATE lanewise_options lanewise_host_core lanewise_shared)
lanewise_level(lanewise_cuda -O1)  # it takes arguments apart and hands them over
target_compile_options(lanewise_cuda PRIVATE -fvisibility=hidden)
set(entry_names ${CMAKE_CURRENT_BINARY_DIR}/host)
add_custom_command(OUTPUT ${entry_names}/cudart_names.def ${entry_names}/cuda_names.def
  COMMAND ${CMAKE_COMMAND} -DFOLDER=${CMAKE_CURRENT_SOURCE_DIR}/host -DOUT=${entry_names} -P ${CMAKE_CURRENT_SOURCE_DIR}/host/names.cmake
  DEPENDS ${cuda_sources} ${CMAKE_CURRENT_SOURCE_DIR}/host/names.cmake VERBATIM)
add_custom_target(lanewise_entry_names DEPENDS ${entry_names}/cudart_names.def ${entry_names}/cuda_names.def)
function(lanewise_has_entry_names target)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/host)
  add_dependencies(${target} lanewise_entry_names)
endfunction()
lanewise_has_entry_names(lanewise_cuda)
set(cuda_map ${CMAKE_CURRENT_SOURCE_DIR}/host/cuda/exports.map)
target_link_options(lanewise_cuda PRIVATE LINKER:--version-script=${cuda_map} LINKER:--no-undefined LINKER:-Bsymbolic)
if(LANEWISE_BATCH)
  target_precompile_headers(lanewise_cuda PRIVATE support/precompiled.hpp host/core/gpu.hpp host/core/graph.hpp)
endif()
# Each folder has macros of the same names, so a batch is a folder; without what others could not follow: macros that
# stay, namespaces that are opened to all, types of the same names.
foreach(folder cuda driver hip)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/host/${folder}/*.cpp)
  list(FILTER sources EXCLUDE REGEX
    "/(cuda/launch|cuda/properties|driver/proc_address|driver/refused|driver/runtime_libraries|driver/texture_references).cpp$")
  set_source_files_properties(${sources} PROPERTIES UNITY_GROUP ${folder})
endforeach()
set_target_properties(lanewise_cuda PROPERTIES UNITY_BUILD_MODE GROUP LINK_DEPENDS ${cuda_map} LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib
  BUILD_RPATH ${CMAKE_CURRENT_BINARY_DIR})
