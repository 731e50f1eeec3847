/* Lanewise inside a Vulkan program: guest kernels on the program's own device and buffers.
 *
 *   lw_vulkan_needs* needs;
 *   lw_vulkan_needs_create(instance, physical_device, VK_API_VERSION_1_2, &needs);
 *   VkDeviceCreateInfo created = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
 *   created.pNext = lw_vulkan_needs_features(needs);
 *   created.ppEnabledExtensionNames = lw_vulkan_needs_extensions(needs,
 * &created.enabledExtensionCount);
 *   ... vkCreateDevice(physical_device, &created, NULL, &device) ...
 *   lw_vulkan_device_info info = LW_VULKAN_DEVICE_INFO_INIT;
 *   info.instance = instance, info.physical_device = physical_device, info.device = device;
 *   info.queue = queue, info.queue_family = family;
 *   info.api_version = VK_API_VERSION_1_2, info.created = &created;
 *   lw_device* lanewise;
 *   lw_vulkan_device_import(&info, &lanewise);
 *   lw_vulkan_buffer_info mine = LW_VULKAN_BUFFER_INFO_INIT;
 *   mine.buffer = buffer, mine.size = bytes, mine.usage = usage;
 *   lw_vulkan_buffer_import(lanewise, &mine, "positions", &x);   an argument like any other
 *
 * What is imported stays the program's: it must live until everything made from it is released, and
 * is not destroyed by Lanewise. The Vulkan loader is the libvulkan.so.1 of the process.
 *
 * Order. A launch, and every copy, is one submission or several to the queue, and the call waits
 * for them. Each begins behind whatever the program has submitted to this queue before and sees
 * what that wrote; what the program submits afterwards sees what the kernel wrote. Work on other
 * queues the program orders itself, before and after the call. */
#ifndef LANEWISE_VULKAN_H
#define LANEWISE_VULKAN_H

#include <vulkan/vulkan.h>

#include "lanewise/lanewise.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what a device should have enabled ------------------------------------------------------ */

typedef struct lw_vulkan_needs lw_vulkan_needs;

/* What Lanewise makes use of on this physical device. None of it must be enabled: with less,
 * kernels are slower or refused, and without buffer addresses, 64-bit integers and 8- and 16-bit
 * storage (tier T0) no buffer can be imported. api_version: VkApplicationInfo::apiVersion of the
 * instance, at least 1.1. */
LW_API lw_status lw_vulkan_needs_create(VkInstance instance, VkPhysicalDevice physical_device,
                                        uint32_t api_version, lw_vulkan_needs** out);
/* A chain for VkDeviceCreateInfo::pNext with exactly these features on; NULL for a bad handle. It
 * holds no structure of a whole Vulkan version (VkPhysicalDeviceVulkan12Features): a program that
 * has one switches the features on there, by their names. */
LW_API const VkPhysicalDeviceFeatures2* lw_vulkan_needs_features(lw_vulkan_needs* needs);
/* Their names as Vulkan's structures have them ("shaderInt64"); NULL behind the last. */
LW_API const char* lw_vulkan_needs_feature_name(lw_vulkan_needs* needs, size_t index);
/* Extensions of the device; *count may be 0. */
LW_API const char* const* lw_vulkan_needs_extensions(lw_vulkan_needs* needs, uint32_t* count);
LW_API void lw_vulkan_needs_release(lw_vulkan_needs* needs);

/* ---- devices ------------------------------------------------------------------------------ */

typedef void (*lw_vulkan_queue_lock)(void* user);

