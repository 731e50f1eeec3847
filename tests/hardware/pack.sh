#!/usr/bin/env bash
# Packs the hardware kit out of a build folder (target hardware_kit): what is in the archive runs on any
# x86-64 Linux with glibc 2.36 or newer and a Vulkan driver, with nothing else to install.
#   pack.sh BUILD ARCHIVE     by its ending .tar.zst, or .tar.xz for machines without zstd
set -euo pipefail
build=$1 archive=$2
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
most=$((40 << 20))
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
kit=$work/gpu-kit
mkdir -p "$kit"/{bin,lib,share/lanewise}

programs=(gpu_kit kit_device cuda_truth lanewise fuzz_programs fuzz_streams test_values_ptx test_values_sass
  test_values_gcn soak)
for program in "${programs[@]}"; do strip -o "$kit/bin/$program" "$build/bin/$program"; done

# Every library but glibc's own, whatever of them the other machine has (run.sh), the Vulkan loader, and
# what NVIDIA's Vulkan library asks for, which bare machines lack.
is_glibc() { [[ $1 =~ ^(ld-linux|libc\.|libm\.|libdl\.|libpthread\.|librt\.|linux-vdso) ]]; }
add_library() {
  local path name
  path=$(ldconfig -p | awk -v name="$1" '$1 == name && /x86-64/ && !found { print $NF; found = 1 }')
  [ -n "$path" ] || return 1
  [ -e "$kit/lib/$1" ] || cp -L "$path" "$kit/lib/$1"
  while read -r name; do is_glibc "$name" || [ -e "$kit/lib/$name" ] || add_library "$name"
  done < <(ldd "$path" | awk '/=> \// { print $1 }')
}
for program in "${programs[@]}"; do
  while read -r name; do is_glibc "$name" || add_library "$name"
  done < <(ldd "$build/bin/$program" | awk '/=> \// { print $1 }')
done
# What `lanewise exec` loads into programs, and programs with their results.
(cd "$build/lib/lanewise" && find . -name '*.so*' -print0) | while IFS= read -r -d '' library; do
  mkdir -p "$kit/lib/lanewise/$(dirname "$library")"
  strip --strip-unneeded -o "$kit/lib/lanewise/$library" "$build/lib/lanewise/$library"
done
while read -r name; do is_glibc "$name" || add_library "$name"
done < <(find "$build/lib/lanewise" -name '*.so*' -exec ldd {} + | awk '/=> \/(usr|lib)/ { print $1 }' | sort -u)
read -r name path < <(ldd "$build/lib/lanewise/liblanewise_cuda.so" | awk '$1 ~ /^liblanewise[.]so/ { print $1, $3 }')
strip --strip-unneeded -o "$kit/lib/$name" "$path"
mkdir "$kit/share/lanewise/exec"
find "$build"/unpacked/tests/host/{,driver/,device/,hip/}programs -type f \
  -exec install -m 755 -t "$kit/share/lanewise/exec" {} +
add_library libvulkan.so.1
for name in libX11.so.6 libXext.so.6 libGLdispatch.so.0; do
  add_library "$name" || echo "pack.sh: $name is not installed here, and not in the kit" >&2
done

mkdir -p "$kit/share/lanewise/conformance"
cp "$source"/tests/conformance/*.lw "$kit/share/lanewise/conformance/"
cp -rL "$build/share/lanewise/conformance/programs" "$kit/share/lanewise/conformance/"
cp "$source/tests/hardware/run.sh" "$source/LICENSE" "$kit/"
git -C "$source" describe --always --dirty >"$kit/version" 2>/dev/null || echo unknown >"$kit/version"

case $archive in
  *.zst) compress=(zstd -q -19 --long=27 -T0 -f -o "$archive") ;;
  *) compress=(bash -c 'xz -6 --lzma2=dict=128MiB -T1 >"$0"' "$archive") ;;
esac
tar -C "$work" --sort=name --owner=0 --group=0 -cf - gpu-kit | "${compress[@]}"
size=$(stat -c %s "$archive")
echo "$archive: $((size >> 10)) KiB" >&2
[ "$size" -le "$most" ] || { echo "pack.sh: more than $((most >> 20)) MiB" >&2; exit 1; }
