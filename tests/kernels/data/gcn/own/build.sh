# Makes the code objects beside this file: clang-14, lld-14 and libclc-14.
set -e
cd "$(dirname "$0")"
common="-cl-std=CL1.2 -ffp-contract=off -cl-fp32-correctly-rounded-divide-sqrt -nogpulib -Xclang -finclude-default-header"
library=/usr/lib/clc
make() {  # SOURCE NAME OPTIMISATION
  source=$1 name=$2 flags="$common $3"
  for gpu in gfx600 gfx700 gfx803; do
    clang-14 -target amdgcn-amd-amdhsa -mcpu=$gpu $flags \
      -Xclang -mlink-builtin-bitcode -Xclang $library/amdgcn--amdhsa.bc "$source" -o "$name.$gpu.hsaco"
  done
  # lld-14 does not link calls and tables of constants for Mesa.
  case $name in calls | functions | suites* | spills | nested_O0) return ;; esac
  clang-14 -target amdgcn-mesa-mesa3d -mcpu=gfx700 $flags \
    -Xclang -mlink-builtin-bitcode -Xclang $library/bonaire-amdgcn-mesa-mesa3d.bc "$source" -o "$name.gfx700.mesa3d.hsaco"
}
for file in ${*:-$(ls ./*.cl | grep -v -e spills -e nested)}; do make "$file" "${file%.cl}" -O2; done
# Without optimisation scalar registers are kept in lanes of vector registers.
make loops.cl loops_O0 -O0
make suites.cl suites_O0 -O0
make spills.cl spills -O0
make nested.cl nested_O0 -O0
