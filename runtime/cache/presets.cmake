# The preset files and the report's page become part of the library.
target_link_libraries(lanewise_cache PRIVATE nlohmann_json::nlohmann_json)
file(GLOB cache_presets CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/presets/*.json)
set(embedded_presets ${CMAKE_CURRENT_BINARY_DIR}/embedded_presets.cpp)
add_custom_command(
  OUTPUT ${embedded_presets}
  COMMAND ${CMAKE_COMMAND} -DOUT=${embedded_presets} -DFOLDER=${CMAKE_CURRENT_LIST_DIR}/presets
    -DPAGE=${CMAKE_CURRENT_LIST_DIR}/report_page.html
    -P ${CMAKE_CURRENT_LIST_DIR}/embed.cmake
  DEPENDS ${cache_presets} ${CMAKE_CURRENT_LIST_DIR}/report_page.html ${CMAKE_CURRENT_LIST_DIR}/embed.cmake
  COMMENT "Cache presets" VERBATIM)
target_sources(lanewise_cache PRIVATE ${embedded_presets})
