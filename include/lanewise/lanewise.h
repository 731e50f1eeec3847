/* Lanewise: run foreign GPU kernels on any Vulkan device. The C API, for C11 and for everything
 * that can call C.
 *
 *   lw_device* device;
 *   lw_module* module;
 *   lw_kernel* kernel;
 *   lw_buffer* x;
 *   lw_device_open(NULL, &device);
 *   lw_module_load_file(device, "scale.ptx", NULL, &module);
 *   lw_kernel_get(module, "scale", &kernel);
 *   lw_buffer_create(device, 4000, "x", &x);
 *   lw_launch_options options = LW_LAUNCH_OPTIONS_INIT;
 *   options.grid[0] = 4, options.block[0] = 256;
 *   const lw_arg args[] = {lw_arg_buffer(x), lw_arg_f32(2.0f), lw_arg_i32(1000)};
 *   if (lw_kernel_launch(kernel, &options, args, 3, NULL) != LW_OK) puts(lw_last_error());
 *
 * Rules that hold everywhere:
 *
 * Status. A function that can fail returns a lw_status: LW_OK, or what the exit code of the command
 * line would be. lw_last_error() then has the message, lw_last_detail() says which error it is;
 * both are of the calling thread and stay until its next call that returns a lw_status. No C++
 * exception leaves the library. After an error, out parameters hold NULL or 0.
 *
 * Handles are opaque; never look behind one. Each is given back with its lw_..._release function,
 * in any order: what a handle needs stays alive with it. A released or null handle, and one of
 * another kind, is an error (LW_DETAIL_BAD_HANDLE), never undefined; releasing NULL does nothing.
 *
 * Structs begin with struct_size, which the caller sets to sizeof (the ..._INIT macros and the
 * lw_arg_... functions do). Later versions add members at the end; what a caller does not know of
 * keeps its default, and what the library does not know of must be 0.
 *
 * Strings are UTF-8 and end with 0. A const char* that the library returns belongs to the handle it
 * was asked of and lives as long.
 *
 * Threads. Every handle may be used from any thread. A device does one thing at a time: a call
 * waits until a launch on another thread has ended. Different devices do not wait for each other.
 *
 * Sizes and offsets are bytes; times are as their names say; addresses are those of the guest. */
#ifndef LANEWISE_LANEWISE_H
#define LANEWISE_LANEWISE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) || defined(__clang__)
#define LW_API __attribute__((visibility("default")))
#else
#define LW_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- versions, errors, log ---------------------------------------------------------------- */

/* The same numbers as the exit codes of the program. */
typedef int32_t lw_status;
enum {
  LW_OK = 0,
  LW_ERROR_GUEST = 1,  /* a kernel was at fault, or a program was rejected */
  LW_ERROR_USAGE = 2,  /* wrong arguments, host files that cannot be used */
  LW_ERROR_DEVICE = 3, /* no such device, driver failure, device lost */
  LW_ERROR_BUDGET = 4  /* time or steps used up, or cancelled */
};

/* Which error it is. The numbers never change; later versions may add some. */
typedef int32_t lw_detail;
enum {
  LW_DETAIL_NONE = 0,
  LW_DETAIL_REJECTED = 1,        /* the program has defects: lw_last_diagnostic has each */
  LW_DETAIL_UNSUPPORTED = 2,     /* fine, but not supported, or not here */
  LW_DETAIL_FAULT = 3,           /* lanes faulted: the lw_result has the reports */
  LW_DETAIL_INVALID_VALUE = 20,  /* an argument makes no sense */
  LW_DETAIL_NULL_ARGUMENT = 21,  /* a pointer that must not be null is null */
  LW_DETAIL_BAD_HANDLE = 22,     /* an empty or released handle, or one of another kind */
  LW_DETAIL_STRUCT_SIZE = 23,    /* struct_size names no size of this struct */
  LW_DETAIL_OTHER_DEVICE = 24,   /* a buffer of one device was given to another */
  LW_DETAIL_ARGUMENT_COUNT = 25, /* the kernel takes more or fewer arguments */
  LW_DETAIL_ARGUMENT_KIND = 26,  /* size or kind of an argument contradicts the parameter */
  LW_DETAIL_OUT_OF_RANGE = 27,   /* bytes outside a buffer or variable, an index beyond the last */
  LW_DETAIL_NOT_FOUND = 28,      /* nothing of this name: kernel, variable, policy, preset */
  LW_DETAIL_HOST_FILE = 29,      /* a file cannot be read or written */
  LW_DETAIL_DEVICE_CLOSED = 30,  /* lw_device_close was called for the device */
  LW_DETAIL_HOST_MEMORY = 31,    /* the host has no memory left */
  LW_DETAIL_FORMAT = 32,         /* the bytes are of no format that the function reads */
  LW_DETAIL_DRIVER = 40,         /* the driver failed */
  LW_DETAIL_DEVICE_LOST = 41,    /* the device runs nothing any more: open it again */
  LW_DETAIL_DEVICE_MEMORY = 42,  /* the device cannot hold that much */
  LW_DETAIL_NO_DEVICE = 43,      /* no device of this name, or no driver at all */
  LW_DETAIL_TIMEOUT = 60,        /* timeout_seconds were over */
  LW_DETAIL_STEP_BUDGET = 61,    /* a lane took more loop iterations than allowed */
  LW_DETAIL_CANCELLED = 62       /* lw_cancel_request was called for the launch */
};

/* "0.1.0", of the library that runs. */
LW_API const char* lw_version(void);

/* The message of this thread's last call that returned a lw_status; "" when that was LW_OK. */
LW_API const char* lw_last_error(void);
LW_API lw_detail lw_last_detail(void);

