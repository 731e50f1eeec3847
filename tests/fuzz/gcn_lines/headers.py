#!/usr/bin/env python3
"""Random kernel headers, .amdhsa_kernel and .amd_kernel_code_t, here and by llvm-mc: refusals must be the same, and
what is taken must start a kernel as the header does that llvm-mc writes for it.

usage: headers.py LANEWISE [--headers N] [--values N] [--seed S] [--targets gfx600,gfx700,gfx803] [--show N]

Values are compared by the IR of a kernel that stores every register the hardware fills and rounds in every format,
once from the text and once from llvm-mc's object, whose header is read bit by bit. Exit code 0: no difference that
is not listed (docs/gcn.md, "Text").
"""
import argparse
import collections
import concurrent.futures
import os
import random
import re
import shutil
import subprocess
import tempfile

LLVM_MC = "llvm-mc-14"
FLAGS = ["user_sgpr_private_segment_buffer", "user_sgpr_dispatch_ptr", "user_sgpr_queue_ptr",
         "user_sgpr_kernarg_segment_ptr", "user_sgpr_dispatch_id", "user_sgpr_flat_scratch_init",
         "user_sgpr_private_segment_size", "system_sgpr_private_segment_wavefront_offset",
         "system_sgpr_workgroup_id_x", "system_sgpr_workgroup_id_y", "system_sgpr_workgroup_id_z",
         "system_sgpr_workgroup_info", "reserve_vcc", "reserve_flat_scratch", "reserve_xnack_mask", "dx10_clamp",
         "ieee_mode", "exception_fp_ieee_invalid_op", "exception_fp_denorm_src", "exception_fp_ieee_div_zero",
         "exception_fp_ieee_overflow", "exception_fp_ieee_underflow", "exception_fp_ieee_inexact",
         "exception_int_div_zero"]
PAIRS = ["system_vgpr_workitem_id", "float_round_mode_32", "float_round_mode_16_64", "float_denorm_mode_32",
         "float_denorm_mode_16_64"]
SIZES = ["group_segment_fixed_size", "private_segment_fixed_size", "kernarg_size"]
LATER = ["fp16_overflow", "tg_split", "accum_offset", "workgroup_processor_mode", "memory_ordered", "forward_progress",
         "shared_vgpr_count", "wavefront_size32", "uses_dynamic_stack", "no_such_field"]
OLD_FLAGS = ["enable_sgpr_private_segment_buffer", "enable_sgpr_dispatch_ptr", "enable_sgpr_queue_ptr",
             "enable_sgpr_kernarg_segment_ptr", "enable_sgpr_dispatch_id", "enable_sgpr_flat_scratch_init",
             "enable_sgpr_private_segment_size", "enable_sgpr_workgroup_id_x", "compute_pgm_rsrc2_tgid_y_en",
             "enable_sgpr_workgroup_id_z", "enable_sgpr_workgroup_info", "enable_dx10_clamp", "enable_ieee_mode",
             "compute_pgm_rsrc1_dx10_clamp", "enable_sgpr_private_segment_wave_byte_offset", "enable_trap_handler",
             "debug_mode", "priv", "is_debug_enabled", "is_xnack_enabled", "is_dynamic_callstack", "enable_exception_msb"]
OLD_NUMBERS = ["granulated_workitem_vgpr_count", "granulated_wavefront_sgpr_count", "compute_pgm_rsrc1_vgprs",
               "float_mode", "compute_pgm_rsrc1_float_mode", "user_sgpr_count", "compute_pgm_rsrc2_user_sgpr",
               "enable_vgpr_workitem_id", "compute_pgm_rsrc2_tidig_comp_cnt", "workgroup_group_segment_byte_size",
               "workitem_private_segment_byte_size", "kernarg_segment_byte_size", "priority", "granulated_lds_size",
               "enable_exception", "workgroup_fbarrier_count", "wavefront_sgpr_count", "workitem_vgpr_count",
               "reserved_vgpr_first", "reserved_sgpr_count", "debug_private_segment_buffer_sgpr",
               "kernarg_segment_alignment", "group_segment_alignment", "private_segment_alignment", "call_convention",
               "runtime_loader_kernel_symbol", "amd_code_version_minor", "amd_machine_kind", "kernel_code_entry_byte_offset",
               "kernel_code_prefetch_byte_size", "max_scratch_backing_memory_byte_size", "kernel_code_version_major", "machine_version_stepping"]
OLD_RARE = ["wavefront_size", "is_ptr64", "private_element_size", "gds_segment_byte_size", "enable_ordered_append_gds",
            "enable_sgpr_grid_workgroup_count_x", "enable_wavefront_size32", "enable_wgp_mode", "enable_mem_ordered",
            "enable_fwd_progress", "no_such_field"]
NUMBERS = ["0", "1", "2", "3", "4", "7", "15", "16", "31", "32", "63", "64", "100", "102", "103", "104", "105", "128", "255",
           "256", "257", "300", "512", "65535", "65536", "0x10000", "-1", "-2", "0xffffffff", "0x100000000", "4294967295",
           "1+1", "(3)*4", "~0", "0b101", "017", "1<<5", "-0x8000"]
