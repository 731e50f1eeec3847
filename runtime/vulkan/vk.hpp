// The one place that pulls in Vulkan-Hpp; a precompiled header of this layer.
#pragma once

#include <vulkan/vulkan_raii.hpp>
