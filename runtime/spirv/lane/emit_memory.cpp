// Memory instructions: which library accesses they are made of, and how elements are packed.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "runtime/guest/event_words.hpp"
#include "runtime/spirv/lane/emitter.hpp"
#include "runtime/support/enum_set.hpp"

namespace lanewise::spirv {
namespace {

using ir::AlignRule;
using ir::AtomOp;
using ir::Order;
using ir::Space;
using ir::Type;
using ir::Width;

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
  static constexpr EnumSet<AtomOp> kOfBits{AtomOp::inc, AtomOp::dec,   AtomOp::and_,
                                           AtomOp::or_, AtomOp::xor_,  AtomOp::exch,
                                           AtomOp::cas, AtomOp::mskor, AtomOp::wrap};
  if (kOfBits.has(mem.atom)) return fmt::format("u{}", 8 * bytes);
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

/// One access of the guest, which the library carries out in components.
struct LaneEmitter::Access {
  Place place;
  Id active = spv::NoResult;  ///< NoResult = always
  uint32_t element = 4, count = 1;
  uint32_t component = 4;  ///< bytes of one library access
  uint32_t alignment = 4;  ///< that the access has for sure
};

/// `condition` in lanes that take part and were not stopped.
Id LaneEmitter::unless_stopped(Id condition) {
  condition = both(condition, active());
  if (frame_.stopped == spv::NoResult || quick_ != 0) return condition;
  const Id stopped = m_.create_load(frame_.stopped);
  return m_.test(spv::OpLogicalAnd, {condition, m_.negated(stopped)});
}
Id LaneEmitter::activity() {
  return unless_stopped(guard_value(inst_->guard));
}

/// Elements that are stored or combined, without the address and the predicate of the check.
size_t LaneEmitter::value_count() const {
  return inst_->src.size() - 2;
}

LaneEmitter::Access LaneEmitter::access() {
  const ir::Mem& mem = *inst_->mem;
  Access a;
  a.place = place_of(forced_address());
  const ir::Operand& allowed = inst_->src.back();
  const bool always = allowed.is_imm() && inst_->guard.always() &&
                      (frame_.stopped == spv::NoResult || quick_ != 0) && active() == spv::NoResult;
  // A check may be shared by several accesses, and a lane may have ended between them.
  if (!always)
    a.active =
        allowed.is_reg() ? both(src_as(inst_->src.size() - 1, Width::pred), active()) : activity();
  if (a.active == m_.b(true)) a.active = spv::NoResult;
  a.element = ir::size_of(mem.elem);
  a.count = mem.count;
  a.alignment = mem.align == AlignRule::any ? 1 : std::bit_ceil(mem.alignment());
  const uint32_t total = a.element * a.count;
  bool sinks = false;
  for (const ir::Operand& value : inst_->src)
    sinks = sinks || value.kind == ir::Operand::Kind::none;
  a.component = sinks ? a.element : library_width(total) ? total : total % 16 == 0 ? 16 : a.element;
  return a;
}

/// The arguments that say where byte `byte_offset` of the access lies. What may not happen is
/// pointed at the beginning of its space, which is always there.
Ids LaneEmitter::library_place(const Access& a, uint32_t byte_offset) {
  const Id offset = a.place.offset;
  const bool arena = memory_space() == Space::global || memory_space() == Space::generic;
  const bool wide = arena && !options_.small_arena && m_.int64();
  const Id nothing = wide ? m_.b64(0) : m_.u(0);
  // Lanes that take no part have read no descriptor, so what is certain of an address is not there.
  const bool all = active() == spv::NoResult && frame_.stopped == spv::NoResult;
  const bool guarded = a.active != spv::NoResult && inst_->op == ir::Op::load &&
                       !(all && inst_->mem->certain == ir::Certain::everywhere);
  if (const Id base = window_base(); base != spv::NoResult) {
    const Id there = m_.op(spv::OpIAdd, m_.b64_type, {base, offset});
    return {add64(guarded ? m_.select(a.active, there, arena_) : there, byte_offset)};
  }
  const Id safe = guarded ? m_.select(a.active, offset, nothing) : offset;
  if (!arena) return {add32(safe, byte_offset)};
  const Id pointer = arena_pointer(safe);
  const Id at = m_.int64() ? add64(pointer, byte_offset) : add32(pointer, byte_offset);
  if (a.place.window == spv::NoResult) return {at};
  const Id inside = wide ? m_.lo(safe) : safe;
  return {at, a.place.window, add32(inside, byte_offset)};
}

/// The end of a library function's name: which of its bodies fits the access.
std::string LaneEmitter::access_form(const Access& a, uint32_t bytes) const {
  const ir::Mem& mem = *inst_->mem;
  const uint32_t alignment = std::min(a.alignment, bytes);
  const bool aligned = alignment >= bytes;
  const std::string form = aligned ? "_aligned" : alignment >= 4 ? "_align4" : "_align1";
  if (!ir::is_strong(*inst_)) return form;
  // Two u64 are how 128-bit values travel: strong ones are seen as a whole or not at all.
  const bool whole = mem.order != Order::weak && mem.elem == Type::u64 && mem.count == 2;
  return whole && bytes == 16 && aligned ? "_whole" : form + "_strong";
}

Id LaneEmitter::extend(Id word, Type elem) {
  const uint32_t bits = 8 * ir::size_of(elem);
  if (bits == 32) return word;
  if (!ir::is_signed(elem)) {
    return m_.word(spv::OpBitwiseAnd, {word, m_.u((1U << bits) - 1)});
  }
  const Id amount = m_.u(32 - bits);
  const Id up = m_.word(spv::OpShiftLeftLogical, {word, amount});
  return m_.word(spv::OpShiftRightArithmetic, {up, amount});
}

/// Registers for the elements in the words of one library access.
Ids LaneEmitter::elements_of(const Ids& words, uint32_t bytes) {
  const uint32_t element = ir::size_of(inst_->mem->elem);
  Ids elements;
  for (uint32_t at = 0; at < bytes; at += element) {
    Id value = words[at / 4];
    if (element == 8) {
      value = m_.make64(value, words[at / 4 + 1]);
    } else {
      const uint32_t shift = 8 * (at % 4);
      if (shift != 0) value = m_.word(spv::OpShiftRightLogical, {value, m_.u(shift)});
      value = extend(value, inst_->mem->elem);
    }
    elements.push_back(value);
  }
  return elements;
}

/// The elements that one library access of `bytes` bytes brings; 0 where it may not happen.
Ids LaneEmitter::load_component(const Access& a, uint32_t offset, uint32_t bytes) {
  const uint32_t words = bytes / 4;
  const Id type = words <= 1 ? m_.uint_type : words == 2 ? m_.uvec2_type : m_.uvec4_type;
  const Id raw = library(
      fmt::format("lw_get_{}_{}{}", ir::name(memory_space()), 8 * bytes, access_form(a, bytes)),
      type, library_place(a, offset));
  const auto shown = [&](Id word) {
    return a.active == spv::NoResult ? word : m_.select(a.active, word, m_.u(0));
  };
  Ids parts;
  if (words <= 1) parts.push_back(shown(raw));
  for (uint32_t i = 0; words > 1 && i < words; ++i)
    parts.push_back(shown(m_.extract(raw, m_.uint_type, i)));
  return elements_of(parts, bytes);
}

/// Of a load whose address is known.
uint32_t LaneEmitter::parameter_offset() const {
  uint64_t offset = inst_->src[0].imm + static_cast<uint64_t>(inst_->mem->offset);
  if (inst_->mem->align == AlignRule::force)
    offset &= ~uint64_t{std::bit_ceil(inst_->mem->alignment()) - 1};
  return static_cast<uint32_t>(offset);
}

Id LaneEmitter::param_word(uint32_t offset) {
  const Id word = offset + 4 <= guest::kPushedParamBytes
                      ? push_word(guest::kPushParams + offset / 4)
                      : launch_word(kLaunchParamsWord + offset / 4);
  param_words_[word] = offset;
  return word;
}

namespace {

bool loads_parameter(const ir::Inst& inst) {
  return inst.op == ir::Op::load && inst.mem->space == Space::param && inst.src[0].is_imm() &&
         inst.src.back().is_imm() && inst.guard.always() && inst.event == 0;
}

}  // namespace

/// Parameters are read where they are wanted: then no loop has to carry them, and it is known what
/// an address begins with.
void LaneEmitter::find_parameters() {
  parameter_.assign(program_.regs.size(), nullptr);
  std::vector<uint32_t> definitions(program_.regs.size(), 0);
  for (const ir::Block& block : program_.blocks) {
    for (const ir::Inst& inst : block.insts) {
      for (const ir::Reg reg : inst.dst) {
        if (!reg.valid()) continue;
        const bool only = ++definitions[reg.id] == 1 && !zeroed_[reg.id];
        parameter_[reg.id] = only && loads_parameter(inst) ? &inst : nullptr;
      }
    }
  }
}

/// Parameters at an offset that is known: words of the push constants, or of the launch block.
Ids LaneEmitter::load_parameter(uint32_t offset) {
  const uint32_t bytes = inst_->mem->bytes();
  const auto word = [&](uint32_t at) { return param_word(at); };
  const uint32_t shift = 8 * (offset % 4), first = offset - offset % 4;
  Ids words;
  for (uint32_t at = 0; at < bytes; at += 4) {
    Id low = word(first + at);
    if (shift != 0) {
      low = m_.word(spv::OpShiftRightLogical, {low, m_.u(shift)});
      // The next word only where bytes of it are wanted: behind the last there may be none.
      if (shift / 8 + std::min(bytes - at, 4U) > 4) {
        const Id high = m_.word(spv::OpShiftLeftLogical, {word(first + at + 4), m_.u(32 - shift)});
        low = m_.word(spv::OpBitwiseOr, {low, high});
      }
    }
    words.push_back(low);
  }
  return elements_of(words, bytes);
}

void LaneEmitter::emit_load() {
  const ir::Operand& address = inst_->src[0];
  if (inst_->mem->space == Space::param && address.is_imm() && inst_->src.back().is_imm()) {
    return set_all(load_parameter(parameter_offset()));
  }
  order_before();
  const Access a = access();
  const uint32_t total = a.element * a.count;
  Ids elements;
  for (uint32_t at = 0; at < total; at += a.component) {
    const Ids part = load_component(a, at, a.component);
    elements.insert(elements.end(), part.begin(), part.end());
  }
  order_after();
  set_all(std::move(elements));
}

void LaneEmitter::store_component(const Access& a, uint32_t offset, uint32_t bytes) {
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
      value = m_.word(spv::OpBitwiseAnd, {value, m_.u((1U << (8 * a.element)) - 1)});
    }
    if (at % 4 != 0) value = m_.word(spv::OpShiftLeftLogical, {value, m_.u(8 * (at % 4))});
    word = word == spv::NoResult ? value : m_.word(spv::OpBitwiseOr, {word, value});
  }
  const Id value = words == 1   ? parts[0]
                   : words == 2 ? m_.create_composite_construct(m_.uvec2_type, parts)
                                : m_.create_composite_construct(m_.uvec4_type, parts);
  Ids args = library_place(a, offset);
  args.push_back(value);
  library(fmt::format("lw_put_{}_{}{}", ir::name(memory_space()), 8 * bytes, access_form(a, bytes)),
          m_.void_type, args);
}