typedef struct lw_vulkan_device_info {
  uint32_t struct_size;
  uint32_t api_version; /* VkApplicationInfo::apiVersion of the instance, at least 1.1 */
  VkInstance instance;
  VkPhysicalDevice physical_device;
  VkDevice device;
  VkQueue queue; /* of a family that can compute */
  uint32_t queue_family;
  VkBufferUsageFlags arena_usage; /* beside what Lanewise needs, of the buffer that lw_buffers are
                                     parts of: what exported ones are to be used for */
  /* What the device was created with. Features, extensions and queues are read, during the call. */
  const VkDeviceCreateInfo* created;
  /* Called around each vkQueueSubmit, from whatever thread calls Lanewise. Both may be NULL when
   * nobody else uses the queue at the same time. */
  lw_vulkan_queue_lock lock_queue, unlock_queue;
  void* user;
  uint64_t reserve_bytes; /* of lw_buffers that fit without moving; see export */
} lw_vulkan_device_info;
#define LW_VULKAN_DEVICE_INFO_INIT \
  { (uint32_t)sizeof(lw_vulkan_device_info), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/* A device of the program as a Lanewise device. Errors: LW_DETAIL_INVALID_VALUE for what does not
 * belong together (a queue that the device does not have, a family that cannot compute). */
LW_API lw_status lw_vulkan_device_import(const lw_vulkan_device_info* info, lw_device** out);

/* The handles behind a device, imported or opened by Lanewise, which stay its own. */
typedef struct lw_vulkan_handles {
  uint32_t struct_size;
  uint32_t queue_family;
  VkInstance instance;
  VkPhysicalDevice physical_device;
  VkDevice device;
  VkQueue queue; /* of a device that Lanewise opened: to be used while no thread is in a call */
} lw_vulkan_handles;
/* Error: LW_DETAIL_UNSUPPORTED for the reference engine. */
LW_API lw_status lw_vulkan_device_export(lw_device* device, lw_vulkan_handles* out);

/* ---- buffers ------------------------------------------------------------------------------ */

enum { LW_VULKAN_READ_ONLY = 1 };

typedef struct lw_vulkan_buffer_info {
  uint32_t struct_size;
  uint32_t flags;           /* 0, or LW_VULKAN_READ_ONLY: a kernel that writes to it is at fault */
  VkBuffer buffer;          /* bound to memory with VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT */
  uint64_t offset, size;    /* the bytes that kernels may reach */
  VkBufferUsageFlags usage; /* as it was created; storage buffer, shader device address, transfer
                               source and destination must be among them */
  uint32_t reserved;
} lw_vulkan_buffer_info;
#define LW_VULKAN_BUFFER_INFO_INIT \
  { (uint32_t)sizeof(lw_vulkan_buffer_info), 0, 0, 0, 0, 0, 0 }

/* A part of a buffer of the program as a guest buffer: kernels work on it in place. Its guest
 * address lies beyond 32 bits. The bytes are the program's as they are, nothing is zeroed. While a
 * device has imported buffers, kernels launched there look addresses up, and --memcheck arena
 * checks like alloc does. Buffers of exclusive sharing mode must belong to the queue's family.
 * Errors: LW_DETAIL_UNSUPPORTED for devices of tier T0, which reach one buffer of their own alone
 * (lw_vulkan_buffer_export gives it), and for the reference engine; LW_DETAIL_INVALID_VALUE
 * for a missing usage; LW_DETAIL_OUT_OF_RANGE. */
LW_API lw_status lw_vulkan_buffer_import(lw_device* device, const lw_vulkan_buffer_info* info,
                                         const char* name, lw_buffer** out);

typedef struct lw_vulkan_region {
  uint32_t struct_size;
  uint32_t reserved;
  VkBuffer buffer;
  uint64_t offset, size;
  uint64_t address; /* on the device, of the first byte; 0 when it has no buffer addresses */
} lw_vulkan_region;
/* Where a buffer lies in Vulkan's terms: for the program's own commands on the same VkDevice. Works
 * on every tier. The region is valid until the lw_buffer is released; until then the VkBuffer that
 * it is a part of stays where it is, and buffers that do not fit are refused with
 * LW_DETAIL_DEVICE_MEMORY (reserve_bytes reserves capacity beforehand). */
LW_API lw_status lw_vulkan_buffer_export(lw_buffer* buffer, lw_vulkan_region* out);

#ifdef __cplusplus
}
#endif

#endif
