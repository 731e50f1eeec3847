// Tensor memory, matrix operations of a whole group, copies by descriptors: judged, refused by
// name. Bulk copies of memory are in semantics/async.
#include <algorithm>
#include <bit>

#include "runtime/isa/ptx/check_context.hpp"
#include "runtime/isa/ptx/semantics/async/async.hpp"
#include "runtime/isa/ptx/table.hpp"

namespace lanewise::ptx {
namespace {

using legal::Context;
using K = Operand::Kind;

/// Takes operands from left to right.
class Operands {
 public:
  Operands(Context& c) : c_(c) {}

  bool more() const { return at_ < c_.in.operands.size(); }
  const Operand& peek() const { return c_.in.operands[at_]; }
  size_t take() { return at_++; }
  size_t left() const { return c_.in.operands.size() - at_; }

 private:
  Context& c_;
  size_t at_ = 0;
};

/// `[r]`: an address in tensor memory.
void tensor_address(Context& c, size_t i) {
  const Operand& o = c.in.operands[i];
  const legal::Symbol s = c.symbol(o);
  const bool reg = o.kind == K::address && o.elements.empty() &&
                   s.kind == legal::Symbol::Kind::reg && s.vector == 1 &&
                   fits(kU32, s.type, Fit::exact);
  if (!reg) c.found(o, ", a 32-bit register in brackets was expected");
}

void constant_in(Context& c, size_t i, int64_t low, int64_t high) {
  const Operand* o = c.literal(i, "a constant");
  const auto v = o ? static_cast<int64_t>(o->bits) : low;
  if (v < low || v > high)
    c.error(*o, "the constant " + std::to_string(v) + ", " + std::to_string(low) + " to " +
                    std::to_string(high) + " was expected");
}

void words(Context& c, size_t i, PType want, unsigned n, bool reads) {
  const Operand& o = c.in.operands[i];
  if (n == 1 && o.kind != K::vector) return c.register_of(o, want, Fit::exact);
  c.vector_of(o, want, n, Fit::exact, reads, false);
}

// --- tcgen05
// --------------------------------------------------------------------------------------

void columns(Context& c, size_t i) {
  const Operand& o = c.in.operands[i];
  const auto n = o.bits;
  if (o.kind == K::integer && (n < 32 || n > 512 || !std::has_single_bit(n)))
    c.error(o, std::to_string(n) + " columns, a power of two from 32 to 512 was expected");
  c.value_of(o, kU32, Fit::exact);
}

void tensor_alloc(Context& c) {
  if (!c.count(2, 2)) return;
  if (c.has("dealloc")) {
    c.value_of(c.in.operands[0], kU32, Fit::exact);
  } else {
    c.near_address(0, c.get("ss"));
  }
  columns(c, 1);
}

void tensor_commit(Context& c) {
  const size_t n = c.has("multicast::cluster") ? 2 : 1;
  if (!c.count(n, n)) return;
  c.near_address(0, c.get("ss"));
  if (n == 2) c.value_of(c.in.operands[1], kB16, Fit::exact);
}

void tensor_copy(Context& c) {
  if (c.has("fmt") != c.has("src"))
    c.error("one format of a conversion, that of the source and `.b8x16` were expected together");
  if (!c.count(2, 2)) return;
  tensor_address(c, 0);
  c.value_of(c.in.operands[1], kU64, Fit::exact);
}

unsigned tensor_words(Context& c) {
  const std::string_view shape = c.get("shape");
  const unsigned each = shape == "16x128b" ? 2 : shape == "16x256b" ? 4 : 1;
  const unsigned n = leading_number(c.get("num").substr(1)) * each;
  if (n > 128)
    c.error("`." + std::string(c.get("num")) + "` with `." + std::string(shape) +
            "`, fewer were expected");
  return n;
}

void tensor_load(Context& c) {
  const size_t n = c.get("shape") == "16x32bx2" ? 3 : 2;
  const unsigned values = tensor_words(c);
  if (!c.count(n, n)) return;
  words(c, 0, kB32, values, false);
  tensor_address(c, 1);
  if (n == 3) c.literal(2, "a constant offset");
}
void tensor_store(Context& c) {
  const size_t n = c.get("shape") == "16x32bx2" ? 3 : 2;
  const unsigned values = tensor_words(c);
  if (!c.count(n, n)) return;
  tensor_address(c, 0);
  if (n == 3) c.literal(1, "a constant offset");
  words(c, n - 1, kB32, values, true);
}

/// A predicate or a constant.
void flag(Context& c, size_t i) {
  const Operand& o = c.in.operands[i];
  if (o.kind != K::integer) c.predicate_of(o, false);
}

void tensor_multiply(Context& c) {
  const bool scaled = c.has("block_scale"), ws = c.has("ws"), sparse = c.has("sp");
  const size_t least = 5 + (sparse ? 1 : 0) + (scaled ? 2 : 0);
  if (!c.count(least, least + (scaled ? 0 : ws ? 1 : 2))) return;
  Operands ops(c);
  tensor_address(c, ops.take());
  const bool in_memory = ops.peek().kind == K::address;
  if (in_memory) {
    tensor_address(c, ops.take());
  } else {
    c.value_of(c.in.operands[ops.take()], kU64, Fit::exact);
    if (c.has("ashift")) c.error("`.ashift` of a descriptor, an address was expected");
  }
  c.value_of(c.in.operands[ops.take()], kU64, Fit::exact);
  if (sparse) tensor_address(c, ops.take());
  c.value_of(c.in.operands[ops.take()], kU32, Fit::exact);
  if (scaled) {
    tensor_address(c, ops.take());
    tensor_address(c, ops.take());
  }
  if (!ws && !scaled && ops.more() && ops.peek().kind == K::vector)
    c.vector_of(c.in.operands[ops.take()], kB32, c.get("group") == "cta_group::2" ? 8 : 4,
                Fit::exact, true, false);
  if (!ops.more()) return c.error("a flag is missing, a predicate was expected");
  flag(c, ops.take());
  if (!ops.more()) return;
  if (ops.left() > 1) {
    c.error("one operand too many");
  } else if (ws) {
    c.value_of(c.in.operands[ops.take()], kU64, Fit::exact);
  } else {
    c.need(Gate{.family = 103}, "a scale");
    if (c.get("kind") != "kind::f16" && c.get("kind") != "kind::tf32")
      c.error("a scale with this kind, none was expected");
    constant_in(c, ops.take(), 0, 15);
  }
}

// --- wgmma
// ----------------------------------------------------------------------------------------

void group_multiply(Context& c) {
  const std::string_view shape = c.get("shape"), type = c.get("atype"), dtype = c.get("dtype");
  const size_t n_at = shape.find('n'), k_at = shape.find('k');
  const unsigned n = leading_number(shape.substr(n_at + 1)),
                 k = leading_number(shape.substr(k_at + 1));
  const bool sparse = c.has("sp");
  const bool halves = type == "f16" || type == "bf16", integers = dtype == "s32";
  const unsigned whole = halves ? 16 : type == "tf32" ? 8 : type == "b1" ? 256 : 32;
  if (!shape.starts_with("m64n") || k != whole * (sparse ? 2 : 1) || n == 0 || n % 8 != 0 ||
      n > 256 || (integers && n > 32 && n % 16 != 0))
    return c.error("`." + std::string(shape) + "` with `." + std::string(type) +
                   "`, another shape was expected");
  const bool matrix = c.in.operands.size() > 1 && c.in.operands[1].kind == K::vector;
  const size_t trans = halves ? (matrix ? 1 : 2) : 0;
  const size_t expected = 4 + (sparse ? 2 : 0) + (integers ? 0 : 2 + trans);
  if (!c.count(expected, expected)) return;
  Operands ops(c);
  const PType sum = dtype == "f16" ? kB32 : c.type("dtype");
  words(c, ops.take(), sum, dtype == "f16" ? n / 4 : n / 2, false);
  if (matrix) {
    words(c, ops.take(), kB32, 4, true);
  } else {
    c.value_of(c.in.operands[ops.take()], kU64, Fit::exact);
  }
  c.value_of(c.in.operands[ops.take()], kU64, Fit::exact);
  if (sparse) {
    c.register_of(c.in.operands[ops.take()], kB32, Fit::exact);
    constant_in(c, ops.take(), 0, 1);
  }
  flag(c, ops.take());
  for (size_t i = 0; i < 2 && !integers; ++i) {
    const size_t at = ops.take();
    const Operand* v = c.literal(at, "1 or -1");
    if (v && v->bits != 1 && static_cast<int64_t>(v->bits) != -1)
      c.error(*v, "a factor other than 1 and -1, one of them was expected");
  }
  for (size_t i = 0; i < trans; ++i) constant_in(c, ops.take(), 0, 1);
}

// --- tensormap
// ------------------------------------------------------------------------------------

void map_replace(Context& c) {
  const std::string_view field = c.get("field");
  const bool ordinal = field == "box_dim" || field == "global_dim" || field == "global_stride" ||
                       field == "element_stride";
  const bool constant = field == "elemtype" || field == "interleave_layout" ||
                        field == "swizzle_mode" || field == "swizzle_atomicity" ||
                        field == "fill_mode";
  const bool wide = field == "global_address" || field == "global_stride";
  if (wide != (c.get("type") == "b64"))
    c.error("`." + std::string(c.get("type")) + "` with `." + std::string(field) +
            "`, the other type was expected");
  const size_t n = ordinal ? 3 : 2;
  if (!c.count(n, n)) return;
  c.near_address(0, c.get("ss"));
  if (ordinal) constant_in(c, 1, 0, 4);
  if (!constant) return c.value_of(c.in.operands[n - 1], wide ? kU64 : kU32, Fit::exact);
  constant_in(c, 1, 0, field == "elemtype" ? 15 : field == "swizzle_mode" ? 4 : 3);
}

void map_copy(Context& c) {
  if (!c.count(3, 3)) return;
  c.near_address(0, "global");
  c.near_address(1, "shared::cta");
  constant_in(c, 2, 128, 128);
}

// --- bulk copies
// ----------------------------------------------------------------------------------

/// What follows the plain operands: a mask of the cluster, a policy.
void copy_tail(Context& c, Operands& ops) {
  if (c.has("multicast::cluster")) c.value_of(c.in.operands[ops.take()], kB16, Fit::exact);
  if (c.has("L2::cache_hint")) c.policy(ops.take());
  if (c.has("cp_mask")) c.value_of(c.in.operands[ops.take()], kB16, Fit::exact);
}
size_t tail_count(const Context& c) {
  return (c.has("multicast::cluster") ? 1U : 0U) + (c.has("L2::cache_hint") ? 1U : 0U) +
         (c.has("cp_mask") ? 1U : 0U);
}

void bulk_size(Context& c, size_t i) {
  const Operand& o = c.in.operands[i];
  if (o.kind == K::integer && o.bits % 16 != 0)
    c.error(o, std::to_string(o.bits) + " bytes, a multiple of 16 was expected");
  c.value_of(o, kU32, Fit::exact);
}

/// The address of the barrier, also without brackets.
void reported_to(Context& c, size_t i) {
  const Operand& o = c.in.operands[i];
  const legal::Symbol s = c.symbol(o);
  const bool plain = o.kind == K::name && s.kind == legal::Symbol::Kind::reg;
  if (plain && s.type.bits == 64 && !c.has("L2::cache_hint"))
    return c.register_of(o, kU64, Fit::exact);
  c.near_address(i, "shared");
  c.refuse_narrow(i);
}

void bulk_copy(Context& c) {
  const bool reports = c.has("mbarrier::complete_tx::bytes");
  const size_t n = 3 + (reports ? 1 : 0) + tail_count(c);
  if (!c.count(n, n)) return;
  Operands ops(c);
  c.near_address(ops.take(), c.get("to_space"));
  c.near_address(ops.take(), c.get("from_space"));
  bulk_size(c, ops.take());
  if (reports) reported_to(c, ops.take());
  copy_tail(c, ops);
}

void bulk_prefetch(Context& c) {
  const size_t n = 2 + tail_count(c);
  if (!c.count(n, n)) return;
  Operands ops(c);
  c.near_address(ops.take(), "global");
  bulk_size(c, ops.take());
  copy_tail(c, ops);
}

/// The assembler looks at addresses beside a tensor only where they are in brackets, and then not
/// at the type of a register.
void loose_address(Context& c, size_t i, std::string_view space) {
  const Operand& o = c.in.operands[i];
  const legal::Symbol s = c.symbol(o);
  const bool reg = s.kind == legal::Symbol::Kind::reg && s.vector == 1;
  const bool any = o.kind == K::integer || o.kind == K::float_ ||
                   (reg && (o.kind == K::name || o.kind == K::address));
  if (!any) c.near_address(i, space);
}

/// `[map, {x, y}]`
void tensor_place(Context& c, size_t i) {
  const Operand& o = c.in.operands[i];
  const std::string_view mode = c.get("mode");
  unsigned n = leading_number(c.get("dim"));
  if (mode == "tile::gather4" || mode == "tile::scatter4") n = 5;
  if (o.kind != K::address || o.elements.size() != 1)
    return c.error(o, "not a tensor and coordinates in brackets, they were expected");
  loose_address(c, i, "");
  c.vector_of(o.elements[0], kS32, n, Fit::exact, true, false);
}

unsigned offset_count(const Context& c) {
  const std::string_view mode = c.get("mode");
  if (mode == "im2col") return leading_number(c.get("dim")) - 2;
  return mode.starts_with("im2col::w") ? 2 : 0;
}

void tensor_mode(Context& c) {
  const unsigned dim = leading_number(c.get("dim"));
  const std::string_view mode = c.get("mode");
  if (mode.starts_with("im2col") && dim < 3)
    c.error("`." + std::string(mode) + "` of " + std::to_string(dim) +
            " dimensions, 3 to 5 were expected");
  if (mode.ends_with("4") && dim != 2) c.error("`." + std::string(mode) + "` without `.2d`");
}

void tensor_bulk_load(Context& c) {
  tensor_mode(c);
  const unsigned offsets = offset_count(c);
  const bool prefetch = c.has("prefetch");
  const size_t n = (prefetch ? 1 : 3) + (offsets ? 1 : 0) + tail_count(c);
  if (!c.count(n, n)) return;
  Operands ops(c);
  if (!prefetch) loose_address(c, ops.take(), c.get("to_space"));
  tensor_place(c, ops.take());
  if (!prefetch) loose_address(c, ops.take(), "shared");
  if (offsets) c.vector_of(c.in.operands[ops.take()], kB16, offsets, Fit::exact, true, false);
  copy_tail(c, ops);
}

void tensor_bulk_store(Context& c) {
  tensor_mode(c);
  const size_t n = 2 + tail_count(c);
  if (!c.count(n, n)) return;
  Operands ops(c);
  tensor_place(c, ops.take());
  loose_address(c, ops.take(), "shared::cta");
  copy_tail(c, ops);
}

constexpr const char* kGroupUnit = "matrix units of whole groups are not supported";
constexpr const char* kBulk = "copies by tensor descriptors are not supported";
constexpr Row tensor(const char* pattern, legal::Rule rule) {
  return {"tcgen05@=100.86", pattern, rule, kGroupUnit};
}

#define LW_GROUP "group:cta_group::1|cta_group::2"
#define LW_NUM " num:x1|x2|x4|x8|x16|x32|x64|x128 "
#define LW_COLLECT(b) b "::fill|" b "::use|" b "::lastuse|" b "::discard"
#define LW_ASIDE "?side:" LW_COLLECT("collector::a")
#define LW_BSIDE                                                                       \
  "?side:" LW_COLLECT("collector::b0") "|" LW_COLLECT("collector::b1") "|" LW_COLLECT( \
      "collector::b2") "|" LW_COLLECT("collector::b3")
#define LW_KIND "kind:kind::f16|kind::tf32|kind::f8f6f4|kind::i8@=2.86"
#define LW_TENSOR "^async ^bulk ^tensor dim:1d|2d|3d|4d|5d "

constexpr Row kTensorRows[] = {
    tensor("^alloc " LW_GROUP " sync+ aligned ?ss:shared::cta type:b32", tensor_alloc),
    tensor("^dealloc " LW_GROUP " sync+ aligned type:b32", tensor_alloc),
    {"tcgen05@=100.86", "^relinquish_alloc_permit " LW_GROUP " sync+ aligned", "", kGroupUnit},
    tensor("^commit " LW_GROUP
           " mbarrier::arrive::one ?ss:shared::cluster ?multicast::cluster type:b64",
           tensor_commit),
    tensor("^cp " LW_GROUP " shape:128x256b|4x256b|128x128b ?fmt:b8x16 ?src:b6x16_p32|b4x16_p64",
           tensor_copy),
    tensor("^cp " LW_GROUP
           " shape:64x128b warp:warpx2::02_13|warpx2::01_23 ?fmt:b8x16 ?src:b6x16_p32|b4x16_p64",
           tensor_copy),
    tensor("^cp " LW_GROUP " shape:32x128b warpx4 ?fmt:b8x16 ?src:b6x16_p32|b4x16_p64",
           tensor_copy),
    tensor("^ld sync+ aligned shape:16x64b|16x128b|16x256b|32x32b|16x32bx2" LW_NUM
           "?pack::16b type:b32",
           tensor_load),
    tensor("^st sync+ aligned shape:16x64b|16x128b|16x256b|32x32b|16x32bx2" LW_NUM
           "?unpack::16b type:b32",
           tensor_store),
    {"tcgen05@=100.86", "^what:wait::ld|wait::st sync+ aligned", "", kGroupUnit},
    {"tcgen05@=100.86", "^what:fence::before_thread_sync|fence::after_thread_sync", "", kGroupUnit},
    {"tcgen05@=100.86", "^shift " LW_GROUP " down", "T", kGroupUnit},
    tensor("^mma ?^sp " LW_GROUP " " LW_KIND " ?ashift " LW_ASIDE, tensor_multiply),
    tensor("^mma ?^sp " LW_GROUP
           " kind:kind::mxf8f6f4 block_scale ?vec:scale_vec::1X@=3.86|block32 " LW_ASIDE,
           tensor_multiply),
    tensor("^mma ?^sp " LW_GROUP
           " kind:kind::mxf4 block_scale ?vec:scale_vec::2X@=3.86|block32 " LW_ASIDE,
           tensor_multiply),
    tensor("^mma ?^sp " LW_GROUP " kind:kind::mxf4nvf4 block_scale "
           "vec:scale_vec::2X@=3.86|scale_vec::4X@=3.86|block16|block32 " LW_ASIDE,
           tensor_multiply),
    tensor("^mma ^ws ?^sp group:cta_group::1 " LW_KIND " " LW_BSIDE, tensor_multiply),

    // The manual asks for .aligned, the assembler does not.
    {"wgmma@=90.80", "^mma_async ?^sp sync+ ?aligned shape:* dtype:f16|f32 atype:f16 btype:f16",
     group_multiply, kGroupUnit},
    {"wgmma@=90.80", "^mma_async ?^sp sync+ ?aligned shape:* dtype:f32 atype:bf16 btype:bf16",
     group_multiply, kGroupUnit},
    {"wgmma@=90.80", "^mma_async ?^sp sync+ ?aligned shape:* dtype:f32 atype:tf32 btype:tf32",
     group_multiply, kGroupUnit},
    {"wgmma@=90.80", "^mma_async ?^sp sync+ ?aligned shape:* dtype:f16|f32 atype:$byte btype:$byte",
     group_multiply, kGroupUnit},
    {"wgmma@=90.80",
     "^mma_async ?^sp sync+ ?aligned shape:* ?satfinite+ dtype:s32 atype:s8|u8 btype:s8|u8",
     group_multiply, kGroupUnit},
    {"wgmma@=90.80", "^mma_async sync+ ?aligned shape:* dtype:s32 atype:b1 btype:b1 op:and popc",
     group_multiply, kGroupUnit},
    {"wgmma@=90.80", "^what:fence|commit_group sync+ ?aligned", "", kGroupUnit},
    {"wgmma@=90.80", "^wait_group sync+ ?aligned", "i:0..2147483647", kGroupUnit},

    {"tensormap@90a.83",
     "^replace tile "
     "field:global_address|rank|box_dim|global_dim|global_stride|element_stride|elemtype|"
     "interleave_layout|swizzle_mode|swizzle_atomicity@100a.86|fill_mode ?ss:global|shared::cta "
     "mtype:b1024 type:b32|b64",
     map_replace, kBulk},
    {"tensormap@90.83",
     "^cp_fenceproxy to_space:global from_space:shared::cta tensormap::generic release "
     "scope:cta|cluster|gpu|sys sync+ aligned",
     map_copy, kBulk},

    {"cp@90.80",
     "^async ^bulk to_space:shared::cluster from_space:global mbarrier::complete_tx::bytes "
     "?multicast::cluster ?L2::cache_hint",
     bulk_copy, copy_bulk},
    {"cp@90.86",
     "^async ^bulk to_space:shared::cta from_space:global mbarrier::complete_tx::bytes "
     "?L2::cache_hint",
     bulk_copy, copy_bulk},
    {"cp@90.80",
     "^async ^bulk to_space:shared::cluster from_space:shared::cta mbarrier::complete_tx::bytes",
     bulk_copy, copy_bulk},
    {"cp@90.80",
     "^async ^bulk to_space:global from_space:shared::cta bulk_group ?L2::cache_hint "
     "?cp_mask@100.86",
     bulk_copy, copy_bulk},
    {"cp@90.80", "^async ^bulk ^commit_group", "", end_bulk_group},
    {"cp@90.80", "^async ^bulk ^wait_group ?read", "i", wait_bulk},
    {"cp@90.80", "^async ^bulk ^prefetch L2 global ?L2::cache_hint", bulk_prefetch, prefetch_bulk},
    {"cp@90.80",
     LW_TENSOR "to_space:shared::cluster from_space:global "
               "?mode:tile|im2col|im2col::w@=100.86|im2col::w::128@=100.86|tile::gather4@=100.86 "
               "mbarrier::complete_tx::bytes ?multicast::cluster "
               "?group:cta_group::1@=100.86|cta_group::2@=100.86 ?L2::cache_hint",
     tensor_bulk_load, kBulk},
    {"cp@90.86",
     LW_TENSOR "to_space:shared::cta from_space:global "
               "?mode:tile|im2col|im2col::w@=100.86|im2col::w::128@=100.86|tile::gather4@100.86 "
               "mbarrier::complete_tx::bytes ?group:cta_group::1@=100.86|cta_group::2@=100.86 "
               "?L2::cache_hint",
     tensor_bulk_load, kBulk},
    {"cp@90.80",
     LW_TENSOR "to_space:global from_space:shared::cta "
               "?mode:tile|im2col_no_offs|tile::scatter4@=100.86 bulk_group ?L2::cache_hint",
     tensor_bulk_store, kBulk},
    {"cp@90.80",
     "^async ^bulk ^prefetch ^tensor dim:1d|2d|3d|4d|5d L2 global "
     "?mode:tile|im2col|im2col::w@=100.86|im2col::w::128@=100.86|tile::gather4@=100.86 "
     "?L2::cache_hint",
     tensor_bulk_load, kBulk},
    {"cp@90.80",
     "^reduce ^async ^bulk ^tensor dim:1d|2d|3d|4d|5d to_space:global from_space:shared::cta "
     "op:add|min|max|inc|dec|and|or|xor ?mode:tile|im2col_no_offs bulk_group ?L2::cache_hint",
     tensor_bulk_store, kBulk},
#define LW_REDUCE_NEAR                                                              \
  "^reduce ^async ^bulk to_space:shared::cluster from_space:shared::cta mbarrier::" \
  "complete_tx::bytes "
    {"cp@90.80", LW_REDUCE_NEAR "op:and|or|xor type:b32", bulk_copy, copy_bulk},
    {"cp@90.80", LW_REDUCE_NEAR "op:add type:u32|s32|u64", bulk_copy, copy_bulk},
    {"cp@90.80", LW_REDUCE_NEAR "op:inc|dec type:u32", bulk_copy, copy_bulk},
    {"cp@90.80", LW_REDUCE_NEAR "op:min|max type:u32|s32", bulk_copy, copy_bulk},
#define LW_REDUCE_FAR                                                       \
  "^reduce ^async ^bulk to_space:global from_space:shared::cta bulk_group " \
  "?L2::cache_hint "
    {"cp@90.80", LW_REDUCE_FAR "op:and|or|xor type:b32|b64", bulk_copy, copy_bulk},
    {"cp@90.80", LW_REDUCE_FAR "op:add type:u32|s32|u64|f32|f64", bulk_copy, copy_bulk},
    {"cp@90.80", LW_REDUCE_FAR "op:add noftz type:f16|bf16", bulk_copy, copy_bulk},
    {"cp@90.80", LW_REDUCE_FAR "op:inc|dec type:u32", bulk_copy, copy_bulk},
    {"cp@90.80", LW_REDUCE_FAR "op:min|max type:u32|s32|u64|s64|f16|bf16", bulk_copy, copy_bulk},
};

}  // namespace

constinit Rows tensor_rows = kTensorRows;

}  // namespace lanewise::ptx
