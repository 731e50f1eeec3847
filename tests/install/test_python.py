"""The Python package, on the device that LANEWISE_TEST_DEVICE names."""

import array
import ctypes
import os
import pathlib
import struct
import tempfile
import threading
import time
import unittest

import lanewise

DEVICE = os.environ.get("LANEWISE_TEST_DEVICE", "reference")
HEADER = ".version 7.5\n.target sm_75\n.address_size 64\n"
SCALE = HEADER + """
.visible .entry scale(.param .u64 p, .param .f32 a, .param .u32 n)
{
  .reg .pred %q; .reg .b32 %r<6>; .reg .f32 %f<5>; .reg .b64 %d<4>;
  ld.param.u64 %d1, [p];
  ld.param.f32 %f1, [a];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %q, %r5, %r1;
  @%q bra done;
  mul.wide.u32 %d2, %r5, 4;
  add.u64 %d3, %d1, %d2;
  ld.global.f32 %f2, [%d3];
  cvt.rn.f32.u32 %f3, %r5;
  fma.rn.f32 %f4, %f2, %f1, %f3;
  st.global.f32 [%d3], %f4;
done:
  ret;
}
"""
STRUCT = HEADER + """
.visible .entry first(.param .align 4 .b8 pair[8], .param .u64 out)
{
  .reg .b32 %r; .reg .b64 %d;
  ld.param.u32 %r, [pair+4];
  ld.param.u64 %d, [out];
  st.global.u32 [%d], %r;
  ret;
}
"""
ENDLESS = HEADER + """
.visible .entry endless(.param .u64 p)
{
  .reg .b32 %r; .reg .b64 %d; .reg .pred %q;
  ld.param.u64 %d, [p];
again:
  ld.volatile.global.u32 %r, [%d];
  add.u32 %r, %r, 1;
  st.volatile.global.u32 [%d], %r;
  setp.ne.u32 %q, %r, 0;
  @%q bra again;
  ret;
}
"""


ECHO = HEADER + """
.visible .entry as_{0}(.param .{0} v, .param .u64 out)
{{
  .reg .{1} %v; .reg .b64 %d;
  ld.param.{1} %v, [v];
  ld.param.u64 %d, [out];
  st.global.{1} [%d], %v;
  ret;
}}
"""


class Typed:
    """What NumPy's scalars, arrays without dimensions and packages with more types look like."""

    shape = ()

    class Dtype:
        fields = None

        def __init__(self, name, kind, itemsize):
            self.name, self.kind, self.itemsize = name, kind, itemsize

        def __str__(self):
            return self.name

    def __init__(self, value, name, kind, itemsize):
        self.value, self.dtype = value, self.Dtype(name, kind, itemsize)

    def __int__(self):
        return int(self.value)

    def __float__(self):
        return float(self.value)

    def tobytes(self):
        return struct.pack("<f", self.value)[2:]  # of a bfloat16


def floats(*values):
    return array.array("f", values)


