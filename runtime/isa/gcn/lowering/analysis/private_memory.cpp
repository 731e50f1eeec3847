#include "runtime/isa/gcn/lowering/analysis/private_memory.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "runtime/isa/gcn/lowering/analysis/words.hpp"
#include "runtime/isa/gcn/lowering/semantics.hpp"

namespace lanewise::gcn {
namespace {

/// What a scalar register has of the descriptor. The launch gives the base of all waves' memory;
/// the kernel adds where its wave's part begins.
enum class Known : uint8_t { none, base, high, wave, own_base, own_high, records, format, unclear };

bool is_address(Known p) {
  return p == Known::base || p == Known::high || p == Known::own_base || p == Known::own_high ||
         p == Known::unclear;
}

struct KnownParts {
  std::map<unsigned, Known> parts;  ///< other registers have none
  bool carries = false;             ///< SCC is the carry of own_base
  ScalarWords words;

  Known of(unsigned code) const {
    const auto it = parts.find(code);
    return it != parts.end() ? it->second : Known::none;
  }
  void put(unsigned code, Known part) {
    if (part == Known::none)
      parts.erase(code);
    else
      parts[code] = part;
  }
  /// True when that changed anything.
  bool join(const KnownParts& other) {
    bool changed = words.join(other.words) || (carries && !other.carries);
    carries = carries && other.carries;
    std::map<unsigned, Known> all = other.parts;
    all.insert(parts.begin(), parts.end());
    for (const auto& [code, part] : all) {
      const Known mine = of(code), its = other.of(code);
      if (mine == its) continue;
      const Known joined = is_address(mine) || is_address(its) ? Known::unclear : Known::none;
      changed = changed || joined != mine;
      put(code, joined);
    }
    return changed;
  }
};

class Finder {
 public:
  Finder(const Kernel& kernel, const Analysis& analysis, const CallPaths& paths)
      : k_(kernel),
        a_(analysis),
        paths_(paths.blocks()),
        effects_(analysis.effects),
        frames_(with_sources(kernel, effects_, frame_registers(kernel))),
        several_stay_several_(several_stay_several()) {
    found_.at.resize(paths.instructions());
  }

  PrivateMemory run() {
    const InitialState& s = k_.state;
    if (s.bare || s.private_segment_buffer < 0 || s.private_segment_offset < 0) return {};
    if (takes_apertures()) return {};
    if (!follow_all()) return {};
    for (size_t b = 0; b < paths_.size(); ++b) {
      if (!in_[b]) continue;
      KnownParts state = *in_[b];
      const BasicBlock& block = a_.blocks[paths_[b].block];
      for (size_t n = block.begin; n < block.end; ++n) {
        if (!find_access(n, state, found_.at[paths_[b].first + n - block.begin])) return {};
        step(n, state);
      }
    }
    found_.closed = true;
    return std::move(found_);
  }

 private:
  /// What is added to several frames gives several again. Other instructions, as those that align a
  /// frame, may give one.
  bool several_stay_several() const {
    for (size_t n = 0; n < k_.code.size(); ++n) {
      const Row& row = *k_.code[n].row;
      const bool adds =
          row.lower == lower_sadd || (row.lower == lower_saddk && row.meaning.op == Op::add);
      const bool copies = row.kind == Kind::move || row.lower == lower_smovk;
      if ((effects_[n].writes & frames_).any() && !adds && !copies && !row.is_vector_alu())
        return false;
    }
    return true;
  }
  static void give_up_several(ScalarWords& words) {
    for (auto& [code, held] : words.at)
      if (held.some.size() > 1) held = {.some = {}, .open = true, .full = true};
  }
  static ScalarSet frame_registers(const Kernel& k) {
    ScalarSet out;
    for (const Instruction& i : k.code)
      if (const Operand* o = i.operand(Slot::soffset); o != nullptr && is_scalar(o->code))
        out.set(o->code);
    return out;
  }
  /// Flat accesses reach private memory by an address that the arguments give, or the queue.
  bool takes_apertures() const {
    return std::ranges::any_of(k_.hidden, [](const ir::Param& h) {
      return h.name == "hidden_shared_base" || h.name == "hidden_private_base" ||
             h.name == "hidden_queue_ptr";
    });
  }

  /// False where the address goes somewhere else.
  bool follow_all() {
    const auto first = static_cast<unsigned>(k_.state.private_segment_buffer);
    KnownParts start;
    const Known parts[] = {Known::base, Known::high, Known::records, Known::format};
    for (unsigned n = 0; n < 4; ++n) start.put(first + n, parts[n]);
    start.put(static_cast<unsigned>(k_.state.private_segment_offset), Known::wave);
    for (unsigned n = 0; k_.state.queue_ptr >= 0 && n < 2; ++n)
      start.put(static_cast<unsigned>(k_.state.queue_ptr) + n, Known::unclear);
    in_.resize(paths_.size());
    in_[0] = start;
    std::set<size_t> work = {0};  // the first of them first: what leads to others comes before them
    while (!work.empty()) {
      const auto first_waiting = work.begin();
      const PathBlock& path = paths_[*first_waiting];
      const BasicBlock& block = a_.blocks[path.block];
      KnownParts state = *in_[*first_waiting];
      work.erase(first_waiting);
      for (size_t n = block.begin; n < block.end; ++n) {
        if (escapes(n, state)) return false;
        step(n, state);
      }
      for (const size_t s : path.successors) {
        const bool fresh = !in_[s];
        if (fresh) in_[s] = state;
        if (fresh || in_[s]->join(state)) work.insert(s);
        if (several_stay_several_) give_up_several(in_[s]->words);
      }
    }
    return true;
  }

