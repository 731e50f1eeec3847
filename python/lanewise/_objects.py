"""Devices, buffers, modules, kernels, results."""

import array
import ctypes as c
import dataclasses
import os
import pathlib

from . import _args, _capi
from ._capi import library
from ._errors import check, diagnostics, raise_error


def _dim(value, what):
    sizes = (value,) if isinstance(value, int) else tuple(value)
    if not 1 <= len(sizes) <= 3 or any(not 0 < n < 1 << 32 for n in sizes):
        raise ValueError(f"{what}: one to three numbers from 1 to 2^32-1 were expected")
    return (c.c_uint32 * 3)(*sizes)


def _pairs(policies):
    pairs = [f"{name}={value}".encode() for name, value in (policies or {}).items()]
    return (c.c_char_p * len(pairs))(*pairs)


def _number(prefix, chosen, what):
    """Of the C constant that is named after the choice."""
    known = {
        name.removeprefix(prefix).lower().replace("_", "-"): value
        for name, value in vars(_capi).items()
        if name.startswith(prefix)
    }
    if chosen not in known:
        raise ValueError(f"{what}: one of {', '.join(known)} was expected")
    return known[chosen]


def _plain(kind, doc, **types):
    """A dataclass with the members of a C struct, and a function that makes one of it."""

    def value(raw, name, member):
        got = getattr(raw, name)
        if name in types:
            return types[name](got)
        if isinstance(got, bytes):
            return got.decode()
        if issubclass(member, c.Array):
            return tuple(got)
        return bool(got) if member is c.c_int else got

    members = [m for m in kind._fields_ if m[0] not in ("struct_size", "reserved")]
    made = dataclasses.make_dataclass(
        kind.__name__, [name for name, _ in members], frozen=True, namespace={"__doc__": doc}
    )
    made.__module__ = __name__
    return made, lambda raw: made(*[value(raw, *m) for m in members])


def _options(grid, block, shared, memcheck, wave, timeout, policies, cancel):
    pairs = _pairs(policies)
    return _capi.LaunchOptions(
        grid=_dim(grid, "grid"),
        block=_dim(block, "block"),
        dynamic_shared=shared,
        memcheck=_number("MEMCHECK_", memcheck, "memcheck"),
        wave=_number("WAVE_", wave, "wave"),
        timeout_seconds=timeout,
        policies=pairs,
        policy_count=len(pairs),
        cancel=cancel._handle if cancel is not None else None,
    )


class _Handle:
    """Owns a handle of the library and gives it back when it is collected."""

    _release = None

    def __init__(self, handle):
        self._handle = handle

    def __del__(self):
        handle, self._handle = getattr(self, "_handle", None), None
        if handle is not None:
            self._release(handle)


def _made(call, *arguments):
    out = c.c_void_p()
    check(call(*arguments, c.byref(out)))
    return out.value


def _blob(call, *arguments):
    out = c.c_void_p()
    status = call(*arguments, c.byref(out))
    try:
        check(status)
        return c.string_at(library.lw_blob_data(out), library.lw_blob_size(out))
    finally:
        library.lw_blob_release(out)  # of a disassembly with defects, too


def _encoded(text):
    return None if text is None else os.fsencode(text)


DeviceInfo, _info = _plain(
    _capi.DeviceInfo,
    "Facts about a device; sizes in bytes, index None = the reference engine or a profile.",
    index=lambda index: index if index >= 0 else None,
)


def devices():
    """Every Vulkan device, then the reference engine."""
    count = c.c_size_t()
    check(library.lw_list_devices(None, c.byref(count)))
    raw = (_capi.DeviceInfo * count.value)()
    raw[0].struct_size = c.sizeof(_capi.DeviceInfo)
    check(library.lw_list_devices(raw, c.byref(count)))
    return [_info(raw[i]) for i in range(min(len(raw), count.value))]


