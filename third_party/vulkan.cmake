# Vulkan loader and headers (Vulkan-Hpp is part of the headers). Debian: libvulkan-dev.
find_package(Vulkan REQUIRED)
