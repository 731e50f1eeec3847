#!/usr/bin/env bash
# Makes docs/images/report.png, the README's picture: the HTML report of samples/blur, in headless Chromium (package chromium).
#   report.sh [BIN]     the folder of the program, build/bin otherwise
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=${1:-build/bin}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -c "import array; array.array('f', range(32768)).tofile(open('$work/ramp.bin', 'wb'))"
"$bin/lanewise" run samples/blur/fixed.ptx --device reference --grid 128 --block 256 --arg "in:$work/ramp.bin" \
  --arg "out:$work/blurred.npy:f32[32768]" --arg i32:32768 --cache gm204 --report "$work/blur.html" --source samples/blur
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --virtual-time-budget=5000 --window-size=1200,1150 \
  --screenshot=docs/images/report.png "file://$work/blur.html"
