// Instructions that are known but not supported, each with its reason.
#include "runtime/isa/ptx/semantics/table.hpp"

namespace lanewise::ptx {
namespace {

#define LW_ABSENT(opcode, reason) \
  { opcode, "*", nullptr, 0, 255, reason, nullptr, isa::Claim::none }

constexpr const char* kTexture = "textures are not supported";
constexpr const char* kSurface = "surfaces are not supported";
constexpr const char* kMatrix = "matrix units are not supported";
constexpr const char* kCluster = "thread block clusters are not supported";

constexpr Row kAbsentRows[] = {
    LW_ABSENT("tex", kTexture),
    LW_ABSENT("tld4", kTexture),
    LW_ABSENT("txq", kTexture),
    LW_ABSENT("istypep", kTexture),
    LW_ABSENT("suld", kSurface),
    LW_ABSENT("sust", kSurface),
    LW_ABSENT("sured", kSurface),
    LW_ABSENT("suq", kSurface),
    LW_ABSENT("wmma", kMatrix),
    LW_ABSENT("mma", kMatrix),
    LW_ABSENT("wgmma", kMatrix),
    LW_ABSENT("tcgen05", kMatrix),
    LW_ABSENT("ldmatrix", kMatrix),
    LW_ABSENT("stmatrix", kMatrix),
    LW_ABSENT("movmatrix", kMatrix),
    LW_ABSENT("mbarrier", "barriers in memory are not supported"),
    LW_ABSENT("multimem", "memory of several devices is not supported"),
    LW_ABSENT("clusterlaunchcontrol", kCluster),
    LW_ABSENT("setmaxnreg", "register reallocation is not supported"),
};

}  // namespace

std::span<const Row> absent_rows() {
  return kAbsentRows;
}

}  // namespace lanewise::ptx
