#!/usr/bin/env bash
# usage: build.sh   Compiles the programs of this folder into it, with nvcc 13 (or $NVCC) and with 11.8 (or $NVCC11);
# tests/packed/pack.sh exec packs them. Tests need neither.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
rm -rf /tmp/lanewise-exec && mkdir /tmp/lanewise-exec  # which line tables then name
cp "$here"/*.cu "$here"/*.c "$here"/../../../docs/examples/cuda-tests/sums* /tmp/lanewise-exec && cd /tmp/lanewise-exec
nvcc=${NVCC:-/usr/local/cuda/bin/nvcc}
nvcc11() { PATH=/usr/bin:/bin "${NVCC11:-/usr/bin/nvcc}" -ccbin clang-14 "$@" -lstdc++; }
build=(-O1 -lineinfo -Xlinker -z,noseparate-code)
"$nvcc" "${build[@]}" vector_add.cu -o vector_add.cuda13
"$nvcc" "${build[@]}" -Xlinker -no-pie vector_add.cu -o vector_add.cuda13.no_pie
"$nvcc" "${build[@]}" -cudart shared vector_add.cu -o vector_add.cuda13.shared
nvcc11 "${build[@]}" vector_add.cu -o vector_add.cuda11
nvcc11 "${build[@]}" -cudart shared vector_add.cu -o vector_add.cuda11.shared
"$nvcc" "${build[@]}" -cudart shared -gencode arch=compute_80,code=sm_80 vector_add.cu -o vector_add.only_sm_80
"$nvcc" "${build[@]}" -Xcompiler -fPIC -shared plugin.cu -o plugin.cuda13.so
gcc -O1 plugin_host.c -o plugin_host.program
"$nvcc" "${build[@]}" -rdc=true linked_main.cu linked_part.cu -o linked.cuda13
nvcc11 "${build[@]}" -rdc=true linked_main.cu linked_part.cu -o linked.cuda11
"$nvcc" "${build[@]}" many.cu -cudart shared -o many.cuda13.shared
# What holds code for a GPU without being a program.
"$nvcc" "${build[@]}" -rdc=true -c linked_main.cu -o linked_main.o
"$nvcc" "${build[@]}" -rdc=true -c linked_part.cu -o linked_part.o
ar rcD linked_archive.a linked_main.o linked_part.o
for mode in none size; do
  "$nvcc" -fatbin -lineinfo -Xfatbin -compress-mode=$mode plugin.cu -o plugin.$mode.fatbin
done
PATH=/usr/bin:/bin "${NVCC11:-/usr/bin/nvcc}" -ccbin clang-14 -fatbin -lineinfo plugin.cu -o plugin.lz4.fatbin
# The worked project: a library with a runtime of its own, and a program without CUDA that links it.
"$nvcc" "${build[@]}" -Xcompiler -fPIC -shared sums.cu -o libsums.so
g++ -O1 sums_test.cpp -L. -lsums -Wl,-rpath,'$ORIGIN' -o sums_test
rm linked_main.o linked.cuda1?.o 2>/dev/null || true
strip -o vector_add.stripped vector_add.cuda13
mv sums_test ./*.cuda* ./*.so ./*.o ./*.a ./*.fatbin ./*.program ./*.only_sm_80 ./*.stripped "$here"
