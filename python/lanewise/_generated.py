"""Made from lanewise.h by docs/from_headers.py; not edited by hand."""

import ctypes as c

OK = 0
ERROR_GUEST = 1
ERROR_USAGE = 2
ERROR_DEVICE = 3
ERROR_BUDGET = 4
DETAIL_NONE = 0
DETAIL_REJECTED = 1
DETAIL_UNSUPPORTED = 2
DETAIL_FAULT = 3
DETAIL_INVALID_VALUE = 20
DETAIL_NULL_ARGUMENT = 21
DETAIL_BAD_HANDLE = 22
DETAIL_STRUCT_SIZE = 23
DETAIL_OTHER_DEVICE = 24
DETAIL_ARGUMENT_COUNT = 25
DETAIL_ARGUMENT_KIND = 26
DETAIL_OUT_OF_RANGE = 27
DETAIL_NOT_FOUND = 28
DETAIL_HOST_FILE = 29
DETAIL_DEVICE_CLOSED = 30
DETAIL_HOST_MEMORY = 31
DETAIL_FORMAT = 32
DETAIL_DRIVER = 40
DETAIL_DEVICE_LOST = 41
DETAIL_DEVICE_MEMORY = 42
DETAIL_NO_DEVICE = 43
DETAIL_TIMEOUT = 60
DETAIL_STEP_BUDGET = 61
DETAIL_CANCELLED = 62
LOG_ERROR = 0
LOG_WARNING = 1
LOG_INFO = 2
TEXEL_UNSIGNED = 0
TEXEL_SIGNED = 1
TEXEL_FLOAT = 2
ADDRESS_WRAP = 0
ADDRESS_CLAMP = 1
ADDRESS_MIRROR = 2
ADDRESS_BORDER = 3
FILTER_NEAREST = 0
FILTER_LINEAR = 1
MIP_NONE = 0
MIP_NEAREST = 1
MIP_LINEAR = 2
STRICT_RUN = 0
STRICT_MANUAL = 1
STRICT_ASSEMBLER = 2
STRICT_CUDA_11_8 = 3
STRICT_CUDA_13_0 = 4
ARG_SIGNED = 1
ARG_UNSIGNED = 2
ARG_FLOAT = 3
ARG_BYTES = 4
ARG_BUFFER = 5
ARG_HOST = 6
HOST_READ_ONLY = 1
MEMCHECK_ALLOC = 0
MEMCHECK_ARENA = 1
MEMCHECK_OFF = 2
WAVE_AUTO = 0
WAVE_LANE = 1
WAVE_PACKED = 2
WAVE_SERIAL = 3
EMIT_IR = 0
EMIT_IR_OPTIMISED = 1
EMIT_SPIRV = 2
EMIT_SPIRV_TEXT = 3
CODE_TSV = 1
CODE_RAW = 2
CODE_BARE = 4
CODE_REMARKS = 8
CODE_ROWS = 16
CACHE_EXACT = 1
CACHE_PROFILE = 2
CACHE_COMPARE = 4
CACHE_REUSE = 8
CACHE_SETS = 16

LogCallback = c.CFUNCTYPE(None, c.c_int, c.c_char_p, c.c_void_p)

QueueCallback = c.CFUNCTYPE(None, c.c_void_p)

ProgressCallback = c.CFUNCTYPE(None, c.c_uint64, c.c_uint64, c.c_void_p)


class Sized(c.Structure):
    def __init__(self, **members):
        super().__init__(struct_size=c.sizeof(type(self)), **members)


class Diagnostic(Sized):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("line", c.c_uint32),
        ("column", c.c_uint32),
        ("is_warning", c.c_uint32),
        ("file", c.c_char_p),
        ("message", c.c_char_p),
    ]


class DeviceInfo(Sized):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("index", c.c_int32),
        ("subgroup_size", c.c_uint32),
        ("max_invocations", c.c_uint32),
        ("max_shared", c.c_uint64),
        ("max_arena", c.c_uint64),
        ("int64", c.c_uint8),
        ("int16", c.c_uint8),
        ("int8", c.c_uint8),
        ("float16", c.c_uint8),
        ("float64", c.c_uint8),
        ("reserved", c.c_uint8 * 3),
        ("name", c.c_char * 256),
        ("driver", c.c_char * 256),
        ("tier", c.c_char * 16),
        ("type", c.c_char * 16),
        ("profile", c.c_char * 256),
    ]


