"""What both drivers share: inputs, the host's values, and the tools that a run needs."""
import ctypes
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

PTXAS = os.environ.get("PTXAS", "ptxas")
DEVICE = os.environ.get("LANEWISE_TEST_DEVICE", "reference")
SKIPPED = 77  # the exit code of a test that cannot run here
_folder = tempfile.TemporaryDirectory()


def path(name):
    return os.path.join(_folder.name, name)


def write(name, text):
    with open(path(name), "w") as file:
        file.write(text)
    return path(name)


def run(*command, **how):
    subprocess.run(command, check=True, **how)


def need(*tools):
    """Ends the program where one of them is not installed, or ptxas knows no Maxwell (CUDA 13)."""
    for tool in tools:
        if shutil.which(tool) is None:
            print(tool, "is not installed")
            sys.exit(SKIPPED)
    if (
        PTXAS in tools
        and "sm_50" not in subprocess.run([PTXAS, "--help"], capture_output=True, text=True).stdout
    ):
        print(PTXAS, "knows no sm_50")
        sys.exit(SKIPPED)


def words(seed, count):
    """Random words, half of them with an edge of some type in each half."""
    edges = [0, 1, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000]
    edges += [0xFFFFFFFF, 0xFF80, 0xFF7F, 0x8001, 0x1234]
    r = random.Random(seed)

    def word():
        if r.random() >= 0.5:
            return r.getrandbits(32)
        low = r.choice(edges)
        return (low | (r.choice(edges) << 16 if r.random() < 0.5 else 0)) & 0xFFFFFFFF

    return [word() for _ in range(count)]


def array(values):
    return (ctypes.c_uint32 * len(values))(*values)


def unpacked(data):
    return list(struct.unpack(f"<{len(data) // 4}I", data))


class Host:
    """A C file that gives run_all(program, in, out, slots), compiled and loaded."""

    count = 0

    def __init__(self, text, *flags):
        Host.count += 1  # a library's name may not come twice in one process
        library = path(f"host{Host.count}.so")
        run(
            "gcc",
            *flags,
            "-O1",
            "-fwrapv",
            "-ffp-contract=off",
            "-w",
            "-shared",
            "-fPIC",
            write("host.c", text),
            "-o",
            library,
            "-lm",
        )
        self.library = ctypes.CDLL(library)
        os.unlink(library)

    def values(self, program, inputs, lanes, slots):
        out = (ctypes.c_uint32 * (lanes * slots))()
        self.library.run_all(program, array(inputs), out, slots)
        return list(out)
