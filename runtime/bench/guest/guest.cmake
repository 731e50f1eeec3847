# The guest programs of `lanewise bench` become part of it.
file(GLOB guest_programs CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.ptx
  ${CMAKE_CURRENT_LIST_DIR}/*.sass ${CMAKE_CURRENT_LIST_DIR}/*.s)
set(guest_text ${CMAKE_CURRENT_BINARY_DIR}/guest_text.cpp)
add_custom_command(
  OUTPUT ${guest_text}
  COMMAND ${CMAKE_COMMAND} -DOUT=${guest_text} -DFOLDER=${CMAKE_CURRENT_LIST_DIR}
    -P ${CMAKE_CURRENT_LIST_DIR}/embed.cmake
  DEPENDS ${guest_programs} ${CMAKE_CURRENT_LIST_DIR}/embed.cmake
  COMMENT "Guest programs of the benchmarks" VERBATIM)
target_sources(lanewise_bench_pairs PRIVATE ${guest_text})
