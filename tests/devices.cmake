# The devices that tests run on, and how a test program learns its own.

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
set(LANEWISE_DEVICES reference ${LANEWISE_VULKAN_DEVICES})
list(JOIN LANEWISE_DEVICES "," lanewise_devices)
set(lanewise_whole)
if(LANEWISE_TEST_WHOLE)
  set(lanewise_whole ";LANEWISE_TEST_WHOLE=1")
endif()

# exclusions.tsv says what a test leaves out on a device.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/exclusions.tsv)
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/exclusions.tsv LANEWISE_EXCLUSIONS REGEX "^[^#]")
set(lanewise_exclude_case --test-case-exclude)
set(lanewise_exclude_suite --test-suite-exclude)
set(lanewise_exclude_file --source-file-exclude)

# In `result`: the arguments with which test NAME leaves things out on DEVICE, or NONE: there is no such test.
function(lanewise_excluded name device result)
  set(${result} "" PARENT_SCOPE)
  foreach(row ${LANEWISE_EXCLUSIONS})
    string(REPLACE "\t" ";" row "${row}")
    list(GET row 0 on)
    list(GET row 1 test)
    list(GET row 2 what)
    list(GET row 3 covered_by)
    list(GET row 4 lifted)
    if(NOT test STREQUAL name OR NOT covered_by IN_LIST LANEWISE_DEVICES
       OR NOT (on STREQUAL device OR (on STREQUAL vulkan AND NOT device STREQUAL reference))
       OR (lifted STREQUAL whole AND LANEWISE_TEST_WHOLE))
      continue()
    endif()
    if(what STREQUAL all)
      set(${result} NONE PARENT_SCOPE)
      return()
    endif()
    string(REGEX MATCH "^([a-z]+)=(.+)$" _ "${what}")
    set(kind ${CMAKE_MATCH_1})
    set(patterns "${CMAKE_MATCH_2}")
    if(NOT DEFINED lanewise_exclude_${kind})  # the program reads the table itself
      continue()
    endif()
    if(kind STREQUAL file)
      string(REGEX REPLACE "([^,]+)" "*/\\1.cpp" patterns "${patterns}")
    endif()
    list(APPEND left_out_${kind} "${patterns}")
  endforeach()
  set(arguments)
  foreach(kind case suite file)
    if(left_out_${kind})
      list(JOIN left_out_${kind} "," patterns)
      list(APPEND arguments "${lanewise_exclude_${kind}}=${patterns}")
    endif()
  endforeach()
  set(${result} "${arguments}" PARENT_SCOPE)
endfunction()

# lanewise_one_device_test(NAME DEVICE COMMAND...): LANEWISE_TEST_DEVICE says which device it is. The
# loader gets that device's driver alone: both lavapipes have the same device name. LANEWISE_TEST_ENVIRONMENT is added
# to its variables.
function(lanewise_one_device_test name device)
  string(TOLOWER ${device} suffix)
  set(icds ${LANEWISE_ICD_${device}})
  if(device STREQUAL reference)
    set(icds ${LANEWISE_LAVAPIPE_ICD}:${LANEWISE_SWIFTSHADER_ICD})
  endif()
  string(REGEX REPLACE "[0-9]+$" "" selector ${device})
  lanewise_excluded(${name} ${device} left_out)
  if(left_out STREQUAL NONE)
    return()
  endif()
  add_test(NAME ${name}_${suffix} COMMAND ${ARGN} ${left_out})
  set_tests_properties(${name}_${suffix} PROPERTIES
    ENVIRONMENT "LANEWISE_TEST_DEVICE=${selector};LANEWISE_TEST_DEVICES=${lanewise_devices};LANEWISE_DEVICE=${selector};VK_ICD_FILENAMES=${icds};VK_DRIVER_FILES=${icds};LANEWISE_VALIDATION=1;LANEWISE_CACHE_DIR=${CMAKE_BINARY_DIR}/test-cache${lanewise_whole};${LANEWISE_TEST_ENVIRONMENT}")
endfunction()

# The same on the reference engine and every Vulkan device.
function(lanewise_device_test name)
  foreach(device ${LANEWISE_DEVICES})
    lanewise_one_device_test(${name} ${device} ${ARGN})
  endforeach()
endfunction()
