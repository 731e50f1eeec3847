#!/usr/bin/env bash
# Runs the hardware kit on this machine (docs/hardware.md):
#   run.sh OUT [--minutes N] [--device D] [--only REGEX]    results into OUT; the same command goes on
#   run.sh compare A B            what two results (folders, or their results.jsonl) say differently
#   run.sh table OUT, preset OUT  a file for tests/truth/, a preset, out of results
#   run.sh exec PROGRAM ARGS...   one of the kit's programs by itself
set -euo pipefail
kit=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# Libraries that this machine lacks, and none that it has: drivers want their own.
links=$(mktemp -d)
trap 'rm -rf "$links"' EXIT
cache=$( (ldconfig -p || /sbin/ldconfig -p) 2>/dev/null || true)
for library in "$kit"/lib/*.so*; do
  name=$(basename "$library")
  grep -qF "	$name (" <<<"$cache" || ln -s "$library" "$links/$name"
done
for folder in /usr/local/nvidia/lib64 /usr/lib/wsl/lib; do  # NVIDIA's libraries in some containers
  if [ -d "$folder" ] && ! grep -qF "$folder/" <<<"$cache"; then LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folder"; fi
done
export LD_LIBRARY_PATH="$links${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

# The driver of the card: what VK_DRIVER_FILES names, what the loader finds by itself, a description in
# an unusual place, and last one of our own for NVIDIA's library.
finds_gpu() { "$kit/bin/lanewise" devices --json 2>/dev/null | grep -E '"type": "(discrete|integrated|virtual)"' >/dev/null; }
find_driver() {
  local json library
  if [ -n "${VK_DRIVER_FILES:-}${VK_ICD_FILENAMES:-}" ] || finds_gpu; then return 0; fi
  for json in /usr/local/nvidia/share/vulkan/icd.d/*.json /usr/local/share/vulkan/icd.d/*.json \
    /opt/*/share/vulkan/icd.d/*.json /usr/share/vulkan/icd.d/nvidia*.json /etc/vulkan/icd.d/nvidia*.json; do
    if [ -e "$json" ] && VK_DRIVER_FILES=$json finds_gpu; then export VK_DRIVER_FILES=$json; return 0; fi
  done
  for library in libGLX_nvidia.so.0 libEGL_nvidia.so.0; do
    json=$links/$library.json
    printf '{"file_format_version": "1.0.0", "ICD": {"library_path": "%s", "api_version": "1.3.0"}}\n' "$library" >"$json"
    if VK_DRIVER_FILES=$json finds_gpu; then export VK_DRIVER_FILES=$json; return 0; fi
  done
  echo "run.sh: no GPU is found through Vulkan; VK_DRIVER_FILES names a driver's JSON file" >&2
}

case "${1:-}" in
  compare | summary | table | preset) "$kit/bin/gpu_kit" "$@" ;;
  exec)
    program=$2
    shift 2
    find_driver
    "$kit/bin/$program" "$@"
    ;;
  '' | -h | --help) sed -n '2,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" ;;
  *)
    find_driver
    "$kit/bin/gpu_kit" run "$@"
    ;;
esac