class Numbers(unittest.TestCase):
    """Everything that holds one value is a number, never an array."""

    @classmethod
    def setUpClass(cls):
        cls.device = lanewise.Device(DEVICE)

    def arrives(self, declared, value):
        """The bytes of the parameter, by lanewise.run and by launch()."""
        text = ECHO.format(declared, {"f32": "b32", "f64": "b64"}.get(declared, declared))
        out = bytearray(int(declared[1:]) // 8)
        lanewise.run(text, 1, 1, value, out, device=self.device)
        buffer = self.device.buffer(bytes(len(out)))
        self.device.load(text).kernel().launch(1, 1, value, buffer)
        self.assertEqual(buffer.read(), bytes(out))
        return bytes(out)

    def check(self, declared, value, code, expected):
        self.assertEqual(self.arrives(declared, value), struct.pack("<" + code, expected), repr(value))

    def refuses(self, declared, value, error=lanewise.Error):
        with self.assertRaises(error):
            self.arrives(declared, value)

    def test_values_with_a_dtype(self):
        self.check("u32", Typed(3, "int32", "i", 4), "I", 3)
        self.check("u32", Typed(-3, "int8", "i", 1), "i", -3)
        self.check("u64", Typed(2**64 - 1, "uint64", "u", 8), "Q", 2**64 - 1)
        self.check("u16", Typed(40000, "int64", "i", 8), "H", 40000)
        self.check("u32", Typed(True, "bool", "b", 1), "I", 1)
        for name, size in (("float16", 2), ("float32", 4), ("float64", 8), ("longdouble", 16)):
            self.check("f32", Typed(1.5, name, "f", size), "f", 1.5)
            self.check("f64", Typed(1.5, name, "f", size), "d", 1.5)
            self.refuses("u64", Typed(1.5, name, "f", size))
        for kind in "fV":  # packages differ in the kind
            self.check("b16", Typed(1.5, "bfloat16", kind, 2), "H", 0x3FC0)
            self.check("f32", Typed(1.5, "bfloat16", kind, 2), "f", 1.5)
        self.refuses("u16", Typed(70000, "int32", "i", 4))
        self.refuses("f32", Typed(3, "int32", "i", 4))
        self.refuses("u64", Typed(3, "datetime64[s]", "M", 8), TypeError)
        self.refuses("u64", Typed(3, "complex64", "c", 8), TypeError)

    def test_values_of_ctypes(self):
        self.check("u32", ctypes.c_int(-3), "i", -3)
        self.check("u64", ctypes.c_uint8(200), "Q", 200)
        self.check("u16", ctypes.c_longlong(-1), "h", -1)
        self.check("u32", ctypes.c_bool(True), "I", 1)
        self.check("f32", ctypes.c_float(1.5), "f", 1.5)
        self.check("f64", ctypes.c_float(1.5), "d", 1.5)
        self.check("f32", ctypes.c_double(1.5), "f", 1.5)
        self.check("f64", ctypes.c_longdouble(1.5), "d", 1.5)
        self.check("u64", ctypes.c_void_p(0x1234), "Q", 0x1234)
        self.check("u64", ctypes.c_void_p(), "Q", 0)
        self.refuses("u16", ctypes.c_int(70000))
        self.refuses("f32", ctypes.c_int(3))
        self.refuses("u32", ctypes.c_float(3))
        for value in (ctypes.c_char(b"x"), ctypes.py_object(3), ctypes.pointer(ctypes.c_int(3))):
            self.refuses("u64", value, TypeError)

        class Pair(ctypes.Structure):
            _fields_ = [("a", ctypes.c_uint32), ("b", ctypes.c_uint32)]

        self.check("b64", Pair(1, 2), "Q", 1 | 2 << 32)

    def test_buffers_and_arrays_are_no_numbers(self):
        for declared in ("u32", "f32", "u16", "f64"):
            text = ECHO.format(declared, {"f32": "b32", "f64": "b64"}.get(declared, declared))
            out = bytearray(8)
            with self.assertRaisesRegex(lanewise.Error, "takes no pointer"):
                lanewise.run(text, 1, 1, array.array("i", [3]), out, device=self.device)
            b = self.device.buffer(array.array("i", [3]))
            with self.assertRaisesRegex(lanewise.Error, "takes no pointer"):
                self.device.load(text).kernel().launch(1, 1, b, b)

    def test_numpy(self):
        try:
            import numpy as np
        except ImportError:
            self.skipTest("NumPy is not installed")
        for dtype in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64):
            self.check("u32", dtype(3), "I", 3)
            self.check("u64", np.array(3, dtype), "Q", 3)
        self.check("u32", np.bool_(True), "I", 1)
        self.check("u32", np.array(7, ">i4"), "I", 7)
        for dtype in (np.float16, np.float32, np.float64, np.longdouble):
            self.check("f32", dtype(1.5), "f", 1.5)
            self.check("f64", np.array(1.5, dtype), "d", 1.5)
        self.refuses("u16", np.int32(70000))
        self.refuses("u32", np.int64(2**40))
        self.refuses("u32", np.float32(3))
        self.refuses("u32", np.complex64(3), TypeError)
        pair = np.array((1, 2), [("a", "<u4"), ("b", "<u4")])
        self.check("b64", pair, "Q", 1 | 2 << 32)
        self.check("b64", pair[()], "Q", 1 | 2 << 32)


