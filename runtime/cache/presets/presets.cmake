# The preset files and the report's page become part of the library.
target_link_libraries(lanewise_cache PRIVATE nlohmann_json::nlohmann_json)
file(GLOB cache_presets CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.json)
set(embedded_presets ${CMAKE_CURRENT_BINARY_DIR}/embedded_presets.cpp)
set(report_page ${CMAKE_CURRENT_LIST_DIR}/../reports/report_page.html)
add_custom_command(
  OUTPUT ${embedded_presets}
  COMMAND ${CMAKE_COMMAND} -DOUT=${embedded_presets} -DFOLDER=${CMAKE_CURRENT_LIST_DIR}
    -DPAGE=${report_page} -P ${CMAKE_CURRENT_LIST_DIR}/embed.cmake
  DEPENDS ${cache_presets} ${report_page} ${CMAKE_CURRENT_LIST_DIR}/embed.cmake
  COMMENT "Cache presets" VERBATIM)
target_sources(lanewise_cache PRIVATE ${embedded_presets})
