# SPIRV-Tools (validator, optimiser). Debian: spirv-tools spirv-headers.
find_package(SPIRV-Tools CONFIG REQUIRED)
find_package(SPIRV-Tools-opt CONFIG REQUIRED)