  static bool is_scalar_move(const Instruction& i) {
    const Meaning& m = i.row->meaning;
    return i.row->kind == Kind::move && i.row->encoding == Encoding::sop1 && !m.moves_result &&
           !m.moves_source;
  }
  static bool adds_wave(const Instruction& i, const KnownParts& s) {
    if (i.row->lower != lower_sadd || i.row->meaning.op != Op::add) return false;
    const Known x = s.of(i.operands[1].code), y = s.of(i.operands[2].code);
    return (x == Known::base && y == Known::wave) || (x == Known::wave && y == Known::base);
  }
  static bool adds_carry(const Instruction& i, const KnownParts& s) {
    return i.row->lower == lower_saddc && i.row->meaning.op == Op::addc && s.carries &&
           s.of(i.operands[1].code) == Known::high && i.operands[2].code == kZero;
  }
  bool escapes(size_t n, const KnownParts& s) const {
    const Instruction& i = k_.code[n];
    if (is_scalar_move(i) || adds_wave(i, s) || adds_carry(i, s)) return false;
    ScalarSet reads = effects_[n].reads;
    const Operand* descriptor = is_buffer(i.row->encoding) ? i.operand(Slot::srsrc) : nullptr;
    for (unsigned d = 0; descriptor != nullptr && d < 4; ++d) reads.reset(descriptor->code + d);
    if (const Operand* offset = i.operand(Slot::soffset); offset != nullptr && !offset->immediate)
      if (is_scalar(offset->code)) reads.set(offset->code);
    return std::ranges::any_of(s.parts, [&](const auto& part) {
      return is_address(part.second) && reads.test(part.first);
    });
  }

  void step(size_t n, KnownParts& s) const {
    const Instruction& i = k_.code[n];
    const ScalarSet& writes = effects_[n].writes;
    if (writes.none()) return;
    std::map<unsigned, Known> made;
    if (is_scalar_move(i)) {
      for (unsigned d = 0; d < i.operands[0].count; ++d)
        if (!i.operands[1].immediate && is_scalar(i.operands[1].code))
          made[i.operands[0].code + d] = s.of(i.operands[1].code + d);
    }
    if (adds_wave(i, s)) made[i.operands[0].code] = Known::own_base;
    if (adds_carry(i, s)) made[i.operands[0].code] = Known::own_high;
    if (writes.test(kScc)) s.carries = adds_wave(i, s);
    for (size_t c = writes._Find_first(); c < writes.size(); c = writes._Find_next(c)) {
      const auto it = made.find(static_cast<unsigned>(c));
      s.put(static_cast<unsigned>(c), it != made.end() ? it->second : Known::none);
    }
    if ((writes & frames_).none()) return;
    step_words(k_, n, writes, s.words);
    if (i.row->kind == Kind::call) put_address_behind(k_, n, s.words);
    s.words.forget(writes & ~frames_);
  }

  /// False where there are more dwords than are followed.
  bool find_access(size_t n, const KnownParts& s, PrivateAccess& access) {
    const Instruction& i = k_.code[n];
    const Operand* descriptor = is_buffer(i.row->encoding) ? i.operand(Slot::srsrc) : nullptr;
    if (descriptor == nullptr) return true;
    const auto has = [&](unsigned word, Known part) {
      return s.of(descriptor->code + word) == part;
    };
    if (!is_address(s.of(descriptor->code)) && !is_address(s.of(descriptor->code + 1))) return true;
    access.where = PrivateAccess::Where::anywhere;
    const bool own = has(0, Known::own_base) && has(1, Known::own_high) && has(2, Known::records) &&
                     has(3, Known::format);
    const bool plain = i.row->encoding == Encoding::mubuf && i.row->moves_dwords() &&
                       i.form == Form::plain && !i.offen && !i.idxen && !i.addr64 && !i.lds &&
                       !i.tfe && i.offset % 4 == 0;
    if (!own || !plain) return true;
    const std::optional<Word> frame = s.words.get(*i.operand(Slot::soffset)).one();
    constexpr uint64_t kLanes = 64;
    if (!frame || frame->what != Word::What::number || frame->value % (4 * kLanes) != 0)
      return true;
    access.where = PrivateAccess::Where::slots;
    for (unsigned d = 0; d < i.operand(Slot::vdata)->count; ++d) {
      const uint64_t place = frame->value / kLanes + i.offset + uint64_t{4} * d;
      access.slots.push_back(slots_.emplace(place, slots_.size()).first->second);
    }
    return slots_.size() <= kMostPrivateSlots;
  }

  const Kernel& k_;
  const Analysis& a_;
  const std::vector<PathBlock>& paths_;
  const std::vector<Effects>& effects_;
  const ScalarSet frames_;  ///< where an access's frame may be, or is made of
  const bool several_stay_several_;
  std::vector<std::optional<KnownParts>> in_;  ///< by block of the paths
  std::map<uint64_t, size_t> slots_;           ///< by bytes from the begin of the lane's memory
  PrivateMemory found_;
};

}  // namespace

PrivateMemory private_memory(const Kernel& kernel, const Analysis& analysis,
                             const CallPaths& paths) {
  return Finder(kernel, analysis, paths).run();
}

}  // namespace lanewise::gcn
