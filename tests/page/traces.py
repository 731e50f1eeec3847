# The traces whose reports the page's tests open: as HTML and as JSON beside it.
import os
import shutil
import subprocess

KERNEL_CU = """// Copies and doubles.
__global__ void copy(const float* in, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] * 2.0f;
}
"""

# As a compiler with -lineinfo writes it.
KERNEL_PTX = """.version 7.8
.target sm_80
.address_size 64
.file 1 "%s"
.visible .entry copy(.param .u64 in, .param .u64 out)
{
.reg .b64 %%rd<6>; .reg .b32 %%r<5>; .reg .f32 %%f<3>;
ld.param.u64 %%rd1, [in];
ld.param.u64 %%rd2, [out];
mov.u32 %%r1, %%ctaid.x;
mov.u32 %%r2, %%ntid.x;
mov.u32 %%r3, %%tid.x;
mad.lo.s32 %%r4, %%r1, %%r2, %%r3;
mul.wide.s32 %%rd3, %%r4, 4;
add.s64 %%rd4, %%rd1, %%rd3;
add.s64 %%rd5, %%rd2, %%rd3;
.loc 1 4 12
ld.global.f32 %%f1, [%%rd4];
add.f32 %%f2, %%f1, %%f1;
.loc 1 4 3
st.global.f32 [%%rd5], %%f2;
ret;
}
"""


# Two kernels: one reads a table that all groups share and writes results with two hinted stores, the other keeps
# values in local memory.
KERNELS_PTX = """.version 7.8
.target sm_80
.address_size 64
.visible .entry spread(.param .u64 table, .param .u64 out)
{
.reg .b64 %rd<5>; .reg .b32 %r<6>; .reg .f32 %f<2>; .reg .pred %p<2>;
ld.param.u64 %rd1, [table];
ld.param.u64 %rd2, [out];
mov.u32 %r1, %ctaid.x;
mul.lo.u32 %r1, %r1, 16384;
mov.u32 %r2, %tid.x;
shl.b32 %r2, %r2, 2;
mov.u32 %r3, 0;
again:
cvt.u64.u32 %rd3, %r2;
add.u64 %rd3, %rd3, %rd1;
ld.global.f32 %f1, [%rd3];
add.u32 %r4, %r1, %r2;
cvt.u64.u32 %rd4, %r4;
add.u64 %rd4, %rd4, %rd2;
st.global.L1::evict_first.f32 [%rd4], %f1;
st.global.L1::evict_last.f32 [%rd4+8192], %f1;
add.u32 %r2, %r2, 1024;
add.u32 %r3, %r3, 1;
setp.lt.u32 %p1, %r3, 8;
@%p1 bra again;
ret;
}
.visible .entry keep(.param .u64 out)
{
.reg .b64 %rd<5>; .reg .b32 %r<3>; .reg .f32 %f<3>;
.local .align 4 .b8 kept[128];
ld.param.u64 %rd1, [out];
mov.u32 %r1, %tid.x;
cvt.rn.f32.u32 %f1, %r1;
and.b32 %r2, %r1, 31;
mul.wide.u32 %rd2, %r2, 4;
mov.u64 %rd3, kept;
add.u64 %rd3, %rd3, %rd2;
st.local.f32 [%rd3], %f1;
ld.local.f32 %f2, [%rd3];
mul.wide.u32 %rd4, %r1, 4;
add.u64 %rd4, %rd4, %rd1;
st.global.L1::evict_first.f32 [%rd4], %f2;
ret;
}
"""
LAUNCHES = """isa ptx
case "launches" {
  module "kernels.ptx"
  buffer table f32[2048] = iota
  buffer out f32[65536] = fill 0
%s}
"""
SPREAD, KEEP = "  launch spread grid 16 block 256 args table, out\n", "  launch keep grid 1 block 32 args table\n"


