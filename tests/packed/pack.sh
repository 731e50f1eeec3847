#!/usr/bin/env bash
# usage: tests/packed/pack.sh [--without FILE]... SET...
# Packs again: the set with what lies in the source folders under names that sets.tsv gives it, which is then removed
# there. FILE (relative to tests/) leaves the set. The same files always give the same archive.
set -euo pipefail
cd "$(dirname "$0")/.."
without=()
while [ "${1:-}" = --without ]; do
  without+=("$2")
  shift 2
done
[ $# -gt 0 ] || { sed -n 2,4p packed/pack.sh >&2; exit 2; }
shopt -s nullglob
files_of() {  # set: those of its names that lie in this folder
  local names
  names=$(awk -F '\t' -v set="$1" '$1 == set { print $2 }' "$here/packed/sets.tsv")
  printf '%s\n' $names
}
here=$PWD
for set in "$@"; do
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  archive=packed/$set.tar.xz
  [ ! -e "$archive" ] || tar -xJf "$archive" -C "$folder"
  mapfile -t new < <(comm -23 <(files_of "$set" | sort -u) <(files_of text | sort -u))
  for file in "${new[@]}"; do
    [ -f "$file" ] || continue
    mkdir -p "$folder/$(dirname "$file")"
    cp "$file" "$folder/$file"
  done
  for file in "${without[@]}"; do rm "$folder/$file"; done
  find "$folder" -type f -exec chmod 644 {} +
  tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C "$folder" -cf - $(ls "$folder") | xz -9e >"$archive.new"
  mv "$archive.new" "$archive"
  for file in "${new[@]}"; do rm -f "$file"; done
  echo "$archive: $(tar -tJf "$archive" | grep -vc '/$') files"
  rm -rf "$folder"
done
