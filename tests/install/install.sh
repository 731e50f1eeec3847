#!/usr/bin/env bash
# Installs the build into an empty folder and builds and runs programs against nothing but that: C by
# pkg-config, C++ by find_package (shared and static), Python. Then the Debian packages, unpacked.
#   install.sh SOURCE BUILD DEVICE
set -euo pipefail
source=$1 build=$2 device=$3
here=$source/tests/install
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
kernel=$source/samples/kernels/saxpy.ptx
expected="sum 999000"
unset LANEWISE_LIBRARY PYTHONPATH

fail() { echo "install test: $*"; exit 1; }
is_right() { [ "$("${@:2}" "$kernel" "$device")" = "$expected" ] || fail "$1: wrong result"; echo "$1: right"; }

prefix=$work/prefix
cmake --install "$build" --prefix "$prefix" >"$work/log" || { cat "$work/log"; fail "cmake --install"; }
for file in bin/lanewise include/lanewise/lanewise.h include/lanewise/lanewise.hpp lib/liblanewise.so \
  lib/liblanewise.a lib/cmake/lanewise/lanewise-config.cmake lib/pkgconfig/lanewise.pc \
  share/lanewise/conformance/programs/ptx_kept.lw share/lanewise/conformance/programs/ptx_programs.lw lib/python3/dist-packages/lanewise/__init__.py \
  share/man/man1/lanewise.1.gz share/bash-completion/completions/lanewise; do
  [ -e "$prefix/$file" ] || fail "$file is not installed"
done
"$prefix/bin/lanewise" --version >/dev/null
# The completion offers what the program takes.
offered=$(bash -c ". $prefix/share/bash-completion/completions/lanewise
  COMP_WORDS=(lanewise run --gr) COMP_CWORD=2; _lanewise; echo \"\${COMPREPLY[*]}\"
  COMP_WORDS=(lanewise tran) COMP_CWORD=1; _lanewise; echo \"\${COMPREPLY[*]}\"")
[ "$offered" = "--grid
translate" ] || fail "completion offers: $offered"
zcat "$prefix/share/man/man1/lanewise.1.gz" | grep -q -- '\\-\\-grid' || fail "the manual page lacks --grid"

# A CUDA program runs under the installed program.
cp "$build/unpacked/tests/data/exec/vector_add.cuda13" "$work/app" && chmod +x "$work/app"
runs_cuda() {  # where: its result begins with 3
  [[ "$("$1/bin/lanewise" exec --device "$device" "$work/app")" = "3 "* ]] || fail "$1: lanewise exec"
}
runs_cuda "$prefix"

# An installed header includes nothing of the source tree.
! grep -rn '#include "runtime' "$prefix/include" || fail "a header of the source tree is needed"

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
cc -std=c11 -pedantic -Wall -Wextra -Werror "$here/consumer/consumer.c" $(pkg-config --cflags --libs lanewise) \
  -Wl,-rpath,"$prefix/lib" -o "$work/c"
is_right "C with pkg-config" "$work/c"

cmake -G Ninja -S "$here/consumer" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" 2>&1 &&
  cmake --build "$work/consumer" >>"$work/log" 2>&1 || { cat "$work/log"; fail "find_package"; }
for program in c cpp static; do is_right "find_package, consumer_$program" "$work/consumer/consumer_$program"; done
! ldd "$work/consumer/consumer_static" | grep liblanewise || fail "the static program needs the shared library"

c++ -std=c++20 "$here/consumer/consumer.cpp" $(pkg-config --cflags lanewise) -L"$prefix/lib" -l:liblanewise.a \
  $(pkg-config --static --libs-only-l lanewise | sed 's/-llanewise //') -o "$work/static"
is_right "C++ with pkg-config --static" "$work/static"
! c++ -std=c++17 -fsyntax-only "$here/consumer/consumer.cpp" $(pkg-config --cflags lanewise) 2>"$work/log" || fail "C++17 was accepted"
grep -m1 error "$work/log" | grep -q "need C++20" || { cat "$work/log"; fail "C++17: the standard is not named"; }
printf 'cmake_minimum_required(VERSION 3.20)\nproject(only_c C)\nfind_package(lanewise 0.1 REQUIRED)\nadd_executable(only_c %s)\ntarget_link_libraries(only_c lanewise::lanewise)\n' \
  "$here/consumer/consumer.c" >"$work/CMakeLists.txt"
cmake -S "$work" -B "$work/only_c" -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" 2>&1 && cmake --build "$work/only_c" >>"$work/log" 2>&1 ||
  { cat "$work/log"; fail "find_package in a project of C alone"; }
is_right "find_package, C alone" "$work/only_c/only_c"

PYTHONPATH=$prefix/lib/python3/dist-packages is_right Python python3 "$here/consumer/consumer.py"

if command -v dpkg-deb >/dev/null && command -v dpkg-shlibdeps >/dev/null; then
  (cd "$work" && cpack -G DEB --config "$build/CPackConfig.cmake" -B "$work/packages" >"$work/log" 2>&1) ||
    { cat "$work/log"; fail "cpack"; }
  [ "$(ls "$work"/packages/*.deb | wc -l)" = 3 ] || fail "three packages were expected"
  if command -v lintian >/dev/null; then
    lintian --allow-root --fail-on error "$work"/packages/*.deb >"$work/log" || { cat "$work/log"; fail "lintian"; }
  fi
  dpkg-deb -f "$work"/packages/lanewise_*.deb Depends | grep -q libvulkan1 || fail "no dependency on libvulkan1"
  dpkg-deb -f "$work"/packages/lanewise_*.deb Depends | grep -q libfmt9 || fail "no dependency on libfmt9"
  dpkg-deb -f "$work"/packages/lanewise_*.deb Recommends | grep -q mesa-vulkan-drivers || fail "no driver recommended"
  [ "$(dpkg-deb -f "$work"/packages/python3-lanewise_*.deb Architecture)" = all ] || fail "python3-lanewise: architecture"
  for package in "$work"/packages/*.deb; do dpkg-deb -x "$package" "$work/root"; done
  "$work/root/usr/bin/lanewise" --version >/dev/null
  runs_cuda "$work/root/usr"
  cc -std=c11 "$here/consumer/consumer.c" -I"$work/root/usr/include" -L"$work/root/usr/lib" -llanewise \
    -Wl,-rpath,"$work/root/usr/lib" -o "$work/c_deb"
  is_right "C against the unpacked packages" "$work/c_deb"
  PYTHONPATH=$work/root/usr/lib/python3/dist-packages is_right "Python of the packages" python3 "$here/consumer/consumer.py"
else
  echo "packages: left out, dpkg-dev is not installed"
fi
echo "in a clean Debian root: debian.sh, a test of its own"
