#!/usr/bin/env bash
# What goes wrong on a card, planted: a stage that is killed, one that hangs, a lost device, a wrong
# instruction under a mock of NVIDIA's driver. Each is recorded, later stages run, and two results are
# compared.
#   kit_test.sh BIN SUITE MOCK FOLDER
set -euo pipefail
bin=$1 suite=$2 mock=$3
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
fail() { echo "FAIL: $*"; exit 1; }
export LANEWISE_VALIDATION=0 LANEWISE_CUDA_DRIVER=$mock
kit() { "$bin/gpu_kit" run "$1" --slice --device reference --suite "$suite" "${@:2}"; }
has() { grep -qF -- "$2" "$out/$1/results.jsonl" || { cat "$out/$1/results.jsonl"; fail "$1 has no $2"; }; }

# --- stages that end badly
code=0
kit "$out/bad" --only '^(x-|facts)' --also 'x-killed=echo begun; kill -9 $$' --also 'x-lost=echo "vk::Device::waitForFences: ErrorDeviceLost" >&2; exit 3' \
  --also 'x-wrong=echo "{\"kind\":\"truth\",\"name\":\"t/a\",\"table\":\"t\",\"state\":\"different\"}"; exit 1' \
  --also 'x-good=echo fine' >"$out/bad.txt" || code=$?
[ $code = 1 ] || fail "the exit code of bad stages is $code"
has bad '"name":"x-killed","state":"killed"'
has bad '"signal":9'
has bad '"name":"x-lost","state":"device lost"'
has bad '"name":"x-wrong","state":"failed"'
has bad '"name":"t/a","table":"t","state":"different","stage":"x-wrong"'
has bad '"name":"x-good","state":"passed"'
grep -q 'device lost *x-lost' "$out/bad/summary.txt" || fail "the summary does not name the lost device"

# --- a kit that was killed: the stage is tried once more, then it counts as killed
mkdir "$out/cut"
printf 'begin x-a\nbegin x-a\nbegin x-b\ndone x-b\nbegin x-c\n' >"$out/cut/state"
printf '{"kind":"stage","name":"x-b","state":"passed"}\n{"kind":"stage","na' >"$out/cut/results.jsonl"
kit "$out/cut" --only '^x-' --also 'x-a=exit 0' --also 'x-b=exit 1' --also 'x-c=exit 0' >/dev/null && fail "x-a passes"
has cut '"name":"x-a","state":"killed"'
has cut '"name":"x-c","state":"passed"'
[ "$(grep -c '"name":"x-b"' "$out/cut/results.jsonl")" = 1 ] || fail "x-b ran again"

# --- time that is up
code=0
kit "$out/time" --minutes 0 --only '^x-' --also 'x-a=exit 0' >/dev/null || code=$?
[ $code = 75 ] || fail "without time the exit code is $code"

# --- the truth program under the mock: right, with a wrong instruction, with a lost device
truth='^truth/(values-integer|values-float|values-approx|errors|atomics|waves|litmus|latency|operators|speed|left-out|memory)$'
kit "$out/right" --only "$truth" >"$out/right.txt" || { cat "$out/right.txt"; fail "the mock card differs from Lanewise"; }
for row in '"name":"values-integer/add.s32","table":"values-integer","state":"same"' \
  '"name":"left-out/mma","table":"left-out","state":"skipped"' '"name":"left-out/tex"' '"name":"litmus/MP-fences.gpu"' \
  '"name":"speed/copy1"' '"name":"latency/cg/128/1024"' '"name":"operators/ld.global.ca.u32 then ld.global.ca.u32"' \
  '"name":"errors/ex2.approx.f32"' '"name":"card"'; do has right "$row"; done
MOCK_CUDA_REPLACE='add.s32 d=sub.s32 d' kit "$out/wrong" --only "$truth" >/dev/null && fail "a wrong instruction passes"
has wrong '"name":"values-integer/add.s32","table":"values-integer","state":"different"'
has wrong '"name":"truth/values-integer","state":"failed"'
has wrong '"name":"truth/left-out","state":"passed"'
grep -q 'values-integer/add.s32 inputs' "$out/wrong/summary.txt" || fail "the summary does not name add.s32"
MOCK_CUDA_LOST=1 kit "$out/lost" --only '^truth/(speed|left-out)$' >/dev/null && fail "a lost device passes"
has lost '"name":"truth/speed","state":"device lost"'
has lost '"name":"truth/left-out","state":"passed"'
MOCK_CUDA_FAULT='add.s32 d' kit "$out/fault" --only '^truth/values-(integer|float)$' >/dev/null && fail "a form that faults passes"
has fault '"name":"values-integer/add.s32","table":"values-integer","state":"faulted"'
has fault '1 of 1 rows differ: values-integer/add.s32'
has fault '"name":"truth/values-float","state":"passed"'
MOCK_CUDA_NO_DEVICE=1 kit "$out/none" --only '^truth/litmus$' >/dev/null || fail "no device is an error"
has none '"name":"truth/litmus","state":"skipped"'

# --- two results
"$bin/gpu_kit" compare "$out/right" "$out/right" --tolerance 0 | grep ' 0 differ' >/dev/null || fail "a result differs from itself"
"$bin/gpu_kit" compare "$out/right" "$out/wrong" --tolerance 1e9 >"$out/compared" && fail "different results compare equal"
grep -q 'truth values-integer/add.s32: state: "same" -> "different"' "$out/compared" || { cat "$out/compared"; fail "the comparison does not name add.s32"; }
echo "the kit records what goes wrong"