class Device(_Handle):
    """A device by "auto", "reference", an index or part of a name."""

    _release = library.lw_device_release

    def __init__(self, selector="auto"):
        super().__init__(_made(library.lw_device_open, _encoded(str(selector))))

    def __repr__(self):
        return f"<lanewise.Device {self.info.name!r}>"

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    @property
    def info(self):
        raw = _capi.DeviceInfo()
        check(library.lw_device_get_info(self._handle, raw))
        return _info(raw)

    def close(self):
        """Gives the device back now; what was made from it answers with UsageError."""
        check(library.lw_device_close(self._handle))

    def buffer(self, what, name="buffer"):
        """Device memory: of so many bytes, zero-filled, or with the contents of an array."""
        if isinstance(what, int):
            if what < 0:
                raise ValueError("a buffer of fewer than no bytes")
            return Buffer(_made(library.lw_buffer_create, self._handle, what, _encoded(name)))
        made = self.buffer(memoryview(what).nbytes, name)
        made.write(what)
        return made

    def queue(self):
        """A queue, whose work runs while the caller goes on."""
        from ._queues import Queue  # which is made of what stands here

        return Queue(self)

    def load_file(self, path, isa=None, target=None):
        options = _capi.ModuleOptions(isa=_encoded(isa), target=_encoded(target))
        return Module(_made(library.lw_module_load_file, self._handle, _encoded(path), options))

    def load(self, program, isa=None, target=None, name=None):
        """A program out of memory: text, or the bytes of a cubin or code object."""
        data = program.encode() if isinstance(program, str) else bytes(program)
        options = _capi.ModuleOptions(
            isa=_encoded(isa), target=_encoded(target), name=_encoded(name)
        )
        return Module(
            _made(library.lw_module_load_memory, self._handle, data, len(data), options)
        )

    def link(self, programs, isa=None, target=None):
        """Several programs as one module, as a linker makes it of what was compiled apart.

        programs: a path each, or (text or bytes, name)."""
        parts = [
            p if isinstance(p, tuple) else (pathlib.Path(p).read_bytes(), str(p)) for p in programs
        ]
        data = [p[0].encode() if isinstance(p[0], str) else bytes(p[0]) for p in parts]
        count = len(parts)
        pointers = (c.c_void_p * count)(*[c.cast(c.c_char_p(d), c.c_void_p) for d in data])
        sizes = (c.c_size_t * count)(*map(len, data))
        names = (c.c_char_p * count)(*[_encoded(name) for _, name in parts])
        options = _capi.ModuleOptions(isa=_encoded(isa), target=_encoded(target))
        return Module(
            _made(library.lw_module_link, self._handle, count, pointers, sizes, names, options)
        )

    def cache(self, presets=None, exact=False, profile=False, *, trace_file=None, **analyses):
        """Follows what launches do to the caches of a GPU, until finish() or until it is collected.

        presets: names separated by commas, or None for a trace file alone (.lwt, .traceg, .din,
        .json). exact: loads return what the caches hold (the reference engine). profile and
        analyses (compare, reuse, sets) as in Cache.read."""
        options = _cache_options(presets, trace_file, exact=exact, profile=profile, **analyses)
        return Cache(_made(library.lw_cache_start, self._handle, options))


class Buffer(_Handle):
    """Device memory in the guest address space."""

    _release = library.lw_buffer_release

    def _number(self, call):
        out = c.c_uint64()
        check(call(self._handle, c.byref(out)))
        return out.value

    def __repr__(self):
        return f"<lanewise.Buffer at {self.address:#x}, {len(self)} bytes>"

    @property
    def address(self):
        return self._number(library.lw_buffer_address)

    def __len__(self):
        return self._number(library.lw_buffer_size)

    def write(self, data, offset=0):
        """Copies an array (anything with a buffer) to the device, to byte `offset`."""
        address, size, keeper, _ = _args.pin(data)
        check(library.lw_buffer_write(self._handle, offset, address, size))
        del keeper

    def read(self, size=None, offset=0):
        """Bytes of the buffer; all from `offset` on when no size is given."""
        size = len(self) - offset if size is None else size
        if size < 0 or offset < 0:
            raise ValueError("offset and size are at least 0")
        out = bytearray(size)
        self.read_into(out, offset)
        return bytes(out)

    def read_into(self, data, offset=0):
        """Fills an array from the device."""
        address, size, keeper, read_only = _args.pin(data)
        if read_only:
            raise ValueError("the array cannot be written")
        check(library.lw_buffer_read(self._handle, offset, address, size))
        del keeper

    def array(self, typecode):
        """The contents as an array.array: "f" for f32, "I" for u32, ..."""
        return array.array(typecode, self.read())

    def numpy(self, dtype):
        """The contents as a one-dimensional NumPy array."""
        import numpy

        return numpy.frombuffer(self.read(), dtype=dtype).copy()


Param, _param = _plain(
    _capi.ParamInfo,
    "A kernel's parameter; type is \"\" where only the size is known.",
    is_pointer=bool,
)


