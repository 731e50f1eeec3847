// The program in the form that the interpreter walks: one flat list of codes, every operand a
// register number. Immediates live in constant registers behind the program's own.
#pragma once

#include <cstdint>
#include <vector>

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
  add,     ///< the commonest integer operations, any width: computed in 64 bits, then cut
  sub,
  mul,
  bit_and,
  bit_or,
  bit_xor,
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
  format,  ///< fmt_bytes ... fmt_pack
  mask,    ///< maskbit, mbcnt
  barrier,
  trap,
  report,
  wave,
  jump,
  branch,
  switch_,
  exit,
};

struct Code {
  Action action = Action::nothing;
  ir::Op op = ir::Op::mov;
  ir::Type type = ir::Type::none, from = ir::Type::none;
  ir::Cond cond = ir::Cond::eq;
  FloatFlags flags;
  uint8_t mode = 0;
  bool guarded = false;
  bool negate = false;  ///< of the guard, or of a branch's condition
  bool wide_address = true;
  uint8_t sources = 0;
  uint32_t guard = 0;                                       ///< register
  uint32_t d0 = 0, d1 = 0, s0 = 0, s1 = 0, s2 = 0, s3 = 0;  ///< the first operands again
  const uint32_t* dst = nullptr;
  const uint32_t* src = nullptr;  ///< switch_: values of the cases
  const ir::Mem* mem = nullptr;
  const ir::BufferAccess* buffer = nullptr;
  const ir::Terminator* term = nullptr;
  const uint32_t* targets = nullptr;  ///< positions of the target blocks
  uint64_t result_mask = 0;           ///< of the width of `type`
  uint32_t site = ir::kNone;
  uint32_t event = 0;            ///< of ir::Inst
  uint32_t form = 0;             ///< guest::event_form without code bits, when there is an event
  uint32_t block = 0, inst = 0;  ///< as the launch's program counts them
  bool added = false;            ///< stands in no program of the guest
  uint32_t place = 0;            ///< the block as the decoded program counts them
  uint32_t kind = 0;             ///< of cross-lane operations: equal ones differ in operands alone
  bool rendezvous = false;       ///< waits for its member mask's lanes, in whatever iteration
};

/// Refers to the program it was made from.
struct DecodedProgram {
  std::vector<Code> codes;
  std::vector<uint64_t> registers;  ///< the registers of a lane that starts: zeros, then constants
  std::vector<uint32_t> pool;       ///< operand lists and jump targets
  std::vector<uint32_t> blocks;     ///< positions of the blocks' first codes
  const ir::WaveOrder* order = nullptr;
};

/// Throws Error(guest) when the program is not well formed or symbols are not bound.
DecodedProgram decode(const ir::Program& program);
/// The same of the program that the order has.
DecodedProgram decode(const ir::WaveOrder& order);

}  // namespace lanewise::reference
