# The runtime of host programs: its core over the C API, and the library of CUDA's entry points, which programs load in
# place of libcudart.
lanewise_layer(host_core host/core lanewise_support Threads::Threads)
file(GLOB cuda_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/host/cuda/*.cpp ${CMAKE_CURRENT_SOURCE_DIR}/host/driver/*.cpp ${CMAKE_CURRENT_SOURCE_DIR}/host/hip/*.cpp)
add_library(lanewise_cuda SHARED ${cuda_sources})
target_link_libraries(lanewise_cuda PRIVATE lanewise_options lanewise_host_core lanewise_shared)
target_compile_options(lanewise_cuda PRIVATE -fvisibility=hidden)
set(cuda_map ${CMAKE_CURRENT_SOURCE_DIR}/host/cuda/exports.map)
target_link_options(lanewise_cuda PRIVATE LINKER:--version-script=${cuda_map} LINKER:--no-undefined LINKER:-Bsymbolic)
if(LANEWISE_BATCH)
  target_precompile_headers(lanewise_cuda PRIVATE support/precompiled.hpp host/core/gpu.hpp host/core/graph.hpp)
endif()
# Files name what is their own as they like, and lists of parameters by macros.
set_target_properties(lanewise_cuda PROPERTIES UNITY_BUILD OFF LINK_DEPENDS ${cuda_map} LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib
  BUILD_RPATH ${CMAKE_CURRENT_BINARY_DIR})
