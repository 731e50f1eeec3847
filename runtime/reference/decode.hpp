// The program in the form that waves run: one flat list of codes, each with the function that
// carries it out, every operand a place in the wave's registers. Immediates are constant registers
// behind the program's own.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/ir/integer_inline.hpp"
#include "runtime/ir/passes/passes.hpp"
#include "runtime/reference/numbers/float_ops.hpp"

namespace lanewise::reference {

/// Elements that one memory instruction may move.
inline constexpr uint32_t kMaxElements = 16;

enum class Action : uint8_t {
  mov,
  select,
  sreg,
  narrow,  ///< widths and packing: pack64 ... sext16
  integer,
  carry,
  icmp,
  floating,
  fcmp,
  convert,
  load,
  store,
  atom,
  nothing,  ///< fences and cache hints: one lane at a time is always in order
  buffer_address,
  format,  ///< fmt_bytes ... fmt_pack, srgb
  mask,    ///< maskbit, mbcnt
  dot,
  barrier,
  trap,
  report,
  wave,
  jump,
  branch,
  switch_,
  exit,
};

/// What a code is to the question whether an mbarrier's phase has ended.
enum class PhaseCode : uint8_t { none, load, difference };

struct Wave;
struct Code;
/// Carries an instruction out for the wave's active lanes and gives the next one; null where no
/// lane goes on at once. Lanes that stop leave Wave::mask.
using Handler = const Code* (*)(Wave&, const Code*);
/// [0] for any lanes, [1] where a single one is active.
using Handlers = std::array<Handler, 2>;

/// A register: where its lanes lie, side by side, in the registers of a wave, and its width in the
/// lowest bits. The lanes of a pred are bits of one word.
using Slot = uint32_t;
constexpr uint32_t offset_of(Slot slot) {
  return slot & ~7U;
}
constexpr ir::Width width_of(Slot slot) {
  return static_cast<ir::Width>(slot & 7);
}

struct Code {
  Handlers run{};                                           ///< all of it
  uint32_t d0 = 0, d1 = 0, s0 = 0, s1 = 0, s2 = 0, s3 = 0;  ///< offsets of the first operands
  uint32_t guard = 0;                                       ///< offset
  uint32_t rank = 0;             ///< lanes that stand apart: the lowest goes first
  uint32_t access = 0;           ///< number of the memory instruction
  uint32_t bytes = 0;            ///< of an access
  uint64_t keep = ~uint64_t{0};  ///< of an address's bits, after the offset was added
  uint64_t aligned = 0;          ///< of these, those that must be 0
  uint64_t offset = 0;
  uint64_t address_bits = ~uint64_t{0};  ///< `keep` of an event
  const Slot* dst = nullptr;
  const Slot* src = nullptr;
  Handlers unwatched{}, unguarded{}, plain{};  ///< without the hook, the guard, the trace as well
  Handlers moves{};    ///< an access that the check of races sees, without it
  Handlers resumed{};  ///< an access at which lanes stop for others: it, when they go on
  Handlers asks{};     ///< a question for a phase, without giving way
  Action action = Action::nothing;
  ir::Op op = ir::Op::mov;
  ir::Type type = ir::Type::none, from = ir::Type::none;
  ir::Cond cond = ir::Cond::eq;
  FloatFlags flags;
  uint8_t mode = 0;
  bool guarded = false;
  bool negate = false;         ///< of the guard, or of a branch's condition
  bool counts = false;         ///< back edges are steps of the budget
  bool plain_words = false;    ///< weak loads or stores of whole words, all their elements
  bool may_stop = false;       ///< lanes may wait or end here
  bool same_address = false;   ///< a constant
  bool same_operands = false;  ///< all sources are constants
  uint8_t sources = 0, results = 0;
  const ir::Mem* mem = nullptr;
  const ir::BufferAccess* buffer = nullptr;
  const ir::Terminator* term = nullptr;
  const uint32_t* targets = nullptr;  ///< positions of the target blocks
  uint32_t site = ir::kNone;
  uint32_t event = 0;            ///< of ir::Inst
  uint32_t form = 0;             ///< guest::event_form without code bits, when there is an event
  uint32_t block = 0, inst = 0;  ///< as the launch's program counts them
  bool added = false;            ///< stands in no program of the guest
  uint32_t place = 0;            ///< the block as the decoded program counts them
  uint32_t kind = 0;             ///< of cross-lane operations: equal ones differ in operands alone
  bool rendezvous = false;       ///< waits for its member mask's lanes, in whatever iteration
  PhaseCode phase = PhaseCode::none;
  bool of_copy = false;  ///< carries a copy out, or a wait for it: notes say what it does

  /// Of an access whose first source is that.
  LANEWISE_INLINE uint64_t address(uint64_t operand) const { return (operand + offset) & keep; }
};

/// Bytes of a wave's registers.
struct Zeros {
  uint32_t offset, bytes;
};

/// Refers to the program it was made from.
struct DecodedProgram {
  std::vector<Code> codes;
  std::vector<Code> once;            ///< what a launch does once: its lanes' values never change
  std::vector<Slot> slots;           ///< [register]
  std::vector<std::byte> registers;  ///< those of a wave before it runs: zeros, then constants
  std::vector<Zeros> zeroed;         ///< what a wave that starts may read before it is written
  std::vector<uint32_t> pool;        ///< operand lists and jump targets
  std::vector<uint32_t> blocks;      ///< positions of the blocks' first codes
  uint32_t stride = 32;              ///< lanes of a register: 32 or 64
  uint32_t accesses = 0;
  bool reads_other_lanes = false;  ///< cross-lane operations may see lanes that have ended
  bool counts_clocks = false;
  const ir::WaveOrder* order = nullptr;
};

/// What a launch asks of a program.
struct Wishes {
  bool pointers = false;   ///< accesses through a pointer parameter are held against its allocation
  bool lockstep = false;   ///< the schedule over the tree, whatever the program is
  bool watched = false;    ///< a hook sees every instruction
  bool touched = false;    ///< every byte of every access is looked at
  bool counted = false;    ///< and charged for (the check of costs)
  bool raced = false;      ///< so is who orders it (the check of races)
  bool scheduled = false;  ///< lanes stop in front of what others can see
  bool ahead = false;      ///< lanes stop in front of what shows which of them comes first
  bool followed = false;   ///< values that nobody has written are followed to their use
  auto operator<=>(const Wishes&) const = default;
};

/// Of a well formed program, which may be that of an order. Throws Error(guest) when symbols are
/// not bound.
DecodedProgram decode(const ir::Program& program, Wishes wishes, const ir::WaveOrder* order);

}  // namespace lanewise::reference
