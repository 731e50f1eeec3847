"""The C library by ctypes: where it is, its structs, its functions."""

import ctypes as c
import os
import pathlib

ABI = "0.1"


def _load():
    name = "liblanewise.so." + ABI
    chosen = os.environ.get("LANEWISE_LIBRARY")
    if chosen:
        return c.CDLL(chosen)
    # Installed together: PREFIX/lib/python3/dist-packages/lanewise and PREFIX/lib/liblanewise.so
    for folder in pathlib.Path(__file__).resolve().parents[2:5]:
        if (folder / name).exists():
            return c.CDLL(str(folder / name))
    try:
        return c.CDLL(name)
    except OSError as error:
        raise ImportError(
            f"{name} is not installed where the system looks; the environment variable "
            f"LANEWISE_LIBRARY may name it ({error})"
        ) from error


class _Sized(c.Structure):
    def __init__(self, **members):
        super().__init__(struct_size=c.sizeof(type(self)), **members)


class Diagnostic(_Sized):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("line", c.c_uint32),
        ("column", c.c_uint32),
        ("is_warning", c.c_uint32),
        ("file", c.c_char_p),
        ("message", c.c_char_p),
    ]


class DeviceInfo(_Sized):
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


class ModuleOptions(_Sized):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("strict", c.c_uint32),
        ("isa", c.c_char_p),
        ("target", c.c_char_p),
        ("name", c.c_char_p),
        ("max_errors", c.c_uint32),
        ("reserved", c.c_uint32),
    ]


class ParamInfo(_Sized):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("offset", c.c_uint32),
        ("size", c.c_uint32),
        ("is_pointer", c.c_uint32),
        ("name", c.c_char_p),
        ("type", c.c_char_p),
    ]


SIGNED, UNSIGNED, FLOAT, BYTES, BUFFER, HOST = range(1, 7)
HOST_READ_ONLY = 1


class Arg(_Sized):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("kind", c.c_uint32),
        ("bits", c.c_uint64),
        ("size", c.c_uint64),
        ("data", c.c_void_p),
        ("buffer", c.c_void_p),
    ]


class LaunchOptions(_Sized):
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
    ]


class ResultInfo(_Sized):
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
    ]


class Fault(_Sized):
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
    ]


PROGRESS = c.CFUNCTYPE(None, c.c_uint64, c.c_uint64, c.c_void_p)
CACHE_EXACT, CACHE_PROFILE, CACHE_COMPARE, CACHE_REUSE, CACHE_SETS = 1, 2, 4, 8, 16


class CacheOptions(_Sized):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("flags", c.c_uint32),
        ("presets", c.c_char_p),
        ("trace_file", c.c_char_p),
        ("input", c.c_char_p),
        ("buffer_bytes", c.c_uint64),
        ("policies", c.POINTER(c.c_char_p)),
        ("policy_count", c.c_size_t),
        ("progress", PROGRESS),
        ("progress_user", c.c_void_p),
        ("source_folders", c.POINTER(c.c_char_p)),
        ("source_folder_count", c.c_size_t),
        ("shard", c.c_uint32),
        ("shards", c.c_uint32),
        ("sample", c.c_uint32),
        ("part_file", c.c_char_p),
    ]


class CacheInfo(_Sized):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("complete", c.c_uint32),
        ("events", c.c_uint64),
        ("warnings", c.c_size_t),
        ("note", c.c_char_p),
    ]


_P, _S, _N, _U = c.c_void_p, c.c_char_p, c.c_size_t, c.c_uint64
_O = c.POINTER(c.c_void_p)
_STATUS = c.c_int32

