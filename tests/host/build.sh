#!/usr/bin/env bash
# usage: NVCC13=nvcc NVCC11=nvcc tests/host/build.sh [NAME...]
# Compiles cuda/*.cu and the samples' programs, or those named: to programs/ with a shared runtime, by CUDA 13 and a part of them by 11.8
# as well (host compiler: NVCC11_HOST), and to static/programs/ with a static one, as nvcc does by itself; driver/drv_* to
# driver/programs/, device/dev_* to device/programs/. tests/packed/pack.sh host_programs host_static host_driver host_device packs them.
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p programs static/programs
sources=/tmp/lanewise-programs
mkdir -p $sources
names=("$@")
samples=../../samples/programs
[ $# -gt 0 ] || names=($(basename -s .cu cuda/*.cu $samples/*.cu) blur_first)
by_both=" vector_add reductions managed jacobi fft printing events copies textures texture_references image_pipeline life
  matrix_multiply monte_carlo "
# Programs of the driver API have their kernels as PTX, a fat binary and a cubin, which CUDA 11.8 makes for sm_52.
kernels_header() {
  local nvcc13=${NVCC13:-nvcc} nvcc11=${NVCC11:-}
  "$nvcc13" -ptx -arch=compute_75 kernels.cu -o kernels_ptx
  "$nvcc13" -fatbin -gencode arch=compute_75,code=compute_75 kernels.cu -o kernels_fatbin
  "$nvcc11" -ccbin "${NVCC11_HOST:-c++}" -cubin -arch=sm_52 kernels.cu -o kernels_cubin
  printf '\0' >>kernels_ptx
  for part in ptx fatbin cubin; do
    echo "alignas(8) inline const unsigned char bytes_$part[] = {"
    xxd -i <kernels_$part
    echo "};"
    echo "inline const char* const kernels_$part = reinterpret_cast<const char*>(bytes_$part);"
    rm kernels_$part
  done >kernels.hpp
}
drivers=()
for name in "${names[@]}"; do
  case $name in drv_*) drivers+=("$name") ;; esac
done
[ $# -gt 0 ] || drivers=($(cd driver && ls drv_* | sed 's/[.].*//'))
if [ ${#drivers[@]} -gt 0 ]; then
  cd driver
  mkdir -p programs
  kernels_header
  for name in "${drivers[@]}"; do
    runtime=none
    [ "$name" != drv_contexts ] || runtime=shared
    "${NVCC13:-nvcc}" -std=c++17 -O2 -arch=compute_75 -cudart $runtime -Xlinker -s "$name".c* -lcuda -ldl \
      -o "programs/$name.cuda13"
    case $name in drv_arguments|drv_vector_add)
      "$NVCC11" -ccbin "${NVCC11_HOST:-c++}" -std=c++17 -O2 -cudart none -w -Xlinker -s "$name".c* -lcuda -o "programs/$name.cuda11"
    esac
  done
  rm kernels.hpp
  cd ..
fi
devices=()
for name in "${names[@]}"; do
  case $name in dev_*) devices+=("$name") ;; esac
done
[ $# -gt 0 ] || devices=($(basename -s .cu device/*.cu))
mkdir -p device/programs
# Line tables have the whole path: one that is the same everywhere.
mkdir -p $sources/tests/host/device $sources/samples/programs
for name in "${devices[@]}"; do
  cp device/*.cu device/check.h $sources/tests/host/device
  cp $samples/check.h $sources/samples/programs
  (cd $sources/tests/host/device && "${NVCC13:-nvcc}" -std=c++17 -O2 -lineinfo -arch=compute_75 -cudart shared -Xlinker -s \
    "$name.cu" -o program)
  mv $sources/tests/host/device/program "device/programs/$name.cuda13"
done
for name in "${names[@]}"; do
  case $name in drv_*|dev_*) continue ;; esac
  own=(-std=c++17 -O2 -lineinfo)
  [ "$name" != cub_sort ] || own=(-std=c++17 -O2 -arch=compute_75)
  [ "$name" != ampere ] || own+=(-arch=compute_80)
  flags=("${own[@]}" -cudart shared -Xlinker -s)
  source=$name
  [ "$name" != blur_first ] || source=blur flags+=(-DFIRST_VERSION)
  # Line tables have the whole path: one that is the same everywhere.
  cp cuda/* $samples/*.cu $samples/*.h "$sources"
  # usage: compile COMPILER... SUFFIX
  compile() {
    (cd "$sources" && "${@:1:$#-1}" "${flags[@]}" "$source.cu" -o program)
    mv "$sources/program" "programs/$name.${!#}"
  }
  # What CUDA 12 removed.
  if [ "$name" != texture_references ]; then
    compile "${NVCC13:-nvcc}" cuda13
    [ "$name" = blur_first ] || (cd "$sources" && "${NVCC13:-nvcc}" "${own[@]}" "$name.cu" -o program)
    [ "$name" = blur_first ] || mv "$sources/program" "static/programs/$name.cuda13"
  fi
  case $by_both in *" $name "*)
    if [ -n "${NVCC11:-}" ]; then compile "$NVCC11" -ccbin "${NVCC11_HOST:-c++}" cuda11; fi
  esac
done
