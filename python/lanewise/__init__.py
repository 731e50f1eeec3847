"""Lanewise: run foreign GPU kernels on any Vulkan device.

    import array, lanewise
    x = array.array("f", [1, 2, 3, 4])
    lanewise.run(ptx_text, 1, 4, x, 10.0, 4, kernel="scale")   # x holds the results

    device = lanewise.Device()
    kernel = device.load_file("scale.ptx")["scale"]
    buffer = device.buffer(x)
    kernel.launch(1, 4, buffer, 10.0, 4)
    print(buffer.array("f"))

    with device.queue() as queue:                              # work runs while the caller goes on
        queue.launch(kernel, 1, 4, buffer, 10.0, 4)
        bytes_of_it = queue.read(buffer)
    print(bytes_of_it.wait())
"""

from ._args import Scalar, f16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64
from ._errors import BudgetError, DeviceError, Error, GuestError, UsageError
from ._objects import (
    Buffer,
    Cache,
    Cancel,
    Device,
    DeviceInfo,
    Fault,
    Kernel,
    KernelInfo,
    Module,
    Param,
    Result,
    assemble,
    cache_presets,
    check_program,
    coverage,
    devices,
    disassemble,
    run,
    version,
)
from ._queues import Event, Queue

__version__ = version()