class Launches(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.device = lanewise.Device(DEVICE)
        cls.scale = cls.device.load(SCALE)["scale"]

    def test_buffers_and_results(self):
        x = self.device.buffer(floats(1, 2, 3, 4))
        self.assertEqual(len(x), 16)
        result = self.scale.launch(1, 4, x, 10.0, 4)
        self.assertEqual(list(x.array("f")), [10, 21, 32, 43])
        self.assertEqual(result.fault_count, 0)
        self.assertEqual(result.wave_mode, "lane")
        self.assertEqual(result.policies["ptx.align"], "trap")
        self.assertGreater(result.times_ms["dispatch"], 0)

    def test_parameters(self):
        names = [(p.name, p.type, p.size) for p in self.scale.params]
        self.assertEqual(names, [("p", "u64", 8), ("a", "f32", 4), ("n", "u32", 4)])
        self.assertEqual(self.scale.name, "scale")

    def test_parts_of_buffers(self):
        x = self.device.buffer(16, "x")
        x.write(floats(5), offset=8)
        self.assertEqual(struct.unpack("f", x.read(4, 8)), (5,))
        into = floats(0, 0, 0, 0)
        x.read_into(into)
        self.assertEqual(list(into), [0, 0, 5, 0])
        with self.assertRaises(lanewise.UsageError) as caught:
            x.write(floats(1), offset=13)
        self.assertEqual(caught.exception.detail, 27)
        with self.assertRaises(ValueError):
            x.read_into(b"1234")

    def test_arguments_of_the_wrong_kind(self):
        x = self.device.buffer(16)
        for args in [(x, 1, 4), (x, 1.0), (x, 1.0, 2.0), (x, 1.0, 1 << 32), (1.5, 1.0, 4)]:
            with self.subTest(args=args), self.assertRaises(lanewise.UsageError):
                self.scale.launch(1, 4, *args)
        with self.assertRaises(TypeError):
            self.scale.launch(1, 4, floats(1), 1.0, 4)
        with self.assertRaises(ValueError):
            self.scale.launch(0, 4, x, 1.0, 4)
        with self.assertRaises(ValueError):
            lanewise.u8(256)
        other = lanewise.Device("reference").buffer(16)
        with self.assertRaises(lanewise.UsageError) as caught:
            self.scale.launch(1, 4, other, 1.0, 4)
        self.assertEqual(caught.exception.detail, 24)

    def test_scalars_of_a_type_and_structs(self):
        x = self.device.buffer(floats(1, 1))
        self.scale.launch(1, 2, x, lanewise.f32(4), lanewise.u64(2))
        self.assertEqual(list(x.array("f")), [4, 5])
        out = self.device.buffer(4)
        self.device.load(STRUCT).kernel().launch(1, 1, struct.pack("<II", 7, 9), out)
        self.assertEqual(list(out.array("I")), [9])

    def test_faults_carry_the_report(self):
        short = self.device.buffer(8, "short one")
        with self.assertRaises(lanewise.GuestError) as caught:
            self.scale.launch(1, 4, short, 1.0, 4, memcheck="alloc")
        error = caught.exception
        self.assertEqual(error.result.fault_count, 2)
        fault = error.result.faults[0]
        self.assertEqual((fault.kind, fault.lane, fault.size), ("out_of_range", 2, 4))
        self.assertIn("short one", fault.report)
        self.assertEqual((fault.allocation, fault.parameter), ("short one", "p"))
        self.assertIs(fault.allocation_freed, False)
        self.assertEqual(fault.group, (0, 0, 0))
        self.assertEqual((fault.called_from, fault.source, fault.allocation_size), ("", "", 8))
        self.assertIn("2 lanes faulted", str(error))

    def test_threads_share_a_device(self):
        right = []

        def work(n):
            for turn in range(10):
                x = self.device.buffer(floats(*[turn] * n))
                self.scale.launch(1, n, x, float(n), n)
                right.append(list(x.array("f")) == [turn * n + i for i in range(n)])

        threads = [threading.Thread(target=work, args=(n,)) for n in (3, 5, 7, 9)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(right, [True] * 40)

    def test_cancelling(self):
        device = lanewise.Device("reference")
        kernel = device.load(ENDLESS).kernel()
        cancel = lanewise.Cancel()
        threading.Timer(0.2, cancel.request).start()
        start = time.monotonic()
        with self.assertRaises(lanewise.BudgetError) as caught:
            kernel.launch(1, 1, device.buffer(4), cancel=cancel, timeout=60,
                          policies={"steps": "unlimited"})  # fmt: skip
        self.assertEqual(caught.exception.detail, 62)
        self.assertLess(time.monotonic() - start, 30)

    def test_closed_devices(self):
        device = lanewise.Device(DEVICE)
        x = device.buffer(4)
        device.close()
        device.close()  # once more is no harm
        with self.assertRaises(lanewise.UsageError) as caught:
            x.read()
        self.assertEqual(caught.exception.detail, 30)
        self.assertEqual(device.info.int64 in (0, 1), True)


class Queues(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.device = lanewise.Device(DEVICE)
        cls.kernel = cls.device.load(SCALE)["scale"]

    def test_work_runs_in_order(self):
        data, steps = floats(*[1.0] * 64), []
        with self.device.queue() as queue:
            buffer = self.device.buffer(256)
            queue.write(buffer, data)
            data[0] = 50.0  # it was copied
            launched = queue.launch(self.kernel, 1, 64, buffer, 2.0, 64)
            seen = queue.call(lambda: steps.append(launched.done()))
            read, some = queue.read(buffer), queue.read(buffer, 8, 248)
            into = floats(*[0.0] * 64)
            queue.read_into(buffer, into)
            del buffer
        self.assertEqual(list(into), [2.0 + n for n in range(64)])
        self.assertEqual(read.wait(), into.tobytes())
        self.assertEqual(some.wait(), into.tobytes()[248:])
        self.assertIsInstance(launched.wait(), lanewise.Result)
        self.assertIsNone(seen.wait())
        self.assertEqual(steps, [True])
        began, ended = launched.times_ns
        self.assertLessEqual(began, ended)
        self.assertLessEqual(ended, time.monotonic_ns())

    def test_events_order_queues(self):
        buffer, order = self.device.buffer(floats(1.0)), []
        with self.device.queue() as first, self.device.queue() as second:
            def late():
                time.sleep(0.05)
                order.append("first")
            event = first.call(late)
            self.assertFalse(event.done())
            self.assertIn("not done", repr(event))
            second.after(event)
            second.call(lambda: order.append("second"))
        self.assertEqual(order, ["first", "second"])
        self.assertTrue(event.done())

    def test_errors_come_out_of_wait(self):
        queue = self.device.queue()
        small = self.device.buffer(16, "small")
        faulty = queue.launch(self.kernel, 1, 64, small, 2.0, 64)
        outside = queue.read(small, 4, 16)
        raising = queue.call(lambda: 1 // 0)
        with self.assertRaises(lanewise.GuestError) as caught:
            faulty.wait()
        self.assertEqual(caught.exception.result.faults[0].kind, "out_of_range")
        with self.assertRaises(lanewise.UsageError):
            outside.wait()
        with self.assertRaises(ZeroDivisionError):
            raising.wait()
        with self.assertRaises(ValueError):
            queue.read_into(small, b"1234")
        self.assertEqual(len(queue.read(small).wait()), 16)  # the queue goes on

    def test_texts(self):
        with lanewise.Device(DEVICE) as device:
            name = device.info.name
            self.assertEqual(repr(device), f"<lanewise.Device {name!r}>")
            self.assertRegex(repr(device.buffer(8)), "Buffer at 0x[0-9a-f]+, 8 bytes")
            module = device.load(SCALE)
            self.assertEqual(repr(module), "<lanewise.Module of scale>")
            self.assertEqual(repr(module["scale"]), "<lanewise.Kernel scale(p, a, n)>")
            result = module["scale"].launch(1, 1, device.buffer(4), 1.0, 1)
            self.assertRegex(repr(result), r"ms, \w+ mode, 0 faults")
            info = module["scale"].info
            self.assertEqual((info.isa, info.target, info.param_bytes, info.block), ("ptx", "sm_75", 16, (0, 0, 0)))
            with device.cache("gv100") as cache:
                module["scale"].launch(1, 1, device.buffer(4), 1.0, 1)
            self.assertRegex(repr(cache), r"<lanewise.Cache, \d+ events>")
            self.assertIn("gv100", cache.report("txt"))
            cancel = lanewise.Cancel()
            self.assertEqual(repr(cancel), "<lanewise.Cancel, not requested>")
            cancel.request()
            self.assertEqual(repr(cancel), "<lanewise.Cancel, requested>")
            buffer = device.buffer(4)
        with self.assertRaises(lanewise.UsageError):
            buffer.read()  # the block has closed it


class Run(unittest.TestCase):
    def setUp(self):
        self.device = lanewise.Device(DEVICE)

    def test_arrays_of_the_host(self):
        for kind in (floats, lambda *v: bytearray(floats(*v)), lambda *v: memoryview(floats(*v))):
            x = kind(1, 2, 3, 4)
            lanewise.run(SCALE, 2, 2, x, 10.0, 4, device=self.device)
            self.assertEqual(struct.unpack("4f", bytes(x)), (10, 21, 32, 43))

    def test_the_default_device(self):
        x = floats(1, 2)
        result = lanewise.run(SCALE, 1, 2, x, 3.0, 2, kernel="scale")
        self.assertEqual(list(x), [3, 7])
        self.assertEqual(result.faults, [])

    def test_read_only_arrays_stay_as_they_are(self):
        x = memoryview(floats(1, 2).tobytes())
        with self.assertRaises(lanewise.GuestError):
            lanewise.run(SCALE, 1, 2, x, 3.0, 2, device=self.device)
        self.assertEqual(struct.unpack("2f", x), (1, 2))

    def test_numpy(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("NumPy is not installed")
        x = numpy.arange(4, dtype=numpy.float32)
        lanewise.run(SCALE, 1, 4, x, 10.0, 4, device=self.device)
        self.assertEqual(x.tolist(), [0, 11, 22, 33])
        buffer = self.device.buffer(x)
        self.assertEqual(buffer.numpy("f4").tolist(), [0, 11, 22, 33])
        with self.assertRaises(ValueError):
            lanewise.run(SCALE, 1, 2, x[::2], 1.0, 2, device=self.device)


class Programs(unittest.TestCase):
    def test_rejected_programs_list_their_defects(self):
        bad = SCALE.replace("fma.rn.f32", "frobnicate")
        for load in (lanewise.Device("reference").load, lanewise.check_program):
            with self.assertRaises(lanewise.GuestError) as caught:
                load(bad, isa="ptx", name="bad.ptx")
            line, column, message = caught.exception.diagnostics[0]
            self.assertEqual((line, column), (21, 3))
            self.assertIn("frobnicate", message)
        self.assertEqual(lanewise.check_program(SCALE), [])

    def test_unknown_names(self):
        device = lanewise.Device("reference")
        with self.assertRaises(lanewise.UsageError) as caught:
            device.load(SCALE)["nope"]
        self.assertIn("there are: scale", str(caught.exception))
        with self.assertRaises(lanewise.DeviceError) as caught:
            lanewise.Device("no such device")
        self.assertEqual(caught.exception.detail, 43)

    def test_symbols(self):
        module = lanewise.Device(DEVICE).load(
            HEADER + ".global .u32 t[2] = {1, 2};\n.visible .entry k() { ret; }\n"
        )
        self.assertEqual(module.kernels, ["k"])
        self.assertEqual(module.symbol("t")[1], 8)
        module.write_symbol("t", struct.pack("I", 9))
        self.assertEqual(struct.unpack("2I", module.read_symbol("t")), (9, 2))

    def test_translating(self):
        kernel = lanewise.Device("reference").load(SCALE).kernel()
        self.assertIn("ffma", kernel.translate("ir"))
        with self.assertRaises(lanewise.UsageError):
            kernel.translate("spirv", block=4)
        with self.assertRaises(ValueError):
            kernel.translate("elf")

    def test_assembling(self):
        code = lanewise.assemble("s_mov_b32 s0, 1\ns_endpgm\n", "gcn", "gfx803")
        self.assertEqual(code.hex(), "810080be000081bf")
        text = lanewise.disassemble(code, "gcn", "gfx803", raw=True)
        self.assertIn("s_mov_b32 s0, 1\n", text)

    def test_coverage(self):
        self.assertEqual(lanewise.coverage("ptx", "ld.global.v4.f32")[0][:2],
                         ("ld.global.v4.f32", "exact"))  # fmt: skip
        self.assertGreater(len(lanewise.coverage("sass")), 100)

    def test_cache_tracker(self):
        device = lanewise.Device(DEVICE)
        cache = device.cache("gv100")
        device.load(SCALE).kernel().launch(4, 256, device.buffer(4000), 1.0, 1000)
        self.assertIn("ld.global.f32", cache.report("csv"))

    def test_traces(self):
        with tempfile.TemporaryDirectory() as folder:
            trace, lines = os.path.join(folder, "a.lwt"), pathlib.Path(folder, "a.din")
            device = lanewise.Device(DEVICE)
            cache = device.cache("gv100,sm50-silicon", trace_file=trace, compare=True)
            device.load(SCALE).kernel().launch(4, 256, device.buffer(4000), 1.0, 1000)
            cache.finish()
            read = lanewise.Cache.read(trace, "gv100,sm50-silicon", compare=True, trace_file=lines)
            self.assertEqual(read.report("csv"), cache.report("csv"))
            self.assertEqual(len(lines.read_text().splitlines()), 2000)
            self.assertGreater(read.events, 0)
            self.assertEqual(read.warnings, [])
            self.assertEqual(read.matches("any"), cache.matches("any"))
            with self.assertRaises(lanewise.UsageError):
                read.matches("H99")
            with self.assertRaises(lanewise.UsageError):
                lanewise.Cache.read(trace, "gv100", policies={"trace.resident": "none"})
            with self.assertRaises(lanewise.UsageError):
                device.cache()
            device.cache(trace_file=trace).finish()
        self.assertIn("gv100", lanewise.cache_presets())

    def test_devices(self):
        found = lanewise.devices()
        self.assertEqual(found[-1].name, "reference")
        self.assertIsNone(found[-1].index)
        self.assertEqual(lanewise.__version__, "0.1.0")


if __name__ == "__main__":
    unittest.main()