class TextureOptions(Sized):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("texel_kind", c.c_uint32),
        ("channels", c.c_uint32),
        ("channel_bits", c.c_uint32),
        ("width", c.c_uint32),
        ("height", c.c_uint32),
        ("depth", c.c_uint32),
        ("layers", c.c_uint32),
        ("cube", c.c_uint32),
        ("levels", c.c_uint32),
        ("fractions", c.c_uint32),
        ("srgb", c.c_uint32),
        ("unnormalised", c.c_uint32),
        ("filter", c.c_uint32),
        ("mip_filter", c.c_uint32),
        ("address_mode", c.c_uint32 * 3),
        ("bias", c.c_float),
        ("least_level", c.c_float),
        ("most_level", c.c_float),
        ("border", c.c_float * 4),
        ("reserved", c.c_uint32),
        ("buffer", c.c_void_p),
        ("offset", c.c_uint64),
        ("row_pitch", c.c_uint64),
        ("slice_pitch", c.c_uint64),
        ("texel_buffer", c.c_uint32),
        ("reserved_2", c.c_uint32),
    ]


class TextureLevel(Sized):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("width", c.c_uint32),
        ("height", c.c_uint32),
        ("slices", c.c_uint32),
        ("offset", c.c_uint64),
        ("row_pitch", c.c_uint64),
        ("slice_pitch", c.c_uint64),
        ("end", c.c_uint64),
    ]


class ModuleOptions(Sized):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("strict", c.c_uint32),
        ("isa", c.c_char_p),
        ("target", c.c_char_p),
        ("name", c.c_char_p),
        ("max_errors", c.c_uint32),
        ("reserved", c.c_uint32),
        ("include_folder", c.c_char_p),
        ("variables_of", c.c_void_p),
        ("variable_names", c.POINTER(c.c_char_p)),
        ("variable_count", c.c_size_t),
    ]


class ParamInfo(Sized):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("offset", c.c_uint32),
        ("size", c.c_uint32),
        ("is_pointer", c.c_uint32),
        ("name", c.c_char_p),
        ("type", c.c_char_p),
    ]


class KernelInfo(Sized):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("static_shared", c.c_uint32),
        ("local_bytes", c.c_uint32),
        ("param_bytes", c.c_uint32),
        ("max_threads", c.c_uint32),
        ("block", c.c_uint32 * 3),
        ("constant_bytes", c.c_uint64),
        ("isa", c.c_char_p),
        ("target", c.c_char_p),
    ]


class Arg(Sized):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("kind", c.c_uint32),
        ("bits", c.c_uint64),
        ("size", c.c_uint64),
        ("data", c.c_void_p),
        ("buffer", c.c_void_p),
    ]


class LaunchOptions(Sized):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("grid", c.c_uint32 * 3),
        ("block", c.c_uint32 * 3),
        ("dynamic_shared", c.c_uint32),
        ("memcheck", c.c_uint32),
        ("wave", c.c_uint32),
        ("timeout_seconds", c.c_double),
        ("policies", c.POINTER(c.c_char_p)),
        ("policy_count", c.c_size_t),
        ("cancel", c.c_void_p),
        ("cancel_flag", c.c_void_p),
    ]


class ResultInfo(Sized):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("reported_faults", c.c_uint32),
        ("fault_count", c.c_uint64),
        ("parse_ms", c.c_double),
        ("translate_ms", c.c_double),
        ("pipeline_ms", c.c_double),
        ("dispatch_ms", c.c_double),
        ("wave_mode", c.c_char_p),
        ("wave_reason", c.c_char_p),
        ("policies", c.c_char_p),
        ("printed", c.c_char_p),
        ("printed_bytes", c.c_uint64),
        ("profile", c.c_char_p),
        ("touched_ranges", c.c_uint64),
    ]


class Touched(Sized):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("load_line", c.c_uint32),
        ("store_line", c.c_uint32),
        ("address", c.c_uint64),
        ("bytes", c.c_uint64),
        ("load_text", c.c_char_p),
        ("store_text", c.c_char_p),
        ("load_source", c.c_char_p),
        ("store_source", c.c_char_p),
        ("load_strong", c.c_int),
        ("store_strong", c.c_int),
        ("same_value", c.c_int),
    ]


