#!/usr/bin/env bash
# usage: NVCC13=nvcc NVCC11=nvcc tests/host/build.sh [NAME...]
# Compiles cuda/*.cu, or those named, to programs/: with a shared runtime, by CUDA 13 and a part of them by 11.8 as
# well (host compiler: NVCC11_HOST). tests/packed/pack.sh host packs them.
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p programs
names=("$@")
[ $# -gt 0 ] || names=($(basename -s .cu cuda/*.cu))
by_both=" vector_add reductions managed jacobi fft printing events copies "
for name in "${names[@]}"; do
  flags=(-std=c++17 -O2 -lineinfo -cudart shared -Xlinker -s)
  [ "$name" != cub_sort ] || flags=(-std=c++17 -O2 -cudart shared -Xlinker -s -arch=compute_75)
  (cd cuda && "${NVCC13:-nvcc}" "${flags[@]}" "$name.cu" -o "../programs/$name.cuda13")
  case $by_both in *" $name "*)
    [ -z "${NVCC11:-}" ] || (cd cuda && "$NVCC11" -ccbin "${NVCC11_HOST:-c++}" "${flags[@]}" "$name.cu" -o "../programs/$name.cuda11")
  esac
done
