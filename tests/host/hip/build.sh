#!/usr/bin/env bash
# usage: HIPCC="clang++-15 ..." tests/host/hip/build.sh [NAME...]
# Compiles hip_*.cpp, or those named, to programs/ for gfx803, with clang 15 and Debian's libamdhip64-dev 5.2.
# tests/packed/pack.sh host_hip packs them.
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p programs
hipcc=(${HIPCC:-clang++-15 -x hip --offload-arch=gfx803 --rocm-path=/usr --hip-version=5.2 --rocm-device-lib-path=/usr/lib/x86_64-linux-gnu/amdgcn/bitcode})
names=("$@")
[ $# -gt 0 ] || names=($(basename -s .cpp hip_*.cpp))
"${hipcc[@]}" -O2 --cuda-device-only --gpu-bundle-output module.hip -o module_bundle
{
  echo "alignas(4096) inline const unsigned char module_bundle[] = {"
  xxd -i <module_bundle
  echo "};"
} >module.hpp
for name in "${names[@]}"; do
  "${hipcc[@]}" -std=c++17 -O2 -Wl,-s "$name.cpp" -o "programs/$name.hip5" -lamdhip64
done
rm module.hpp module_bundle
