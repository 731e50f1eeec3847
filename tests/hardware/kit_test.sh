#!/usr/bin/env bash
# What goes wrong on a card, planted: a stage that is killed, one that hangs, a lost device, a wrong
# instruction under a mock of NVIDIA's driver. Each is recorded, later stages run, and two results are
# compared.
#   kit_test.sh BIN SUITE MOCK PROGRAMS DRIVER    PROGRAMS: CUDA and HIP programs with their results;
#   DRIVER: the driver's stand-in of `lanewise exec`, whose calls were written apart from the mock's
set -euo pipefail
bin=$1 suite=$2 mock=$3 programs=$4 driver=$5
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
fail() { echo "FAIL: $*"; exit 1; }
export LANEWISE_VALIDATION=0 LANEWISE_CUDA_DRIVER=$mock
kit() { "$bin/gpu_kit" run "$1" --slice --device reference --suite "$suite" "${@:2}"; }
lacks() { ! grep -qF -- "$2" "$out/$1/results.jsonl" || { grep -F -- "$2" "$out/$1/results.jsonl"; fail "$1 has $2"; }; }
has() { grep -qF -- "$2" "$out/$1/results.jsonl" || { cat "$out/$1/results.jsonl"; fail "$1 has no $2"; }; }

# --- stages that end badly
code=0
kit "$out/bad" --only '^(x-|facts)' --also 'x-killed=echo begun; kill -9 $$' --also 'x-lost=echo "vk::Device::waitForFences: ErrorDeviceLost" >&2; exit 3' \
  --also 'x-wrong=echo "{\"kind\":\"truth\",\"name\":\"t/a\",\"table\":\"t\",\"state\":\"different\"}"; exit 1' \
  --also 'x-shrunk=echo "MISMATCH ptx seed 1"; echo "a script" >"${TMPDIR:-/tmp}/gpu-kit-$PPID/found.lw"; exit 1' \
  --also 'x-good=echo fine' >"$out/bad.txt" || code=$?
[ $code = 1 ] || fail "the exit code of bad stages is $code"
has bad '"name":"x-killed","state":"killed"'
has bad '"signal":9'
has bad '"name":"x-lost","state":"device lost"'
has bad '"name":"x-wrong","state":"failed"'
has bad '"name":"t/a","table":"t","state":"different","stage":"x-wrong"'
has bad '"kind":"script","name":"found.lw","stage":"x-shrunk","text":"a script'
has bad '"failures":["MISMATCH ptx seed 1"]'
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

# What is cut runs again, and nothing else does.
planted=(--only '^x-' --also 'x-a=exit 0' --also 'x-long=sleep 8' --also 'x-b=exit 0')
kit "$out/cut_short" --minutes 0.11 "${planted[@]}" >/dev/null || code=$?
[ $code = 75 ] || fail "with too little time the exit code is $code"
has cut_short '"name":"x-a","state":"passed"'
lacks cut_short '"name":"x-long"'
lacks cut_short '"name":"x-b"'
kit "$out/cut_short" "${planted[@]}" >/dev/null || fail "what is left does not pass"
for stage in x-a x-long x-b; do
  [ "$(grep -c "\"name\":\"$stage\",\"state\":\"passed\"" "$out/cut_short/results.jsonl")" = 1 ] || fail "$stage did not pass once"
done