# name: what it returns, what it takes
_FUNCTIONS = {
    "lw_version": (_S, []),
    "lw_last_error": (_S, []),
    "lw_last_detail": (c.c_int32, []),
    "lw_last_diagnostic_count": (_N, []),
    "lw_last_diagnostic": (_STATUS, [_N, c.POINTER(Diagnostic)]),
    "lw_blob_data": (_P, [_P]),
    "lw_blob_size": (_N, [_P]),
    "lw_blob_release": (None, [_P]),
    "lw_list_devices": (_STATUS, [c.POINTER(DeviceInfo), c.POINTER(_N)]),
    "lw_device_open": (_STATUS, [_S, _O]),
    "lw_device_get_info": (_STATUS, [_P, c.POINTER(DeviceInfo)]),
    "lw_device_close": (None, [_P]),
    "lw_device_release": (None, [_P]),
    "lw_buffer_create": (_STATUS, [_P, _U, _S, _O]),
    "lw_buffer_create_paged": (_STATUS, [_P, _U, _S, _O]),
    "lw_buffer_set_resident": (_STATUS, [_P, _U, _U, c.c_int]),
    "lw_buffer_release": (None, [_P]),
    "lw_buffer_address": (_STATUS, [_P, c.POINTER(_U)]),
    "lw_buffer_size": (_STATUS, [_P, c.POINTER(_U)]),
    "lw_buffer_write": (_STATUS, [_P, _U, _P, _U]),
    "lw_buffer_read": (_STATUS, [_P, _U, _P, _U]),
    "lw_module_load_file": (_STATUS, [_P, _S, c.POINTER(ModuleOptions), _O]),
    "lw_module_load_memory": (_STATUS, [_P, _P, _N, c.POINTER(ModuleOptions), _O]),
    "lw_module_release": (None, [_P]),
    "lw_module_kernel_count": (_N, [_P]),
    "lw_module_kernel_name": (_S, [_P, _N]),
    "lw_module_symbol": (_STATUS, [_P, _S, c.POINTER(_U), c.POINTER(_U)]),
    "lw_module_write_symbol": (_STATUS, [_P, _S, _P, _U]),
    "lw_module_read_symbol": (_STATUS, [_P, _S, _P, _U]),
    "lw_check": (_STATUS, [_P, _N, c.POINTER(ModuleOptions)]),
    "lw_kernel_get": (_STATUS, [_P, _S, _O]),
    "lw_kernel_release": (None, [_P]),
    "lw_kernel_name": (_S, [_P]),
    "lw_kernel_param_count": (_N, [_P]),
    "lw_kernel_param": (_STATUS, [_P, _N, c.POINTER(ParamInfo)]),
    "lw_kernel_launch": (_STATUS, [_P, c.POINTER(LaunchOptions), c.POINTER(Arg), _N, _O]),
    "lw_kernel_translate": (_STATUS, [_P, c.POINTER(LaunchOptions), c.c_uint32, _O]),
    "lw_cancel_create": (_STATUS, [_O]),
    "lw_cancel_request": (_STATUS, [_P]),
    "lw_cancel_release": (None, [_P]),
    "lw_result_get_info": (_STATUS, [_P, c.POINTER(ResultInfo)]),
    "lw_result_fault": (_STATUS, [_P, _N, c.POINTER(Fault)]),
    "lw_result_release": (None, [_P]),
    "lw_run": (_STATUS, [_P, _S, _S, c.POINTER(LaunchOptions), c.POINTER(Arg), _N, _O]),
    "lw_assemble": (_STATUS, [_S, _P, _N, _S, _S, c.c_uint32, _O]),
    "lw_disassemble": (_STATUS, [_S, _P, _N, _S, _S, c.c_uint32, _O]),
    "lw_coverage": (_STATUS, [_S, _S, _S, _O]),
    "lw_cache_start_with": (_STATUS, [_P, c.POINTER(CacheOptions), _O]),
    "lw_cache_read": (_STATUS, [_S, c.POINTER(CacheOptions), _O]),
    "lw_cache_merge": (_STATUS, [c.POINTER(c.c_char_p), _N, _O]),
    "lw_cache_finish": (_STATUS, [_P]),
    "lw_cache_get_info": (_STATUS, [_P, c.POINTER(CacheInfo)]),
    "lw_cache_warning": (_S, [_P, _N]),
    "lw_cache_matches": (_STATUS, [_P, _S, c.POINTER(c.c_int)]),
    "lw_cache_preset": (_STATUS, [_S, _S, _O]),
    "lw_cache_report": (_STATUS, [_P, _S, _O]),
    "lw_cache_release": (None, [_P]),
}

library = _load()
for _name, (_returns, _takes) in _FUNCTIONS.items():
    _function = getattr(library, _name)
    _function.restype = _returns
    _function.argtypes = _takes
