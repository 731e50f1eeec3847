# SPIRV-Tools (validator, optimiser) and glslang (spv::Builder, GLSL compiler).
# Debian: spirv-tools spirv-headers glslang-dev glslang-tools. SPIRV-Tools must be found first.
find_package(SPIRV-Tools CONFIG REQUIRED)
find_package(SPIRV-Tools-opt CONFIG REQUIRED)
find_package(glslang CONFIG REQUIRED)
