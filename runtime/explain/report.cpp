#include "runtime/explain/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "lanewise/error.hpp"
#include "runtime/explain/formula.hpp"
#include "runtime/guest/allocator.hpp"
#include "runtime/layout/addresses.hpp"

namespace lanewise::explain {
namespace {

using ir::Op;
using ir::Space;

std::string_view what_of(Op op) {
  switch (op) {
    case Op::load:
      return "load";
    case Op::store:
      return "store";
    case Op::atom:
      return "atomic";
    default:
      return "cache control";
  }
}

/// A generic address names one of three memories.
Space resolved(Space space, uint64_t address) {
  if (space != Space::generic) return space;
  if (address - guest::kSharedWindow < guest::kWindowSize) return Space::shared;
  if (address - guest::kLocalWindow < guest::kWindowSize) return Space::local;
  return Space::global;
}

std::string hex_bytes(std::span<const uint64_t> values, unsigned size) {
  std::string out;
  for (const uint64_t v : values)
    for (unsigned b = 0; b < size; ++b)
      out += fmt::format("{}{:02x}", out.empty() ? "" : " ", v >> (8 * b) & 0xff);
  return out;
}

/// One lane's execution of one instruction.
class Visited {
 public:
  Visited(const Recording& recording, const Visit& visit)
      : recording_(recording), visit_(visit), formula_(recording.program, visit) {
    const uint32_t lanes = recording.program.wave_lanes;
    out_.thread = visit.thread;
    out_.wave = visit.thread / lanes;
    out_.lane = visit.thread % lanes;
    out_.came_by = true;
  }

  LaneReport report() {
    bool memory = false, ran = false;
    const bool gcn = recording_.program.isa == ir::Isa::gcn;
    for (size_t k = 0; k < visit_.steps.size(); ++k) {
      const Executed& e = visit_.steps[k];
      const Op op = e.inst->op;
      // Masks and zeroed results are made whether the lane is active or not.
      ran = ran || (e.ran && !e.inst->guard.always()) || (e.ran && has_effect(e));
      if (ir::info(op).trait == ir::OpTrait::mem && !e.inst->src.empty()) {
        memory = true;
        access(k);
      } else if (op == Op::fmt_pack || op == Op::fmt_unpack) {
        if (e.ran && e.settled) out_.work.push_back(format_text(e));
      }
    }
    changes();
    if (!memory) computations();
    out_.skipped = gcn ? exec_is_off() : !ran && out_.registers.empty();
    if (out_.skipped) out_.accesses.clear();
    return std::move(out_);
  }

 private:
  bool has_effect(const Executed& e) const {
    if (ir::info(e.inst->op).trait != ir::OpTrait::pure) return true;
    return std::ranges::any_of(e.inst->dst, [&](ir::Reg r) { return named(r); });
  }
  /// The lane's EXEC bit, where the instruction looks at it and it is clear.
  bool exec_is_off() const {
    const auto is_exec = [&](uint32_t reg) { return recording_.program.regs[reg].name == "exec"; };
    for (const Executed& e : visit_.steps) {
      const ir::Guard& guard = e.inst->guard;
      if (!guard.always() && is_exec(guard.reg.id) && !e.ran) return true;
      for (size_t n = 0; n < e.inst->src.size(); ++n)
        if (e.inst->src[n].is_reg() && is_exec(e.inst->src[n].index) && e.sources[n] == 0)
          return true;
    }
    return false;
  }
  bool named(ir::Reg r) const { return r.valid() && !formula_.register_name(r).empty(); }

  /// The address by the operands, the way the instruction says it.
  uint64_t work_out(size_t k, Access& a) {
    const Executed& e = visit_.steps[k];
    const ir::Mem& mem = *e.inst->mem;
    uint64_t base = e.sources[0];
    const auto maker = formula_.maker(k, 0);
    const bool buffer = maker && visit_.steps[*maker].inst->op == Op::buffer_address;
    if (buffer) {
      BufferText text = buffer_text(formula_, visit_.steps[*maker], *maker, out_.lane);
      a.formula = std::move(text.lines);
      a.verdict = std::move(text.verdict);
      in_range_ = text.in_range;
      base = text.address;
    }
    const ir::Operand& operand = e.inst->src[0];
    const bool narrow =
        operand.is_reg()
            ? recording_.program.regs[operand.index].width != ir::Width::b64
            : mem.space == Space::shared || mem.space == Space::local || mem.space == Space::param;
    uint64_t address = base + static_cast<uint64_t>(mem.offset);
    if (narrow) address &= 0xffffffff;
    std::string start = buffer ? fmt::format("0x{:x}", base) : formula_.operand(k, 0);
    if (mem.offset == 0 && start.starts_with('(')) start = start.substr(1, start.size() - 2);
    if (mem.offset != 0)
      a.formula.push_back(fmt::format("address = {} {} 0x{:x} = 0x{:x}", start,
                                      mem.offset < 0 ? "-" : "+", std::abs(mem.offset), address));
    else if (!buffer)
      a.formula.push_back(start == number(address)
                              ? fmt::format("address = 0x{:x}", address)
                              : fmt::format("address = {} = 0x{:x}", start, address));
    if (mem.align == ir::AlignRule::force && e.inst->op != Op::cachectl) {
      const uint64_t low = std::bit_ceil(mem.alignment()) - 1;
      if ((address & low) != 0)
        a.formula.push_back(
            fmt::format("aligned to {} bytes: 0x{:x} -> 0x{:x}", low + 1, address, address & ~low));
      address &= ~low;
    }
    return address;
  }

