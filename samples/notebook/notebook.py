# A notebook as a plain script: editors that know "# %%" (VS Code, Spyder, PyCharm, Jupytext) run it cell
# by cell, and python3 runs it from top to bottom. It needs nothing but the Python package; with NumPy the
# arrays may be NumPy's.

# %% [markdown]
# # Kernels without a GPU
# A kernel that nvcc compiled runs on arrays of this process.

# %%
import array
import json
import pathlib

import lanewise

kernels = pathlib.Path(__file__).resolve().parent.parent / "kernels"
saxpy = (kernels / "saxpy.ptx").read_text()
for device in lanewise.devices():
    print(f"{device.name:40.40}  {device.type}")

# %% [markdown]
# ## One call
# `run` copies the arrays to the device, runs the kernel and copies them back.

# %%
n = 1000
x = array.array("f", range(n))
y = array.array("f", [1] * n)
result = lanewise.run(saxpy, 4, 256, n, 0.5, x, y)
print("y[10] =", y[10], "in", result.wave_mode, "mode")
assert list(y) == [0.5 * i + 1 for i in range(n)]

# %% [markdown]
# ## What does the kernel take?

# %%
device = lanewise.Device("reference")
kernel = device.load(saxpy)["saxpy"]
for p in kernel.params:
    print(f"{p.name}: {p.type}, {p.size} bytes at {p.offset}")

# %% [markdown]
# ## A mistake, and what is reported about it
# The kernel is launched as if the arrays had two elements more than they have. Every other element is
# computed; the report names the instruction, the lane and the array.

# %%
buffer_x, buffer_y = device.buffer(x, "x"), device.buffer(y, "y")
try:
    kernel.launch(4, 256, n + 2, 0.5, buffer_x, buffer_y)
    raise SystemExit("no fault was found")
except lanewise.GuestError as error:
    faults = error.result.faults
    print(faults[0].report)
assert len(faults) == 2 and faults[0].nearest_allocation.startswith("'x'")

# %% [markdown]
# ## What would the caches of a GPU do?

# %%
cache = device.cache("gv100")
kernel.launch(4, 256, n, 0.5, buffer_x, buffer_y)
report = json.loads(cache.report("json"))
print("the tracker's report has:", ", ".join(sorted(report)))
print(cache.report("txt"))

# %% [markdown]
# ## What is not supported?
# The table that runs the instructions can be asked.

# %%
for form in ("ld.global.v4.f32", "tex.2d.v4.f32.s32"):
    rows = lanewise.coverage("ptx", form)
    print(form, "->", rows[0][1] if rows else "unknown")
