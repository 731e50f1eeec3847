#include <array>
#include <string_view>

#include "runtime/ir/ir.hpp"

namespace lanewise::ir {
namespace {

template <typename Enum, size_t N>
constexpr std::string_view pick(const std::array<std::string_view, N>& names, Enum value) {
  const auto i = static_cast<size_t>(value);
  return i < N ? names[i] : std::string_view("?");
}

constexpr OpTrait pure = OpTrait::pure, mem = OpTrait::mem, sync = OpTrait::sync,
                  wave = OpTrait::wave, effect = OpTrait::effect;
constexpr OpInfo kOps[] = {
#define LW_OP(name, signature, trait) {#name, signature, trait},
#include "runtime/ir/ops.def"
#undef LW_OP
};

}  // namespace

const OpInfo& info(Op op) {
  return kOps[static_cast<size_t>(op)];
}

std::optional<Op> op_named(std::string_view name) {
  for (size_t i = 0; i < std::size(kOps); ++i) {
    std::string_view row = kOps[i].name;
    if (row.ends_with('_')) row.remove_suffix(1);
    if (row == name) return static_cast<Op>(i);
  }
  return std::nullopt;
}

std::string_view name(Width v) {
  return pick<Width, 3>({"pred", "b32", "b64"}, v);
}
std::string_view name(Type v) {
  return pick<Type, 14>({"none", "pred", "u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64",
                         "f16", "f32", "f64", "bf16"},
                        v);
}
std::string_view name(Cond v) {
  return pick<Cond, 14>(
      {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"},
      v);
}
std::string_view name(Round v) {
  return pick<Round, 5>({"rn", "rz", "rm", "rp", "rna"}, v);
}
std::string_view name(Space v) {
  return pick<Space, 7>({"generic", "global", "shared", "local", "constant", "param", "code"}, v);
}
std::string_view name(AlignRule v) {
  return pick<AlignRule, 3>({"trap", "force", "any"}, v);
}
std::string_view name(Certain v) {
  return pick<Certain, 3>({"", "guarded", "everywhere"}, v);
}
std::string_view name(Order v) {
  return pick<Order, 8>(
      {"weak", "relaxed", "volatile", "mmio", "acquire", "release", "acq_rel", "seq_cst"}, v);
}
std::string_view name(Scope v) {
  return pick<Scope, 5>({"none", "cta", "cluster", "gpu", "sys"}, v);
}
std::string_view name(CacheOp v) {
  return pick<CacheOp, 10>({"none", "ca", "cg", "cs", "lu", "cv", "ci", "nc", "wb", "wt"}, v);
}
std::string_view name(EvictPriority v) {
  return pick<EvictPriority, 6>({"none", "normal", "unchanged", "first", "last", "no_allocate"}, v);
}
std::string_view name(AtomOp v) {
  return pick<AtomOp, 16>({"add", "sub", "rsub", "min", "max", "inc", "dec", "and", "or", "xor",
                           "exch", "cas", "fcas", "mskor", "wrap", "arrive"},
                          v);
}
std::string_view name(SReg v) {
  return pick<SReg, 34>({"tid_x",           "tid_y",       "tid_z",       "ntid_x",
                         "ntid_y",          "ntid_z",      "ctaid_x",     "ctaid_y",
                         "ctaid_z",         "nctaid_x",    "nctaid_y",    "nctaid_z",
                         "laneid",          "warpid",      "nwarpid",     "smid",
                         "nsmid",           "gridid",      "lanemask_eq", "lanemask_le",
                         "lanemask_lt",     "lanemask_ge", "lanemask_gt", "clock",
                         "clock_hi",        "clock64",     "globaltimer", "dynamic_smem_size",
                         "total_smem_size", "param_base",  "linear_tid",  "shared_window",
                         "local_window",    "written_map"},
                        v);
}
std::string_view name(BarrierKind v) {
  return pick<BarrierKind, 6>({"sync", "arrive", "red_popc", "red_and", "red_or", "yield"}, v);
}
std::string_view name(Choice v) {
  return pick<Choice, 11>(
      {"", "stack_end", "stack_lane", "stack_wave", "copies_late", "copy_area", "bulk_area",
       "reporting_entries", "sparse_absent", "lds_offset_mask", "lds_extend_mask"},
      v);
}
std::string_view name(ShflMode v) {
  return pick<ShflMode, 4>({"up", "down", "bfly", "idx"}, v);
}
std::string_view name(CacheCtl v) {
  return pick<CacheCtl, 13>(
      {"prefetch_l1", "prefetch_l15", "prefetch_l2", "prefetch_l2_evict_last",
       "prefetch_l2_evict_normal", "write_back", "invalidate", "invalidate_all", "reset",
       "write_back_all", "demote_normal", "discard", "policy_word"},
      v);
}

std::string_view name(TextureAccess::Dim v) {
  return pick<TextureAccess::Dim, 5>({"1d", "2d", "3d", "cube", "described"}, v);
}
std::string_view name(TextureAccess::Lod v) {
  return pick<TextureAccess::Lod, 3>({"zero", "level", "gradient"}, v);
}
std::string_view name(TextureAccess::Outside v) {
  return pick<TextureAccess::Outside, 3>({"zero", "clamp", "trap"}, v);
}

}  // namespace lanewise::ir
