#!/usr/bin/env bash
# Compares what the shared library exports with the list of what the headers declare, which
# docs/from_headers.py makes.
set -euo pipefail
library=$1
expected=$2
exported() { nm -D --defined-only "$library" | awk '{print $NF}' | grep -v '^LANEWISE_' | c++filt | LC_ALL=C sort -u; }
if ! diff <(exported) "$expected"; then
  echo "the exported symbols (<) are not those of $expected (>)"
  exit 1
fi
! exported | grep -E '@@LANEWISE_0\.1$' -v | grep . || { echo "symbols without a version"; exit 1; }
# A second opinion that does not rest on the list.
! exported | grep -iE 'fmt::|glslang|spv::|spvtools|spirv_|^spv' || exit 1
echo "$(exported | wc -l) symbols, all expected"
