/* A C program runs machine code: sort.cubin, compiled for sm_50, sorts blocks of 256 keys. The
 * program needs neither a GPU of that kind nor the toolchain that made the file.
 *   sort KERNEL.cubin
 */
#include <lanewise/lanewise.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 256, BLOCKS = 4, KEYS = BLOCK * BLOCKS };

/* Ends the program with the library's message. */
static void must(lw_status status) {
  if (status == LW_OK) return;
  fprintf(stderr, "sort: error %d: %s\n", (int)lw_last_detail(), lw_last_error());
  exit(status);
}

/* The file's contents; *bytes is how many. */
static void* read_file(const char* path, size_t* bytes) {
  FILE* file = fopen(path, "rb");
  void* data = malloc(1 << 20);
  if (file == NULL || data == NULL) {
    fprintf(stderr, "sort: %s cannot be read\n", path);
    exit(LW_ERROR_USAGE);
  }
  *bytes = fread(data, 1, 1 << 20, file);
  fclose(file);
  return data;
}

/* How many keys are out of order, or are not the ones that their number of origin says. */
static int wrong_keys(const uint32_t* sorted, const uint16_t* origin, const uint32_t* before) {
  int wrong = 0;
  for (int i = 0; i < KEYS; ++i) {
    const int first = i / BLOCK * BLOCK;
    wrong += i > first && sorted[i] < sorted[i - 1];
    wrong += origin[i] >= BLOCK || sorted[i] != before[first + origin[i]];
  }
  return wrong;
}

int main(int argc, char** argv) {
  uint32_t keys[KEYS], sorted[KEYS];
  uint16_t origin[KEYS];
  uint32_t seed = 1;
  for (int i = 0; i < KEYS; ++i) keys[i] = seed = seed * 1664525u + 1013904223u;

  size_t bytes = 0;
  void* cubin = read_file(argc > 1 ? argv[1] : "samples/cubin/sort.cubin", &bytes);
  lw_device* device = NULL;
  lw_module* module = NULL;
  lw_kernel* kernel = NULL;
  lw_buffer *key_buffer = NULL, *origin_buffer = NULL;
  must(lw_device_open(NULL, &device));
  must(lw_module_load_memory(device, cubin, bytes, NULL, &module));
  must(lw_kernel_get(module, NULL, &kernel));
  must(lw_buffer_create(device, sizeof keys, "keys", &key_buffer));
  must(lw_buffer_create(device, sizeof origin, "origin", &origin_buffer));
  must(lw_buffer_write(key_buffer, 0, keys, sizeof keys));

  lw_launch_options options = LW_LAUNCH_OPTIONS_INIT;
  options.grid[0] = BLOCKS;
  options.block[0] = BLOCK;
  const lw_arg args[] = {lw_arg_buffer(key_buffer), lw_arg_buffer(origin_buffer)};
  must(lw_kernel_launch(kernel, &options, args, 2, NULL));
  must(lw_buffer_read(key_buffer, 0, sorted, sizeof sorted));
  must(lw_buffer_read(origin_buffer, 0, origin, sizeof origin));

  lw_device_info info = {.struct_size = sizeof info};
  must(lw_device_get_info(device, &info));
  const int wrong = wrong_keys(sorted, origin, keys);
  printf("%s of %s: %d keys in %d blocks, %d wrong, first block %08x ... %08x\n",
         lw_kernel_name(kernel), info.name, KEYS, BLOCKS, wrong, sorted[0], sorted[BLOCK - 1]);

  lw_buffer_release(key_buffer);
  lw_buffer_release(origin_buffer);
  lw_kernel_release(kernel);
  lw_module_release(module);
  lw_device_release(device);
  free(cubin);
  return wrong == 0 ? 0 : 1;
}
