// The rules every program obeys between passes; each broken rule is one message.
#include <fmt/format.h>

#include <bit>
#include <functional>

#include "runtime/ir/dot.hpp"
#include "runtime/ir/ir.hpp"
#include "runtime/ir/signature.hpp"
#include "runtime/ir/text.hpp"
#include "runtime/ir/texture.hpp"
#include "runtime/ir/yield.hpp"

namespace lanewise::ir {
namespace {

bool is_int_type(Type t) {
  return t == Type::u32 || t == Type::s32 || t == Type::u64 || t == Type::s64;
}
bool is_any_int_type(Type t) {
  return t >= Type::u8 && t <= Type::s64;
}

/// The rule of a dot product is known at translation.
const char* dot_complaint(const Inst& i) {
  const bool integer = i.type == Type::s32;
  if (!integer && i.type != Type::f32 && i.type != Type::f16)
    return "the type must be f16, f32 or s32";
  if (i.src.size() < 2 || !i.src[1].is_imm()) return "the rule must be an immediate";
  for (const unsigned part : {i.mode & 15U, static_cast<unsigned>(i.mode >> 4)})
    if (part > static_cast<unsigned>(Element::u4) ||
        is_integer(static_cast<Element>(part)) != integer)
      return "the factors do not have a type of this sum";
  return nullptr;
}

/// Which types an operation's own type may be; null when it is not read.
const char* type_complaint(const Inst& i) {
  const Op op = i.op;
  const bool takes_type = std::string_view(info(op).signature).find('T') != std::string_view::npos;
  if (op == Op::f2i) {
    if (!is_any_int_type(i.type)) return "the type must be an integer";
    return is_float(i.from) ? nullptr : "the source type must be a float";
  }
  if (op == Op::i2f) {
    if (!is_float(i.type)) return "the type must be a float";
    return is_int_type(i.from) ? nullptr : "the source type must be u32, s32, u64 or s64";
  }
  if (op == Op::f2f) {
    return is_float(i.type) && is_float(i.from) ? nullptr : "both types must be floats";
  }
  if (op == Op::mulwide || op == Op::redux) {
    return i.type == Type::u32 || i.type == Type::s32 ? nullptr : "the type must be u32 or s32";
  }
  if (!takes_type) return nullptr;
  if (i.type == Type::none) return "a type is needed";
  if (op == Op::and_ || op == Op::or_ || op == Op::xor_ || op == Op::not_) {
    return is_int_type(i.type) || i.type == Type::pred
               ? nullptr
               : "the type must be pred, u32, s32, u64 or s64";
  }
  if (op >= Op::add && op <= Op::icmp) {
    return is_int_type(i.type) ? nullptr : "the type must be u32, s32, u64 or s64";
  }
  if (op >= Op::fadd && op <= Op::ftanh_approx) {
    return is_float(i.type) ? nullptr : "the type must be f16, f32 or f64";
  }
  if (op == Op::dot) return dot_complaint(i);
  return nullptr;
}

bool needs_mem(Op op) {
  return info(op).trait == OpTrait::mem || op == Op::fence || op == Op::redux;
}

/// How many operands a memory operation or barrier takes; the others say it in their signature.
struct Arity {
  size_t dst_min, dst_max, src_min, src_max;
};
Arity arity(const Inst& i) {
  const size_t count = i.mem ? i.mem->count : 1;
  const size_t more = i.mem && i.mem->checked ? 1 : 0;  // the predicate
  switch (i.op) {
    case Op::load:
      return {count, count, 1 + more, 1 + more};
    case Op::store:
      return {0, 0, count + 1 + more, count + 1 + more};
    case Op::check:
      return {1, 1, 2, 2};
    case Op::atom: {
      const bool two = i.mem && takes_two(i.mem->atom);
      const size_t sources = 1 + more + (two ? 2 * count : count);
      return {i.dst.empty() ? 0 : count, count, sources, sources};
    }
    case Op::cachectl:
      return {0, 0, 0, 1};
    case Op::barrier: {
      const bool reduces =
          is_waiting_barrier(i) && i.mode != static_cast<uint8_t>(BarrierKind::sync);
      return {reduces ? 1U : 0U, reduces ? 1U : 0U, reduces ? 3U : 2U, reduces ? 3U : 2U};
    }
    case Op::texel_address:
    case Op::texel_load:
    case Op::texel_store:
    case Op::sample:
    case Op::gather: {
      const size_t results = signature(i.op).dst.size();
      const size_t sources = i.texture ? texture_sources(i) : i.src.size();
      return {results, results, sources, sources};
    }
    default: {
      const Signature s = signature(i.op);
      return {s.dst.size(), s.dst.size(), s.src.size(), s.src.size()};
    }
  }
}

class Verifier {
 public:
  explicit Verifier(const Program& p) : p_(p) {}