ODD = ["1.5", "0.0", "foo", "s0", "", "1 2", "1, 2", "'a'", "\"x\"", "v[0]", "$1", "1 ;", "0x", "--1", "!0", "12ab"]

# Lines of a header of which the verdicts differ on purpose.
LISTED = [("taken here", "fields that LLVM 15 and later have", re.compile(r"\.amdhsa_uses_dynamic_stack"))]
BODY = ["s_load_dwordx2 s[34:35], s[4:5], 0x0", "v_add_f32 v3, v0, v1", "v_add_f64 v[4:5], v[0:1], v[2:3]"]


def number(r, small):
    choice = r.random()
    return r.choice(small) if choice < 0.9 else r.choice(NUMBERS) if choice < 0.985 else r.choice(ODD)


def amdhsa(r, name):
    lines = []
    for fields, small, most in [(FLAGS, ["0", "1"], 9), (PAIRS, ["0", "1", "2", "3"], 3), (SIZES, ["0", "16", "1024"], 2),
                                (["user_sgpr_count"], ["0", "4", "8", "16", "17"], 1)]:
        for field in r.sample(fields, r.randrange(min(most, len(fields)) + 1)):
            lines.append(f".amdhsa_{field} {number(r, small)}")
    for field, small in [("next_free_vgpr", ["1", "8", "24", "256"]), ("next_free_sgpr", ["1", "16", "40", "96", "102"])]:
        if r.random() < 0.97:
            lines.append(f".amdhsa_{field} {number(r, small)}")
    if r.random() < 0.04:
        lines.append(f".amdhsa_{r.choice(LATER)} {number(r, ['0', '1'])}")
    if r.random() < 0.04 and lines:
        lines.append(r.choice(lines))
    r.shuffle(lines)
    return [f".amdhsa_kernel {name}"] + lines + [".end_amdhsa_kernel"]


def old(r, name):
    lines = []
    for fields, small, most in [(OLD_FLAGS, ["0", "1"], 8), (OLD_NUMBERS, ["0", "1", "2", "3", "12", "192"], 6)]:
        for field in r.sample(fields, r.randrange(most + 1)):
            lines.append(f"{field} = {number(r, small)}")
    if r.random() < 0.08:
        lines.append(f"{r.choice(OLD_RARE)} = {number(r, ['0', '1', '6'])}")
    if r.random() < 0.03:
        lines.append(r.choice(["priority 1", "= 1", "priority == 1", "priority = ", "Priority = 1", "float_mode=1", "priority=1,"]))
    r.shuffle(lines)
    return [".amd_kernel_code_t"] + lines + [".end_amd_kernel_code_t"]


def text_of(kind, target, headers):
    """The file, and the lines of each header in it."""
    lines, spans = [f'.amdgcn_target "amdgcn-amd-amdhsa--{target}"'] if kind == "amdhsa" else [], []
    lines.append(".text")
    for n, header in enumerate(headers):
        if kind == "amdhsa":
            lines += [".text", f".globl k{n}", ".p2align 8", f".type k{n},@function", f"k{n}:", "s_endpgm", ".rodata", ".p2align 6"]
            spans.append((len(lines) + 1, len(lines) + len(header)))
            lines += header
        else:
            lines += [f".amdgpu_hsa_kernel k{n}", ".p2align 8", f"k{n}:"]
            spans.append((len(lines) + 1, len(lines) + len(header)))
            lines += header + ["s_endpgm"]
    return "\n".join(lines) + "\n", spans


def llvm(kind, target, name, *more):
    triple = ["-triple=amdgcn-amd-amdhsa"] if kind == "amdhsa" else ["-triple=amdgcn--"]
    return subprocess.run([LLVM_MC, *triple, f"-mcpu={target}", *more, name], capture_output=True, text=True)


def errors(text, spans):
    lines = {int(m) for m in re.findall(r":(\d+):(?:\d+:)? error", text)}
    return [any(begin <= line <= end for line in lines) for begin, end in spans]


def verdicts(lanewise, kind, target, headers, folder):
    text, spans = text_of(kind, target, headers)
    name = os.path.join(folder, "headers.s")
    with open(name, "w", encoding="utf-8") as f:
        f.write(text)
    theirs = errors(llvm(kind, target, name, "-o", os.devnull).stderr, spans)
    p = subprocess.run([lanewise, "asm", "--isa", "gcn", "--target", target, "--tsv", "--max-errors", "0", name],
                       capture_output=True, text=True)
    if p.returncode not in (0, 1, 2):
        raise SystemExit(p.stderr[-500:])
    return theirs, errors(p.stderr, spans)


def alone(lanewise, kind, target, header):
    with tempfile.TemporaryDirectory() as folder:
        theirs, ours = verdicts(lanewise, kind, target, [header], folder)
        return theirs[0], ours[0]


