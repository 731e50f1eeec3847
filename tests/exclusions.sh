#!/usr/bin/env bash
# exclusions.sh TABLE BIN: each pattern of exclusions.tsv names cases that there are. A case that is renamed would
# otherwise run where it takes minutes.
set -euo pipefail
table=$1 bin=$2 failed=0
declare -A program=([kernels]=test_kernels [kernels_serial]=test_kernels [values_sass]=test_values_sass [cli]=test_cli)
while IFS=$'\t' read -r device test what _; do
  case $what in
    case=*) option=--test-case ;;
    suite=*) option=--test-suite ;;
    file=*) option=--source-file ;;
    *) continue ;;  # what programs look up themselves
  esac
  IFS=, read -ra patterns <<<"${what#*=}"
  for pattern in "${patterns[@]}"; do
    [ $option != --source-file ] || pattern="*/$pattern.cpp"
    "$bin/${program[$test]}" --count $option="$pattern" | grep -q 'filters: [1-9]' || {
      echo "FAIL: $test on $device leaves out '$pattern', which is no case of ${program[$test]}"
      failed=1
    }
  done
done < <(grep -v '^#' "$table")
exit $failed
