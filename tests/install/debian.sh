#!/usr/bin/env bash
# The Debian packages in a clean Debian 12: made with mmdebstrap, installed with apt, the program's
# selftest, consumers in C, C++ and Python built and run there, the Python tests. Takes minutes and the
# network. Where no root can be made it says so and ends with 77. LANEWISE_DEBIAN_ROOT names a root that
# mmdebstrap has made before (--variant=apt bookworm), which is copied; LANEWISE_DEBIAN_MIRROR a mirror.
#   debian.sh SOURCE BUILD
set -euo pipefail
source=$1 build=$2
here=$source/tests/install
skip() { echo "skipped: $*"; exit 77; }
fail() { echo "Debian test: $*"; exit 1; }
[ "${LANEWISE_TEST_DEBIAN:-}" = 1 ] || skip "takes minutes and the network; LANEWISE_TEST_DEBIAN=1 asks for it"
command -v mmdebstrap >/dev/null || skip "mmdebstrap not to be had"
command -v dpkg-shlibdeps >/dev/null || skip "dpkg-dev is not installed"
[ "$(id -u)" = 0 ] || skip "a root folder is made and entered by root only"
scratch=$(mktemp -d)
root=$scratch/root
clean_up() {
  umount "$root/proc" 2>/dev/null || true
  rm -rf --one-file-system "$scratch"
}
trap clean_up EXIT

(cd "$scratch" && cpack -G DEB --config "$build/CPackConfig.cmake" -B "$scratch/packages" >"$scratch/log" 2>&1) ||
  { cat "$scratch/log"; fail "cpack"; }
# The smallest system there is; what the packages need comes with them, what the tests need beside.
started=$SECONDS
if [ -n "${LANEWISE_DEBIAN_ROOT:-}" ]; then
  cp -a "$LANEWISE_DEBIAN_ROOT" "$root"
else
  mmdebstrap --variant=apt --mode=root bookworm "$root" ${LANEWISE_DEBIAN_MIRROR:+"$LANEWISE_DEBIAN_MIRROR"} \
    >"$scratch/log" 2>&1 || { tail -5 "$scratch/log"; skip "no Debian mirror can be reached"; }
fi
echo "a clean root: $((SECONDS - started)) s"
mount -t proc proc "$root/proc" 2>/dev/null || true
cp "$scratch"/packages/*.deb "$root/tmp/"
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/ LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
install() { inside apt-get install -y "$@" >"$scratch/log" 2>&1 || { tail -20 "$scratch/log"; fail "apt-get install $*"; }; }
package() { local found=("$root"/tmp/$1_*.deb); echo "/tmp/${found[0]##*/}"; }
started=$SECONDS
inside apt-get update >"$scratch/log" 2>&1 || { tail -5 "$scratch/log"; skip "no Debian mirror can be reached"; }
# The runtime alone first: its dependencies and recommendations must do for the selftest.
install "$(package lanewise)"
echo "the runtime package and what it recommends: $((SECONDS - started)) s"
inside lanewise --version
for device in reference auto; do
  inside lanewise selftest --device $device >"$scratch/selftest" 2>&1 || { tail -20 "$scratch/selftest"; fail "selftest on $device"; }
  echo "selftest on $device: $(tail -1 "$scratch/selftest")"
done

started=$SECONDS
install --no-install-recommends "$(package lanewise-dev)" "$(package python3-lanewise)" gcc g++ libc6-dev make cmake pkg-config \
  libfmt-dev spirv-tools zlib1g-dev liblzma-dev libzstd-dev liblz4-dev libvulkan-dev python3-numpy
echo "the other packages and compilers: $((SECONDS - started)) s"
mkdir -p "$root/opt/lanewise-test"
cp -r "$here/consumer" "$here/test_python.py" "$source/samples/kernels/saxpy.ptx" "$root/opt/lanewise-test/"
cp "$source/samples/vulkan_share/vulkan_share.c" "$root/opt/lanewise-test/"
expected="sum 999000"
is_right() { [ "$(inside "${@:2}" /opt/lanewise-test/saxpy.ptx reference)" = "$expected" ] || fail "$1: wrong result"; echo "$1: right"; }
inside sh -c 'cc -std=c11 -Wall -Werror /opt/lanewise-test/consumer/consumer.c $(pkg-config --cflags --libs lanewise) -o /opt/lanewise-test/c' ||
  fail "C with pkg-config does not build"
is_right "C with pkg-config" /opt/lanewise-test/c
inside cmake -S /opt/lanewise-test/consumer -B /opt/lanewise-test/build >"$scratch/log" 2>&1 && inside cmake --build /opt/lanewise-test/build >>"$scratch/log" 2>&1 ||
  { tail -20 "$scratch/log"; fail "find_package"; }
for program in c cpp static; do is_right "find_package, consumer_$program" /opt/lanewise-test/build/consumer_$program; done
is_right Python python3 /opt/lanewise-test/consumer/consumer.py
inside sh -c 'cc -std=c11 /opt/lanewise-test/vulkan_share.c $(pkg-config --cflags --libs lanewise) -lvulkan -o /opt/lanewise-test/share' ||
  fail "a Vulkan program does not build"
inside /opt/lanewise-test/share /opt/lanewise-test/saxpy.ptx llvmpipe | grep ' 0 wrong' || fail "a Vulkan program: wrong result"
inside env LANEWISE_TEST_DEVICE=reference python3 -W error /opt/lanewise-test/test_python.py >"$scratch/log" 2>&1 ||
  { tail -20 "$scratch/log"; fail "the Python tests"; }
echo "the Python tests: $(grep -E '^Ran ' "$scratch/log")"
