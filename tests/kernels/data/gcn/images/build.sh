# Makes the code objects beside this file: clang-19, lld-19 and rocm-device-libs.
set -e
cd "$(dirname "$0")"
library=/usr/lib/x86_64-linux-gnu/amdgcn/bitcode
for gpu in gfx600 gfx700 gfx803; do
  link=
  for part in opencl ocml ockl oclc_abi_version_400 oclc_correctly_rounded_sqrt_on oclc_daz_opt_off \
    oclc_finite_only_off oclc_unsafe_math_off oclc_wavefrontsize64_on "oclc_isa_version_${gpu#gfx}"; do
    link="$link -Xclang -mlink-builtin-bitcode -Xclang $library/$part.bc"
  done
  clang-19 -x cl -cl-std=CL2.0 -O2 -nogpulib -mcode-object-version=4 -target amdgcn-amd-amdhsa -mcpu=$gpu $link \
    images.cl -o "images.$gpu.hsaco"
done
