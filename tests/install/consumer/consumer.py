"""The Python package from an installed tree: the same as consumer.c."""

import array
import sys

import lanewise

device = lanewise.Device(sys.argv[2])
kernel = device.load_file(sys.argv[1])["saxpy"]
x = device.buffer(array.array("f", range(1000)))
y = device.buffer(4000, "y")
kernel.launch(4, 256, 1000, 2.0, x, y)
print("sum", round(sum(y.array("f"))))