void LaneEmitter::emit_store() {
  order_before();
  const Access a = access();
  const uint32_t total = a.element * a.count;
  const auto components = [&] {
    for (uint32_t at = 0; at < total; at += a.component) {
      const bool sink = inst_->src[1 + at / a.element].kind == ir::Operand::Kind::none;
      if (!sink) store_component(a, at, a.component);
    }
  };
  if (a.active == spv::NoResult) {
    components();
  } else {
    // Registers are read here, so that what is known of them stays known behind the condition.
    for (const ir::Operand& value : inst_->src)
      if (value.is_reg()) read(value.index);
    when(a.active, components);
  }
  order_after();
}

/// Bits that float atomics look at (shaders/lib/memory/atomics.glsl).
uint32_t LaneEmitter::atomic_flags() const {
  return (inst_->ftz ? host_shader::FTZ : 0U) | (inst_->mode != 0 ? host_shader::NAN_WINS : 0U);
}

/// Several elements are an operation each. Exchanges of two are one operation.
void LaneEmitter::emit_atom() {
  const ir::Mem& mem = *inst_->mem;
  order_before();
  const Access a = access();
  const Id active = a.active == spv::NoResult ? m_.b(true) : a.active;
  const bool quad = mem.count > 1 && (mem.atom == AtomOp::exch || mem.atom == AtomOp::cas);
  const Width width = a.element == 8 ? Width::b64 : Width::b32;
  AtomOp op = mem.atom;
  // Adding the negated number is the same sum, NaN included.
  const bool negate = op == AtomOp::sub && ir::is_float(mem.atom_type);
  if (negate) op = AtomOp::add;
  const std::string name = fmt::format("lw_atom_{}_{}_{}", ir::name(memory_space()), ir::name(op),
                                       quad ? "u128" : atom_suffix(mem));
  const auto call = [&](uint32_t offset, Id type, const Ids& values) {
    Ids args = library_place(a, offset);
    args.insert(args.end(), values.begin(), values.end());
    args.insert(args.end(), {m_.u(atomic_flags()), active});
    return library(name, type, args);
  };
  Ids results;
  if (quad) {
    Ids values;
    for (size_t i = 1; i <= value_count(); i += 2) {
      const Id low = src_as(i, Width::b64), high = src_as(i + 1, Width::b64);
      values.push_back(m_.create_composite_construct(
          m_.uvec4_type, {m_.lo(low), m_.hi(low), m_.lo(high), m_.hi(high)}));
    }
    const Id old = call(0, m_.uvec4_type, values);
    const auto word = [&](uint32_t i) { return m_.extract(old, m_.uint_type, i); };
    const Id first = word(0), second = word(1), third = word(2), fourth = word(3);
    results = {m_.make64(first, second), m_.make64(third, fourth)};
  } else {
    const size_t operands = value_count() / a.count;  // 2 for compare and swap
    for (uint32_t i = 0; i < a.count; ++i) {
      Ids values;
      for (size_t k = 0; k < operands; ++k) values.push_back(src_as(1 + i + k * a.count, width));
      if (negate) values[0] = negated(m_, values[0], mem);
      results.push_back(call(i * a.element, m_.type_of(width), values));
    }
  }
  order_after();
  if (!inst_->dst.empty()) set_all(std::move(results));
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

/// What the cache tracker will be given, before it happens.
void LaneEmitter::emit_event() {
  const uint32_t form = guest::event_form(*inst_, options_.trace_bits) | options_.trace_form;
  Id address = m_.b64(0);
  if ((form & guest::kFormNoAddress) == 0) {
    address = base_address();
    if (!ir::wide_space(inst_->mem->space))
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
    case ir::Op::check:
      return emit_check();
    default:
      return;  // cachectl: caches are invisible to values; the tracker sees it elsewhere
  }
}

}  // namespace lanewise::spirv
