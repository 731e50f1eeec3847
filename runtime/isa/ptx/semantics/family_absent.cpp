// Instructions that are known but not supported, each with its reason.
#include "runtime/isa/ptx/semantics/table.hpp"

namespace lanewise::ptx {
namespace {

#define LW_ABSENT(opcode, reason) \
  { opcode, "*", nullptr, 0, 255, reason, nullptr, isa::Claim::none }

constexpr const char* kTexture = "textures are not supported";
constexpr const char* kSurface = "surfaces are not supported";
constexpr const char* kMatrix = "matrix units are not supported";
constexpr const char* kAsync = "asynchronous copies are not supported";
constexpr const char* kVideo = "video instructions are not supported";
constexpr const char* kCluster = "thread block clusters are not supported";
constexpr const char* kStack = "dynamic stack allocation is not supported";

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
    LW_ABSENT("mbarrier", kAsync),
    LW_ABSENT("multimem", kAsync),
    LW_ABSENT("clusterlaunchcontrol", kCluster),
    LW_ABSENT("setmaxnreg", "register reallocation is not supported"),
    LW_ABSENT("alloca", kStack),
    LW_ABSENT("stacksave", kStack),
    LW_ABSENT("stackrestore", kStack),
    LW_ABSENT("vadd", kVideo),
    LW_ABSENT("vsub", kVideo),
    LW_ABSENT("vabsdiff", kVideo),
    LW_ABSENT("vmin", kVideo),
    LW_ABSENT("vmax", kVideo),
    LW_ABSENT("vshl", kVideo),
    LW_ABSENT("vshr", kVideo),
    LW_ABSENT("vmad", kVideo),
    LW_ABSENT("vset", kVideo),
    LW_ABSENT("vadd2", kVideo),
    LW_ABSENT("vsub2", kVideo),
    LW_ABSENT("vavrg2", kVideo),
    LW_ABSENT("vabsdiff2", kVideo),
    LW_ABSENT("vmin2", kVideo),
    LW_ABSENT("vmax2", kVideo),
    LW_ABSENT("vset2", kVideo),
    LW_ABSENT("vadd4", kVideo),
    LW_ABSENT("vsub4", kVideo),
    LW_ABSENT("vavrg4", kVideo),
    LW_ABSENT("vabsdiff4", kVideo),
    LW_ABSENT("vmin4", kVideo),
    LW_ABSENT("vmax4", kVideo),
    LW_ABSENT("vset4", kVideo),
};

}  // namespace

std::span<const Row> absent_rows() {
  return kAbsentRows;
}

}  // namespace lanewise::ptx
