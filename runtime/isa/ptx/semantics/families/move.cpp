// mov (also packing and unpacking), cvta, isspacep.
#include "runtime/isa/ptx/semantics/emit.hpp"
#include "runtime/layout/addresses.hpp"

namespace lanewise::ptx {
namespace {

PType bits_type(unsigned bits) {
  return {PType::Class::bits, bits};
}

/// Joins `n` elements of `width` bits each, lowest first, into at most 32 bits.
ir::Operand join_word(Emit& e, const Operand* elements, unsigned n, unsigned width) {
  ir::Operand word;
  for (unsigned i = 0; i < n; ++i) {
    ir::Operand part = e.raw(elements[i], bits_type(width));
    if (i != 0) part = e.op(ir::Op::shl, ir::Type::u32, {part, imm(uint64_t{i} * width)});
    word = i == 0 ? part : ir::Operand(e.op(ir::Op::or_, ir::Type::u32, {word, part}));
  }
  return word;
}

unsigned element_width(Emit& e, const Operand& vector, PType type) {
  const auto n = static_cast<unsigned>(vector.elements.size());
  const unsigned width = n == 0 ? 0 : type.bits / n;
  if (!type.is(PType::Class::bits)) e.fail("packing and unpacking need a .b type");
  if (type.bits == 128 && n != 2)
    Emit::fail(vector.loc, "'mov.b128' packs and unpacks two 64-bit elements");
  if ((n != 2 && n != 4) || width < 8)
    Emit::fail(vector.loc,
               "cannot split " + type.text() + " into " + std::to_string(n) + " elements");
  return width;
}

void pack(Emit& e, PType type) {
  const Operand& v = e.operand(1);
  const unsigned width = element_width(e, v, type);
  const auto n = static_cast<unsigned>(v.elements.size());
  if (type.bits != 64)
    return e.set(0, type, join_word(e, v.elements.data(), n, width), Fit::exact, true);
  const ir::Operand low = join_word(e, v.elements.data(), n / 2, width);
  const ir::Operand high = join_word(e, v.elements.data() + n / 2, n / 2, width);
  e.set(0, type, e.op(ir::Op::pack64, ir::Type::u64, {low, high}));
}

void split_word(Emit& e, ir::Operand word, const Operand* elements, unsigned n, unsigned width) {
  if (n == 1) return e.set(elements[0], bits_type(width), word);
  for (unsigned i = 0; i < n; ++i) {
    if (elements[i].kind == Operand::Kind::sink) continue;
    const ir::Reg part =
        e.op(ir::Op::bfe, ir::Type::u32, {word, imm(uint64_t{i} * width), imm(width)});
    e.set(elements[i], bits_type(width), part, Fit::exact, true);
  }
}

void unpack(Emit& e, PType type) {
  const Operand& v = e.operand(0);
  const unsigned width = element_width(e, v, type);
  const auto n = static_cast<unsigned>(v.elements.size());
  ir::Operand value = e.raw(1, type);
  if (type.bits != 64) {
    // The first element may be the source register itself.
    const ir::Reg copy = e.op(ir::Op::mov, ir::Type::u32, {value});
    return split_word(e, copy, v.elements.data(), n, width);
  }
  const ir::Reg low = e.temp(ir::Width::b32), high = e.temp(ir::Width::b32);
  e.emit(ir::Op::unpack64, ir::Type::none, {low, high}, {value});
  if (n == 2) {
    e.set(v.elements[1], kB32, high);
    e.set(v.elements[0], kB32, low);
    return;
  }
  split_word(e, low, v.elements.data(), n / 2, width);
  split_word(e, high, v.elements.data() + n / 2, n / 2, width);
}

bool is_vector(const Operand& o) {
  return o.kind == Operand::Kind::vector && o.elements.size() > 1;
}

/// 128 bits move as their halves, whichever side is a vector.
void mov_wide(Emit& e) {
  const auto side = [&](size_t i) {
    if (!is_vector(e.operand(i))) return e.halves(e.operand(i));
    element_width(e, e.operand(i), e.type());
    return e.operand(i).elements;
  };
  const auto to = side(0), from = side(1);
  std::vector<ir::Operand> values;
  values.reserve(from.size());
  for (const Operand& o : from)
    values.push_back(e.op(ir::Op::mov, ir::Type::u64, {e.raw(o, kB64)}));
  for (size_t i = 0; i < 2; ++i) e.set(to[i], kB64, values[i], Fit::exact, true);
}

void mov(Emit& e) {
  const PType type = e.type();
  if (type.bits == 128) return mov_wide(e);
  if (is_vector(e.operand(0))) return unpack(e, type);
  if (is_vector(e.operand(1))) return pack(e, type);
  const PType narrow_safe = type.is_signed() ? bits_type(type.bits) : type;
  const ir::Operand value = e.raw(1, type);
  e.set(0, type.bits < 32 && !type.is_pred() && !type.is_float() ? narrow_safe : type, value,
        Fit::exact, true);
}

void mov_vector(Emit& e) {
  const PType type = e.type();
  const unsigned n = e.get("vec") == "v2" ? 2 : 4;
  const auto to = e.elements(0, n), from = e.elements(1, n);
  std::vector<ir::Operand> values;
  values.reserve(from.size());
  for (const Operand& o : from) {
    const ir::Operand v = e.raw(o, type);
    values.push_back(e.op(ir::Op::mov, type.bits == 64 ? ir::Type::u64 : ir::Type::u32, {v}));
  }
  for (unsigned i = 0; i < n; ++i) e.set(to[i], type, values[i], Fit::exact, true);
}

/// Generic address of offset 0 of a space; none for spaces that share the generic map.
ir::Operand window(Emit& e, std::string_view space) {
  if (space.starts_with("shared")) return imm(guest::kSharedWindow);
  if (space == "local") return imm(guest::kLocalWindow);
  if (space.starts_with("param"))
    return e.op(ir::Op::sreg, ir::Type::u64, {},
                {.mode = static_cast<uint8_t>(ir::SReg::param_base)});
  return {};
}

ir::Operand window_as(Emit& e, std::string_view space, PType type) {
  const ir::Operand base = window(e, space);
  return base.kind == ir::Operand::Kind::none || type.bits == 64 ? base : e.narrow(base);
}

void check_space(Emit& e, const Operand& o, std::string_view space) {
  const Entity* entity = o.name.empty() ? nullptr : e.body.find(o.name);
  if (entity == nullptr || entity->kind != Entity::Kind::variable) return;
  const std::string& actual = entity->variable->space;
  const std::string_view wanted = space.substr(0, space.find(':'));
  if (actual != wanted)
    Emit::fail(o.loc, "state space mismatch: '" + o.name + "' is a ." + actual +
                          " variable, the instruction converts ." + std::string(space));
}

void cvta(Emit& e) {
  const PType type = e.type();
  const std::string_view space = e.get("ss");
  check_space(e, e.operand(1), space);
  const ir::Operand address = e.raw(1, type);
  const ir::Operand base = window_as(e, space, type);
  if (base.kind == ir::Operand::Kind::none) return e.set(0, type, address);
  e.set(0, type, e.op(ir::Op::add, type.ir(), {address, base}));
}

void cvta_to(Emit& e) {
  const PType type = e.type();
  if (e.operand(1).kind == Operand::Kind::name && !e.operand(1).has_offset) {
    const Entity* entity = e.body.find(e.operand(1).name);
    if (entity != nullptr && entity->kind == Entity::Kind::variable)
      Emit::fail(e.operand(1).loc,
                 "'cvta.to' needs a register, '" + e.operand(1).name + "' is a variable");
  }
  const ir::Operand address = e.raw(1, type);
  const ir::Operand base = window_as(e, e.get("ss"), type);
  if (base.kind == ir::Operand::Kind::none) return e.set(0, type, address);
  e.set(0, type, e.op(ir::Op::sub, type.ir(), {address, base}));
}

ir::Operand inside(Emit& e, ir::Operand address, ir::Operand base, uint64_t size) {
  const ir::Reg offset = e.op(ir::Op::sub, ir::Type::u64, {address, base});
  return e.op(ir::Op::icmp, ir::Type::u64, {offset, imm(size)}, {.cond = ir::Cond::lt});
}

/// Constant variables lie in the arena among the others; the module knows which they are.
ir::Operand is_constant_address(Emit& e, ir::Operand address) {
  ir::Operand found = imm(0);
  for (const Variable& v : e.kernel.module.module.variables) {
    const uint64_t bytes = variable_bytes(v);
    if (v.space != "const" || v.is_extern || bytes == 0) continue;
    const ir::Operand base = ir::Operand::address_of(e.kernel.symbol(v.name));
    const ir::Operand here = inside(e, address, base, bytes);
    found = found.is_imm() ? here : ir::Operand(e.op(ir::Op::or_, ir::Type::pred, {found, here}));
  }
  return found;
}

void isspacep(Emit& e) {
  const std::string_view space = e.get("ss");
  const Entity* entity =
      e.operand(1).kind == Operand::Kind::name ? e.body.find(e.operand(1).name) : nullptr;
  if (entity != nullptr && entity->kind != Entity::Kind::reg)
    Emit::fail(e.operand(1).loc, "'isspacep' needs a register with a generic address");
  const bool narrow = entity != nullptr && entity->type.bits == 32;
  const ir::Operand address = narrow ? e.widen(e.raw(1, kB32), false) : e.raw(1, kB64);
  if (space == "const") return e.set(0, kPred, is_constant_address(e, address));
  if (space == "global") {
    // The window of the kernel's parameters is inside the global one, that of constants is not.
    const ir::Operand constant = is_constant_address(e, address);
    const ir::Reg arena = e.op(ir::Op::icmp, ir::Type::u64, {address, imm(guest::kArenaBase)},
                               {.cond = ir::Cond::ge});
    if (constant.is_imm()) return e.set(0, kPred, arena);
    const ir::Reg other = e.op(ir::Op::not_, ir::Type::pred, {constant});
    return e.set(0, kPred, e.op(ir::Op::and_, ir::Type::pred, {arena, other}));
  }
  const bool param = space.starts_with("param");
  const uint64_t size = param ? e.kernel.program.param_bytes : guest::kWindowSize;
  e.set(0, kPred, inside(e, address, window(e, space), size));
}

/// A cluster has one group, whose rank is 0: any other rank gives an address that faults.
void mapa(Emit& e) {
  const PType type = e.type();
  const Operand& a = e.operand(1);
  const bool window = e.has("ss");
  ir::Operand address = e.raw(1, type);
  const Entity* entity = a.kind == Operand::Kind::name ? e.body.find(a.name) : nullptr;
  if (entity != nullptr && entity->kind == Entity::Kind::variable) {
    if (entity->space != ir::Space::shared)
      Emit::fail(a.loc, "'mapa' needs an address of shared memory");
    if (!window) {
      const uint64_t generic = address.imm + guest::kSharedWindow;
      address = imm(generic);
    }
  }
  const ir::Operand nowhere = imm(window ? guest::kWindowSize - 16 : 0);
  const ir::Reg own = e.op(ir::Op::icmp, ir::Type::u32, {e.raw(2, kU32), imm(0)});
  e.set(0, type, e.op(ir::Op::select, type.ir(), {own, address, nowhere}));
}

void getctarank(Emit& e) {
  const PType type = e.type();
  e.raw(1, type);
  e.set(0, kU32, imm(0));
}

constexpr const char* kOneGroup = "a cluster has one group";

constexpr Row kMoveRows[] = {
    {"mov", "type:pred|b16|b32|b64|b128|u16|u32|u64|s16|s32|s64|f32|f64", nullptr, mov},
    {"mov", "vec:v2|v4 type:b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64", nullptr, mov_vector},
    {"cvta", "ss:global|const|local|$sharedany|param|param::entry type:u64", nullptr, cvta},
    {"cvta", "ss:global|const|local|$sharedany|param|param::entry type:u32", nullptr, cvta, "",
     nullptr, isa::Claim::effect},
    {"cvta", "to ss:global|const|local|$sharedany|param|param::entry type:u64", nullptr, cvta_to},
    {"cvta", "to ss:global|const|local|$sharedany|param|param::entry type:u32", nullptr, cvta_to,
     "", nullptr, isa::Claim::effect},
    {"isspacep", "ss:global|const|local|$sharedany|param|param::entry", nullptr, isspacep},
    {"mapa", "?ss:shared::cluster type:u32|u64", nullptr, mapa, kOneGroup},
    {"getctarank", "?ss:shared::cluster type:u32|u64", nullptr, getctarank, kOneGroup},
};

}  // namespace

std::span<const Row> move_rows() {
  return kMoveRows;
}

}  // namespace lanewise::ptx
