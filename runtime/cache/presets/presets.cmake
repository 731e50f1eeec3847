# The preset files and the report's page become part of the library.
target_link_libraries(lanewise_cache PRIVATE nlohmann_json::nlohmann_json)
file(GLOB cache_presets CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.json)
set(embedded_presets ${CMAKE_CURRENT_BINARY_DIR}/embedded_presets.cpp)
get_filename_component(report_page ${CMAKE_CURRENT_LIST_DIR}/../reports/page ABSOLUTE)
file(GLOB report_page_parts CONFIGURE_DEPENDS ${report_page}/*)
add_custom_command(
  OUTPUT ${embedded_presets}
  COMMAND ${CMAKE_COMMAND} -DOUT=${embedded_presets} -DFOLDER=${CMAKE_CURRENT_LIST_DIR}
    -DPAGE=${report_page} -DD3=${LANEWISE_D3} -DD3_LICENSE=${LANEWISE_D3_LICENSE} -P ${CMAKE_CURRENT_LIST_DIR}/embed.cmake
  DEPENDS ${cache_presets} ${report_page_parts} ${LANEWISE_D3} ${LANEWISE_D3_LICENSE} ${CMAKE_CURRENT_LIST_DIR}/embed.cmake
  COMMENT "Cache presets" VERBATIM)
target_sources(lanewise_cache PRIVATE ${embedded_presets})
