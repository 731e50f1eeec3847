#!/usr/bin/env bash
# usage: fetch_mesa.sh FOLDER
# Unpacks the Mesa drivers of Debian's backports into FOLDER, for a lavapipe that is newer than the
# system's: FOLDER/lvp_icd.json then names it and FOLDER/version says which it is. Needs no root and
# changes nothing outside FOLDER. A second run finds the files and does nothing. Where the driver
# cannot be had this says so and ends with code 1.
set -euo pipefail
mkdir -p "$1"
folder=$(cd "$1" && pwd)
package=mesa-vulkan-drivers

give_up() {
  echo "== no current Mesa for the tests, they go on without: $*" >&2
  exit 1
}

# The system's own source lines whose suite is $1, written for $1-backports.
one_line_sources() {
  cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
    sed -nE "s/^[[:space:]]*deb[[:space:]]+((\[[^]]*\][[:space:]]+)?[^[:space:]]+)[[:space:]]+$1[[:space:]]+/deb \1 $1-backports /p" || true
}

# The same for stanzas. A stanza that is switched off, or is for sources only, is left out.
stanza_sources() {
  local file
  for file in /etc/apt/sources.list.d/*.sources; do
    [ -r "$file" ] || continue
    sed '/^#/d; s/[[:space:]]*$//' "$file" | awk -v suite="$1" '
      BEGIN { RS = ""; FS = "\n" }
      {
        wanted = 1; binary = 0; found = 0; text = ""
        for (i = 1; i <= NF; ++i) {
          colon = index($i, ":"); name = tolower(substr($i, 1, colon - 1))
          value = " " substr($i, colon + 1) " "
          if ($i !~ /^[[:space:]]/ && name == "enabled" && tolower(value) ~ /^ *(no|false) *$/) wanted = 0
          if ($i !~ /^[[:space:]]/ && name == "types" && value ~ / deb /) binary = 1
          if ($i !~ /^[[:space:]]/ && name == "types") $i = "Types: deb"
          if ($i !~ /^[[:space:]]/ && name == "suites" && index(value, " " suite " ")) {
            found = 1; $i = "Suites: " suite "-backports"
          }
          text = text $i "\n"
        }
        if (wanted && binary && found) print text
      }'
  done
}

if [ -s "$folder/lvp_icd.json" ] && [ -s "$folder/version" ]; then exit 0; fi
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || give_up "this is no Debian system"
codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
[ "$(. /etc/os-release && echo "${ID:-}")" = debian ] && [ -n "$codename" ] || give_up "this is no Debian release"

work=$folder/work
rm -rf "$work"
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/sources"
trap 'rm -rf "$work"' EXIT
for suite in "$codename" stable oldstable; do
  one_line_sources "$suite" >"$work/sources/backports.list"
  stanza_sources "$suite" >"$work/sources/backports.sources"
  for list in "$work"/sources/*; do [ -s "$list" ] || rm "$list"; done
  [ -z "$(ls "$work/sources")" ] || break
done
[ -n "$(ls "$work/sources")" ] || give_up "apt has no source for $codename"

apt=(apt-get -qq -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$work/sources"
  -o "Dir::State::lists=$work/lists" -o "Dir::Cache=$work/cache" -o "APT::Sandbox::User=$(id -un)"
  -o Acquire::Retries=1 -o Acquire::http::Timeout=30 -o Acquire::https::Timeout=30)
log=$work/log
"${apt[@]}" -o APT::Update::Error-Mode=any update >"$log" 2>&1 || give_up "apt-get update: $(tail -n 1 "$log")"
(cd "$work" && "${apt[@]}" download "$package/$suite-backports") >"$log" 2>&1 ||
  give_up "apt-get download: $(tail -n 1 "$log")"
deb=$(ls "$work/$package"_*.deb)
version=$(dpkg-deb -f "$deb" Version)
installed=$(dpkg-query -W -f='${Version}' "$package" 2>/dev/null || true)
[ -z "$installed" ] || dpkg --compare-versions "$version" gt "$installed" ||
  give_up "the system's is $installed, the backport $version"

rm -rf "$folder/root"
dpkg-deb -x "$deb" "$folder/root"
driver=$(cd "$folder" && find root -name libvulkan_lvp.so | head -n 1)
[ -n "$driver" ] || give_up "$package $version has no lavapipe"
missing=$(ldd "$folder/$driver" | awk '/not found/ { print $1 }' | sort -u | tr '\n' ' ')
[ -z "$missing" ] || give_up "$package $version needs libraries that are not installed: $missing"
echo "$version" >"$folder/version"
# The package's manifest, but for where the library lies: that counts from the manifest's folder.
# Written last, as it says that all is there.
sed "s#\"library_path\": *\"[^\"]*\"#\"library_path\": \"./$driver\"#" \
  "$(find "$folder/root" -name 'lvp_icd*.json' | head -n 1)" >"$work/lvp_icd.json"
mv "$work/lvp_icd.json" "$folder/lvp_icd.json"
echo "== a third device for the tests: lavapipe of Mesa $version" >&2