# --- the truth program under the mock: right, with a wrong instruction, with a lost device
truth='^truth/(values-integer|values-float|values-approx|errors|atomics|waves|litmus|latency|operators|chase|matrix|textures|speed|left-out|memory)$'
kit "$out/right" --only "$truth" >"$out/right.txt" || { cat "$out/right.txt"; fail "the mock card differs from Lanewise"; }
for row in '"name":"values-integer/add.s32","table":"values-integer","state":"same"' \
  '"name":"left-out/tcgen05","table":"left-out","state":"skipped"' '"name":"left-out/bar runs"' '"name":"litmus/MP-fences.gpu"' \
  '"name":"speed/copy1"' '"name":"latency/cg/128/1024"' '"name":"operators/ld.global.ca.u32 then ld.global.ca.u32"' \
  '"name":"errors/ex2.approx.f32"' '"name":"card"' '"name":"speed/copy1/compile"' '"name":"forms"' \
  '"name":"operators/word of evict_last","table":"operators","state":"same"' \
  '"name":"matrix/sum of mma.sync.aligned.m16n8k' '"fraction bits":"25"' '"result +":"cut"' '"name":"matrix/wmma.mma' \
  '"name":"textures/weights/1d x from 0 normalised"' '"weights":257,"bits":8' '"name":"textures/sured' \
  '"name":"textures/levels/gradients blended","table":"textures","state":"same"' '"name":"textures/istypep.texref"' \
  '"name":"textures/suq.width.b32"' '"name":"left-out/tex 2"' '"tex.2dms.v4.u32.s32"'; do has right "$row"; done
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
MOCK_CUDA_POLICY=mma.accumulate=ampere kit "$out/ampere" --only '^truth/matrix$' >/dev/null && fail "another rule of sums passes"
has ampere '"fraction bits":"24","fraction bits of the addend":"24"'
has ampere '"state":"different","probes"'
MOCK_CUDA_REPLACE='{%f1}]={%f2}]' kit "$out/texels" --only '^truth/(textures|left-out)$' >/dev/null && fail "other texels pass"
has texels '"name":"textures/weights/1d x from 0","table":"textures","state":"measured"'
has texels '"table":"textures","state":"different"'
has texels '"name":"truth/left-out","state":"passed"'
# Levels, gradients and queries that are others.
different() {
  MOCK_CUDA_REPLACE=$2 kit "$out/$1" --only '^truth/textures$' >/dev/null && fail "$1 passes"
  has "$1" "\"name\":\"textures/$3\",\"table\":\"textures\",\"state\":\"different\""
}
different level '], %f5=], %f9' tex.level.1d.v4.u32.f32
has level '"name":"textures/levels/level blended","table":"textures","state":"measured"'
different gradients ', {%f5}, {%f8}=, {%f9}, {%f9}' tex.grad.1d.v4.u32.f32
different query 'txq.width=txq.height' txq.width.b32
MOCK_CUDA_NO_DEVICE=1 kit "$out/none" --only '^truth/litmus$' >/dev/null || fail "no device is an error"
has none '"name":"truth/litmus","state":"skipped"'

# --- another library with the driver's calls: arrays and objects are described as programs describe them
LANEWISE_CUDA_DRIVER=$driver LANEWISE_DEVICE=reference LANEWISE_GPU=gh100 kit "$out/driver" --only '^truth/(matrix|textures|waves|speed)$' >/dev/null ||
  { cat "$out/driver/summary.txt"; fail "the stand-in of the driver does not pass"; }
has driver '"card":"NVIDIA H100 PCIe"'
has driver '"name":"textures/sured.b.add.1d.u32.trap","table":"textures","state":"same"'

