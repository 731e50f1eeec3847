# One policy a file: `policies()` lists them by the files' names.
file(GLOB policy_files CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.cpp)
set(declared "")
set(listed "")
foreach(file ${policy_files})
  get_filename_component(policy ${file} NAME_WE)
  string(APPEND declared "extern const Policy ${policy}_policy;\n")
  string(APPEND listed "&${policy}_policy, ")
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/cache_policies.cpp @ONLY CONTENT
"#include \"runtime/cache/policies/policy.hpp\"\n\nnamespace lanewise::cache {\n@declared@
std::span<const Policy* const> policies() {
  static constexpr const Policy* kAll[] = {@listed@};
  return kAll;
}\n}  // namespace lanewise::cache\n")
target_sources(lanewise_cache PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/cache_policies.cpp)
