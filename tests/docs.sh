#!/usr/bin/env bash
# Every command that a page shows is run: the lines of ```sh blocks, page by page, each page in a scratch
# folder that links to the checkout. Blocks marked ```sh no-test are for what cannot run here (root,
# another machine, the build that this test belongs to). Commands anywhere else are an error, so none is
# forgotten. Links between pages must lead somewhere.
#   docs.sh ROOT BIN PAGE...
set -euo pipefail
root=$1 bin=$2
shift 2
export LANEWISE_LIBRARY=$bin/../runtime/liblanewise.so PYTHONPATH=$root/python PATH=$bin:$PATH
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
complain() { echo "$page: $*"; failed=1; }

# What a page shows. $1 = what to print: the commands of sh blocks (continued lines joined, comments
# cut), or lines elsewhere that look like commands. Lines with " [" are a command's syntax.
shown() {
  awk -v what="$1" '
    /^```/ { fence = !fence; run = fence && $0 == "```sh"; skip = fence && $0 ~ /no-test$/; next }
    run && what == "commands" {
      if (NF == 0 || $1 ~ /^#/) next
      if (sub(/\\$/, "")) { joined = joined $0; next }
      print joined $0; joined = ""
      next
    }
    run || skip || what == "commands" { next }
    (fence || /^    /) && !/ \[/ && /^ *(\$ )?(lanewise|build\/bin\/[a-z]|\.\/dev|cmake|ctest|cpack|python3) / { print FNR ": " $0 }
  ' "$page"
}

check_links() {
  local target folder
  folder=$(dirname "$page")
  while IFS= read -r target; do
    target=${target%%#*}
    [ -z "$target" ] || [ -e "$folder/$target" ] || complain "leads to '$target', which is not there"
  done < <(grep -oE '\]\([^)]+\)' "$page" | sed 's/^](//; s/)$//' | grep -vE '^[a-z]+:' || true)
}

run_commands() {
  local work line name
  work=$(mktemp -d -p "$scratch")
  mkdir -p "$work/build"
  ln -s "$bin" "$work/build/bin"
  for name in samples tests docs; do ln -s "$root/$name" "$work/$name"; done
  while IFS= read -r line; do
    line=${line%%  #*}
    case "$line" in
      ./dev\ *)  # `./dev test` is what runs this test
        name=$(echo "$line" | awk '{print $2}')
        "$root/dev" help | grep -q "^  $name" || complain "names './dev $name', which ./dev does not know"
        ;;
      *)
        (cd "$work" && bash -c "$line" </dev/null >"$scratch/out" 2>&1) ||
          { complain "fails: $line"; tail -n 20 "$scratch/out"; }
        ;;
    esac
    count=$((count + 1))
  done < <(shown commands)
}

count=0
for page in "$@"; do
  check_links
  stray=$(shown elsewhere)
  # The studies' commands have a test of their own, which looks at what they print.
  [ -z "$stray" ] || [ "$(basename "$page")" = studies.md ] || complain "commands outside of sh blocks: $stray"
  run_commands
done
echo "$count commands of $# pages run"
[ "$failed" = 0 ] && [ "$count" -ge 1 ]
