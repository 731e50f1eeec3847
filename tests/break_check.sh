#!/usr/bin/env bash
# Breaks one line at a time of the shader library, a lowering, the reference engine and the passes
# over the IR, and expects the fuzzers' slices to notice: random streams, or random programs of one
# instruction set (family programs-ISA). Works in this checkout, on files that have no changes of one's own,
# and puts every line back. usage: tests/break_check.sh [NAME...]
set -uo pipefail
cd "$(dirname "$0")/.."

# name | file | what sed does | family | device that must notice
breaks=(
  'shader-swizzle|shaders/lib/memory/gcn_buffer.glsl|s/index_lsb << es_shift/index_lsb << is_shift/|gcn|lavapipe'
  'shader-range|shaders/lib/memory/gcn_buffer.glsl|s/index >= w2 /index > w2 /|gcn|lavapipe'
  'lower-sass-offset|runtime/isa/sass/lowering/memory.cpp|s/const unsigned unused = 64U - /const unsigned unused = 63U - /|sass|reference'
  'lower-gcn-offset|runtime/isa/gcn/lowering/families/buffer.cpp|s/access.inst_offset = i.offset;/access.inst_offset = i.offset \& 0x7ff;/|gcn|reference'
  'lower-ptx-offset|runtime/isa/ptx/semantics/address.cpp|s/a.offset = o.offset;/a.offset = static_cast<int32_t>(o.offset);/|ptx|reference'
  'reference-sign|runtime/reference/memory/memory.cpp|s/static_cast<int16_t>(bits)/static_cast<uint16_t>(bits)/|sass|reference'
  'reference-limit|runtime/reference/memory/buffer_address.cpp|s/d.num_records > o.soffset ? d.num_records - o.soffset : 0/d.num_records - o.soffset/|gcn|reference'
  'pass-identities|runtime/ir/passes/values/identities.cpp|s/Operand::immediate((0 - i_.src\[1\].imm) \& ones_)/Operand::immediate(i_.src[1].imm)/|programs-ptx|reference'
  'pass-guarded-write|runtime/ir/passes/values/numbering.cpp|s/if (!inst.guard.always() \&\& of/if (!inst.guard.always() \&\& inst.guard.negate \&\& of/|programs-gcn|reference'
  'pass-copies|runtime/ir/passes/values/copies.cpp|s/numbers_.of(first) != number/false/|programs-sass|reference'
  'pass-common|runtime/ir/passes/values/common.cpp|s/if (numbers_.of(k.regs\[d\].id) != k.numbers\[d\]) return false;//|programs-gcn|reference'
  'pass-dead|runtime/ir/passes/values/dead.cpp|s/const bool read = std::any_of(inst.dst.begin(), inst.dst.end(),/const bool read = inst.guard.always() \&\& std::any_of(inst.dst.begin(), inst.dst.end(),/|programs-ptx|reference'
  'pass-blocks|runtime/ir/passes/values/constants.cpp|s/t.targets\[(\*bits != 0) != t.cond.negate ? 0 : 1\]/t.targets[(*bits != 0) != t.cond.negate ? 1 : 0]/|programs-ptx|reference'
)

# The slice that is a test.
noticed() {
  local cases=3500 reported
  [ "$2" != reference ] || cases=50000
  if [[ $1 = programs-* ]]; then
    reported=$(build/bin/fuzz_programs --isa "${1#programs-}" --device "$2" --programs 300 --shrink 1 --out "${TMPDIR:-/tmp}") &&
      return 1
    grep -m1 -E 'MISMATCH|FAILED' <<<"$reported"
    return 0
  fi
  reported=$(build/bin/fuzz_streams --family "$1" --device "$2" --cases "$cases" --out "${TMPDIR:-/tmp}") && return 1
  grep -m1 MISMATCH <<<"$reported"
}

file= ; restore() { [ -z "$file" ] || git checkout -q -- "$file"; }
trap 'restore; exit 130' INT TERM
missed=0
for row in "${breaks[@]}"; do
  IFS='|' read -r name path change family device <<<"$row"
  target=fuzz_streams
  [[ $family != programs-* ]] || target=fuzz_programs
  if [ $# -gt 0 ] && [[ " $* " != *" $name "* ]]; then continue; fi
  git diff --quiet -- "$path" || { echo "$path has changes, not touched" >&2; exit 2; }
  file=$path
  sed -i "$change" "$path"
  if git diff --quiet -- "$path"; then
    echo "$name: the line to break is gone from $path" >&2
    missed=1
  elif ! ninja -C build "$target" >/dev/null; then
    echo "$name: does not compile" >&2
    missed=1
  elif noticed "$family" "$device"; then
    echo "$name: caught"
  else
    echo "$name: NOT caught" >&2
    missed=1
  fi
  restore
  file=
done
ninja -C build fuzz_streams fuzz_programs >/dev/null
exit $missed