def stale_trace(path):
    """A load on SM 1, a store on SM 0, the load again: it gets the old line. The kernel's name is no markup."""
    def block(group, instruction):
        return f"#BEGIN_TB\nthread block = {group},0,0\nwarp = 0\ninsts = 1\n{instruction} 4 1 0x7f0000000000 4\n#END_TB\n"
    with open(path, "w") as f:
        f.write("-kernel name = <b>stale</script>\n-grid dim = (2,1,1)\n-block dim = (32,1,1)\n"
                "-accelsim tracer version = 4\n-enable lineinfo = 0\n")
        f.write(block(1, "0010 ffffffff 1 R4 LDG.E 1 R2") + block(0, "0020 ffffffff 0 STG.E 2 R2 R4") +
                block(1, "0030 ffffffff 1 R4 LDG.E 1 R2"))


def make_reports(program, sources, folder):
    """Name of each report to its path, without .html and .json."""
    def call(*args):
        subprocess.run([program, *args], check=True, stdout=subprocess.DEVNULL, cwd=folder)

    def both(name):
        base = os.path.join(folder, name)
        return base, ["--report", base + ".html", "--report", base + ".json"]

    reports = {}
    stale_trace(os.path.join(folder, "stale.traceg"))
    reports["stale"], files = both("stale")
    call("cache", os.path.join(folder, "stale.traceg"), "--preset", "gv100,fiji", *files)

    # A transpose that is larger than L2 of the small preset, so that lines are evicted and written back.
    small = os.path.join(folder, "small.json")
    with open(small, "w") as f:
        f.write('{"name": "small", "title": "a small GPU", "sms": 4, "l1": {"sets": 4, "ways": 8},'
                ' "l2": {"slices": 2, "sets": 32, "ways": 4}, "knobs": {"l1_store": "update"}}')
    reports["transpose"], files = both("transpose")
    call("run", os.path.join(sources, "samples/kernels/transpose.ptx"), "--grid", "8,8", "--block", "32,8", "--arg",
         "zero:f32[256,256]", "--arg", "zero:f32[256,256]", "--arg", "i32:256", "--arg", "i32:256", "--device", "reference",
         "--cache", f"file:{small},gv100,infinite", *files)

    reports["hints"], files = both("hints")
    # The page names the file; a path may be longer than a telephone is wide.
    long_path = os.path.join(folder, "studies_of_" + "very_" * 12 + "long_paths", "stream.ptx")
    os.makedirs(os.path.dirname(long_path), exist_ok=True)
    shutil.copy(os.path.join(sources, "samples/kernels/studies/stream.ptx"), long_path)
    call("run", long_path, "--grid", "8", "--block", "1024", "--arg",
         "zero:f32[327680]", "--arg", "zero:f32[2621440]", "--device", "reference", "--cache", "gm204", "--compare", "--reuse",
         "--sets", *files)

    with open(os.path.join(folder, "kernels.ptx"), "w") as f:
        f.write(KERNELS_PTX)
    for name, launches in (("launches", SPREAD + KEEP + SPREAD), ("kept", KEEP + KEEP)):
        with open(os.path.join(folder, name + ".lw"), "w") as f:
            f.write(LAUNCHES % launches)
        reports[name], files = both(name)
        call("run", os.path.join(folder, name + ".lw"), "--device", "reference", "--cache", f"file:{small},gm204", "--compare", *files)

    os.makedirs(os.path.join(folder, "source"), exist_ok=True)
    with open(os.path.join(folder, "source", "kernel.cu"), "w") as f:
        f.write(KERNEL_CU)
    with open(os.path.join(folder, "copy.ptx"), "w") as f:
        f.write(KERNEL_PTX % "/somewhere/else/kernel.cu")
    for name, more in (("loc", ["--source", os.path.join(folder, "source")]), ("loc_missing", [])):
        reports[name], files = both(name)
        call("run", os.path.join(folder, "copy.ptx"), "--grid", "4", "--block", "64", "--arg", "zero:f32[256]", "--arg",
             "zero:f32[256]", "--device", "reference", "--cache", "ga100", *more, *files)
    return reports