/* A place in an input program. Lines and columns count from 1; 0 = unknown. */
typedef struct lw_diagnostic {
  uint32_t struct_size;
  uint32_t line, column;
  uint32_t is_warning; /* 1 = it stands in nobody's way */
  const char* file;    /* as the module, or the one of several that were linked, was named */
  const char* message; /* what is wrong, and what was expected */
} lw_diagnostic;

/* What this thread's last lw_module_load_..., lw_kernel_get, lw_check, lw_assemble or
 * lw_disassemble found, in line order. The strings live until the thread's next call that
 * returns a lw_status. Error: index beyond the last; that call replaces nothing. */
LW_API size_t lw_last_diagnostic_count(void);
LW_API lw_status lw_last_diagnostic(size_t index, lw_diagnostic* out);

typedef enum lw_log_level {
  LW_LOG_ERROR = 0,   /* what calls of this process failed with */
  LW_LOG_WARNING = 1, /* what front ends warn about */
  LW_LOG_INFO = 2     /* devices opened, launches with their times */
} lw_log_level;
/* Called for every message up to the level, from whatever thread has one, one call at a time. It
 * may call the library, and must not log. */
typedef void (*lw_log_callback)(lw_log_level level, const char* message, void* user);
/* callback NULL = no log, as at the start. */
LW_API void lw_set_log(lw_log_callback callback, lw_log_level most, void* user);

/* ---- handles ------------------------------------------------------------------------------ */

typedef struct lw_device lw_device;
typedef struct lw_buffer lw_buffer;
typedef struct lw_texture lw_texture;
typedef struct lw_module lw_module;
typedef struct lw_kernel lw_kernel;
typedef struct lw_result lw_result;
typedef struct lw_cancel lw_cancel;
typedef struct lw_cache lw_cache;
typedef struct lw_blob lw_blob;
typedef struct lw_queue lw_queue;
typedef struct lw_event lw_event;

/* Bytes or text that the library made. Text has a 0 behind its last byte, which size leaves out. */
LW_API const void* lw_blob_data(lw_blob* blob); /* NULL for a bad handle */
LW_API size_t lw_blob_size(lw_blob* blob);      /* 0 for a bad handle */
/* What was reported beside the bytes, by name (the function that made them says which there are);
 * "" for other names, NULL for a bad handle. */
LW_API const char* lw_blob_note(lw_blob* blob, const char* name);
LW_API void lw_blob_release(lw_blob* blob);

/* ---- devices ------------------------------------------------------------------------------ */

typedef struct lw_device_info {
  uint32_t struct_size;
  int32_t index;            /* for a selector; -1 = the reference engine or a profile */
  uint32_t subgroup_size;   /* lanes */
  uint32_t max_invocations; /* of a work-group */
  uint64_t max_shared;      /* bytes, of a work-group */
  uint64_t max_arena;       /* bytes, of all buffers together */
  uint8_t int64, int16, int8, float16, float64; /* 1 = the device computes in these itself */
  uint8_t reserved[3];
  char name[256], driver[256];
  char tier[16];     /* "T0", "T1", "T2": what the device can do; "cpu" */
  char type[16];     /* "discrete", "integrated", "virtual", "cpu", "reference" */
  char profile[256]; /* not empty: the device compiles and runs nothing; what is assumed of it */
} lw_device_info;

/* Every Vulkan device, then the reference engine (a CPU engine, always there). *count is how many
 * `infos` can hold, and afterwards how many there are; infos NULL asks for the number alone.
 * The first element's struct_size is that of all. */
LW_API lw_status lw_list_devices(lw_device_info* infos, size_t* count);

/* selector: NULL or "auto" (the environment variable LANEWISE_DEVICE, else discrete, integrated,
 * virtual, CPU), "reference", an index, a part of a name or driver, or "profile:NAME".
 * Errors: LW_ERROR_DEVICE when there is none, or its driver fails. */
LW_API lw_status lw_device_open(const char* selector, lw_device** out);
LW_API lw_status lw_device_get_info(lw_device* device, lw_device_info* out);
/* Waits for what runs and gives all memory back, whoever still holds handles: the device and what
 * was made from it answer with LW_DETAIL_DEVICE_CLOSED from then on, and are still to be released.
 */
LW_API lw_status lw_device_close(lw_device* device);
/* Releases the handle alone: the device lives until the last thing made from it is released. */
LW_API void lw_device_release(lw_device* device);

/* ---- buffers ------------------------------------------------------------------------------ */

/* Zero-filled device memory in the guest address space; name (may be NULL) is for fault reports.
 * With the policy check=init it is unwritten until the host or a kernel writes to it.
 * Errors: LW_DETAIL_DEVICE_MEMORY; nothing else is harmed by that. */
LW_API lw_status lw_buffer_create(lw_device* device, uint64_t bytes, const char* name,
                                  lw_buffer** out);
/* The same, on whole pages of 64 KiB that can be absent for loads that ask (Maxwell's sparse LDG);
 * all are resident at first. */
LW_API lw_status lw_buffer_create_paged(lw_device* device, uint64_t bytes, const char* name,
                                        lw_buffer** out);
LW_API lw_status lw_buffer_set_resident(lw_buffer* buffer, uint64_t first_page, uint64_t pages,
                                        int resident);
/* Addresses without memory, a multiple of alignment (0 = any; a power of two): a kernel that
 * accesses one is at fault, until lw_buffer_set_mapped gives its part memory, all zeros, or after
 * it takes that away. Parts that touch are accessed as one. The host accesses mapped parts by
 * lw_memory_.... Errors: LW_DETAIL_DEVICE_MEMORY; LW_DETAIL_OUT_OF_RANGE where the part is in this
 * state already. */
LW_API lw_status lw_buffer_reserve(lw_device* device, uint64_t bytes, uint64_t alignment,
                                   const char* name, lw_buffer** out);
LW_API lw_status lw_buffer_set_mapped(lw_buffer* buffer, uint64_t offset, uint64_t bytes,
                                      int mapped);
