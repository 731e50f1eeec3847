#!/usr/bin/env bash
# A release for any Linux with glibc 2.36 or later (x86_64), of what a build folder has: an archive with program,
# libraries, headers, Python package and samples, and a wheel of library and Python package.
# Libraries that not every system has lie beside them; what is found at run time is the Vulkan loader alone.
#   release.sh BUILD [OUTPUT]         writes OUTPUT/lanewise-VERSION-linux-x86_64.tar.xz and OUTPUT/lanewise-VERSION-*.whl
set -euo pipefail
source=$(cd "$(dirname "$0")/.." && pwd)
[ $# -ge 1 ] || { sed -n 2,5p "$0" >&2; exit 2; }
build=$(cd "$1" && pwd)
mkdir -p "${2:-$build/release}"
output=$(cd "${2:-$build/release}" && pwd)
for tool in patchelf strip python3 xz; do
  command -v $tool >/dev/null || { echo "release.sh needs $tool" >&2; exit 2; }
done
version=$("$build/bin/lanewise" --version | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -1)
name=lanewise-$version-linux-x86_64
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
stage=$work/$name
for component in runtime python; do cmake --install "$build" --prefix "$stage" --component $component --strip >/dev/null; done
cp -r "$source/include" "$stage/"
cp "$source/README.md" "$source/LICENSE" "$source/CHANGELOG.md" "$stage/"
mkdir -p "$stage/share/doc/lanewise" "$stage/share/lanewise"
cp -r "$source/docs/." "$stage/share/doc/lanewise/"
cp -r "$source/samples" "$stage/share/lanewise/samples"

# Everything but what belongs to the C library, whose version is the release's one requirement.
c_library='^(linux-vdso|ld-linux|libc|libm|libdl|librt|libpthread)[.-]'
mapfile -t programs < <(find "$stage" -type f \( -name '*.so*' -o -perm -u+x \) -exec sh -c 'head -c 4 "$1" | grep -q ELF' _ {} \; -print)
libraries=$(find "$stage" -name 'liblanewise.so.*' -type f -printf '%h\n' | head -1)
mkdir -p "$libraries/lanewise/bundled"
for file in "${programs[@]}"; do
  ldd "$file" 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// { print $1, $3 }'
done | sort -u | while read -r soname path; do
  [[ $soname =~ $c_library || $soname == liblanewise* ]] || install -m 644 "$path" "$libraries/lanewise/bundled/$soname"
done
# Each finds the bundled ones from where it lies; these among themselves.
for file in "${programs[@]}"; do
  from=$(realpath --relative-to="$(dirname "$file")" "$libraries")
  patchelf --force-rpath --set-rpath "\$ORIGIN/$from/lanewise/bundled:\$ORIGIN/$from" "$file"
done
for file in "$libraries"/lanewise/bundled/*; do patchelf --force-rpath --set-rpath '$ORIGIN' "$file"; done

newest=$(for file in "${programs[@]}" "$libraries"/lanewise/bundled/*; do
  objdump -T "$file" | grep -oE 'GLIBC_[0-9]+\.[0-9]+' || true
done | sort -uV | tail -1)
[ "$(printf '%s\n' "$newest" GLIBC_2.36 | sort -V | tail -1)" = GLIBC_2.36 ] ||
  { echo "release.sh: $newest is needed; build it on a system with glibc 2.36" >&2; exit 1; }

tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C "$work" -cf - "$name" | xz -T0 -3 >"$output/$name.tar.xz"

# The wheel: library and what it needs beside the modules.
wheel=$work/wheel
mkdir -p "$wheel/lanewise/bundled"
cp "$source"/python/lanewise/*.py "$wheel/lanewise/"
soname=$(basename "$(find "$libraries" -maxdepth 1 -type l -name 'liblanewise.so.?*')")
cp -L "$libraries/$soname" "$wheel/lanewise/$soname"
patchelf --force-rpath --set-rpath '$ORIGIN/bundled' "$wheel/lanewise/$soname"
ldd "$wheel/lanewise/$soname" | awk '$2 == "=>" && $3 ~ /^\// { print $1 }' | while read -r other; do
  [ ! -e "$libraries/lanewise/bundled/$other" ] || cp "$libraries/lanewise/bundled/$other" "$wheel/lanewise/bundled/"
done
python3 - "$wheel" "$output" "$version" <<'PY'
import base64, hashlib, pathlib, sys, zipfile
folder, output, version = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
tag = "py3-none-manylinux_2_36_x86_64"
info = f"lanewise-{version}.dist-info"
meta = {
    f"{info}/METADATA": f"Metadata-Version: 2.1\nName: lanewise\nVersion: {version}\n"
    "Summary: Run foreign GPU kernels on any Vulkan device\nRequires-Python: >=3.9\nLicense: Apache-2.0\n",
    f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: packaging/release.sh\nRoot-Is-Purelib: false\nTag: {tag}\n",
}
record = []
with zipfile.ZipFile(output / f"lanewise-{version}-{tag}.whl", "w", zipfile.ZIP_DEFLATED) as out:
    def add(name, data, mode):
        entry = zipfile.ZipInfo(name)
        entry.external_attr, entry.compress_type = mode << 16, zipfile.ZIP_DEFLATED
        out.writestr(entry, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record.append(f"{name},sha256={digest},{len(data)}")
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        add(path.relative_to(folder).as_posix(), path.read_bytes(), 0o100755 if ".so" in path.name else 0o100644)
    for name, text in meta.items():
        add(name, text.encode(), 0o100644)
    record.append(f"{info}/RECORD,,")
    entry = zipfile.ZipInfo(f"{info}/RECORD")
    entry.external_attr = 0o100644 << 16
    out.writestr(entry, "\n".join(record) + "\n")
PY
(cd "$output" && ls -1sh "$name.tar.xz" lanewise-"$version"-*.whl)