class Fault(Sized):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("line", c.c_uint32),
        ("pc", c.c_uint64),
        ("address", c.c_uint64),
        ("size", c.c_uint32),
        ("group", c.c_uint32 * 3),
        ("wave", c.c_uint32),
        ("lane", c.c_uint32),
        ("kind", c.c_char_p),
        ("kernel", c.c_char_p),
        ("text", c.c_char_p),
        ("source", c.c_char_p),
        ("nearest_allocation", c.c_char_p),
        ("allocation", c.c_char_p),
        ("allocation_address", c.c_uint64),
        ("allocation_size", c.c_uint64),
        ("report", c.c_char_p),
        ("parameter", c.c_char_p),
        ("parameter_allocation", c.c_char_p),
        ("parameter_allocation_address", c.c_uint64),
        ("assertion", c.c_char_p),
        ("function", c.c_char_p),
        ("allocation_freed", c.c_int),
        ("space", c.c_char_p),
        ("space_size", c.c_uint64),
        ("reason", c.c_char_p),
        ("called_from", c.c_char_p),
        ("rule", c.c_char_p),
        ("access", c.c_char_p),
        ("other_access", c.c_char_p),
        ("other_text", c.c_char_p),
        ("other_source", c.c_char_p),
        ("other_pc", c.c_uint64),
        ("other_line", c.c_uint32),
        ("other_group", c.c_uint32 * 3),
        ("other_wave", c.c_uint32),
        ("other_lane", c.c_uint32),
        ("value_before", c.c_uint64),
        ("value_after", c.c_uint64),
        ("remedy", c.c_char_p),
        ("times", c.c_uint64),
        ("schedule", c.c_char_p),
        ("other_schedule", c.c_char_p),
    ]


class CodeOptions(Sized):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("flags", c.c_uint32),
        ("isa", c.c_char_p),
        ("target", c.c_char_p),
        ("kernel", c.c_char_p),
        ("name", c.c_char_p),
        ("max_errors", c.c_uint32),
        ("reserved", c.c_uint32),
        ("include_folder", c.c_char_p),
    ]


class CacheOptions(Sized):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("flags", c.c_uint32),
        ("presets", c.c_char_p),
        ("trace_file", c.c_char_p),
        ("input", c.c_char_p),
        ("buffer_bytes", c.c_uint64),
        ("policies", c.POINTER(c.c_char_p)),
        ("policy_count", c.c_size_t),
        ("progress", ProgressCallback),
        ("progress_user", c.c_void_p),
        ("source_folders", c.POINTER(c.c_char_p)),
        ("source_folder_count", c.c_size_t),
        ("shard", c.c_uint32),
        ("shards", c.c_uint32),
        ("sample", c.c_uint32),
        ("part_file", c.c_char_p),
    ]


class CacheInfo(Sized):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("complete", c.c_uint32),
        ("events", c.c_uint64),
        ("warnings", c.c_size_t),
        ("note", c.c_char_p),
    ]


