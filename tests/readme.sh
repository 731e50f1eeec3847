#!/usr/bin/env bash
# Runs every command of the README's sh blocks in a copy-like scratch directory that links to the
# checkout, and checks that the C++ example is samples/hello/hello.cpp. `./dev test` is what runs this, and
# `./dev demo` and `./dev build` are the build this test belongs to, so those three are only checked
# to be commands that ./dev knows.
set -euo pipefail
root=$1
bin=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/build"
ln -s "$bin" "$work/build/bin"
ln -s "$root/samples" "$work/samples"
ln -s "$root/tests" "$work/tests"

commands=$(awk '/^```sh$/{on=1;next} /^```$/{on=0} on && NF' "$root/README.md")
count=0
while IFS= read -r line; do
  line=${line%%  #*}
  case "$line" in
    ./dev\ *)
      name=$(echo "$line" | awk '{print $2}')
      "$root/dev" help | grep -q "^  $name" || { echo "README names './dev $name', which ./dev does not know"; exit 1; }
      ;;
    *)
      (cd "$work" && bash -c "$line" </dev/null >"$work/out" 2>&1) || { echo "failed: $line"; cat "$work/out"; exit 1; }
      ;;
  esac
  count=$((count + 1))
done <<<"$commands"

# The Python example, against the built library.
awk '/^```python$/{on=1;next} /^```$/{on=0} on' "$root/README.md" >"$work/example.py"
library=$(ls "$bin"/../runtime/liblanewise.so)
said=$(cd "$work" && LANEWISE_LIBRARY=$library PYTHONPATH=$root/python python3 example.py)
[ "$said" = "2 * 3 + 1 = 7.0" ] || { echo "the Python example says: $said"; exit 1; }

diff <(awk '/^```cpp$/{on=1;next} /^```$/{on=0} on' "$root/README.md") "$root/samples/hello/hello.cpp"
echo "$count README commands run"
[ "$count" -ge 10 ]