  std::vector<std::string> run() {
    if (p_.blocks.empty()) defects_.push_back(fmt::format("{}: no blocks", p_.name));
    if (p_.rendezvous && p_.wave_lanes > 32)
      defects_.push_back(
          fmt::format("{}: a member mask has 32 bits, the wave {} lanes", p_.name, p_.wave_lanes));
    if (p_.wave_lanes == 0 || p_.wave_lanes > 64) {
      defects_.push_back(
          fmt::format("{}: {} lanes per wave, expected 1 to 64", p_.name, p_.wave_lanes));
    }
    for (block_ = 0; block_ < p_.blocks.size(); ++block_) {
      const Block& block = p_.blocks[block_];
      for (const Inst& inst : block.insts) {
        what_ = [&] { return print(p_, inst); };
        check(inst);
      }
      what_ = [&] { return text::print(p_, block.term); };
      check(block.term);
    }
    return std::move(defects_);
  }

 private:
  template <typename... Args>
  void defect(fmt::format_string<Args...> format, Args&&... args) {
    defects_.push_back(fmt::format("{}: block b{}: `{}`: {}", p_.name, block_, what_(),
                                   fmt::format(format, std::forward<Args>(args)...)));
  }

  bool check_reg(uint32_t id, const char* role) {
    if (id < p_.regs.size()) return true;
    defect("{} register {} does not exist (there are {})", role, id, p_.regs.size());
    return false;
  }

  void check_guard(const Guard& g, const char* role) {
    if (check_reg(g.reg.id, role) && p_.regs[g.reg.id].width != Width::pred) {
      defect("{} is {}, expected pred", role, name(p_.regs[g.reg.id].width));
    }
  }

  void check_site(uint32_t site) {
    if (site != kNone && site >= p_.sites.size()) {
      defect("site {} does not exist (there are {})", site, p_.sites.size());
    }
  }

  /// `width` none: any width but pred.
  void check_operand(const Operand& o, std::optional<Width> width, const std::string& role,
                     bool may_be_none = false) {
    switch (o.kind) {
      case Operand::Kind::none:
        if (!may_be_none) defect("{} is missing", role);
        break;
      case Operand::Kind::reg: {
        if (!check_reg(o.index, role.c_str())) break;
        const Width w = p_.regs[o.index].width;
        if (width ? w != *width : w == Width::pred) {
          defect("{} is {}, expected {}", role, name(w), width ? name(*width) : "b32 or b64");
        }
        break;
      }
      case Operand::Kind::imm:
        if ((width == Width::pred && o.imm > 1) || (width == Width::b32 && o.imm > 0xffffffffU)) {
          defect("{}: immediate {:#x} does not fit {}", role, o.imm, name(*width));
        }
        break;
      case Operand::Kind::symbol:
        if (o.index >= p_.symbols.size()) {
          defect("{}: symbol {} does not exist (there are {})", role, o.index, p_.symbols.size());
        }
        if (width == Width::pred) defect("{}: an address is no predicate", role);
        break;
    }
  }

  void check_count(const char* role, size_t have, size_t min, size_t max) {
    if (have >= min && have <= max) return;
    if (min == max) {
      defect("{} {}, expected {}", have, role, min);
    } else {
      defect("{} {}, expected {} to {}", have, role, min, max);
    }
  }

  void check_mem(const Inst& i) {
    const Mem& m = *i.mem;
    const bool accesses = i.op == Op::load || i.op == Op::store || i.op == Op::atom;
    const Type e = m.elem;
    if (!(e == Type::u8 || e == Type::s8 || e == Type::u16 || e == Type::s16 || e == Type::u32 ||
          e == Type::u64)) {
      defect("memory element {}, expected u8, s8, u16, s16, u32 or u64", name(e));
    }
    if (m.count == 0) defect("memory access of 0 elements");
    if (m.align_bytes != 0 && !std::has_single_bit(m.align_bytes)) {
      defect("alignment {} is not a power of two", m.align_bytes);
    }
    if (i.op == Op::atom) {
      const bool whole = takes_two(m.atom) || m.atom == AtomOp::exch;
      if (whole && m.count != 1 && !(m.count == 2 && m.elem == Type::u64)) {
        defect("{} of {} elements, expected 1, or 2 of u64", name(m.atom), m.count);
      }
      // An f16 operation on a 4-byte element works on both packed halves.
      const bool packed =
          (m.atom_type == Type::f16 || m.atom_type == Type::bf16) && size_of(m.elem) == 4;
      if (size_of(m.atom_type) != size_of(m.elem) && !packed) {
        defect("atomic type {} does not have the size of element {}", name(m.atom_type),
               name(m.elem));
      }
    }
    if (accesses && i.op != Op::load && (m.space == Space::constant || m.space == Space::param)) {
      defect("{} memory is read-only", name(m.space));
    }
    if (i.op == Op::atom && m.space == Space::code) defect("the launch's record has no atomics");
    if (m.cache.hint.kind != Operand::Kind::none) {
      check_operand(m.cache.hint, Width::b64, "cache hint");
    }
  }