  void access(size_t k) {
    const Executed& e = visit_.steps[k];
    const ir::Mem& mem = *e.inst->mem;
    Access a;
    in_range_ = true;
    a.what = what_of(e.inst->op);
    a.address = work_out(k, a);
    const Space space = resolved(mem.space, a.address);
    a.space = name(space);
    a.bytes = e.inst->op == Op::cachectl ? 0 : mem.bytes();
    if (e.touch && e.touch->address != a.address) {
      throw Error(
          ErrorKind::device,
          fmt::format("internal error: the address of '{}' was worked out as 0x{:x}, the "
                      "engine used 0x{:x}",
                      recording_.program.sites[visit_.site].text, a.address, e.touch->address));
    }
    if (!e.ran && in_range_) return;  // the predicate, EXEC or the format's size says no
    if (!e.ran) {
      a.verdict += e.inst->op == Op::load    ? "; reads 0"
                   : e.inst->op == Op::store ? "; nothing is written"
                                             : "; memory stays as it is";
      out_.accesses.push_back(std::move(a));
      return;
    }
    outcome(e, space, a);
    out_.accesses.push_back(std::move(a));
  }

  void outcome(const Executed& e, Space space, Access& a) const {
    const auto say = [&](const std::string& text) {
      a.verdict += (a.verdict.empty() ? "" : "; ") + text;
    };
    if (a.bytes == 0) return say(place(space, a.address, 1));
    a.done = e.touch && e.touch->fault == FaultKind::none;
    a.fault = e.touch ? e.touch->fault : FaultKind::none;
    if (a.fault != FaultKind::none) {
      return say(fmt::format("fault {}: {}; {}", name(a.fault), place(space, a.address, a.bytes),
                             e.inst->op == Op::store ? "the store is dropped" : "gives 0"));
    }
    say(place(space, a.address, a.bytes));
    const ir::Mem& mem = *e.inst->mem;
    const unsigned size = ir::size_of(mem.elem);
    if (e.inst->op == Op::store)
      a.data = hex_bytes(std::span(e.sources).subspan(1), size);
    else if (e.settled && e.inst->op == Op::load)
      a.data = hex_bytes(e.after, size);
    else if (e.settled && !e.after.empty())
      a.data = hex_bytes(e.after, size);
    a.conversion = e.inst->op == Op::atom
                       ? fmt::format("before; {} {} {}", name(mem.atom), name(mem.atom_type),
                                     number(e.sources.back()))
                       : conversion(mem, e.inst->op == Op::load);
  }

  /// How the bytes become registers, or the other way round.
  static std::string conversion(const ir::Mem& mem, bool load) {
    const unsigned size = ir::size_of(mem.elem);
    std::string out = mem.count == 1 ? std::string(name(mem.elem))
                                     : fmt::format("{} x {}", mem.count, name(mem.elem));
    if (size >= 4) return out;
    if (!load) return fmt::format("{}, the low {} bits", out, 8 * size);
    return fmt::format("{}, {}-extended to 32 bits", out,
                       ir::is_signed(mem.elem) ? "sign" : "zero");
  }

  std::string place(Space space, uint64_t address, uint32_t bytes) const {
    if (space == Space::global && address < guest::kNullPageEnd) return "in the unmapped null page";
    const Allocation& params = recording_.parameters;
    if (space == Space::global && address - params.address < params.size)
      return fmt::format("inside {}, byte {} of {}", params.name, address - params.address,
                         params.size);
    if (space == Space::global || space == Space::constant)
      return where_in_arena(recording_.allocations, address, bytes);
    const uint64_t window = space == Space::shared  ? guest::kSharedWindow
                            : space == Space::local ? guest::kLocalWindow
                                                    : 0;
    const uint64_t offset = address >= window && window != 0 ? address - window : address;
    return fmt::format("byte {} of {} memory", offset, name(space));
  }