KernelInfo, _kernel_info = _plain(
    _capi.KernelInfo, "What a kernel asks of its launches: lw_kernel_info of lanewise.h."
)


class Module(_Handle):
    """A loaded program."""

    _release = library.lw_module_release

    def __repr__(self):
        return f"<lanewise.Module of {', '.join(self.kernels) or 'no kernel'}>"

    @property
    def kernels(self):
        count = library.lw_module_kernel_count(self._handle)
        return [library.lw_module_kernel_name(self._handle, i).decode() for i in range(count)]

    def kernel(self, name=None):
        """A kernel by name; without one the only kernel."""
        return Kernel(_made(library.lw_kernel_get, self._handle, _encoded(name)))

    __getitem__ = kernel

    def symbol(self, name):
        """Guest address and size in bytes of a module variable."""
        address, size = c.c_uint64(), c.c_uint64()
        check(library.lw_module_symbol(self._handle, _encoded(name), address, size))
        return address.value, size.value

    def write_symbol(self, name, data):
        address, size, keeper, _ = _args.pin(data)
        check(library.lw_module_write_symbol(self._handle, _encoded(name), address, size))
        del keeper

    def read_symbol(self, name):
        out = (c.c_char * self.symbol(name)[1])()
        check(library.lw_module_read_symbol(self._handle, _encoded(name), out, len(out)))
        return out.raw


class Kernel(_Handle):
    """One kernel of a module."""

    _release = library.lw_kernel_release

    def __repr__(self):
        return f"<lanewise.Kernel {self.name}({', '.join(p.name for p in self.params)})>"

    @property
    def name(self):
        return library.lw_kernel_name(self._handle).decode()

    @property
    def params(self):
        found = []
        for i in range(library.lw_kernel_param_count(self._handle)):
            p = _capi.ParamInfo()
            check(library.lw_kernel_param(self._handle, i, p))
            found.append(_param(p))
        return found

    @property
    def info(self):
        """What it asks of its launches: a KernelInfo."""
        out = _capi.KernelInfo()
        check(library.lw_kernel_get_info(self._handle, out))
        return _kernel_info(out)

    def launch(self, grid, block, *args, shared=0, memcheck="alloc", wave="auto", timeout=0.0,
               policies=None, cancel=None):  # fmt: skip
        """Runs to the end. Arguments: buffers, numbers (of NumPy and ctypes, too), lanewise.f32(...)
        and the like, bytes for a struct by value. Raises GuestError when lanes fault."""
        options = _options(grid, block, shared, memcheck, wave, timeout, policies, cancel)
        packed, keepers = _pack(args, self.params, host=False)
        out = c.c_void_p()
        status = library.lw_kernel_launch(self._handle, options, packed, len(args), c.byref(out))
        del keepers
        return _finish(status, out)

    def translate(self, what="ir", block=1):
        """What the translator makes of it: "ir", "ir-optimised", "spirv-text" (text) or "spirv" (bytes)."""
        kind = _number("EMIT_", what, "what")
        options = _options(1, block, 0, "alloc", "auto", 0.0, None, None)
        made = _blob(library.lw_kernel_translate, self._handle, options, kind)
        return made if what == "spirv" else made.decode()


def _argument(value, declared, host):
    """The C argument and what must live as long as the call."""
    if isinstance(value, Buffer):
        return _capi.Arg(kind=_capi.ARG_BUFFER, buffer=value._handle), value
    if isinstance(value, _args.Scalar):
        return _args.scalar(value), None
    if (single := _args.single(value, declared)) is not None:
        return single
    if isinstance(value, (int, float)):
        return _args.number(value, declared), None
    if isinstance(value, bytes):
        kept = c.create_string_buffer(value, len(value))
        return _capi.Arg(kind=_capi.ARG_BYTES, data=c.addressof(kept), size=len(value)), kept
    if not host:
        raise TypeError(
            f"{type(value).__name__} is no kernel argument: make a buffer of it "
            "(Device.buffer), or use lanewise.run"
        )
    if memoryview(value).ndim == 0:
        raise TypeError(f"{type(value).__name__} is neither an array nor a number")
    address, size, keeper, read_only = _args.pin(value)
    bits = _capi.HOST_READ_ONLY if read_only else 0
    return _capi.Arg(kind=_capi.ARG_HOST, data=address, size=size, bits=bits), keeper


