// Two versions of a stretch of code: where one question about a row of checks says that none can
// refuse its access, the accesses happen as if nothing were checked; else the stretch runs with
// every check in full (emit_check.cpp), which also says what is wrong. The question may be too
// strict, never too lax.
#include <algorithm>
#include <array>
#include <bit>
#include <set>

#include <spirv/unified1/GLSL.std.450.h>

#include "runtime/layout/addresses.hpp"
#include "runtime/layout/push_words.hpp"
#include "runtime/spirv/lane/emitter.hpp"
#include "runtime/spirv/lane/row_question.hpp"
#include "runtime/spirv/lane/row_uses.hpp"

namespace lanewise::spirv {

using ir::CheckMode;
using ir::Op;
using ir::OpTrait;
using ir::Space;

/// A check that a cheap question can answer for most launches.
bool LaneEmitter::has_question(const ir::Inst& inst) const {
  if (inst.op != Op::check || has(inst, CheckMode::unwritten)) return false;
  const Space space = inst.mem->space;
  if (space == Space::shared || space == Space::local)
    return space_bytes(space) >= inst.mem->bytes();
  return space == Space::global || space == Space::constant || space == Space::generic;
}

/// One row of checks is all that can find a fault: it may report it, too.
bool LaneEmitter::has_one_row() const {
  if (shape_.takes_steps || frame_.stopped != spv::NoResult) return false;
  size_t rows = 0;
  for (const ir::Block& block : program_.blocks) {
    bool before = false;
    for (const ir::Inst& inst : block.insts) {
      if (ir::info(inst.op).trait == OpTrait::effect) return false;
      const bool now = inst.op == Op::check;
      if (now && !has_question(inst)) return false;
      if (now && !before) ++rows;
      before = now;
    }
  }
  return rows == 1;
}

/// Runs instructions of the current block.
void LaneEmitter::run_range(size_t first, size_t last) {
  const std::vector<ir::Inst>& insts = program_.blocks[block_].insts;
  while (first < last && !m_.terminated()) {
    if (shape_.versions && has_question(insts[first])) {
      const size_t end = run_versions(first, last);
      if (end != first) {
        first = end;
        continue;
      }
    }
    index_ = static_cast<uint32_t>(first);
    if (const size_t end = run_in_turn(first, last); end != first) {
      first = end;
      continue;
    }
    run_instruction(insts[first]);
    follow_constants(insts[first]);
    ++first;
  }
}

/// Behind the last access that the checks from `first` to `row` are about.
size_t LaneEmitter::end_of_row(size_t first, size_t row, size_t last) {
  RowUses& uses = row_uses();
  const size_t stop = std::min(last, uses.stop_behind(row));
  size_t end = row;
  for (size_t c = first; c < row; ++c)
    end = std::max(end, uses.last_access(program_.blocks[block_].insts[c].dst[0].id, stop));
  return end;
}

RowUses& LaneEmitter::row_uses() {
  if (!uses_ || uses_block_ != block_) uses_.emplace(program_.blocks[block_], live_.out[block_]);
  uses_block_ = block_;
  return *uses_;
}

/// The 64-bit addresses of a row are computed again where they are looked at in full: the other
/// version then needs their low halves alone.
void LaneEmitter::renew_addresses(size_t first, size_t row) {
  const std::vector<ir::Inst>& insts = program_.blocks[block_].insts;
  const std::vector<uint32_t> dirty = slot_->dirty;
  for (size_t i = first; i < row; ++i)
    if (insts[i].src[0].is_reg()) renew(insts[i].src[0].index, first, first, first);
  slot_->dirty = dirty;
}

/// Does what made the register, in front of `before`, again at `now`, unless its operands have
/// changed in between, or are lost: nobody reads them from the `row` on, so that one in between
/// left no value of theirs behind.
void LaneEmitter::renew(uint32_t reg, size_t before, size_t now, size_t row) {
  constexpr size_t kFarthest = 64;
  if (program_.regs[reg].width != ir::Width::b64) return;
  const std::vector<ir::Inst>& insts = program_.blocks[block_].insts;
  const auto makes = [&](const ir::Inst& inst, uint32_t r) {
    return std::ranges::any_of(inst.dst, [&](ir::Reg dst) { return dst.valid() && dst.id == r; });
  };
  for (size_t i = before; i-- > 0 && now - i < kFarthest;) {
    const ir::Inst& inst = insts[i];
    if (!makes(inst, reg)) continue;
    if (ir::info(inst.op).trait != OpTrait::pure || !inst.guard.always() || inst.dst.size() != 1)
      return;
    for (size_t j = i; j < now; ++j)
      for (const ir::Operand& o : inst.src)
        if (o.is_reg() && makes(insts[j], o.index)) return;
    const auto lost = [&](const ir::Operand& o) {
      return o.is_reg() && slot_->cache[o.index] == spv::NoResult &&
             !row_uses().wanted(row, o.index);
    };
    for (const ir::Operand& o : inst.src)
      if (o.is_reg()) renew(o.index, i, now, row);
    if (std::ranges::any_of(inst.src, lost)) return;
    emit(inst);
    return;
  }
}

void LaneEmitter::when_unusual(Id usual, const std::function<void()>& body) {
  const Id unusual = m_.negated(usual);
  if (!target_.wave_operations) return when(unusual, body);
  when(m_.any_lane(unusual), [&] { state().hardly_ever(body); });
}

/// With every check in full. What several in a row find is kept behind their accesses, so that
/// those need not wait for the branch; a report at once is such a branch already.
void LaneEmitter::run_in_full(size_t first, size_t last) {
  const std::vector<ir::Inst>& insts = program_.blocks[block_].insts;
  const auto run_until = [&](size_t end) {
    for (; first < end; ++first) {
      index_ = static_cast<uint32_t>(first);
      run_instruction(insts[first]);
      follow_constants(insts[first]);
    }
  };
  const auto is_check = [](const ir::Inst& inst) { return inst.op == Op::check; };
  while (first < last) {
    const auto begin = insts.begin(), stop = begin + static_cast<ptrdiff_t>(last);
    const auto row = std::find_if_not(begin + static_cast<ptrdiff_t>(first), stop, is_check);
    const auto end = static_cast<size_t>(std::find_if(row, stop, is_check) - begin);
    if (!one_row_ && static_cast<size_t>(row - begin) > first + 1)
      state().note_together([&] { run_until(end); });
    else
      run_until(end);
  }
}

/// Returns where it ended: at `first` when there is nothing to gain.
size_t LaneEmitter::run_versions(size_t first, size_t last) {
  const std::vector<ir::Inst>& insts = program_.blocks[block_].insts;
  size_t row = first;
  while (row < last && has_question(insts[row])) ++row;
  const size_t end = end_of_row(first, row, last);
  if (end == row) return first;
  active();  // known in both versions and behind them
  Id doubtful = ask_row(first, row);
  if (target_.wave_operations) doubtful = m_.any_lane(doubtful);

  const auto wanted = [&](uint32_t reg) { return row_uses().wanted(end, reg); };
  Slot& slot = *slot_;
  const KnownValues values = known_values();
  std::vector<uint32_t> dirty;
  std::swap(dirty, slot.dirty);
  const auto known_constants = std::pair{constant_now_, written_here_};

  Block* full = m_.new_block();
  Block* quick = m_.new_block();
  Block* merge = m_.new_block();
  m_.create_selection_merge(merge);
  m_.create_conditional_branch(doubtful, full, quick);
  const auto version = [&](Block* entry, const auto& body) {
    m_.set_build_point(entry);
    body();
    m_.create_branch(merge);
    set_known_values(values);
  };
  version(full, [&] {
    const auto run = [&] {
      renew_addresses(first, row);
      run_in_full(first, end);
      flush(wanted);
    };
    state().hardly_ever([&] {
      if (one_row_)
        state().report_after(lane(), run);
      else
        run();
    });
  });
  std::tie(constant_now_, written_here_) = known_constants;
  version(quick, [&] {
    for (size_t i = first; i < row; ++i) {
      inst_ = &insts[i];
      write(insts[i].dst[0].id, wanted_by_check());
    }
    ++quick_;
    const size_t outside = allowed_.size();
    for (size_t i = first; i < row; ++i) allowed_.push_back(insts[i].dst[0].id);
    run_range(row, end);
    allowed_.resize(outside);
    --quick_;
    flush(wanted);
  });
  m_.set_build_point(merge);
  // What they have written lies in variables.
  for (size_t i = first; i < end; ++i) {
    for (const ir::Reg reg : insts[i].dst) {
      if (!reg.valid()) continue;
      slot.cache[reg.id] = spv::NoResult;
      carried_[reg.id] = true;
    }
  }
  const auto is_written = [&](uint32_t reg) { return slot.cache[reg] == spv::NoResult; };
  std::erase_if(slot.cached, is_written);
  std::erase_if(dirty, is_written);
  slot.dirty = std::move(dirty);
  return end;
}

/// Does the access happen at all? Whether the lane was stopped is asked for the whole row.
Id LaneEmitter::wanted_by_check() {
  const Id wanted = src_as(1, ir::Width::pred);
  const bool negated = has(*inst_, CheckMode::negate);
  return both(negated ? m_.negated(wanted) : wanted, active());
}

/// The launch promises that of parameters that are declared as pointers, and of no others.
bool LaneEmitter::is_aligned_pointer(uint32_t offset) const {
  return options_.aligned_pointers && std::ranges::any_of(program_.params, [&](const ir::Param& p) {
           return p.pointer && p.offset == offset;
         });
}

/// Where the same is asked again and again: in loops, or in several blocks.
bool LaneEmitter::asks_often(size_t first, size_t row) const {
  const auto is_loop = [](const Construct& c) { return c.continue_to != nullptr; };
  if (std::ranges::any_of(constructs_, is_loop)) return true;
  for (size_t i = first; i < row; ++i)
    if (asking_blocks_.at(program_.blocks[block_].insts[i].mem->pointer) > 1) return true;
  return false;
}

void LaneEmitter::count_asking_blocks() {
  for (const ir::Block& block : program_.blocks) {
    std::set<uint32_t> pointers;
    for (const ir::Inst& inst : block.insts)
      if (inst.op == Op::check) pointers.insert(inst.mem->pointer);
    for (const uint32_t pointer : pointers) ++asking_blocks_[pointer];
  }
}

/// True in a lane for which some check of the row might refuse its access.
Id LaneEmitter::ask_row(size_t first, size_t row) {
  const std::vector<ir::Inst>& insts = program_.blocks[block_].insts;
  RowQuestion question(m_, {[&](uint32_t offset) { return param_word(offset); },
                            [&](Id word) {
                              const auto known = param_words_.find(word);
                              return known == param_words_.end() ? ir::kNone : known->second;
                            },
                            [&](uint32_t offset) { return is_aligned_pointer(offset); },
                            [&, often = asks_often(first, row)](const std::function<Id()>& value) {
                              return often ? at_start(value) : value();
                            }});
  // One value for the whole row, so that its addresses are seen to be about the same memory.
  std::array<std::optional<RowQuestion::Pointer>, 2> memory;
  const auto anywhere = [&](bool write) {
    std::optional<RowQuestion::Pointer>& known = memory[write ? 1 : 0];
    if (!known) known = all_memory(write);
    known->shared = known->local = 0;
    return with_windows(*known);
  };
  for (size_t i = first; i < row; ++i) {
    inst_ = &insts[i];
    const ir::Mem& mem = *inst_->mem;
    const Id wanted = wanted_by_check();
    RowQuestion::Access access{
        wanted == m_.b(true) ? spv::NoResult : wanted, base_address(), mem.bytes(),
        mem.align == ir::AlignRule::any ? 1 : std::bit_ceil(mem.alignment())};
    if (const RowUses::Stretch* all = row_uses().stretch_of(i)) {
      access.before = static_cast<uint32_t>(mem.offset - all->least);
      access.behind = static_cast<uint32_t>(all->end - mem.offset - mem.bytes());
    }
    const bool write = has(*inst_, CheckMode::write);
    if (const Space space = memory_space(); !ir::wide_space(space))
      question.add_small(access, space_bytes(space));
    else if (searches_allocations(*inst_))
      question.add_address(access, last_found(first, i));
    else if (mem.pointer != ir::kNone)
      question.add(access, pointer_of(mem.pointer, write));
    else
      question.add_anywhere(access, anywhere(write),
                            [&](uint32_t param) { return pointer_at(param, write); });
  }
  Id doubtful = question.ask();
  if (frame_.stopped != spv::NoResult)
    doubtful = m_.test(spv::OpLogicalOr, {doubtful, m_.create_load(frame_.stopped)});
  return doubtful;
}

/// Where a generic address may lead, too.
RowQuestion::Pointer LaneEmitter::with_windows(RowQuestion::Pointer pointer) const {
  if (memory_space() != Space::generic) return pointer;
  pointer.shared = static_cast<uint32_t>(space_bytes(Space::shared));
  if (!has(*inst_, CheckMode::atomic))
    pointer.local = static_cast<uint32_t>(space_bytes(Space::local));
  return pointer;
}

/// From the arena's start to its end, or to 2^32 less 64 KiB.
RowQuestion::Pointer LaneEmitter::all_memory(bool write) {
  constexpr auto kStart = static_cast<uint32_t>(guest::kArenaBase);
  const Id bytes = at_start([&] {
    const Id size =
        write ? launch_word(host_shader::LAUNCH_WRITABLE) : push_word(guest::kPushArenaSize);
    return m_.glsl(GLSLstd450UMin, m_.uint_type, {size, m_.u(0xffff0000 - kStart)});
  });
  return with_windows({ir::kNone, kStart, bytes});
}

/// The allocation that the lane's last search for this check has led to (emit_check.cpp): most
/// accesses of one place in a program find theirs there.
RowQuestion::Pointer LaneEmitter::last_found(size_t first, size_t index) {
  const std::vector<ir::Inst>& insts = program_.blocks[block_].insts;
  const ir::Inst& check = insts[index];
  Found& found = found_[&check];
  for (size_t i = first; i < index && found.bytes == spv::NoResult; ++i) {
    const bool alike = insts[i].src[0] == check.src[0] && searches_allocations(insts[i]) &&
                       has(insts[i], CheckMode::write) == has(check, CheckMode::write);
    if (alike) found = found_.at(&insts[i]);
  }
  const auto variable = [&](const char* name) {
    return m_.create_variable(spv::StorageClassFunction, m_.uint_type, name);
  };
  if (found.bytes == spv::NoResult) {
    found = {variable("found_start"), variable("found_bytes")};
    at_start([&] {
      m_.create_store(m_.u(0), found.bytes);
      return spv::NoResult;
    });
  }
  const auto load = [&](Id id) { return m_.create_load(id); };
  return with_windows({ir::kNone, 0, load(found.bytes), 1, load(found.start)});
}

std::optional<RowQuestion::Pointer> LaneEmitter::pointer_at(uint32_t param, bool write) {
  const auto& through = shape_.pointers.through;
  const auto n = static_cast<uint32_t>(std::ranges::find(through, param) - through.begin());
  if (n == through.size()) return {};
  return pointer_of(n, write);
}

RowQuestion::Pointer LaneEmitter::pointer_of(uint32_t pointer, bool write) {
  using namespace host_shader;
  const auto& through = shape_.pointers.through;
  const auto& variables = shape_.pointers.variables;
  if (pointer >= through.size()) {
    const ir::Variable& v = variables[pointer - through.size()];
    const uint32_t size = write && v.read_only ? 0 : static_cast<uint32_t>(v.size);
    return {ir::kNone, static_cast<uint32_t>(v.address), m_.u(size)};
  }
  const size_t count = through.size() + variables.size();
  const uint32_t at = BEYOND_WORDS * pointer + (write ? BEYOND_WRITABLE : BEYOND_READABLE);
  const Id beyond = at_start([&] {
    return guest::pushes_beyond(program_.param_bytes, count)
               ? push_word(guest::push_beyond(program_.param_bytes) + at)
               : launch_word(LAUNCH_BEYOND + at);
  });
  return {through[pointer], 0, beyond, shape_.pointers.alignments[pointer]};
}

}  // namespace lanewise::spirv