def kernel_of(kind, target, header, vgprs):
    """One kernel that stores what it starts with. Scalars beyond its user registers are of the system."""
    body = ["s_mov_b64 s[40:41], 0", "s_mov_b64 s[42:43], -1"]
    body += [f"v_mov_b32 v{vgprs}, s{n}\nbuffer_store_dword v{vgprs}, off, s[40:43], 0 offset:{4 * n}" for n in range(24)]
    body += [f"buffer_store_dword v{n}, off, s[40:43], 0 offset:{96 + 4 * n}" for n in range(3)]
    body += ["v_add_f32 v3, v0, v1", "v_add_f64 v[4:5], v[0:1], v[2:3]", "buffer_store_dwordx3 v[3:5], off, s[40:43], 0 offset:200"
             if target != "gfx600" else "buffer_store_dwordx2 v[3:4], off, s[40:43], 0 offset:200", "s_endpgm"]
    if kind == "amdhsa":
        return "\n".join([f'.amdgcn_target "amdgcn-amd-amdhsa--{target}"', ".text", ".globl k0", ".p2align 8", ".type k0,@function",
                          "k0:"] + body + [".rodata", ".p2align 6"] + header) + "\n"
    return "\n".join([".hsa_code_object_version 2,1", f".hsa_code_object_isa {target[3]},0,{target[5]},\"AMD\",\"AMDGPU\"", ".text",
                      ".amdgpu_hsa_kernel k0", ".p2align 8", "k0:"] + header + body) + "\n"


def ir(lanewise, target, name):
    p = subprocess.run([lanewise, "translate", name, "--isa", "gcn", "--target", target, "--kernel", "k0", "--block", "64",
                        "--emit", "ir"], capture_output=True, text=True)
    return p.stdout if p.returncode == 0 else "error: " + re.sub(r"^.*error: ", "", p.stderr.strip().splitlines()[-1])


def values_differ(lanewise, kind, target, header):
    with tempfile.TemporaryDirectory() as folder:
        text, obj = os.path.join(folder, "k.s"), os.path.join(folder, "k.o")
        with open(text, "w", encoding="utf-8") as f:
            f.write(kernel_of(kind, target, header, 6))
        triple = "-triple=amdgcn-amd-amdhsa"
        more = [] if kind == "amdhsa" else ["--amdhsa-code-object-version=2"]
        p = subprocess.run([LLVM_MC, triple, f"-mcpu={target}", *more, "-filetype=obj", "-o", obj, text], capture_output=True, text=True)
        if p.returncode != 0:
            return "llvm-mc: " + p.stderr[:300]
        own, object_ir = ir(lanewise, target, text), ir(lanewise, target, obj)
        if own == object_ir:
            return None
        return "\n".join(f"    {a}\n    {b}" for a, b in zip(own.splitlines(), object_ir.splitlines()) if a != b)[:600] or "length"


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("lanewise")
    p.add_argument("--headers", type=int, default=1000)
    p.add_argument("--values", type=int, default=20)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--targets", default="gfx600,gfx700,gfx803")
    p.add_argument("--show", type=int, default=10)
    a = p.parse_args()
    if shutil.which(LLVM_MC) is None:
        print("llvm-mc-14 is not installed")
        return 77
    different = 0
    for target in a.targets.split(","):
        for kind, make in [("amdhsa", amdhsa), ("amd_kernel_code_t", old)]:
            r = random.Random(f"{a.seed} {target} {kind}")
            headers = [make(r, f"k{n % 200}") for n in range(a.headers)]
            shown, listed, refused, taken = collections.Counter(), collections.Counter(), 0, []
            with tempfile.TemporaryDirectory() as folder:
                for begin in range(0, len(headers), 200):
                    part = headers[begin:begin + 200]
                    theirs, ours = verdicts(a.lanewise, kind, target, part, folder)
                    for header, t, o in zip(part, theirs, ours):
                        if t != o:  # alone: an error may have hidden another header
                            t, o = alone(a.lanewise, kind, target, [header[0].replace(header[0].split(" ")[-1], "k0")
                                                                    if kind == "amdhsa" else header[0]] + header[1:])
                        refused += t
                        if not t and not o:
                            taken.append(header)
                        if t == o:
                            continue
                        verdict = "taken here" if t else "refused here"
                        what = next((w for v, w, lines in LISTED if v == verdict and any(lines.match(x) for x in header)), None)
                        (listed if what else shown)[f"{verdict}: {what}"] += 1
                        if what is None and sum(shown.values()) <= a.show:
                            print(target, verdict, *header, sep="\n  ")
            wrong = 0
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                chosen = [[h[0].split(" ")[0] + (" k0" if kind == "amdhsa" else "")] + h[1:] for h in r.sample(taken, min(a.values, len(taken)))]
                for header, bad in zip(chosen, pool.map(lambda h: values_differ(a.lanewise, kind, target, h), chosen)):
                    wrong += bad is not None
                    if bad is not None and wrong <= a.show:
                        print(target, "values", bad, *header, sep="\n  ")
            different += sum(shown.values()) + wrong
            print(f"{target} {kind}: {len(headers)} headers, {refused} refused by LLVM, {sum(listed.values())} listed {dict(listed)}, "
                  f"{sum(shown.values())} not listed {dict(shown)}; {len(chosen)} values, {wrong} differ", flush=True)
    return different != 0


if __name__ == "__main__":
    raise SystemExit(main())
