#!/usr/bin/env bash
# The kit's slice on the device of this test: every stage passes or is skipped by name, and a second run
# has nothing to do.
#   slice_test.sh BIN SUITE PROGRAMS
set -euo pipefail
bin=$1 suite=$2 programs=$3
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
# No CUDA driver, and no validation layer below programs that open devices by the dozen.
export LANEWISE_VALIDATION=0 LANEWISE_CUDA_DRIVER=$out/none.so
device=${LANEWISE_TEST_DEVICE:-auto}
"$bin/gpu_kit" run "$out" --slice --suite "$suite" --exec "$programs" --device "$device" --only '^(?!truth/values-|truth/[a-km-z])'
grep -q '"state":"failed"\|"state":"error"\|"state":"killed"' "$out/results.jsonl" && { echo "a stage did not pass"; exit 1; }
for stage in facts exec/vector_add.cuda13 selftest/ptx_st programs/ptx-lane-off streams/ptx-lane-arena streams/sass-packed-off streams/gcn-packed-alloc 'values/ptx/carries' bench/glsl/copy1/off \
  device/compile device/copy device/large device/soak; do
  grep -q "\"name\":\"$stage\",\"state\":\"passed\"" "$out/results.jsonl" || { echo "no passed stage $stage"; exit 1; }
done
for set in ptx sass gcn; do
  grep -q "\"name\":\"large/$set/faults\",\"lanes\":1" "$out/results.jsonl" || { echo "no fault behind the end of a buffer: $set"; exit 1; }
done
grep -q '"name":"truth/litmus","state":"skipped"' "$out/results.jsonl" || { echo "CUDA is not skipped"; exit 1; }
before=$(grep -c '"kind":"stage"' "$out/results.jsonl")
"$bin/gpu_kit" run "$out" --slice --suite "$suite" --device "$device" --only '^(facts|streams)' >/dev/null
[ "$before" = "$(grep -c '"kind":"stage"' "$out/results.jsonl")" ] || { echo "stages ran twice"; exit 1; }
"$bin/gpu_kit" compare "$out" "$out"