  void check_mode(const Inst& i) {
    const bool named = i.op == Op::sreg || i.op == Op::barrier || i.op == Op::shfl ||
                       i.op == Op::cachectl || (i.op == Op::mov && i.mode != 0);
    if (named && text::mode_name(i.op, i.mode).empty()) defect("mode {} has no meaning", i.mode);
    if (i.op == Op::prmt && i.mode > static_cast<uint8_t>(PrmtMode::rc16)) {
      defect("mode {} has no meaning", i.mode);
    }
    const bool wide_float = i.type == Type::f32 || i.type == Type::f64;
    if (i.any_nan && (i.op < Op::fadd || i.op > Op::ftanh_approx || !wide_float)) {
      defect("any_nan is for operations with an f32 or f64 result");
    }
    if (i.sat && i.op >= Op::add && i.op <= Op::icmp) defect("integers wrap: sat is for floats");
    if (i.op == Op::icmp && i.cond > Cond::ge) defect("{} is a float condition", name(i.cond));
  }

  void check_texture(const Inst& i) {
    const TextureAccess& t = *i.texture;
    const bool samples = i.op == Op::sample || i.op == Op::gather;
    if (t.component > 3) defect("component {}, expected 0 to 3", t.component);
    if (t.integers && (t.lod == TextureAccess::Lod::gradient || t.bias || t.clamp))
      defect("integer coordinates have no gradient, bias or least level");
    if (!samples && (t.integers || t.bias || t.clamp || t.offset || t.compare ||
                     t.lod != TextureAccess::Lod::zero))
      defect("texels are accessed by place and level alone");
  }

  void check(const Inst& i) {
    if (!i.guard.always()) check_guard(i.guard, "guard");
    check_site(i.site);
    if (const char* complaint = type_complaint(i)) defect("{}", complaint);
    check_mode(i);
    if (needs_mem(i.op) != i.mem.has_value()) {
      defect("{}", i.mem ? "takes no memory attributes" : "memory attributes are missing");
    }
    if ((i.op == Op::buffer_address) != i.buffer.has_value()) {
      defect("{}", i.buffer ? "takes no buffer attributes" : "buffer attributes are missing");
    }
    if (is_texture(i.op) != i.texture.has_value()) {
      defect("{}", i.texture ? "takes no texture attributes" : "texture attributes are missing");
    }
    if (i.texture) check_texture(i);
    if (i.mem) check_mem(i);
    const Arity a = arity(i);
    check_count("destinations", i.dst.size(), a.dst_min, a.dst_max);
    check_count("sources", i.src.size(), a.src_min, a.src_max);
    for (size_t d = 0; d < i.dst.size(); ++d) check_dst(i, d);
    for (size_t s = 0; s < i.src.size(); ++s) {
      const bool sink = i.op == Op::store && s > 0;
      check_operand(i.src[s], source_width(i, s), fmt::format("source {}", s), sink);
    }
  }

  void check_dst(const Inst& i, size_t d) {
    if (!check_reg(i.dst[d].id, "destination")) return;
    const Width have = p_.regs[i.dst[d].id].width;
    const auto want = result_width(i, d);
    if (want && have != *want) {
      defect("destination {} is {}, expected {}", d, name(have), name(*want));
    }
    for (size_t e = 0; e < d; ++e) {
      if (i.dst[e] == i.dst[d]) defect("destinations {} and {} are the same register", e, d);
    }
  }

  void check(const Terminator& t) {
    check_site(t.site);
    size_t targets = 0;
    switch (t.kind) {
      case Terminator::Kind::jump:
        targets = 1;
        break;
      case Terminator::Kind::branch:
        targets = 2;
        check_guard(t.cond, "condition");
        break;
      case Terminator::Kind::switch_:
        targets = t.cases.size() + 1;
        check_operand(t.selector, Width::b32, "selector");
        for (const uint64_t c : t.cases) {
          if (c > 0xffffffffU) defect("case {:#x} does not fit b32", c);
        }
        break;
      case Terminator::Kind::exit:
        break;
    }
    check_count("targets", t.targets.size(), targets, targets);
    for (const uint32_t b : t.targets) {
      if (b >= p_.blocks.size()) {
        defect("target b{} does not exist (there are {} blocks)", b, p_.blocks.size());
      }
    }
  }

  const Program& p_;
  size_t block_ = 0;
  std::function<std::string()> what_;
  std::vector<std::string> defects_;
};

}  // namespace

std::vector<std::string> verify(const Program& program) {
  return Verifier(program).run();
}

}  // namespace lanewise::ir
