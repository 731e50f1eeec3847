/* The C API from strict C11: saxpy out of a file on the device named in argv[2]. Prints the sum. */
#include <lanewise/lanewise.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* Structs of the first version, as callers were compiled with it, up to what came later. */
_Static_assert(sizeof(void*) != 8 || sizeof(lw_arg) == 40, "lw_arg");
_Static_assert(sizeof(void*) != 8 || offsetof(lw_launch_options, cancel_flag) == 72,
               "lw_launch_options");
_Static_assert(sizeof(void*) != 8 || offsetof(lw_module_options, include_folder) == 40,
               "lw_module_options");
_Static_assert(sizeof(void*) != 8 || sizeof(lw_device_info) == 840, "lw_device_info");
_Static_assert(sizeof(void*) != 8 || sizeof(lw_param_info) == 32, "lw_param_info");
_Static_assert(sizeof(void*) != 8 || offsetof(lw_result_info, printed) == 72, "lw_result_info");
_Static_assert(sizeof(void*) != 8 || offsetof(lw_fault, parameter) == 120, "lw_fault");
_Static_assert(sizeof(void*) != 8 || sizeof(lw_diagnostic) == 32, "lw_diagnostic");

static void must(lw_status status) {
  if (status == LW_OK) return;
  fprintf(stderr, "error %d: %s\n", (int)lw_last_detail(), lw_last_error());
  exit(status);
}

int main(int argc, char** argv) {
  float host[1000];
  float sum = 0;
  lw_device* device;
  lw_module* module;
  lw_kernel* kernel;
  lw_buffer *x, *y;
  lw_launch_options options = LW_LAUNCH_OPTIONS_INIT;
  lw_arg args[4];
  int i;
  if (argc < 3) return LW_ERROR_USAGE;
  must(lw_device_open(argv[2], &device));
  must(lw_module_load_file(device, argv[1], NULL, &module));
  must(lw_kernel_get(module, "saxpy", &kernel));
  must(lw_buffer_create(device, sizeof host, "x", &x));
  must(lw_buffer_create(device, sizeof host, "y", &y));
  for (i = 0; i < 1000; ++i) host[i] = (float)i;
  must(lw_buffer_write(x, 0, host, sizeof host));
  args[0] = lw_arg_i32(1000);
  args[1] = lw_arg_f32(2);
  args[2] = lw_arg_buffer(x);
  args[3] = lw_arg_buffer(y);
  options.grid[0] = 4;
  options.block[0] = 256;
  must(lw_kernel_launch(kernel, &options, args, 4, NULL));
  must(lw_buffer_read(y, 0, host, sizeof host));
  for (i = 0; i < 1000; ++i) sum += host[i];
  printf("sum %.0f\n", sum);
  lw_buffer_release(x);
  lw_buffer_release(y);
  lw_kernel_release(kernel);
  lw_module_release(module);
  lw_device_release(device);
  return 0;
}