/* Whether later launches reach the buffer, as all do at first: where not, a kernel that accesses it
 * is at fault, and the host alone reads and writes it. Not for reserved addresses. */
LW_API lw_status lw_buffer_set_reachable(lw_buffer* buffer, int reachable);
LW_API void lw_buffer_release(lw_buffer* buffer);
/* Guest address and size; the address is the same on every device for the same calls. */
LW_API lw_status lw_buffer_address(lw_buffer* buffer, uint64_t* out);
LW_API lw_status lw_buffer_size(lw_buffer* buffer, uint64_t* out);
/* Copies `bytes` bytes to / from `offset`. Error: LW_DETAIL_OUT_OF_RANGE. */
LW_API lw_status lw_buffer_write(lw_buffer* buffer, uint64_t offset, const void* data,
                                 uint64_t bytes);
LW_API lw_status lw_buffer_read(lw_buffer* buffer, uint64_t offset, void* data, uint64_t bytes);

/* The same by guest address: the bytes must lie inside one buffer or module variable, which need
 * not be known by its handle. What is read only for kernels can be written. Error:
 * LW_DETAIL_OUT_OF_RANGE. */
LW_API lw_status lw_memory_write(lw_device* device, uint64_t address, const void* data,
                                 uint64_t bytes);
LW_API lw_status lw_memory_read(lw_device* device, uint64_t address, void* data, uint64_t bytes);
/* Of these bytes the first run of at least `least` that nobody has written: where it begins, from
 * `address` on, and how long it is; 0 bytes where there is none. It is known where all launches had
 * the policy check=init: one without it may have written anything. */
LW_API lw_status lw_memory_unwritten(lw_device* device, uint64_t address, uint64_t bytes,
                                     uint64_t least, uint64_t* offset, uint64_t* run);
/* On the device; the ranges may overlap. */
LW_API lw_status lw_memory_copy(lw_device* device, uint64_t to, uint64_t from, uint64_t bytes);
/* `count` values of `size` bytes (1, 2 or 4), each `value`. */
LW_API lw_status lw_memory_fill(lw_device* device, uint64_t address, uint32_t value, uint32_t size,
                                uint64_t count);
/* A buffer that is the caller's memory itself, which must live until the buffer is released. Its
 * guest address is that of the host where this is 2^46 or more and free, else another one above
 * 2^46. flags: 0, or LW_HOST_READ_ONLY. Error: LW_DETAIL_UNSUPPORTED where the device cannot reach
 * host memory in place, or is traced. */
LW_API lw_status lw_buffer_map_host(lw_device* device, void* data, uint64_t bytes, const char* name,
                                    uint32_t flags, lw_buffer** out);

/* ---- textures ----------------------------------------------------------------------------- */

enum { LW_TEXEL_UNSIGNED = 0, LW_TEXEL_SIGNED = 1, LW_TEXEL_FLOAT = 2 };
enum { LW_ADDRESS_WRAP = 0, LW_ADDRESS_CLAMP = 1, LW_ADDRESS_MIRROR = 2, LW_ADDRESS_BORDER = 3 };
enum { LW_FILTER_NEAREST = 0, LW_FILTER_LINEAR = 1 };
/* Between levels: level 0 alone, the nearest one, two of them. */
enum { LW_MIP_NONE = 0, LW_MIP_NEAREST = 1, LW_MIP_LINEAR = 2 };

/* Texels in guest memory and how they are read. Sizes are in texels, of level 0. */
typedef struct lw_texture_options {
  uint32_t struct_size;
  uint32_t texel_kind;           /* LW_TEXEL_... */
  uint32_t channels;             /* 1, 2 or 4 */
  uint32_t channel_bits;         /* 8, 16 or 32; of floats 16 or 32 */
  uint32_t width, height, depth; /* height and depth 0: one dimension, two; width 0: a sampler */
  uint32_t layers;               /* of an array, else 0; of cubes six for each */
  uint32_t cube;                 /* 1 = the layers are the faces of cubes */
  uint32_t levels;               /* of a mip chain; 0 = 1 */
  uint32_t fractions;            /* 1 = integers of 8 and 16 bits are read as fractions of 1 */
  uint32_t srgb;                 /* 1 = of 4 channels of 8 bits, the first three have its curve */
  uint32_t unnormalised;         /* 1 = coordinates count texels; else the image is 1 wide */
  uint32_t filter, mip_filter;   /* LW_FILTER_..., LW_MIP_... */
  uint32_t address_mode[3];      /* LW_ADDRESS_... along x, y, z */
  float bias, least_level, most_level; /* of the level of detail */
  float border[4];                     /* with LW_ADDRESS_BORDER */
  uint32_t reserved;
  lw_buffer* buffer;               /* which has the texels; NULL = `offset` is a guest address */
  uint64_t offset;                 /* bytes, of level 0; a multiple of a texel */
  uint64_t row_pitch, slice_pitch; /* bytes, of level 0; 0 = what lw_texture_layout says */
  uint32_t texel_buffer; /* 1 = GCN kernels find a V#, as for OpenCL's image1d_buffer_t: one row */
  uint32_t reserved_2;
} lw_texture_options;

/* Where a level lies, from level 0 on; `slices` of it are its depth or its layers. */
typedef struct lw_texture_level {
  uint32_t struct_size;
  uint32_t width, height, slices;
  uint64_t offset, row_pitch, slice_pitch, end; /* bytes; `end` is behind the level's last texel */
} lw_texture_level;
LW_API lw_status lw_texture_layout(const lw_texture_options* options, uint32_t level,
                                   lw_texture_level* out);

/* A texture, which is a surface as well; docs/textures.md has the values that kernels read, and
 * docs/gcn-images.md those of GCN. The buffer lives as long as the texture. Errors:
 * LW_DETAIL_INVALID_VALUE for what does not fit together, LW_DETAIL_OUT_OF_RANGE where the texels
 * are not in the buffer. */
