#!/usr/bin/env bash
# What the documents offer to be copied does what they say: the tools for Compiler Explorer, and the
# steps of the GitHub workflow but those that install packages. The workflow of CUDA tests runs its action's steps, with an archive of
# what is built here, and the project's programs as they are packed.
#   docs_examples.sh ROOT BIN
set -euo pipefail
root=$1 bin=$2
root_of_tests=$bin/../unpacked
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

# What the action gets of the workflow, as files: KEY for each of `with`; and its steps, in their order.
project=$root/docs/examples/cuda-tests
mkdir inputs steps
python3 - "$project/workflow.yml" "$root/packaging/action/action.yml" <<'PY'
import re, sys

workflow, action = (open(name).read() for name in sys.argv[1:])
with_ = re.search(r"uses: OWNER/lanewise/packaging/action.*?\n        with:\n((?: {10}.*\n)+)", workflow)[1]
given = re.findall(r"^ {10}(\w+): (?:\|\n((?: {12}.*\n)+)|(.*)\n)", with_, re.M)
for key, block, line in given:
    open(f"inputs/{key}", "w").write(re.sub(r"^ {12}", "", block, flags=re.M) or line)
taken = re.findall(r"^  (\w+):\n    description", action, re.M)
assert sorted(key for key, _, _ in given) == sorted(taken), (given, taken)
steps = re.findall(r"      env:\n((?: {8}.*\n)+)      run: \|\n((?: {8}.*\n)+)", action)
assert len(steps) == action.count("run: |") == 2
for number, (env, run) in enumerate(steps):
    with open(f"steps/{number}.sh", "w") as out:
        for name, value in re.findall(r"(\w+): \$\{\{ inputs\.(\w+) \}\}", env):
            out.write(f'export {name}=$(cat "$INPUTS/{value}")\n')
        out.write(re.sub(r"^ {8}", "", run, flags=re.M))
PY
release=lanewise-0.1.0-linux-x86_64
cmake --install "$bin/.." --prefix "$work/$release" --component runtime >/dev/null
tar -cf release.tar "$release"
grep -q "/${release//./[.]}[.]tar[.]xz$" inputs/release
echo "$work/release.tar" >inputs/release
added=$(sed -n 's/^ADD \(.*\) .*/\1/p' "$root/packaging/Containerfile")
# shellcheck disable=SC2053
[[ $release.tar.xz = $added ]] || { echo "packaging/Containerfile adds another archive: $added"; exit 1; }
cp -r "$project" project
cd project
cmake -B build -DPROGRAMS="$root_of_tests/tests/data/exec" >/dev/null
chmod +x "$root_of_tests/tests/data/exec/sums_test"
ln -s "$root_of_tests/tests/data/exec/libsums.so" build/libsums.so
python3 -c 'import pytest' 2>/dev/null || cat >pytest.py <<'PY'
# Stands for PyTest where that is not installed.
import test_sums

tests = [test for name, test in vars(test_sums).items() if name.startswith("test_")]
for test in tests:
    test()
print(len(tests), "passed")
PY
# usage: act, in a shell as a runner starts it: the program's own settings are those of the inputs
act() {
  export INPUTS=$work/inputs RUNNER_TEMP=$work/temp GITHUB_PATH=$work/path
  rm -rf "$RUNNER_TEMP" "$GITHUB_PATH" && mkdir "$RUNNER_TEMP" && touch "$GITHUB_PATH" &&
    env -u LANEWISE_LIBRARY bash --noprofile --norc -eo pipefail "$work/steps/0.sh" &&
    env -u LANEWISE_LIBRARY PATH="$(cat "$GITHUB_PATH"):$PATH" LANEWISE_DEVICE=reference \
      bash --noprofile --norc -eo pipefail "$work/steps/1.sh"
}
act >"$work/out" 2>&1 || { echo "the action fails:"; cat "$work/out"; exit 1; }
grep -q '100% tests passed' "$work/out" && grep -q '2 passed' "$work/out" || { echo "not all tests ran:"; cat "$work/out"; exit 1; }
[ "$(ls findings.*.xml | wc -l)" = 2 ] || { echo "findings of two programs were expected"; exit 1; }
! grep -l '<failure' findings.*.xml || exit 1
# A kernel that reads past its array makes the step fail, and so does a command.
cp "$root_of_tests/tests/data/exec/vector_add.cuda13" app && chmod +x app
for commands in './app fault' 'false; true'; do
  echo "$commands" >"$work/inputs/run"
  ! act >"$work/out" 2>&1 || { echo "passes: $commands"; exit 1; }
done
echo "$tools tools, the workflow's steps and the action's run"
