#!/usr/bin/env bash
# What the documents offer to be copied does what they say: the tools for Compiler Explorer, and the
# steps of the GitHub workflow but those that install packages. The reference of the headers is new.
#   docs_examples.sh ROOT BIN
set -euo pipefail
root=$1 bin=$2
export LANEWISE_LIBRARY=$bin/../runtime/liblanewise.so PYTHONPATH=$root/python PATH=$bin:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ln -s "$root/samples" "$work/samples"
cd "$work"

tools=0
while IFS= read -r options; do
  # shellcheck disable=SC2086
  lanewise $options samples/kernels/saxpy.ptx >out || { echo "fails: lanewise $options"; exit 1; }
  [ -s out ] || { echo "says nothing: lanewise $options"; exit 1; }
  tools=$((tools + 1))
done < <(sed -n 's/^tools\.[a-z_]*\.options=//p' "$root/docs/compiler-explorer.md")
named=$(sed -n 's/^tools=//p' "$root/docs/compiler-explorer.md" | tr : '\n' | wc -l)
[ "$tools" = "$named" ] || { echo "$named tools are named, $tools have options"; exit 1; }

python3 - "$root/docs/examples/kernel-tests.yml" >steps.sh <<'PY'
import sys

steps, body = [], None
for line in open(sys.argv[1]):
    if line.startswith("        run: |"):
        body = []
        steps.append(body)
    elif body is not None and (line.startswith(" " * 10) or not line.strip()):
        body.append(line[10:] or "\n")
    else:
        body = None
print("set -e")
for body in steps:
    text = "".join(body)
    if "apt-get" not in text:
        print(text)
PY
bash steps.sh >out 2>&1 || { echo "a step of the workflow fails:"; cat steps.sh out; exit 1; }
[ -s caches.sarif ] && [ -s saxpy_test.py ]
echo "$tools tools and the workflow's steps run"