LW_API lw_status lw_texture_create(lw_device* device, const lw_texture_options* options,
                                   lw_texture** out);
/* What kernels take as a parameter of 64 bits. */
LW_API lw_status lw_texture_handle(lw_texture* texture, uint64_t* out);
LW_API void lw_texture_release(lw_texture* texture);

/* ---- modules ------------------------------------------------------------------------------ */

/* How lw_check judges. With a strictness of its own, or with a target, it says only whether the
 * text is legal, not whether it can run here as well. */
enum {
  LW_STRICT_RUN = 0,       /* as the real assembler, and whether it can run */
  LW_STRICT_MANUAL = 1,    /* by the manual's text; SASS: with its control words */
  LW_STRICT_ASSEMBLER = 2, /* as the real assembler; PTX: CUDA 11.8's up to .version 7.8 */
  LW_STRICT_CUDA_11_8 = 3, /* PTX: as the assembler of CUDA 11.8 */
  LW_STRICT_CUDA_13_0 = 4  /* PTX: as the assembler of CUDA 13.0 */
};

typedef struct lw_module_options {
  uint32_t struct_size;
  uint32_t strict;     /* lw_check: LW_STRICT_... */
  const char* isa;     /* "ptx", "sass", "gcn"; NULL = by the file's ending and contents */
  const char* target;  /* what PTX is compiled for; else "gfx803" for the file's own; NULL = that */
  const char* name;    /* of the program in messages; NULL = the path, or "<memory>" */
  uint32_t max_errors; /* lw_check reports at most so many; 0 = 100, UINT32_MAX = all */
  uint32_t reserved;
  /* where included files of GCN text lie; NULL = beside the file, and out of memory nothing is
   * included */
  const char* include_folder;
  /* variables of these names are not made anew: they are another module's of the same device, which
   * keeps their contents; of lw_module_load_memory alone */
  lw_module* variables_of;
  const char* const* variable_names;
  size_t variable_count;
} lw_module_options;
#define LW_MODULE_OPTIONS_INIT \
  { (uint32_t)sizeof(lw_module_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/* PTX, SASS or GCN text, a cubin or an AMD code object; options may be NULL. A module whose text is
 * malformed, or of which no kernel can run, is LW_DETAIL_REJECTED, with every defect as a
 * diagnostic; a kernel that cannot run leaves the others usable. */
LW_API lw_status lw_module_load_file(lw_device* device, const char* path,
                                     const lw_module_options* options, lw_module** out);
/* The same out of memory: `bytes` bytes, which are copied. */
LW_API lw_status lw_module_load_memory(lw_device* device, const void* data, size_t bytes,
                                       const lw_module_options* options, lw_module** out);
/* Several files of one language as one module, as nvlink joins what was compiled apart (nvcc -rdc):
 * PTX; SASS or cubins; files with such code in them, as nvcc makes them. `names` (may be NULL) are
 * for messages, and their endings may name the language. Functions and variables of one file are
 * seen by the others, a weak definition gives way, what a file keeps to itself (static) stays its
 * own. Errors: as lw_module_load_memory; LW_DETAIL_REJECTED for what two files define, and for
 * kernels that use what none defines. */
LW_API lw_status lw_module_link(lw_device* device, size_t count, const void* const* data,
                                const size_t* bytes, const char* const* names,
                                const lw_module_options* options, lw_module** out);
LW_API void lw_module_release(lw_module* module);
/* Of the whole file, those that cannot run included. 0 and NULL for what is no module. */
LW_API size_t lw_module_kernel_count(lw_module* module);
LW_API const char* lw_module_kernel_name(lw_module* module, size_t index);
/* A module variable (.global, .const): guest address and bytes; either may be NULL. */
LW_API lw_status lw_module_symbol(lw_module* module, const char* name, uint64_t* address,
                                  uint64_t* bytes);
/* Copies to / from a variable, from its start. */
LW_API lw_status lw_module_write_symbol(lw_module* module, const char* name, const void* data,
                                        uint64_t bytes);
LW_API lw_status lw_module_read_symbol(lw_module* module, const char* name, void* data,
                                       uint64_t bytes);
/* A .texref, .surfref or .samplerref of the module is this texture from now on, which the module
 * keeps until another one is bound; NULL binds none. */
LW_API lw_status lw_module_bind_texture(lw_module* module, const char* name, lw_texture* texture);
/* Parses and validates, runs nothing and needs no device. LW_OK: nothing but warnings, which are
 * diagnostics then. *kernels (may be NULL) is how many kernels can run; 0 where only legality was
 * asked for. */
LW_API lw_status lw_check(const void* data, size_t bytes, const lw_module_options* options,
                          size_t* kernels);

/* ---- kernels ------------------------------------------------------------------------------ */

typedef struct lw_param_info {
  uint32_t struct_size;
  uint32_t offset, size; /* in the parameter block */
  uint32_t is_pointer;   /* 1 = declared as one */
  const char* name;
  const char* type; /* "u32", "f32", ...; "" where only the size is known */
} lw_param_info;

/* name NULL or "": the only kernel. Errors: LW_DETAIL_NOT_FOUND, LW_DETAIL_REJECTED. */
LW_API lw_status lw_kernel_get(lw_module* module, const char* name, lw_kernel** out);
LW_API void lw_kernel_release(lw_kernel* kernel);
/* NULL and 0 for what is no kernel. Kernels of SASS and bare GCN text name no parameters. */
LW_API const char* lw_kernel_name(lw_kernel* kernel);
LW_API size_t lw_kernel_param_count(lw_kernel* kernel);
LW_API lw_status lw_kernel_param(lw_kernel* kernel, size_t index, lw_param_info* out);

/* What a kernel asks of its launches. */
typedef struct lw_kernel_info {
  uint32_t struct_size;
  uint32_t static_shared;  /* bytes of a work-group */
  uint32_t local_bytes;    /* bytes of each lane */
  uint32_t param_bytes;    /* of the parameter block */
  uint32_t max_threads;    /* of a work-group, as the program declares; 0 = any */
  uint32_t block[3];       /* that launches must have; 0 = any */
  uint64_t constant_bytes; /* of the module's constant variables */
  const char* isa;         /* "ptx", "sass", "gcn" */
  const char* target;      /* "sm_75", "gfx803" */
} lw_kernel_info;
LW_API lw_status lw_kernel_get_info(lw_kernel* kernel, lw_kernel_info* out);

typedef enum lw_arg_kind {
  LW_ARG_SIGNED = 1,   /* `bits`, an integer of `size` bytes (1, 2, 4, 8) */
  LW_ARG_UNSIGNED = 2, /* the same, unsigned */
  LW_ARG_FLOAT = 3,    /* `bits`, a floating-point number of `size` bytes (2, 4, 8) */
  LW_ARG_BYTES = 4,    /* `size` bytes at `data`: a struct by value */
  LW_ARG_BUFFER = 5,   /* the address of `buffer` plus `bits` bytes */
  LW_ARG_HOST = 6      /* lw_run alone: `size` bytes of host memory at `data`; 0 = the registered
                          range around `data`. bits: 0, or LW_HOST_READ_ONLY */
} lw_arg_kind;
/* The memory is not written back; a kernel that changes it is at fault. */
enum { LW_HOST_READ_ONLY = 1 };

/* One kernel argument. Integers are widened or narrowed to the parameter's size when the value
 * fits; an integer for a floating-point parameter, and the reverse, is LW_DETAIL_ARGUMENT_KIND. */
typedef struct lw_arg {
  uint32_t struct_size;
  uint32_t kind; /* lw_arg_kind */
  uint64_t bits;
  uint64_t size;
  const void* data;
  lw_buffer* buffer;
} lw_arg;

static inline lw_arg lw_arg_scalar(uint32_t kind, uint64_t bits, uint64_t size) {
  lw_arg a;
  memset(&a, 0, sizeof a);
  a.struct_size = (uint32_t)sizeof a;
  a.kind = kind;
  a.bits = bits;
  a.size = size;
  return a;
}
static inline lw_arg lw_arg_i32(int32_t value) {
  return lw_arg_scalar(LW_ARG_SIGNED, (uint64_t)(int64_t)value, 4);
}
static inline lw_arg lw_arg_i64(int64_t value) {
  return lw_arg_scalar(LW_ARG_SIGNED, (uint64_t)value, 8);
}
static inline lw_arg lw_arg_u32(uint32_t value) {
  return lw_arg_scalar(LW_ARG_UNSIGNED, value, 4);
}
static inline lw_arg lw_arg_u64(uint64_t value) {
  return lw_arg_scalar(LW_ARG_UNSIGNED, value, 8);
}
static inline lw_arg lw_arg_f32(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return lw_arg_scalar(LW_ARG_FLOAT, bits, 4);
}
static inline lw_arg lw_arg_f64(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return lw_arg_scalar(LW_ARG_FLOAT, bits, 8);
}
static inline lw_arg lw_arg_bytes(const void* data, uint64_t bytes) {
  lw_arg a = lw_arg_scalar(LW_ARG_BYTES, 0, bytes);
  a.data = data;
  return a;
}
static inline lw_arg lw_arg_buffer(lw_buffer* buffer) {
  lw_arg a = lw_arg_scalar(LW_ARG_BUFFER, 0, 8);
  a.buffer = buffer;
  return a;
}
static inline lw_arg lw_arg_host(void* data, uint64_t bytes) {
  lw_arg a = lw_arg_scalar(LW_ARG_HOST, 0, bytes);
  a.data = data;
  return a;
}
static inline lw_arg lw_arg_host_const(const void* data, uint64_t bytes) {
  lw_arg a = lw_arg_scalar(LW_ARG_HOST, LW_HOST_READ_ONLY, bytes);
  a.data = data;
  return a;
}

/* ---- launches ----------------------------------------------------------------------------- */

enum { LW_MEMCHECK_ALLOC = 0, LW_MEMCHECK_ARENA = 1, LW_MEMCHECK_OFF = 2 };
enum { LW_WAVE_AUTO = 0, LW_WAVE_LANE = 1, LW_WAVE_PACKED = 2, LW_WAVE_SERIAL = 3 };

typedef struct lw_launch_options {
  uint32_t struct_size;
  uint32_t grid[3];  /* work-groups in x, y, z; a trailing 0 counts as 1, grid[0] must be given */
  uint32_t block[3]; /* threads of a work-group, the same way */
  uint32_t dynamic_shared;     /* bytes */
  uint32_t memcheck;           /* LW_MEMCHECK_...: what every access must lie in */
  uint32_t wave;               /* LW_WAVE_...: how lanes map to invocations */
  double timeout_seconds;      /* 0 = none; counts translation, the driver's compiler and the run */
  const char* const* policies; /* policy_count strings NAME=VALUE, see docs/policies.md */
  size_t policy_count;
  lw_cancel* cancel; /* ends the launch from another thread; may be NULL */
  /* The same with a byte of the caller's in place of a handle: an atomic_bool (C11) or
   * std::atomic<bool> that becomes true. It must live until the launch has ended. May be NULL; not
   * both. */
  const void* cancel_flag;
} lw_launch_options;
#define LW_LAUNCH_OPTIONS_INIT \
  { (uint32_t)sizeof(lw_launch_options), {0, 0, 0}, {0, 0, 0}, 0, 0, 0, 0, 0, 0, 0, 0 }

/* Runs the kernel to its end; args in parameter order. When lanes fault the status is
 * LW_ERROR_GUEST (LW_ERROR_BUDGET for used-up steps), and *result, which may be asked for with out
 * != NULL, has the reports; for other errors *out is NULL. */
LW_API lw_status lw_kernel_launch(lw_kernel* kernel, const lw_launch_options* options,
                                  const lw_arg* args, size_t arg_count, lw_result** out);

/* What ends launches: give it to any number of them. Once requested it stays so. A kernel that runs
 * ends soon, with LW_DETAIL_CANCELLED, and the device stays usable; the driver's compiler is not
 * interrupted. */
LW_API lw_status lw_cancel_create(lw_cancel** out);
LW_API lw_status lw_cancel_request(lw_cancel* cancel);
LW_API void lw_cancel_release(lw_cancel* cancel);

typedef struct lw_result_info {
  uint32_t struct_size;
  uint32_t reported_faults; /* for lw_result_fault: at most 64, lowest group and lane first */
  uint64_t fault_count;     /* lanes that faulted */
  double parse_ms, translate_ms, pipeline_ms, dispatch_ms;
  const char* wave_mode;   /* "lane", "packed" or "serial" */
  const char* wave_reason; /* why */
  const char* policies;    /* every policy in force, NAME=VALUE, one a line */
  const char* printed;    /* what the kernel printed (CUDA's and OpenCL's printf), "" for nothing */
  uint64_t printed_bytes; /* %c may have put zeros into it */
  /* With the policy check=perf: what each instruction cost, as JSON (docs/counters.md); else "". */
  const char* profile;
  /* With the policy race.touched=report: how many lw_result_touched has; else 0. */
  uint64_t touched_ranges;
} lw_result_info;

/* Global memory that a launch with check=race and race.touched=report touched: bytes of which the
 * same instructions made the last load and the last store. Atomics are stores. */
typedef struct lw_touched {
  uint32_t struct_size;
  uint32_t load_line, store_line; /* of the input text, 0 = unknown */
  uint64_t address, bytes;
  const char *load_text, *store_text;     /* the instruction; "" where there was none */
  const char *load_source, *store_source; /* "file.cu:12", "" when unknown */
  /* 1: an atomic or another strong access whose scope holds other launches. */
  int load_strong, store_strong;
  int same_value; /* 1: the store found its own value in place */
} lw_touched;

typedef struct lw_fault {
  uint32_t struct_size;
  uint32_t line; /* of the input text, 0 = unknown */
  uint64_t pc;   /* byte offset of the instruction, or its ordinal for text */
  uint64_t address;
  uint32_t size; /* bytes of the access, 0 when it is none */
  uint32_t group[3];
  uint32_t wave, lane; /* wave of the group, lane of the wave */
  const char* kind;    /* "out_of_range", "misaligned", "trap", ... */
  const char* kernel;
  const char* text;               /* the instruction */
  const char* source;             /* "file.cu:12", "" when unknown */
  const char* nearest_allocation; /* "'x' (4 bytes; 4 bytes past its end)", "" when there is none */
  const char* allocation;         /* its name alone */
  uint64_t allocation_address, allocation_size;
  const char* report; /* all of it for people, several lines */
  /* The pointer parameter that the access goes through ("" when unknown), and name and address of
   * the allocation that it points into (0 = into none). */
  const char* parameter;
  const char* parameter_allocation;
  uint64_t parameter_allocation_address;
  /* Of a trap that is a failed assertion of CUDA C: what was asserted, and in which function; ""
   * when it is none or the program does not say. `source` says where. */
  const char *assertion, *function;
  /* The allocation was released, and nobody has got its memory since. */
  int allocation_freed;
  /* "shared", "local" or "param" of an access to one of these, and the bytes that there are of it;
   * "" for global memory. */
  const char* space;
  uint64_t space_size;
  /* Of a trap: what the program wants that no launch here gives; of barriers and member masks: what
   * is wrong, and who waits for whom; "" where none is known. */
  const char* reason;
  /* Of a fault in a function that the kernel calls: function is its name, pc counts from its begin,
   * and this says which functions call it, or the kernel; else "". */
  const char* called_from;
  /* The stable name of what was found, as suppressions have it (docs/findings.md): "out-of-range",
   * "init", "sync-exited-lanes", ... */
  const char* rule;
  /* Of a data_race: what this access is ("load", "store", "atomic"), and the one before it, which
   * nothing orders in front of it; "" and 0 of all else. */
  const char* access;
  const char *other_access, *other_text, *other_source;
  uint64_t other_pc;
  uint32_t other_line;
  uint32_t other_group[3];
  uint32_t other_wave, other_lane;
  /* The word before and after the store of the two (the later one), and what would have ordered
   * them. */
  uint64_t value_before, value_after;
  const char* remedy;
  /* How many accesses of these two instructions met so. */
  uint64_t times;
  /* Of what a search over schedules found: the order in which it happened, as the policy schedule
   * names it ("random:7"), and the first order, which gives another result; else "". Of an
   * order_dependent the first order's store is that of the members other_, and the word's values
   * are those that the two stores leave. */
  const char *schedule, *other_schedule;
} lw_fault;

LW_API lw_status lw_result_get_info(lw_result* result, lw_result_info* out);
LW_API lw_status lw_result_fault(lw_result* result, size_t index, lw_fault* out);
/* Sorted by address, at most 4194304 of them; index counts from 0. */
LW_API lw_status lw_result_touched(lw_result* result, size_t index, lw_touched* out);
LW_API void lw_result_release(lw_result* result);

/* ---- queues ------------------------------------------------------------------------------- */

/* A first-in-first-out queue with a thread of its own. What is put in runs in order while the
 * caller goes on; several queues of a device take turns on it. The functions return at once and
 * copy what they are given, but for memory to read into, which must live until the event. out (may
 * be NULL) gets the event of the work. Work that fails does not stop its queue. */
LW_API lw_status lw_queue_create(lw_device* device, lw_queue** out);
/* Waits for what is in the queue. */
LW_API void lw_queue_release(lw_queue* queue);
/* The structs are checked here, arguments against parameters when the launch begins. */
LW_API lw_status lw_queue_launch(lw_queue* queue, lw_kernel* kernel,
                                 const lw_launch_options* options, const lw_arg* args,
                                 size_t arg_count, lw_event** out);
LW_API lw_status lw_queue_write(lw_queue* queue, lw_buffer* buffer, uint64_t offset,
                                const void* data, uint64_t bytes, lw_event** out);
LW_API lw_status lw_queue_read(lw_queue* queue, lw_buffer* buffer, uint64_t offset, void* data,
                               uint64_t bytes, lw_event** out);
/* Calls a function on the queue's thread. It may put work in, but not wait for the queue. */
typedef void (*lw_queue_callback)(void* user);
LW_API lw_status lw_queue_call(lw_queue* queue, lw_queue_callback function, void* user,
                               lw_event** out);
/* Later work of the queue begins when the event, of any queue, has happened. */
LW_API lw_status lw_queue_wait_event(lw_queue* queue, lw_event* event);
/* Waits until everything that was put in is done. */
LW_API lw_status lw_queue_finish(lw_queue* queue);

/* Waits for the work and says how it ended: the status and the last error that the call would have
 * had. *result (may be NULL) is for launches as in lw_kernel_launch. */
LW_API lw_status lw_event_wait(lw_event* event, lw_result** result);
/* *done = 1 when the work has ended, else 0 after at most so many seconds. */
LW_API lw_status lw_event_wait_for(lw_event* event, double seconds, int* done);
/* When the work began and ended, in nanoseconds of CLOCK_MONOTONIC; waits for it. Launches that
 * shared a submission have the same times. */
LW_API lw_status lw_event_times(lw_event* event, uint64_t* began, uint64_t* ended);
LW_API void lw_event_release(lw_event* event);

/* ---- host memory -------------------------------------------------------------------------- */

/* Registers an allocation of the host, so that pointers into it can be kernel arguments without a
 * size. The memory stays the caller's and must live until it is unregistered. Error: it overlaps
 * another one. */
LW_API lw_status lw_host_register(void* data, uint64_t bytes);
LW_API lw_status lw_host_unregister(void* data);

/* Loads a program (0-terminated text, language as options say or as it shows), runs one kernel and
 * waits. LW_ARG_HOST arguments are ranges of the host; two arguments in one range see the same
 * memory. Ranges from 64 KiB on are used in place where the device can (the reference engine, and
 * Vulkan devices with VK_EXT_external_memory_host and buffer addresses; LW_LOG_INFO reports it), if
 * the kernel's parameters for them have 8 bytes and memcheck is not off. Others are copied to the
 * device before and back after the run, and keep their old contents after every error but a fault.
 * device NULL = the default device, which stays open for the next call. kernel NULL = the only one.
 * Programs are kept for the next call with the same text (the last 64). */
LW_API lw_status lw_run(lw_device* device, const char* text, const char* kernel,
                        const lw_launch_options* options, const lw_arg* args, size_t arg_count,
                        lw_result** out);

/* Runs the only kernel of a PTX text on the CPU, in the caller's own memory: each args[i] is the
 * 8-byte value of a parameter itself, pointers are host pointers, and pointers in memory are as
 * well. What the kernel may reach: ranges of lw_host_register when there are any, else whatever the
 * process has mapped (reading and writing as it is mapped). lx, ly, lz: threads of a work-group;
 * gx, gy, gz: work-groups; shared: bytes of dynamic shared memory. Returns a lw_status; the
 * message, a fault report included, also goes to stderr. */
LW_API int ptx_run(const char* ptx, int n_args, void* const* args, int lx, int ly, int lz, int gx,
                   int gy, int gz, int shared);

/* ---- what the translator makes ------------------------------------------------------------ */

enum {
  LW_EMIT_IR = 0,           /* text: the IR after the front end; needs no Vulkan device */
  LW_EMIT_IR_OPTIMISED = 1, /* text: the same after all passes */
  LW_EMIT_SPIRV = 2,        /* the SPIR-V words that this device would run */
  LW_EMIT_SPIRV_TEXT = 3    /* the same as text */
};
/* options: as for a launch (what matters is block, memcheck, wave, policies); may be NULL for
 * LW_EMIT_IR. Notes of LW_EMIT_SPIRV: "wave_mode" and "wave_reason", as in lw_result_info. */
LW_API lw_status lw_kernel_translate(lw_kernel* kernel, const lw_launch_options* options,
                                     uint32_t what, lw_blob** out);

/* ---- assembler, disassembler, coverage ---------------------------------------------------- */

enum {
  LW_CODE_TSV = 1,     /* address, word and text of each instruction, tab-separated */
  LW_CODE_RAW = 2,     /* disassemble: the input is machine code and nothing else */
  LW_CODE_BARE = 4,    /* with LW_CODE_RAW: SASS without control words */
  LW_CODE_REMARKS = 8, /* two columns more in the rows: control annotations, and what the linter
                          says (SASS; else empty) */
  LW_CODE_ROWS = 16    /* the rows of LW_CODE_TSV beside the code or text, as the note "tsv" */
};
typedef struct lw_code_options {
  uint32_t struct_size;
  uint32_t flags;      /* LW_CODE_... */
  const char* isa;     /* "sass", "gcn"; NULL = by name and text, disassemble: by the container */
  const char* target;  /* "sm_52", "gfx803"; NULL = what the input says, or the first */
  const char* kernel;  /* only this one; NULL = all of them */
  const char* name;    /* of the input in messages; NULL = "<memory>" */
  uint32_t max_errors; /* at most so many errors are found; 0 = 100, UINT32_MAX = all */
  uint32_t reserved;
  const char* include_folder; /* where included files of GCN text lie; NULL = nothing is included */
} lw_code_options;
#define LW_CODE_OPTIONS_INIT \
  { (uint32_t)sizeof(lw_code_options), 0, 0, 0, 0, 0, 0, 0, 0 }

/* The machine code of all instructions of a text, or rows with LW_CODE_TSV; options may be NULL.
 * Error: LW_DETAIL_REJECTED with diagnostics. */
LW_API lw_status lw_assemble(const char* text, size_t bytes, const lw_code_options* options,
                             lw_blob** out);
/* A cubin or code object, or with LW_CODE_RAW machine code, to text that assembles to the same
 * words; options may be NULL. Errors: LW_DETAIL_FORMAT for bytes that are none of them;
 * LW_DETAIL_REJECTED where some cannot be disassembled: *out, which is set even then, has the text
 * of the others. */
LW_API lw_status lw_disassemble(const void* data, size_t bytes, const lw_code_options* options,
                                lw_blob** out);

/* isa: "ptx", "sass" or "gcn"; target for GCN ("gfx803"), else NULL. Rows FORM, STATE and NOTE,
 * tab-separated; states are "exact", "approximate" and "unsupported". form not NULL: of it alone.
 * Note "target": which one the answers are for, "" where there is but one table. */
LW_API lw_status lw_coverage(const char* isa, const char* target, const char* form, lw_blob** out);

/* ---- cache tracker, memory traces --------------------------------------------------------- */

enum {
  LW_CACHE_EXACT = 1,   /* the reference engine alone: loads return what the caches hold */
  LW_CACHE_PROFILE = 2, /* keep what the HTML report draws */
  LW_CACHE_COMPARE = 4, /* beside it, the same with hints and cache operators ignored */
  LW_CACHE_REUSE = 8,   /* report the miss ratio of every capacity */
  LW_CACHE_SETS = 16    /* report how sets are used, and why lines were missing */
};

/* Called now and then, on the calling thread: bytes of a file that were read, and that it has. */
typedef void (*lw_progress_callback)(uint64_t done, uint64_t whole, void* user);

typedef struct lw_cache_options {
  uint32_t struct_size;
  uint32_t flags; /* LW_CACHE_... */
  /* names separated by commas ("gv100,sm50-silicon", "file:mine.json"); NULL = no tracker: the
   * trace file alone, and reports are an error */
  const char* presets;
  const char* trace_file; /* gets the trace: .lwt, .traceg, .din or .json; NULL = none */
  /* Launches: the file whose lines the kernels' instructions are, for findings (NULL = none), and
   * how many bytes of events one part of the grid may make (0 = 64 MiB). */
  const char* input;
  uint64_t buffer_bytes;
  /* Traces: policy_count strings NAME=VALUE, trace.interleave and trace.resident. */
  const char* const* policies;
  size_t policy_count;
  lw_progress_callback progress; /* may be NULL */
  void* progress_user;
  /* Where the HTML report looks for source files, beside their own names. */
  const char* const* source_folders;
  size_t source_folder_count;
  /* Traces: of L2 the part `shard` of `shards` alone (0 = all of it), which goes to part_file for
   * lw_cache_merge and has no report; or one set in `sample`, drawn at random (0 = all of them),
   * and reports estimate the rest. Without flags. */
  uint32_t shard, shards, sample;
  const char* part_file;
} lw_cache_options;
#define LW_CACHE_OPTIONS_INIT \
  { (uint32_t)sizeof(lw_cache_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/* Follows what the launches on the device do to the caches of a GPU, until it is released. One
 * tracker a device. */
LW_API lw_status lw_cache_start(lw_device* device, const lw_cache_options* options, lw_cache** out);
/* The same for a recorded or imported trace (.lwt, .traceg, .trace, kernelslist, .din). To convert
 * one, read it with a trace_file and without presets. */
LW_API lw_status lw_cache_read(const char* path, const lw_cache_options* options, lw_cache** out);
/* All parts of a trace (part_file of lw_cache_read) put together: reports are those of the trace
 * read whole. Error: they are not the parts of one run, each once. */
LW_API lw_status lw_cache_merge(const char* const* part_files, size_t count, lw_cache** out);
/* Follows no more, and completes the trace file. What was seen can still be reported. */
LW_API lw_status lw_cache_finish(lw_cache* cache);

/* What is to be reported of a trace that was read; for launches it is complete without events. */
typedef struct lw_cache_info {
  uint32_t struct_size;
  uint32_t complete; /* 0 = the trace ends early: what is there was read */
  uint64_t events;   /* that were read */
  size_t warnings;   /* for lw_cache_warning */
  const char* note;  /* where it ends, when it is not complete */
} lw_cache_info;
LW_API lw_status lw_cache_get_info(lw_cache* cache, lw_cache_info* out);
/* NULL for what is no cache, and beyond the last. */
LW_API const char* lw_cache_warning(lw_cache* cache, size_t index);

/* format: "txt", "json", "csv", "sarif", "html" or "perfetto"; the last two want LW_CACHE_PROFILE.
 * What was seen so far; later launches count on. */
LW_API lw_status lw_cache_report(lw_cache* cache, const char* format, lw_blob** out);
/* *out = 1 when a finding matches: a rule ("H1"), "E" (errors), "W" (errors and warnings) or "any".
 * cache NULL asks only whether there is such a rule. Error: there is none. */
LW_API lw_status lw_cache_matches(lw_cache* cache, const char* rule, int* out);
LW_API void lw_cache_release(lw_cache* cache);

/* preset NULL: the names of all presets and what they are, tab-separated, one a line. Else what it
 * assumes and where each figure comes from: format "txt", or "json", which file:PATH reads. */
LW_API lw_status lw_cache_preset(const char* preset, const char* format, lw_blob** out);

#ifdef __cplusplus
}
#endif

#endif
