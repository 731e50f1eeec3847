# What `cmake --install` lays down, in three parts (runtime, dev, python), and the Debian packages of
# them: `cpack -G DEB` in the build folder.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/lanewise)

# runtime: the program with its conformance suite, and the shared library
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME runtime)
install(TARGETS lanewise RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
# `lanewise selftest` looks for the suite beside its own folder, installed or in the build tree.
install(DIRECTORY ${CMAKE_SOURCE_DIR}/tests/conformance DESTINATION ${CMAKE_INSTALL_DATADIR}/lanewise
  COMPONENT runtime FILES_MATCHING PATTERN "*.lw")
install(DIRECTORY ${CMAKE_BINARY_DIR}/share/lanewise/conformance/programs
  DESTINATION ${CMAKE_INSTALL_DATADIR}/lanewise/conformance COMPONENT runtime FILES_MATCHING PATTERN "*_programs.lw")
install(TARGETS lanewise_shared EXPORT lanewise-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT dev)

# What `lanewise exec` loads into programs. These have no sonames: no package is to depend on them.
install(TARGETS lanewise_exec lanewise_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/lanewise COMPONENT runtime)
install(TARGETS lanewise_cudart_11 lanewise_cudart_12 lanewise_cudart_13 lanewise_cuda_driver lanewise_hip LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/lanewise/cuda COMPONENT runtime)

# The program describes itself, so both are always true.
set(described ${CMAKE_CURRENT_BINARY_DIR}/described)
foreach(form man completion)
  add_custom_command(OUTPUT ${described}/${form}/lanewise
    COMMAND ${CMAKE_COMMAND} -E make_directory ${described}/${form}
    COMMAND lanewise help --${form} > ${described}/${form}/lanewise
    COMMAND gzip -9nkf ${described}/${form}/lanewise DEPENDS lanewise VERBATIM)
endforeach()
add_custom_target(lanewise_described ALL DEPENDS ${described}/man/lanewise ${described}/completion/lanewise)
install(FILES ${described}/man/lanewise.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 RENAME lanewise.1.gz
  COMPONENT runtime)
install(FILES ${described}/completion/lanewise
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT runtime)

# dev: headers, static library, CMake package, pkg-config
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/lanewise DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT dev)
install(TARGETS lanewise_static EXPORT lanewise-static-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
foreach(set targets static-targets)
  install(EXPORT lanewise-${set} NAMESPACE lanewise:: DESTINATION ${package_dir} COMPONENT dev)
endforeach()
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/lanewise-config.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/lanewise-config.cmake INSTALL_DESTINATION ${package_dir})
# Before 1.0 the second number is what a change of the interface raises.
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/lanewise-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/lanewise-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/lanewise-config-version.cmake DESTINATION ${package_dir} COMPONENT dev)
# What the static library needs, in the order of its links (pkg-config --static).
set(LANEWISE_PRIVATE_LIBS_PC "-lSPIRV-Tools-opt -lSPIRV-Tools -lfmt")
foreach(library ${lanewise_compression})
  get_filename_component(library ${library} NAME_WE)
  string(REGEX REPLACE "^(lib|ZLIB::|LibLZMA::)" "" library ${library})
  string(TOLOWER ${library} library)
  string(APPEND LANEWISE_PRIVATE_LIBS_PC " -l${library}")
endforeach()
string(APPEND LANEWISE_PRIVATE_LIBS_PC " -ldl -lpthread -lstdc++ -lm")
configure_file(${CMAKE_CURRENT_LIST_DIR}/lanewise.pc.in ${CMAKE_CURRENT_BINARY_DIR}/lanewise.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/lanewise.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
  COMPONENT dev)

# python: plain files, the same for every version of Python 3
set(LANEWISE_PYTHON_DIR lib/python3/dist-packages CACHE STRING "Where the Python package is installed")
install(DIRECTORY ${CMAKE_SOURCE_DIR}/python/lanewise DESTINATION ${LANEWISE_PYTHON_DIR}
  COMPONENT python FILES_MATCHING PATTERN "*.py")

# What Debian asks of every package: its licence and its changes; and the loader's cache is made anew by a trigger.
set(debian ${CMAKE_CURRENT_BINARY_DIR}/debian)
file(WRITE ${debian}/copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: lanewise

Files: *
Copyright: 2026 Lanewise maintainers
License: Apache-2.0
 On Debian systems, the text of this licence is in /usr/share/common-licenses/Apache-2.0.
")
file(WRITE ${debian}/changelog "lanewise (${PROJECT_VERSION}) unstable; urgency=medium

  * CHANGELOG.md of the sources has the changes.

 -- Lanewise maintainers <maintainers@lanewise.invalid>  Sat, 28 Nov 2026 12:00:00 +0000
")
file(WRITE ${debian}/triggers "activate-noawait ldconfig\n")
execute_process(COMMAND gzip -9nkf ${debian}/changelog)
foreach(package runtime:lanewise dev:lanewise-dev python:python3-lanewise)
  string(REPLACE ":" ";" package ${package})
  list(GET package 0 component)
  list(GET package 1 name)
  install(FILES ${debian}/copyright ${debian}/changelog.gz DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${component})
endforeach()
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${debian}/triggers)

set(CPACK_PACKAGE_NAME lanewise)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_VENDOR "Lanewise")
set(CPACK_PACKAGE_CONTACT "Lanewise maintainers <maintainers@lanewise.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "run foreign GPU kernels on any Vulkan device")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime dev python)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME lanewise)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
# The Vulkan loader is opened at run time, so no tool finds it among the libraries.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS libvulkan1)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS mesa-vulkan-drivers)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME lanewise-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "lanewise (= ${PROJECT_VERSION})")
# For the static library and for lanewise/vulkan.h alone.
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS "libvulkan-dev, libfmt-dev, spirv-tools, python3-lanewise")
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-lanewise)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "lanewise (= ${PROJECT_VERSION}), python3 (>= 3.9)")
set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS python3-numpy)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "Program and shared library")
set(CPACK_COMPONENT_DEV_DESCRIPTION "Headers, static library and build files")
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "Python package")
include(CPack)
