# Writes a header with a hash of every source that shapes translated code, so that a cached
# translation never outlives the translator that made it. Run as cmake -P with ROOT and OUTPUT.
cmake_minimum_required(VERSION 3.25)
file(GLOB_RECURSE sources ${ROOT}/runtime/ir/* ${ROOT}/runtime/layout/* ${ROOT}/runtime/guest/* ${ROOT}/runtime/spirv/* ${ROOT}/shaders/*)
list(SORT sources)
set(all "")
foreach(source ${sources})
  file(SHA256 ${source} hash)
  string(APPEND all "${hash}")
endforeach()
string(SHA256 version "${all}")
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT "#pragma once
namespace lanewise::vulkan {
inline constexpr const char* kTranslatorVersion = \"@version@\";
}
")
