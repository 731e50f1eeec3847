/* A Vulkan program whose buffers a guest kernel works on: the program fills x and y with commands
 * of its own, a kernel of nvcc computes y = a * x + y in them, the program copies y to where it
 * looks at it. Nobody waits between the three steps and nothing is copied for the kernel.
 *   vulkan_share SAXPY.ptx [DEVICE_NAME_PART] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lanewise/vulkan.h>

#define COUNT 10000u
#define BYTES (COUNT * 4u)
#define VERSION VK_API_VERSION_1_2

static const VkBufferUsageFlags kShared =
    VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
    VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;

/* ---- the Vulkan program ------------------------------------------------------------------- */

struct program {
  VkInstance instance;
  VkPhysicalDevice physical;
  VkDevice device;
  VkQueue queue;
  VkCommandPool pool;
  uint32_t family;
};

struct buffer {
  VkBuffer handle;
  VkDeviceMemory memory;
  VkDeviceSize offset; /* of the bytes that are meant */
};

static void vk(VkResult result, const char* what) {
  if (result == VK_SUCCESS) return;
  fprintf(stderr, "vulkan_share: %s failed (%d)\n", what, (int)result);
  exit(3);
}

static void lw(lw_status status) {
  if (status == LW_OK) return;
  fprintf(stderr, "vulkan_share: %s\n", lw_last_error());
  exit((int)status);
}

static void open_instance(struct program* p, const char* part) {
  VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VERSION};
  VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                               .pApplicationInfo = &app};
  vk(vkCreateInstance(&info, NULL, &p->instance), "vkCreateInstance");
  VkPhysicalDevice all[16];
  uint32_t count = 16;
  vkEnumeratePhysicalDevices(p->instance, &count, all);
  for (uint32_t i = count; i-- > 0;) {
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(all[i], &properties);
    if (strstr(properties.deviceName, part) != NULL) p->physical = all[i];
  }
  if (p->physical == VK_NULL_HANDLE) {
    fprintf(stderr, "vulkan_share: no Vulkan device has '%s' in its name\n", part);
    exit(3);
  }
}

static uint32_t compute_family(VkPhysicalDevice physical) {
  VkQueueFamilyProperties families[16];
  uint32_t count = 16;
  vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
  for (uint32_t i = 0; i < count; ++i)
    if (families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) return i;
  return 0;
}

static struct buffer make_buffer(const struct program* p, VkBufferUsageFlags usage,
                                 VkMemoryPropertyFlags where) {
  struct buffer b = {0};
  VkBufferCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = BYTES, .usage = usage};
  vk(vkCreateBuffer(p->device, &info, NULL, &b.handle), "vkCreateBuffer");
  VkMemoryRequirements needs;
  vkGetBufferMemoryRequirements(p->device, b.handle, &needs);
  VkPhysicalDeviceMemoryProperties memory;
  vkGetPhysicalDeviceMemoryProperties(p->physical, &memory);
  VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                     .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
  VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                   .allocationSize = needs.size};
  if (usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) allocate.pNext = &flags;
  for (uint32_t i = memory.memoryTypeCount; i-- > 0;)
    if ((needs.memoryTypeBits >> i & 1) && (memory.memoryTypes[i].propertyFlags & where) == where)
      allocate.memoryTypeIndex = i;
  vk(vkAllocateMemory(p->device, &allocate, NULL, &b.memory), "vkAllocateMemory");
  vk(vkBindBufferMemory(p->device, b.handle, b.memory, 0), "vkBindBufferMemory");
  return b;
}

static VkCommandBuffer begin(const struct program* p) {
  VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                      .commandPool = p->pool,
                                      .commandBufferCount = 1};
  VkCommandBuffer commands;
  vk(vkAllocateCommandBuffers(p->device, &info, &commands), "vkAllocateCommandBuffers");
  VkCommandBufferBeginInfo once = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  vk(vkBeginCommandBuffer(commands, &once), "vkBeginCommandBuffer");
  return commands;
}

static void submit(const struct program* p, VkCommandBuffer commands) {
  vk(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
  VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                       .commandBufferCount = 1,
                       .pCommandBuffers = &commands};
  vk(vkQueueSubmit(p->queue, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
}

static uint32_t bits_of(float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return bits;
}

/* ---- Lanewise on its device --------------------------------------------------------------- */

/* Makes the device with what Lanewise makes use of, and takes it up. */
static lw_device* share_device(struct program* p) {
  lw_vulkan_needs* needs;
  lw(lw_vulkan_needs_create(p->instance, p->physical, VERSION, &needs));
  const float priority = 1;
  p->family = compute_family(p->physical);
  VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                   .queueFamilyIndex = p->family,
                                   .queueCount = 1,
                                   .pQueuePriorities = &priority};
  VkDeviceCreateInfo created = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                .pNext = lw_vulkan_needs_features(needs),
                                .queueCreateInfoCount = 1,
                                .pQueueCreateInfos = &queue};
  created.ppEnabledExtensionNames =
      lw_vulkan_needs_extensions(needs, &created.enabledExtensionCount);
  vk(vkCreateDevice(p->physical, &created, NULL, &p->device), "vkCreateDevice");
  vkGetDeviceQueue(p->device, p->family, 0, &p->queue);
  VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                  .queueFamilyIndex = p->family};
  vk(vkCreateCommandPool(p->device, &pool, NULL, &p->pool), "vkCreateCommandPool");

  lw_vulkan_device_info info = LW_VULKAN_DEVICE_INFO_INIT;
  info.api_version = VERSION;
  info.instance = p->instance;
  info.physical_device = p->physical;
  info.device = p->device;
  info.queue = p->queue;
  info.queue_family = p->family;
  info.created = &created;
  info.reserve_bytes = 1 << 20; /* for buffers that are Lanewise's, which must not move */
  lw_device* device;
  lw(lw_vulkan_device_import(&info, &device));
  lw_vulkan_needs_release(needs);
  return device;
}

