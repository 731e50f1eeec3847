#!/usr/bin/env bash
# The README's commands run, and its Python and C++ examples are what they say.
#   readme.sh ROOT BIN
set -euo pipefail
root=$1
bin=$2
"$root/tests/docs.sh" "$root" "$bin" "$root/README.md"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ln -s "$root/samples" "$work/samples"
block() { awk -v start="^\`\`\`$1\$" '$0 ~ start {on=1;next} /^```$/{on=0} on' "$root/README.md"; }
block python >"$work/example.py"
reported=$(cd "$work" && LANEWISE_LIBRARY=$bin/../runtime/liblanewise.so PYTHONPATH=$root/python python3 example.py)
[ "$reported" = "2 * 3 + 1 = 7.0" ] || { echo "the Python example says: $reported"; exit 1; }
diff <(block cpp) "$root/samples/hello/hello.cpp"