# --- caches: a card of a known shape is recovered, is like its own preset and unlike another
cat >"$out/small.json" <<'TXT'
{"name": "small", "extends": "gh100", "l1": {"ways": 12}, "l2": {"slices": 2, "sets": 64, "ways": 16}}
TXT
cat >"$out/l1.json" <<'TXT'
{"name": "l1", "extends": "gh100", "l1": {"ways": 160}, "l2": {"slices": 2, "sets": 256, "ways": 16}}
TXT
truth() { echo "$bin/cuda_truth --device reference --preset $1 --table $2"; }
timed() { MOCK_CUDA_CACHE=file:$2 kit "$out/$1" --only '^(chase|operators)$' "${@:3}" >/dev/null || fail "$1 does not pass"; }
timed caches "$out/small.json" --also "chase=$(truth "file:$out/small.json" chase)"
lacks caches unlike_
has caches '"name":"chase/constant"'
has caches '"replacement":["lru"]'
timed own "$out/l1.json" --also "operators=$(truth "file:$out/l1.json" operators)"
lacks own '"table":"operators","state":"measured"'
has own '"name":"operators/ld.global.ca.u32 then ld.global.ca.u32","table":"operators","state":"same","card_l1":1.0'
has own '"name":"operators/ld.global.cv.u32 then ld.global.ca.u32","table":"operators","state":"same","card_l1":0.0'
has own '"name":"operators/evict_first 0.50 of L2, then a stream of 0.50","table":"operators","state":"same","card_l1":0.0,"card_l2":0.0'
timed other "$out/small.json" --also "operators=$(truth gh100 operators)"
has other '"table":"operators","state":"measured"'
# What comes back is a preset, with its sources.
"$bin/gpu_kit" preset "$out/caches" | sed "s|file:$out/small.json|gh100|" >"$out/made.json"
"$bin/lanewise" preset show --json "file:$out/made.json" >"$out/shown.json"
for cache in '"slices":2,"sets":64,"ways":16' '"slices":1,"sets":4,"ways":12' '"slices":1,"sets":8,"ways":4'; do
  tr -d ' \n' <"$out/shown.json" | grep -qF "$cache" || { cat "$out/made.json" "$out/shown.json"; fail "the preset has no $cache"; }
done
grep -q 'pointer chase on the card, Mock card' "$out/made.json" || fail "the preset has no sources"

# --- values that come back are a table that a test holds
"$bin/gpu_kit" table "$out/right" >"$out/right.tsv"
grep -q '^# card	Mock card' "$out/right.tsv" || fail "the table does not name the card"
for form in add.s32 mma.sync.aligned.m16n8k; do grep -q "^$form" "$out/right.tsv" || fail "the table has no $form"; done
"$bin/cuda_truth" --check "$out/right.tsv" --device reference >"$out/held" || { cat "$out/held"; fail "Lanewise differs from its own table"; }
"$bin/gpu_kit" table "$out/ampere" >"$out/ampere.tsv"
! "$bin/cuda_truth" --check "$out/ampere.tsv" --device reference >"$out/held" || fail "a table of another rule of sums holds"
grep -q '^mma.*the card gave' "$out/held" || { cat "$out/held"; fail "the check does not name the form"; }

# --- programs of CUDA and HIP
kit "$out/exec" --only '^exec/' --exec "$programs" >/dev/null || { cat "$out/exec/results.jsonl"; fail "programs do not pass"; }
for program in vector_add.cuda13 hip_vector_add.hip5; do has exec "\"name\":\"exec/$program\",\"state\":\"passed\""; done
mkdir "$out/programs"
printf '#!/bin/sh\necho "vector_add: 3 wrong"\n' >"$out/programs/vector_add.cuda13"
kit "$out/bad_exec" --only '^exec/' --exec "$out/programs" >/dev/null && fail "a program with a wrong result passes"
has bad_exec "its last line is 'vector_add: 3 wrong', 'vector_add: ok' was expected"

# --- what a card teaches comes first, also where time is short
first=$("$bin/gpu_kit" run "$out/none" --list --device reference --suite "$suite" --exec "$programs" | cut -d/ -f1 | uniq | head -5 | tr '\n' ' ')
[ "$first" = "facts truth exec device truth " ] || fail "the order begins with $first"

# --- two results
"$bin/gpu_kit" compare "$out/right" "$out/right" --tolerance 0 | grep ' 0 differ' >/dev/null || fail "a result differs from itself"
"$bin/gpu_kit" compare "$out/right" "$out/wrong" --tolerance 1e9 >"$out/compared" && fail "different results compare equal"
grep -q 'truth values-integer/add.s32: state: "same" -> "different"' "$out/compared" || { cat "$out/compared"; fail "the comparison does not name add.s32"; }
echo "the kit records what goes wrong"
