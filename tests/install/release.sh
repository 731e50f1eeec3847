#!/usr/bin/env bash
# The release's archive and wheel (packaging/release.sh) in a clean Debian 12 without compilers or the project's
# libraries: selftest, a sample, the Python package, and the recipe of a container. Minutes and the network, so only with LANEWISE_TEST_DEBIAN=1;
# LANEWISE_DEBIAN_ROOT names a root that mmdebstrap or debootstrap has made before, of any distribution, which is copied;
# LANEWISE_RELEASE the folder of an archive and a wheel that were made before.
#   release.sh SOURCE BUILD
set -euo pipefail
source=$1 build=$2
skip() { echo "skipped: $*"; exit 77; }
fail() { echo "release test: $*"; exit 1; }
[ "${LANEWISE_TEST_DEBIAN:-}" = 1 ] || skip "takes minutes; LANEWISE_TEST_DEBIAN=1 asks for it"
[ "$(id -u)" = 0 ] || skip "a root folder is made and entered by root only"
command -v patchelf >/dev/null || skip "patchelf is not installed"
scratch=$(mktemp -d)
root=$scratch/root
clean_up() {
  umount "$root/proc" 2>/dev/null || true
  rm -rf --one-file-system "$scratch"
}
trap clean_up EXIT
if [ -n "${LANEWISE_DEBIAN_ROOT:-}" ]; then
  cp -a "$LANEWISE_DEBIAN_ROOT" "$root"
else
  command -v mmdebstrap >/dev/null || skip "mmdebstrap not to be had"
  mmdebstrap --variant=apt --mode=root bookworm "$root" >"$scratch/log" 2>&1 || skip "no Debian mirror can be reached"
fi
release=${LANEWISE_RELEASE:-$scratch/release}
[ -n "${LANEWISE_RELEASE:-}" ] || "$source/packaging/release.sh" "$build" "$release"
mount -t proc proc "$root/proc" 2>/dev/null || true
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/ LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
! inside sh -c 'command -v cc || ls /usr/lib/*/libfmt*' >/dev/null 2>&1 || fail "the root is not clean"
mkdir -p "$root/opt"
tar -xJf "$release"/*.tar.xz -C "$root/opt"
mv "$root"/opt/lanewise-* "$root/opt/lanewise"
(. "$root/etc/os-release" && echo "in $PRETTY_NAME, $(inside sh -c 'ls /lib/x86_64-linux-gnu/libc.so.6 >/dev/null; ldd --version' | head -1)")
inside /opt/lanewise/bin/lanewise --version
inside /opt/lanewise/bin/lanewise selftest --device reference >"$scratch/selftest" 2>&1 || { tail -20 "$scratch/selftest"; fail "selftest"; }
tail -1 "$scratch/selftest"
inside /opt/lanewise/bin/lanewise run /opt/lanewise/share/lanewise/samples/kernels/saxpy.ptx --device reference --grid 1 --block 64 \
  --arg u32:64 --arg f32:2 --arg zero:f32[64] --arg zero:f32[64] || fail "a sample"
if ! inside sh -c 'command -v python3' >/dev/null; then
  cp /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true
  inside sh -c 'apt-get update && apt-get install -y --no-install-recommends python3' >"$scratch/log" 2>&1 ||
    { echo "without Python: it cannot be installed"; exit 0; }
fi
cp "$release"/*.whl "$root/opt/lanewise.zip"
inside python3 -m zipfile -e /opt/lanewise.zip /opt/wheel
for path in /opt/wheel /opt/lanewise/lib/python3/dist-packages; do
  inside env PYTHONPATH=$path python3 -c 'import lanewise; print(lanewise.__file__, lanewise.Device("reference"))' || fail "Python package in $path"
done

# packaging/Containerfile, line by line in the same root, then a CUDA program as the image's one argument.
rm -rf "$root"/opt/lanewise
while read -r word rest; do
  case $word in
  FROM) grep -q "VERSION_ID=\"${rest//[!0-9]/}\"" "$root/etc/os-release" || echo "(this root is no $rest)" ;;
  RUN) inside sh -ec "$rest" >"$scratch/log" 2>&1 || { tail -5 "$scratch/log"; fail "RUN $rest"; } ;;
  ADD) tar -xJf "$release"/${rest% *} -C "$root${rest#* }" ;;
  WORKDIR) mkdir -p "$root$rest" ;;
  ENTRYPOINT) entry=$(tr -d '[],"' <<<"$rest") ;;
  '#'* | '') ;;
  *) fail "packaging/Containerfile has a line that this test does not know: $word" ;;
  esac
done <"$source/packaging/Containerfile"
install -m 755 "$build/unpacked/tests/data/exec/vector_add.cuda13" "$root/tests/app"
# shellcheck disable=SC2086
[[ "$(inside $entry --device reference /tests/app)" = "3 cudaSuccess"* ]] || fail "a CUDA program in the container"
echo "the container recipe's lines, and a CUDA program"
