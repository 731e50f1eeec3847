# The devices that tests run on, and how a test program is told its own.

set(LANEWISE_SWIFTSHADER_ICD /usr/lib/chromium/vk_swiftshader_icd.json CACHE FILEPATH
    "SwiftShader's ICD manifest, the second device of the tests")
file(GLOB LANEWISE_LAVAPIPE_ICD /usr/share/vulkan/icd.d/lvp_icd.*.json)
# The third is a newer lavapipe, which `./dev test` fetches before this is read; without it there
# are two. The programs that open every device themselves look for it when they run.
set(LANEWISE_MESA_FOLDER ${CMAKE_SOURCE_DIR}/build/mesa-backports CACHE PATH
    "Where tests/support/fetch_mesa.sh has put a current Mesa, the third device of the tests")
set(LANEWISE_ICD_llvmpipe ${LANEWISE_LAVAPIPE_ICD})
set(LANEWISE_ICD_llvmpipe25 ${LANEWISE_MESA_FOLDER}/lvp_icd.json)
set(LANEWISE_ICD_SwiftShader ${LANEWISE_SWIFTSHADER_ICD})
set(LANEWISE_VULKAN_DEVICES llvmpipe SwiftShader)
if(EXISTS ${LANEWISE_ICD_llvmpipe25})
  list(INSERT LANEWISE_VULKAN_DEVICES 1 llvmpipe25)
endif()

# lanewise_one_device_test(NAME DEVICE COMMAND...): LANEWISE_TEST_DEVICE says which device it is. The
# loader gets that device's driver alone: both lavapipes have the same device name.
function(lanewise_one_device_test name device)
  string(TOLOWER ${device} suffix)
  set(icds ${LANEWISE_ICD_${device}})
  if(device STREQUAL reference)
    set(icds ${LANEWISE_LAVAPIPE_ICD}:${LANEWISE_SWIFTSHADER_ICD})
  endif()
  string(REGEX REPLACE "[0-9]+$" "" selector ${device})
  add_test(NAME ${name}_${suffix} COMMAND ${ARGN})
  set_tests_properties(${name}_${suffix} PROPERTIES
    ENVIRONMENT "LANEWISE_TEST_DEVICE=${selector};LANEWISE_DEVICE=${selector};VK_ICD_FILENAMES=${icds};VK_DRIVER_FILES=${icds};LANEWISE_VALIDATION=1;LANEWISE_CACHE_DIR=${CMAKE_BINARY_DIR}/test-cache")
endfunction()

# The same on the reference engine and every Vulkan device.
function(lanewise_device_test name)
  foreach(device reference ${LANEWISE_VULKAN_DEVICES})
    lanewise_one_device_test(${name} ${device} ${ARGN})
  endforeach()
endfunction()