/* A buffer of the program that kernels know as well. Devices without buffer addresses (tier T0) go
 * the other way: Lanewise makes the buffer and says where it lies. */
static struct buffer share_buffer(const struct program* p, lw_device* device, const char* name,
                                  int own, lw_buffer** guest) {
  struct buffer b = {0};
  if (own) {
    b = make_buffer(p, kShared, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    lw_vulkan_buffer_info info = LW_VULKAN_BUFFER_INFO_INIT;
    info.buffer = b.handle;
    info.size = BYTES;
    info.usage = kShared;
    lw(lw_vulkan_buffer_import(device, &info, name, guest));
  } else {
    lw(lw_buffer_create(device, BYTES, name, guest));
    lw_vulkan_region region = {.struct_size = sizeof region};
    lw(lw_vulkan_buffer_export(*guest, &region));
    b.handle = region.buffer;
    b.offset = region.offset;
  }
  return b;
}

int main(int argc, char** argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: vulkan_share SAXPY.ptx [DEVICE_NAME_PART]\n");
    return 2;
  }
  struct program p = {0};
  open_instance(&p, argc > 2 ? argv[2] : "");
  lw_device* device = share_device(&p);
  lw_device_info facts = {.struct_size = sizeof facts};
  lw(lw_device_get_info(device, &facts));
  const int own = strcmp(facts.tier, "T0") != 0;
  lw_module* module;
  lw_kernel* saxpy;
  lw_buffer *guest_x, *guest_y;
  lw(lw_module_load_file(device, argv[1], NULL, &module));
  lw(lw_kernel_get(module, "saxpy", &saxpy));
  const struct buffer x = share_buffer(&p, device, "x", own, &guest_x);
  const struct buffer y = share_buffer(&p, device, "y", own, &guest_y);
  const struct buffer seen =
      make_buffer(&p, VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                  VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);

  /* The program's own work, */
  VkCommandBuffer commands = begin(&p);
  vkCmdFillBuffer(commands, x.handle, x.offset, BYTES, bits_of(3.0f));
  vkCmdFillBuffer(commands, y.handle, y.offset, BYTES, bits_of(1.0f));
  submit(&p, commands);
  /* the kernel's, */
  lw_launch_options options = LW_LAUNCH_OPTIONS_INIT;
  options.grid[0] = (COUNT + 255) / 256;
  options.block[0] = 256;
  const lw_arg args[] = {lw_arg_i32(COUNT), lw_arg_f32(2.0f), lw_arg_buffer(guest_x),
                         lw_arg_buffer(guest_y)};
  lw(lw_kernel_launch(saxpy, &options, args, 4, NULL));
  /* and the program's again. */
  commands = begin(&p);
  const VkBufferCopy all = {y.offset, 0, BYTES};
  vkCmdCopyBuffer(commands, y.handle, seen.handle, 1, &all);
  submit(&p, commands);
  vk(vkQueueWaitIdle(p.queue), "vkQueueWaitIdle");

  const float* values;
  vk(vkMapMemory(p.device, seen.memory, 0, VK_WHOLE_SIZE, 0, (void**)&values), "vkMapMemory");
  unsigned wrong = 0;
  for (unsigned i = 0; i < COUNT; ++i) wrong += values[i] != 7.0f;
  printf("%s: %u floats, %u wrong; the buffers are %s\n", facts.name, COUNT, wrong,
         own ? "the program's" : "Lanewise's");

  /* Lanewise's things first: they use the program's. */
  lw_buffer_release(guest_x);
  lw_buffer_release(guest_y);
  lw_kernel_release(saxpy);
  lw_module_release(module);
  lw_device_close(device);
  lw_device_release(device);
  const struct buffer mine[] = {x, y, seen};
  for (int i = 0; i < 3; ++i) {
    if (mine[i].memory == VK_NULL_HANDLE) continue; /* a part of Lanewise's */
    vkDestroyBuffer(p.device, mine[i].handle, NULL);
    vkFreeMemory(p.device, mine[i].memory, NULL);
  }
  vkDestroyCommandPool(p.device, p.pool, NULL);
  vkDestroyDevice(p.device, NULL);
  vkDestroyInstance(p.instance, NULL);
  return wrong != 0;
}
