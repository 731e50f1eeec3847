// Memory instructions: which library accesses they are made of, and how elements are packed.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "runtime/guest/event_words.hpp"
#include "runtime/spirv/emitter.hpp"

namespace lanewise::spirv {
namespace {

using ir::AlignRule;
using ir::AtomOp;
using ir::Order;
using ir::Space;
using ir::Type;
using ir::Width;

/// Spaces as the library names them. Constant memory lies in the arena, like global memory.
std::string_view library_space(Space space) {
  return ir::name(space == Space::constant ? Space::global : space);
}
bool wide_address(Space space) {
  return guest::wide_space(space);
}
bool library_width(uint32_t bytes) {
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
}
bool acquires(Order order) {
  return order == Order::acquire || order == Order::acq_rel || order == Order::seq_cst;
}
bool releases(Order order) {
  return order == Order::release || order == Order::acq_rel || order == Order::seq_cst;
}

/// The type part of an atomic's name: bits for moves and logic, the number type for arithmetic.
std::string atom_suffix(const ir::Mem& mem) {
  const uint32_t bytes = ir::size_of(mem.elem);
  switch (mem.atom) {
    case AtomOp::inc:
    case AtomOp::dec:
    case AtomOp::and_:
    case AtomOp::or_:
    case AtomOp::xor_:
    case AtomOp::exch:
    case AtomOp::cas:
      return fmt::format("u{}", 8 * bytes);
    default:
      break;
  }
  if (mem.atom_type == Type::f16 && bytes == 4) return "f16x2";
  if (mem.atom_type == Type::bf16 && bytes == 4) return "bf16x2";
  return std::string(ir::name(mem.atom_type));
}

/// Flips the sign bits of a float operand, of both halves when it holds two.
Id negated(ModuleBuilder& m, Id value, const ir::Mem& mem) {
  const uint32_t bytes = ir::size_of(mem.elem);
  uint64_t signs = uint64_t{1} << (8 * bytes - 1);
  if (mem.atom_type == Type::f16 && bytes == 4) signs |= 0x8000;
  const Width width = bytes == 8 ? Width::b64 : Width::b32;
  return m.op(spv::OpBitwiseXor, m.type_of(width), {value, m.constant(width, signs)});
}

}  // namespace

struct LaneEmitter::Access {
  Id base = spv::NoResult;  ///< offset included; B64 or uint, as the space asks
  Id active = spv::NoResult;
  uint32_t element = 4, count = 1;
  uint32_t piece = 4;      ///< bytes of one library access
  uint32_t alignment = 4;  ///< what each of them is told to check
  bool whole() const { return piece == element * count; }
};

Id LaneEmitter::activity() {
  Id active = guard_value(inst_->guard);
  if (frame_.stopped != spv::NoResult) {
    const Id stopped = m_.createLoad(frame_.stopped, spv::NoPrecision);
    active = m_.op(spv::OpLogicalAnd, m_.bool_type,
                   {active, m_.op(spv::OpLogicalNot, m_.bool_type, {stopped})});
  }
  return active;
}

Id LaneEmitter::memory_flags(uint32_t alignment) const {
  const ir::Mem& mem = *inst_->mem;
  // Two u64 are how 128-bit values travel: strong ones are seen as a whole or not at all.
  const bool strong = ir::is_strong(*inst_);
  const bool whole = mem.order != Order::weak && mem.elem == Type::u64 && mem.count == 2;
  return m_.u(static_cast<uint32_t>(mem.align) | (strong ? 4U : 0U) |
              (inst_->op == ir::Op::atom && inst_->ftz ? 8U : 0U) | (whole ? 16U : 0U) |
              (inst_->op == ir::Op::atom && inst_->mode != 0 ? 32U : 0U) | alignment << 8);
}

Id LaneEmitter::add64(Id value, uint64_t addend) {
  if (addend == 0) return value;
  if (m_.int64()) return m_.op(spv::OpIAdd, m_.b64_type, {value, m_.b64(addend)});
  return library("lw_add_u64", m_.b64_type, {value, m_.b64(addend)});
}
Id LaneEmitter::add32(Id value, uint32_t addend) {
  return addend == 0 ? value : m_.op(spv::OpIAdd, m_.uint_type, {value, m_.u(addend)});
}

/// SwiftShader reads the word that a compare-and-swap loop starts with for a whole wave at once,
/// and without asking whether any lane is active, when its compiler can tell the address: it must
/// not.
Id LaneEmitter::hide_address(Id address, Width width) {
  if (!is_retry_loop(*inst_) || m_.int64()) return address;
  const auto hidden = [&](Id low) {
    return m_.op(spv::OpBitwiseOr, m_.uint_type, {low, hidden_zero_});
  };
  return width == Width::b64 ? m_.make64(hidden(m_.lo(address)), m_.hi(address)) : hidden(address);
}

Id LaneEmitter::base_address() {
  const ir::Mem& mem = *inst_->mem;
  const ir::Operand& operand = inst_->src[0];
  const auto offset = static_cast<uint64_t>(mem.offset);
  const bool wide = wide_address(mem.space);
  if (operand.is_imm()) {
    const Width place = wide ? Width::b64 : Width::b32;
    return hide_address(m_.constant(place, operand.imm + offset), place);
  }
  const Width width = operand.is_reg() ? program_.regs[operand.index].width : Width::b64;
  const Id value = hide_address(value_of(operand, width), width);
  if (width == Width::b64) {
    return wide ? add64(value, offset) : add32(m_.lo(value), static_cast<uint32_t>(offset));
  }
  // A 32-bit address wraps at 32 bits, then counts from zero.
  const Id sum = add32(value, static_cast<uint32_t>(offset));
  if (!wide) return sum;
  return m_.int64() ? m_.op(spv::OpUConvert, m_.b64_type, {sum}) : m_.make64(sum, m_.u(0));
}

Id LaneEmitter::address_at(const Access& access, uint32_t byte_offset) {
  return wide_address(inst_->mem->space) ? add64(access.base, byte_offset)
                                         : add32(access.base, byte_offset);
}

LaneEmitter::Access LaneEmitter::access() {
  const ir::Mem& mem = *inst_->mem;
  Access a;
  a.base = base_address();
  a.active = activity();
  a.element = ir::size_of(mem.elem);
  a.count = mem.count;
  a.alignment = std::bit_ceil(mem.alignment());
  const uint32_t total = a.element * a.count;
  bool sinks = false;
  for (const ir::Operand& value : inst_->src)
    sinks = sinks || value.kind == ir::Operand::Kind::none;
  a.piece = sinks ? a.element : library_width(total) ? total : total % 16 == 0 ? 16 : a.element;
  if (!a.whole()) check_together(a);
  return a;
}

/// An access made of several library calls is checked as one first: all of it happens, or nothing.
void LaneEmitter::check_together(Access& a) {
  const ir::Mem& mem = *inst_->mem;
  const bool wide = wide_address(mem.space);
  if (mem.align == AlignRule::force) {
    const Id low = wide ? m_.lo(a.base) : a.base;
    const Id kept = m_.op(spv::OpBitwiseAnd, m_.uint_type, {low, m_.u(~(a.alignment - 1))});
    a.base = wide ? m_.make64(kept, m_.hi(a.base)) : kept;
  }
  const bool writes = inst_->op != ir::Op::load;
  a.active = library(fmt::format("lw_check_{}", library_space(mem.space)), m_.bool_type,
                     {a.base, m_.u(a.element * a.count), site(), memory_flags(a.alignment),
                      m_.b(writes), a.active});
  a.alignment = std::min(a.alignment, a.piece);
}

Id LaneEmitter::extend(Id word, Type elem) {
  const uint32_t bits = 8 * ir::size_of(elem);
  if (bits == 32) return word;
  if (!ir::is_signed(elem)) {
    return m_.op(spv::OpBitwiseAnd, m_.uint_type, {word, m_.u((1U << bits) - 1)});
  }
  const Id amount = m_.u(32 - bits);
  const Id up = m_.op(spv::OpShiftLeftLogical, m_.uint_type, {word, amount});
  return m_.op(spv::OpShiftRightArithmetic, m_.uint_type, {up, amount});
}

/// The elements that one library access of `bytes` bytes brings.
Ids LaneEmitter::load_piece(const Access& a, uint32_t offset, uint32_t bytes) {
  const uint32_t words = bytes / 4;
  const Id type = words <= 1 ? m_.uint_type : words == 2 ? m_.uvec2_type : m_.uvec4_type;
  const Id raw =
      library(fmt::format("lw_load_{}_{}", library_space(inst_->mem->space), 8 * bytes), type,
              {address_at(a, offset), site(), memory_flags(a.alignment), a.active});
  Ids parts;
  if (words <= 1) parts.push_back(raw);
  for (uint32_t i = 0; words > 1 && i < words; ++i)
    parts.push_back(m_.extract(raw, m_.uint_type, i));
  Ids elements;
  for (uint32_t at = 0; at < bytes; at += a.element) {
    Id value = parts[at / 4];
    if (a.element == 8) {
      value = m_.make64(value, parts[at / 4 + 1]);
    } else {
      const uint32_t shift = 8 * (at % 4);
      if (shift != 0) value = m_.op(spv::OpShiftRightLogical, m_.uint_type, {value, m_.u(shift)});
      value = extend(value, inst_->mem->elem);
    }
    elements.push_back(value);
  }
  return elements;
}

void LaneEmitter::emit_load() {
  order_before();
  const Access a = access();
  const uint32_t total = a.element * a.count;
  Ids elements;
  for (uint32_t at = 0; at < total; at += a.piece) {
    const Ids part = load_piece(a, at, a.piece);
    elements.insert(elements.end(), part.begin(), part.end());
  }
  order_after();
  set_all(std::move(elements));
}

void LaneEmitter::store_piece(const Access& a, uint32_t offset, uint32_t bytes) {
  const Width width = a.element == 8 ? Width::b64 : Width::b32;
  const uint32_t words = std::max(1U, bytes / 4);
  Ids parts(words, spv::NoResult);
  for (uint32_t at = 0; at < bytes; at += a.element) {
    Id value = src_as(1 + (offset + at) / a.element, width);
    Id& word = parts[at / 4];
    if (a.element == 8) {
      word = m_.lo(value);
      parts[at / 4 + 1] = m_.hi(value);
      continue;
    }
    if (a.element < 4) {
      value = m_.op(spv::OpBitwiseAnd, m_.uint_type, {value, m_.u((1U << (8 * a.element)) - 1)});
    }
    if (at % 4 != 0)
      value = m_.op(spv::OpShiftLeftLogical, m_.uint_type, {value, m_.u(8 * (at % 4))});
    word = word == spv::NoResult ? value : m_.op(spv::OpBitwiseOr, m_.uint_type, {word, value});
  }
  const Id value = words == 1   ? parts[0]
                   : words == 2 ? m_.createCompositeConstruct(m_.uvec2_type, parts)
                                : m_.createCompositeConstruct(m_.uvec4_type, parts);
  library(fmt::format("lw_store_{}_{}", library_space(inst_->mem->space), 8 * bytes), m_.void_type,
          {address_at(a, offset), value, site(), memory_flags(a.alignment), a.active});
}

void LaneEmitter::emit_store() {
  order_before();
  const Access a = access();
  const uint32_t total = a.element * a.count;
  for (uint32_t at = 0; at < total; at += a.piece) {
    const bool sink = inst_->src[1 + at / a.element].kind == ir::Operand::Kind::none;
    if (!sink) store_piece(a, at, a.piece);
  }
  order_after();
}

/// Several elements: an operation each, after one check of all. Exchanges of two are one operation.
void LaneEmitter::emit_atoms() {
  const ir::Mem& mem = *inst_->mem;
  const bool single = mem.atom == AtomOp::exch || mem.atom == AtomOp::cas;
  const std::string name =
      fmt::format("lw_atom_{}_{}_", library_space(mem.space), ir::name(mem.atom));
  Ids results;
  if (single) {
    const auto quad = [&](size_t i) {
      const Id low = src_as(i, Width::b64), high = src_as(i + 1, Width::b64);
      return m_.createCompositeConstruct(m_.uvec4_type,
                                         {m_.lo(low), m_.hi(low), m_.lo(high), m_.hi(high)});
    };
    Ids args{base_address()};
    for (size_t i = 1; i < inst_->src.size(); i += 2) args.push_back(quad(i));
    args.insert(args.end(), {site(), memory_flags(mem.alignment()), activity()});
    const Id old = library(name + "u128", m_.uvec4_type, args);
    const auto word = [&](uint32_t i) { return m_.extract(old, m_.uint_type, i); };
    results = {m_.make64(word(0), word(1)), m_.make64(word(2), word(3))};
  } else {
    Access a;
    a.base = base_address();
    a.active = activity();
    a.element = a.piece = ir::size_of(mem.elem);
    a.count = mem.count;
    a.alignment = std::bit_ceil(mem.alignment());
    check_together(a);
    const Width width = a.element == 8 ? Width::b64 : Width::b32;
    for (uint32_t i = 0; i < a.count; ++i)
      results.push_back(library(name + atom_suffix(mem), m_.type_of(width),
                                {address_at(a, i * a.element), src_as(1 + i, width), site(),
                                 memory_flags(a.alignment), a.active}));
  }
  order_after();
  if (!inst_->dst.empty()) set_all(std::move(results));
}

void LaneEmitter::emit_atom() {
  const ir::Mem& mem = *inst_->mem;
  const Width width = ir::size_of(mem.elem) == 8 ? Width::b64 : Width::b32;
  order_before();
  if (mem.count > 1) return emit_atoms();
  Ids args{base_address()};
  for (size_t i = 1; i < inst_->src.size(); ++i) args.push_back(src_as(i, width));
  args.insert(args.end(), {site(), memory_flags(mem.alignment()), activity()});
  AtomOp op = mem.atom;
  if (op == AtomOp::sub && ir::is_float(mem.atom_type)) {
    // Adding the negated number is the same sum, NaN included.
    op = AtomOp::add;
    args[1] = negated(m_, args[1], mem);
  }
  const Id old = library(
      fmt::format("lw_atom_{}_{}_{}", library_space(mem.space), ir::name(op), atom_suffix(mem)),
      m_.type_of(width), args);
  order_after();
  if (!inst_->dst.empty()) set_results({old});
}

void LaneEmitter::fence_call(ir::Scope scope) {
  library("lw_fence", m_.void_type, {m_.u(static_cast<uint32_t>(scope))});
}
void LaneEmitter::order_before() {
  if (releases(inst_->mem->order)) fence_call(inst_->mem->scope);
}
void LaneEmitter::order_after() {
  if (acquires(inst_->mem->order)) fence_call(inst_->mem->scope);
}
/// A fence under a false guard does no harm, so the guard is not asked.
void LaneEmitter::fence() {
  if (inst_->event != 0 && inst_->mem->scope == ir::Scope::none) return;  // only an event
  if (inst_->mem && inst_->mem->order == Order::seq_cst) {
    constexpr uint32_t kConsistent = 8;  // see lw_fence
    library("lw_fence", m_.void_type,
            {m_.u(static_cast<uint32_t>(inst_->mem->scope) | kConsistent)});
    return;
  }
  fence_call(inst_->mem ? inst_->mem->scope : ir::Scope::sys);
}

/// What the cache tracker will be told, before it happens.
void LaneEmitter::emit_event() {
  const uint32_t form = guest::event_form(*inst_, options_.trace_bits);
  Id address = m_.b64(0);
  if ((form & guest::kFormNoAddress) == 0) {
    address = base_address();
    if (!wide_address(inst_->mem->space))
      address =
          m_.int64() ? m_.op(spv::OpUConvert, m_.b64_type, {address}) : m_.make64(address, m_.u(0));
  }
  library("lw_trace", m_.void_type, {m_.u(inst_->event), address, m_.u(form), activity()});
}

void LaneEmitter::emit_memory() {
  switch (inst_->op) {
    case ir::Op::load:
      return emit_load();
    case ir::Op::store:
      return emit_store();
    case ir::Op::atom:
      return emit_atom();
    default:
      return;  // cachectl: caches are invisible to values; the tracker sees it elsewhere
  }
}

}  // namespace lanewise::spirv