def _pack(args, params, host):
    packed, keepers = (_capi.Arg * len(args))(), []
    for i, value in enumerate(args):
        declared = params[i].type if i < len(params) else ""
        packed[i], keeper = _argument(value, declared, host)
        keepers.append(keeper)
    return packed, keepers


Fault, _fault = _plain(_capi.Fault, "What one lane did wrong first: lw_fault of lanewise.h.")


class Result:
    """What a launch reports: times in milliseconds, faults, how lanes were laid out, and in
    `printed` what the kernel printed."""

    def __init__(self, handle):
        info = _capi.ResultInfo()
        check(library.lw_result_get_info(handle, info))
        self.fault_count = info.fault_count
        self.wave_mode, self.wave_reason = info.wave_mode.decode(), info.wave_reason.decode()
        self.times_ms = {
            step: getattr(info, step + "_ms") for step in ("parse", "translate", "pipeline", "dispatch")
        }
        self.policies = dict(
            line.split("=", 1) for line in info.policies.decode().splitlines()
        )
        self.printed = info.printed.decode(errors="replace")
        self.faults = []
        for i in range(info.reported_faults):
            raw = _capi.Fault()
            check(library.lw_result_fault(handle, i, raw))
            self.faults.append(_fault(raw))

    def __repr__(self):
        took = self.times_ms["dispatch"]
        return f"<lanewise.Result: {took:.3f} ms, {self.wave_mode} mode, {self.fault_count} faults>"


def _finish(status, out):
    result = None
    if out.value is not None:
        # Reading the result replaces the thread's last error, which is reported first.
        message, detail = library.lw_last_error(), library.lw_last_detail()
        try:
            result = Result(out.value)
        finally:
            library.lw_result_release(out.value)
        if status != 0:
            raise_error(status, message, detail, result)
    check(status)
    return result


def run(program, grid, block, *args, kernel=None, device=None, shared=0, memcheck="alloc",
        wave="auto", timeout=0.0, policies=None, cancel=None):  # fmt: skip
    """Runs one kernel of a program (text, a str) on arrays of the host and waits.

    Arrays (anything with a buffer: NumPy, array.array, bytearray) are copied to the device and back;
    read-only ones are not written back, and a kernel that writes to them is an error. NumPy's scalars
    and arrays without dimensions are numbers, as those of ctypes are. device None = the default one."""
    chosen = device if device is not None else _default_device()
    entry = _program(chosen, program).kernel(kernel)
    options = _options(grid, block, shared, memcheck, wave, timeout, policies, cancel)
    packed, keepers = _pack(args, entry.params, host=True)
    out = c.c_void_p()
    status = library.lw_run(
        chosen._handle, _encoded(program), _encoded(kernel), options, packed, len(args), c.byref(out)
    )
    del keepers
    return _finish(status, out)


_kept = {}


def _default_device():
    if "device" not in _kept:
        _kept["device"] = Device()
    return _kept["device"]


def _program(device, text):
    """The module of a text, for what its parameters are declared as. The last 64 are kept."""
    programs = _kept.setdefault("programs", {})
    key = (device._handle, text)
    if key not in programs:
        while len(programs) >= 64:
            programs.pop(next(iter(programs)))
        programs[key] = device.load(text)
    return programs[key]


class Cancel(_Handle):
    """Ends the launches it was given to, from another thread."""

    _release = library.lw_cancel_release

    def __init__(self):
        super().__init__(_made(library.lw_cancel_create))
        self._requested = False

    def __repr__(self):
        return f"<lanewise.Cancel, {'requested' if self._requested else 'not requested'}>"

    def request(self):
        check(library.lw_cancel_request(self._handle))
        self._requested = True


def _cache_options(presets, trace_file, policies=None, exact=False, profile=False, compare=False,
                   reuse=False, sets=False, shard=(0, 0), part_file=None, sample=0):  # fmt: skip
    pairs = _pairs(policies)
    return _capi.CacheOptions(
        flags=(_capi.CACHE_EXACT * exact | _capi.CACHE_PROFILE * profile
               | _capi.CACHE_COMPARE * compare | _capi.CACHE_REUSE * reuse
               | _capi.CACHE_SETS * sets),
        presets=_encoded(presets),
        trace_file=None if trace_file is None else _encoded(os.fspath(trace_file)),
        policies=pairs,
        policy_count=len(pairs),
        shard=shard[0],
        shards=shard[1],
        sample=sample,
        part_file=None if part_file is None else _encoded(os.fspath(part_file)),
    )  # fmt: skip