# name: what it returns, what it takes
FUNCTIONS = {
    "lw_version": (c.c_char_p, []),
    "lw_last_error": (c.c_char_p, []),
    "lw_last_detail": (c.c_int32, []),
    "lw_last_diagnostic_count": (c.c_size_t, []),
    "lw_last_diagnostic": (c.c_int32, [c.c_size_t, c.POINTER(Diagnostic)]),
    "lw_set_log": (None, [LogCallback, c.c_int, c.c_void_p]),
    "lw_blob_data": (c.c_void_p, [c.c_void_p]),
    "lw_blob_size": (c.c_size_t, [c.c_void_p]),
    "lw_blob_note": (c.c_char_p, [c.c_void_p, c.c_char_p]),
    "lw_blob_release": (None, [c.c_void_p]),
    "lw_list_devices": (c.c_int32, [c.POINTER(DeviceInfo), c.POINTER(c.c_size_t)]),
    "lw_device_open": (c.c_int32, [c.c_char_p, c.POINTER(c.c_void_p)]),
    "lw_device_get_info": (c.c_int32, [c.c_void_p, c.POINTER(DeviceInfo)]),
    "lw_device_close": (c.c_int32, [c.c_void_p]),
    "lw_device_release": (None, [c.c_void_p]),
    "lw_buffer_create": (c.c_int32, [c.c_void_p, c.c_uint64, c.c_char_p, c.POINTER(c.c_void_p)]),
    "lw_buffer_create_paged": (c.c_int32, [c.c_void_p, c.c_uint64, c.c_char_p, c.POINTER(c.c_void_p)]),
    "lw_buffer_set_resident": (c.c_int32, [c.c_void_p, c.c_uint64, c.c_uint64, c.c_int]),
    "lw_buffer_reserve": (c.c_int32, [c.c_void_p, c.c_uint64, c.c_uint64, c.c_char_p, c.POINTER(c.c_void_p)]),
    "lw_buffer_set_mapped": (c.c_int32, [c.c_void_p, c.c_uint64, c.c_uint64, c.c_int]),
    "lw_buffer_set_reachable": (c.c_int32, [c.c_void_p, c.c_int]),
    "lw_buffer_release": (None, [c.c_void_p]),
    "lw_buffer_address": (c.c_int32, [c.c_void_p, c.POINTER(c.c_uint64)]),
    "lw_buffer_size": (c.c_int32, [c.c_void_p, c.POINTER(c.c_uint64)]),
    "lw_buffer_write": (c.c_int32, [c.c_void_p, c.c_uint64, c.c_void_p, c.c_uint64]),
    "lw_buffer_read": (c.c_int32, [c.c_void_p, c.c_uint64, c.c_void_p, c.c_uint64]),
    "lw_memory_write": (c.c_int32, [c.c_void_p, c.c_uint64, c.c_void_p, c.c_uint64]),
    "lw_memory_read": (c.c_int32, [c.c_void_p, c.c_uint64, c.c_void_p, c.c_uint64]),
    "lw_memory_unwritten": (c.c_int32, [c.c_void_p, c.c_uint64, c.c_uint64, c.c_uint64, c.POINTER(c.c_uint64), c.POINTER(c.c_uint64)]),
    "lw_memory_copy": (c.c_int32, [c.c_void_p, c.c_uint64, c.c_uint64, c.c_uint64]),
    "lw_memory_fill": (c.c_int32, [c.c_void_p, c.c_uint64, c.c_uint32, c.c_uint32, c.c_uint64]),
    "lw_buffer_map_host": (c.c_int32, [c.c_void_p, c.c_void_p, c.c_uint64, c.c_char_p, c.c_uint32, c.POINTER(c.c_void_p)]),
    "lw_texture_layout": (c.c_int32, [c.POINTER(TextureOptions), c.c_uint32, c.POINTER(TextureLevel)]),
    "lw_texture_create": (c.c_int32, [c.c_void_p, c.POINTER(TextureOptions), c.POINTER(c.c_void_p)]),
    "lw_texture_handle": (c.c_int32, [c.c_void_p, c.POINTER(c.c_uint64)]),
    "lw_texture_release": (None, [c.c_void_p]),
    "lw_module_load_file": (c.c_int32, [c.c_void_p, c.c_char_p, c.POINTER(ModuleOptions), c.POINTER(c.c_void_p)]),
    "lw_module_load_memory": (c.c_int32, [c.c_void_p, c.c_void_p, c.c_size_t, c.POINTER(ModuleOptions), c.POINTER(c.c_void_p)]),
    "lw_module_link": (c.c_int32, [c.c_void_p, c.c_size_t, c.POINTER(c.c_void_p), c.POINTER(c.c_size_t), c.POINTER(c.c_char_p), c.POINTER(ModuleOptions), c.POINTER(c.c_void_p)]),
    "lw_module_release": (None, [c.c_void_p]),
    "lw_module_kernel_count": (c.c_size_t, [c.c_void_p]),
    "lw_module_kernel_name": (c.c_char_p, [c.c_void_p, c.c_size_t]),
    "lw_module_symbol": (c.c_int32, [c.c_void_p, c.c_char_p, c.POINTER(c.c_uint64), c.POINTER(c.c_uint64)]),
    "lw_module_write_symbol": (c.c_int32, [c.c_void_p, c.c_char_p, c.c_void_p, c.c_uint64]),
    "lw_module_read_symbol": (c.c_int32, [c.c_void_p, c.c_char_p, c.c_void_p, c.c_uint64]),
    "lw_module_bind_texture": (c.c_int32, [c.c_void_p, c.c_char_p, c.c_void_p]),
    "lw_check": (c.c_int32, [c.c_void_p, c.c_size_t, c.POINTER(ModuleOptions), c.POINTER(c.c_size_t)]),
    "lw_kernel_get": (c.c_int32, [c.c_void_p, c.c_char_p, c.POINTER(c.c_void_p)]),
    "lw_kernel_release": (None, [c.c_void_p]),
    "lw_kernel_name": (c.c_char_p, [c.c_void_p]),
    "lw_kernel_param_count": (c.c_size_t, [c.c_void_p]),
    "lw_kernel_param": (c.c_int32, [c.c_void_p, c.c_size_t, c.POINTER(ParamInfo)]),
    "lw_kernel_get_info": (c.c_int32, [c.c_void_p, c.POINTER(KernelInfo)]),
    "lw_kernel_launch": (c.c_int32, [c.c_void_p, c.POINTER(LaunchOptions), c.POINTER(Arg), c.c_size_t, c.POINTER(c.c_void_p)]),
    "lw_cancel_create": (c.c_int32, [c.POINTER(c.c_void_p)]),
    "lw_cancel_request": (c.c_int32, [c.c_void_p]),
    "lw_cancel_release": (None, [c.c_void_p]),
    "lw_result_get_info": (c.c_int32, [c.c_void_p, c.POINTER(ResultInfo)]),
    "lw_result_fault": (c.c_int32, [c.c_void_p, c.c_size_t, c.POINTER(Fault)]),
    "lw_result_touched": (c.c_int32, [c.c_void_p, c.c_size_t, c.POINTER(Touched)]),
    "lw_result_release": (None, [c.c_void_p]),
    "lw_queue_create": (c.c_int32, [c.c_void_p, c.POINTER(c.c_void_p)]),
    "lw_queue_release": (None, [c.c_void_p]),
    "lw_queue_launch": (c.c_int32, [c.c_void_p, c.c_void_p, c.POINTER(LaunchOptions), c.POINTER(Arg), c.c_size_t, c.POINTER(c.c_void_p)]),
    "lw_queue_write": (c.c_int32, [c.c_void_p, c.c_void_p, c.c_uint64, c.c_void_p, c.c_uint64, c.POINTER(c.c_void_p)]),
    "lw_queue_read": (c.c_int32, [c.c_void_p, c.c_void_p, c.c_uint64, c.c_void_p, c.c_uint64, c.POINTER(c.c_void_p)]),
    "lw_queue_call": (c.c_int32, [c.c_void_p, QueueCallback, c.c_void_p, c.POINTER(c.c_void_p)]),
    "lw_queue_wait_event": (c.c_int32, [c.c_void_p, c.c_void_p]),
    "lw_queue_finish": (c.c_int32, [c.c_void_p]),
    "lw_event_wait": (c.c_int32, [c.c_void_p, c.POINTER(c.c_void_p)]),
    "lw_event_wait_for": (c.c_int32, [c.c_void_p, c.c_double, c.POINTER(c.c_int)]),
    "lw_event_times": (c.c_int32, [c.c_void_p, c.POINTER(c.c_uint64), c.POINTER(c.c_uint64)]),
    "lw_event_release": (None, [c.c_void_p]),
    "lw_host_register": (c.c_int32, [c.c_void_p, c.c_uint64]),
    "lw_host_unregister": (c.c_int32, [c.c_void_p]),
    "lw_run": (c.c_int32, [c.c_void_p, c.c_char_p, c.c_char_p, c.POINTER(LaunchOptions), c.POINTER(Arg), c.c_size_t, c.POINTER(c.c_void_p)]),
    "ptx_run": (c.c_int, [c.c_char_p, c.c_int, c.POINTER(c.c_void_p), c.c_int, c.c_int, c.c_int, c.c_int, c.c_int, c.c_int, c.c_int]),
    "lw_kernel_translate": (c.c_int32, [c.c_void_p, c.POINTER(LaunchOptions), c.c_uint32, c.POINTER(c.c_void_p)]),
    "lw_assemble": (c.c_int32, [c.c_char_p, c.c_size_t, c.POINTER(CodeOptions), c.POINTER(c.c_void_p)]),
    "lw_disassemble": (c.c_int32, [c.c_void_p, c.c_size_t, c.POINTER(CodeOptions), c.POINTER(c.c_void_p)]),
    "lw_coverage": (c.c_int32, [c.c_char_p, c.c_char_p, c.c_char_p, c.POINTER(c.c_void_p)]),
    "lw_cache_start": (c.c_int32, [c.c_void_p, c.POINTER(CacheOptions), c.POINTER(c.c_void_p)]),
    "lw_cache_read": (c.c_int32, [c.c_char_p, c.POINTER(CacheOptions), c.POINTER(c.c_void_p)]),
    "lw_cache_merge": (c.c_int32, [c.POINTER(c.c_char_p), c.c_size_t, c.POINTER(c.c_void_p)]),
    "lw_cache_finish": (c.c_int32, [c.c_void_p]),
    "lw_cache_get_info": (c.c_int32, [c.c_void_p, c.POINTER(CacheInfo)]),
    "lw_cache_warning": (c.c_char_p, [c.c_void_p, c.c_size_t]),
    "lw_cache_report": (c.c_int32, [c.c_void_p, c.c_char_p, c.POINTER(c.c_void_p)]),
    "lw_cache_matches": (c.c_int32, [c.c_void_p, c.c_char_p, c.POINTER(c.c_int)]),
    "lw_cache_release": (None, [c.c_void_p]),
    "lw_cache_preset": (c.c_int32, [c.c_char_p, c.c_char_p, c.POINTER(c.c_void_p)]),
}
