# What is installed for programs that embed the runtime: one shared and one static library out of the
# objects of the layers above, which are position-independent and are not compiled again.
set(lanewise_library_layers support ir guest trace cache events ptx elf sass gcn reference spirv vulkan tools
  api)
set(lanewise_export_map ${CMAKE_CURRENT_SOURCE_DIR}/api/exports.map)

add_library(lanewise_shared SHARED $<TARGET_OBJECTS:lanewise_api>)
target_link_libraries(lanewise_shared PRIVATE lanewise_api)
# The map names every symbol that leaves; nothing of fmt or SPIRV-Tools does.
target_link_options(lanewise_shared PRIVATE LINKER:--version-script=${lanewise_export_map}
  LINKER:--no-undefined LINKER:--gc-sections LINKER:--as-needed)
set_target_properties(lanewise_shared PROPERTIES LINK_DEPENDS ${lanewise_export_map}
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  OUTPUT_NAME lanewise EXPORT_NAME lanewise LINKER_LANGUAGE CXX)

foreach(layer ${lanewise_library_layers})
  list(APPEND lanewise_objects $<TARGET_OBJECTS:lanewise_${layer}>)
endforeach()
add_library(lanewise_static STATIC ${lanewise_objects} $<TARGET_OBJECTS:lanewise_shaders>)
target_link_libraries(lanewise_static PRIVATE fmt::fmt SPIRV-Tools-opt
  Threads::Threads ${lanewise_compression} ${CMAKE_DL_LIBS})
set_target_properties(lanewise_static PROPERTIES OUTPUT_NAME lanewise EXPORT_NAME static
  LINKER_LANGUAGE CXX)

foreach(library lanewise_shared lanewise_static)
  target_include_directories(${library} INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()