  void changes() {
    for (const Executed& e : visit_.steps) {
      if (!e.ran || !e.settled) continue;
      for (size_t n = 0; n < e.inst->dst.size(); ++n) {
        const ir::Reg r = e.inst->dst[n];
        if (!named(r)) continue;
        const std::string name = formula_.register_name(r);
        auto it = std::ranges::find(out_.registers, name, &Change::name);
        if (it == out_.registers.end()) {
          const ir::Width w = recording_.program.regs[r.id].width;
          const unsigned bits = w == ir::Width::pred ? 1 : w == ir::Width::b64 ? 64 : 32;
          it = out_.registers.insert(it, {name, bits, e.before[n], 0});
        }
        it->after = e.after[n];
      }
    }
  }

  void computations() {
    for (size_t k = 0; k < visit_.steps.size(); ++k) {
      const Executed& e = visit_.steps[k];
      if (!e.ran || !e.settled || e.inst->dst.empty() || !named(e.inst->dst[0])) continue;
      out_.work.push_back(fmt::format("{} = {} = {}", formula_.register_name(e.inst->dst[0]),
                                      formula_.result(k), number(e.after[0])));
    }
  }

  const Recording& recording_;
  const Visit& visit_;
  const Formula formula_;
  bool in_range_ = true;
  LaneReport out_;
};

LaneReport absent(uint32_t thread, uint32_t wave_lanes) {
  LaneReport r;
  r.thread = thread;
  r.wave = thread / wave_lanes;
  r.lane = thread % wave_lanes;
  return r;
}

/// Sites of instructions that do something; waits and jumps have no operation of their own.
std::vector<bool> working_sites(const ir::Program& p) {
  std::vector<bool> out(p.sites.size());
  for (const ir::Block& b : p.blocks)
    for (const ir::Inst& i : b.insts)
      if (i.site < out.size()) out[i.site] = true;
  return out;
}

}  // namespace

std::string where_in_arena(std::span<const Allocation> allocations, uint64_t address,
                           uint32_t bytes) {
  const auto nearest = guest::nearest_allocation(allocations, address);
  if (!nearest) return "no allocation exists";
  const Allocation& a = *nearest->allocation;
  if (nearest->distance == 0) {
    const uint64_t first = address - a.address;
    const uint64_t over = first + bytes > a.size ? first + bytes - a.size : 0;
    if (over != 0)
      return fmt::format("starts inside '{}' at byte {} of {}, {} bytes go past its end", a.name,
                         first, a.size, over);
    return bytes == 1 ? fmt::format("inside '{}', byte {} of {}", a.name, first, a.size)
                      : fmt::format("inside '{}', bytes {} to {} of {}", a.name, first,
                                    first + bytes - 1, a.size);
  }
  if (nearest->distance > 0)
    return fmt::format("outside every allocation, {} bytes past the end of '{}' ({} bytes)",
                       nearest->distance - 1, a.name, a.size);
  return fmt::format("outside every allocation, {} bytes before '{}' ({} bytes)",
                     -nearest->distance, a.name, a.size);
}

std::vector<InstructionReport> reports(const Recording& recording, const Query& query) {
  std::vector<InstructionReport> out;
  const ir::Program& p = recording.program;
  const std::vector<bool> working = working_sites(p);
  const auto threads = static_cast<uint32_t>(recording.block.total());
  for (uint32_t site = 0; site < p.sites.size(); ++site) {
    const ir::Site& s = p.sites[site];
    if (s.text.empty() || (query.line != 0 && s.line != query.line)) continue;
    InstructionReport r;
    r.kernel = p.name;
    r.text = s.text;
    r.pc = s.pc;
    r.line = s.line;
    r.cache = cache_text(p.isa, s.text);
    if (const auto it = recording.times.find(site); it != recording.times.end())
      r.times = it->second;
    r.followed = working[site];
    const bool every_visit = query.visit == 0 || !r.followed;
    for (uint32_t thread = 0; thread < threads && !every_visit; ++thread)
      if (!query.lane || *query.lane == thread) r.lanes.push_back(absent(thread, p.wave_lanes));
    for (const Visit& v : recording.visits) {
      if (v.site != site) continue;
      LaneReport lane = Visited(recording, v).report();
      if (every_visit) {
        r.lanes.push_back(std::move(lane));
        continue;
      }
      const auto it = std::ranges::find(r.lanes, v.thread, &LaneReport::thread);
      if (it != r.lanes.end()) *it = std::move(lane);
    }
    out.push_back(std::move(r));
  }
  return out;
}

}  // namespace lanewise::explain
