"""From Python values to kernel arguments."""

import ctypes as c
import struct

from . import _capi

_FORMATS = {
    "u8": "B", "u16": "H", "u32": "I", "u64": "Q",
    "s8": "b", "s16": "h", "s32": "i", "s64": "q",
    "f16": "e", "f32": "f", "f64": "d",
}  # fmt: skip


class Scalar:
    """A number of a type of its own: lanewise.f32(2.5), lanewise.u8(7)."""

    def __init__(self, type_name, value):
        self.type, self.value = type_name, value
        try:
            self.packed = struct.pack("<" + _FORMATS[type_name], value)
        except (struct.error, OverflowError) as error:
            raise ValueError(f"{value!r} does not fit {type_name}: {error}") from None

    def __repr__(self):
        return f"lanewise.{self.type}({self.value!r})"


def _maker(type_name):
    def make(value):
        return Scalar(type_name, value)

    make.__name__ = type_name
    make.__doc__ = f"A kernel argument of type {type_name}."
    return make


u8, u16, u32, u64 = map(_maker, ("u8", "u16", "u32", "u64"))
i8, i16, i32, i64 = map(_maker, ("s8", "s16", "s32", "s64"))
f16, f32, f64 = map(_maker, ("f16", "f32", "f64"))


def scalar(value):
    kinds = {"u": _capi.ARG_UNSIGNED, "s": _capi.ARG_SIGNED, "f": _capi.ARG_FLOAT}
    bits = int.from_bytes(value.packed.ljust(8, b"\0"), "little")
    return _capi.Arg(kind=kinds[value.type[0]], bits=bits, size=len(value.packed))


def number(value, declared):
    """An int or float, by what the kernel says of the parameter ("" = only its size is known)."""
    if isinstance(value, float):
        if declared.startswith("f"):
            return scalar(Scalar(declared, value))
        if declared:
            return scalar(Scalar("f64", value))  # the library says that it does not fit
        raise TypeError(
            "a parameter of unknown type takes no plain float: say lanewise.f32(...) or f64(...)"
        )
    return scalar(Scalar("s64" if value < 1 << 63 else "u64", int(value)))


def _bytes(data):
    kept = c.create_string_buffer(data, len(data))
    return _capi.Arg(kind=_capi.ARG_BYTES, data=c.addressof(kept), size=len(data)), kept


def _real(value, declared, own):
    """A float of type `own`, which becomes what the parameter is declared as, as a float does."""
    if declared.startswith("f"):
        return number(float(value), declared)
    if own is None:
        return number(float(value), "f64" if declared else "")
    return scalar(Scalar(own, float(value)))


def _numpy_scalar(value, declared):
    """Of a dtype: NumPy's own ones, and those of packages that add some (bfloat16)."""
    kind, size, name = value.dtype.kind, value.dtype.itemsize, str(value.dtype)
    if kind == "b":
        return scalar(Scalar("u8", int(value))), None
    if kind in "iu" and size <= 8:
        return scalar(Scalar(f"{'s' if kind == 'i' else 'u'}{8 * size}", int(value))), None
    if name.startswith(("bfloat", "float8")):
        if declared.startswith("f"):
            return number(float(value), declared), None
        return _bytes(value.tobytes())  # parameters of such a type are declared by their size
    if kind == "f":
        return _real(value, declared, f"f{8 * size}" if size <= 8 else None), None
    if kind == "V" and value.dtype.fields is not None:
        return _bytes(value.tobytes())
    raise TypeError(f"a value of dtype {name} is no kernel argument")


def _ctypes_value(value, declared):
    if isinstance(value, (c.Structure, c.Union)):
        return _bytes(bytes(value))
    view, plain = memoryview(value), value.value
    code, bits = view.format[-1], 8 * view.nbytes
    if code in "?bBhHiIlLqQ":
        signed = code.islower()
        return scalar(Scalar(f"{'s' if signed else 'u'}{bits}", int(plain))), None
    if code in "fdg":
        return _real(plain, declared, f"f{bits}" if bits <= 64 else None), None
    if code == "P":  # an address, a number like others
        return scalar(Scalar("u64", plain or 0)), None
    raise TypeError(f"{type(value).__name__} is no kernel argument")


def single(value, declared):
    """The C argument of an object that holds one value, and what must live as long as the call:
    scalars and arrays without dimensions of NumPy, ctypes. None for everything else."""
    if hasattr(value, "dtype") and getattr(value, "shape", None) == ():
        return _numpy_scalar(value, declared)
    if isinstance(value, (c.Structure, c.Union, c._SimpleCData)):
        return _ctypes_value(value, declared)
    return None


def pin(data):
    """Address and bytes of an object with a buffer, what keeps it there, and whether it may be
    written. Needs one range of memory without gaps."""
    view = memoryview(data)
    if not view.contiguous:
        raise ValueError("an array whole was expected (NumPy: ascontiguousarray)")
    if view.nbytes == 0:
        return 0, 0, view, view.readonly
    flat = view.cast("B") if view.ndim != 1 or view.format != "B" else view
    if not view.readonly:
        keeper = (c.c_char * view.nbytes).from_buffer(flat)
        return c.addressof(keeper), view.nbytes, keeper, False
    # ctypes takes the address of writable memory alone; Python's own C API gives any.
    raw = _PyBuffer()
    c.pythonapi.PyObject_GetBuffer(c.py_object(flat), c.byref(raw), 0)
    return raw.buf, view.nbytes, _Released(raw, flat), True


class _PyBuffer(c.Structure):
    _fields_ = [
        ("buf", c.c_void_p), ("obj", c.py_object), ("len", c.c_ssize_t),
        ("itemsize", c.c_ssize_t), ("readonly", c.c_int), ("ndim", c.c_int),
        ("format", c.c_char_p), ("shape", c.c_void_p), ("strides", c.c_void_p),
        ("suboffsets", c.c_void_p), ("internal", c.c_void_p),
    ]  # fmt: skip


class _Released:
    def __init__(self, raw, view):
        self.raw, self.view = raw, view

    def __del__(self):
        c.pythonapi.PyBuffer_Release(c.byref(self.raw))