class Cache(_Handle):
    """The cache tracker's view of launches or of a trace.

    As a context manager it is finished at the end of the block."""

    _release = library.lw_cache_release

    def __repr__(self):
        return f"<lanewise.Cache, {self.events} events>"

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.finish()

    @classmethod
    def read(cls, path, presets=None, trace_file=None, policies=None, profile=False, compare=False,
             reuse=False, sets=False, shard=(0, 0), part_file=None, sample=0):  # fmt: skip
        """Of a recorded or imported trace; with a trace_file it is converted, too.

        profile: keep what the HTML report draws. compare: the same without hints and cache
        operators beside it. reuse: the miss ratio of every capacity. sets: how sets are used.
        shard: (I, N), of L2 the part I of N alone, which goes to part_file for merge(). sample: one
        L2 set in so many."""
        options = _cache_options(
            presets, trace_file, policies, False, profile, compare, reuse, sets, shard, part_file,
            sample,
        )
        return cls(_made(library.lw_cache_read, _encoded(os.fspath(path)), options))

    @classmethod
    def of_trace(cls, path, presets, profile=False):
        return cls.read(path, presets, profile=profile)

    @classmethod
    def merge(cls, part_files):
        """The parts that read() wrote, put together: reports are those of the trace read whole."""
        names = [_encoded(os.fspath(name)) for name in part_files]
        return cls(_made(library.lw_cache_merge, (c.c_char_p * len(names))(*names), len(names)))

    def finish(self):
        """Follows no more, and completes the trace file. What was seen can still be reported."""
        check(library.lw_cache_finish(self._handle))

    def report(self, format="json"):
        """What was seen so far: "txt", "json", "csv", "sarif" or "html"."""
        return _blob(library.lw_cache_report, self._handle, _encoded(format)).decode()

    def matches(self, rule):
        """True when a finding matches: "H1", "E" (errors), "W" (errors and warnings) or "any"."""
        out = c.c_int()
        check(library.lw_cache_matches(self._handle, _encoded(rule), c.byref(out)))
        return out.value != 0

    def _info(self):
        info = _capi.CacheInfo()
        check(library.lw_cache_get_info(self._handle, c.byref(info)))
        return info

    @property
    def events(self):
        """Of the trace that was read."""
        return self._info().events

    @property
    def warnings(self):
        """What is to be reported of the trace that was read; the last says where it ends too early."""
        info = self._info()
        reported = [library.lw_cache_warning(self._handle, i).decode() for i in range(info.warnings)]
        return reported if info.complete else [*reported, info.note.decode()]


def cache_presets():
    """The names of all presets and what they are."""
    rows = _blob(library.lw_cache_preset, None, None).decode()
    return dict(line.split("\t") for line in rows.splitlines())


def check_program(program, isa=None, target=None, name=None, strict="ptxas"):
    """Parses and validates; raises GuestError with every defect. Returns warnings as (line, column,
    message)."""
    if strict not in ("ptxas", "manual"):
        raise ValueError("strict: ptxas or manual was expected")
    data = program.encode() if isinstance(program, str) else bytes(program)
    options = _capi.ModuleOptions(
        isa=_encoded(isa), target=_encoded(target), name=_encoded(name), strict=strict == "manual"
    )
    check(library.lw_check(data, len(data), options, None))
    return diagnostics()


def assemble(text, isa, target=None, kernel=None):
    """The machine code of SASS or GCN text."""
    data = text.encode()
    options = _capi.CodeOptions(
        isa=_encoded(isa), target=_encoded(target), kernel=_encoded(kernel)
    )
    return _blob(library.lw_assemble, data, len(data), options)


def disassemble(code, isa=None, target=None, kernel=None, raw=False):
    """The text of a cubin or code object, or with raw of machine code alone."""
    data = bytes(code)
    options = _capi.CodeOptions(
        isa=_encoded(isa), target=_encoded(target), kernel=_encoded(kernel),
        flags=_capi.CODE_RAW if raw else 0,
    )  # fmt: skip
    return _blob(library.lw_disassemble, data, len(data), options).decode()


def coverage(isa, form=None, target=None):
    """How well instruction forms are supported: rows (form, state, note)."""
    rows = _blob(library.lw_coverage, _encoded(isa), _encoded(target), _encoded(form)).decode()
    return [tuple(line.split("\t")) for line in rows.splitlines()]


def version():
    return library.lw_version().decode()
