// Convenience for front ends and tests: appends instructions to a block of a Program.
#pragma once

#include <initializer_list>
#include <utility>

#include "runtime/ir/ir.hpp"
#include "runtime/ir/make.hpp"

namespace lanewise::ir {

class Builder {
 public:
  explicit Builder(Program& program) : program_(program) {}

  uint32_t add_block(std::string label = {}) {
    program_.blocks.push_back({std::move(label), {}, {}});
    return static_cast<uint32_t>(program_.blocks.size() - 1);
  }
  void set_block(uint32_t block) { block_ = block; }
  uint32_t block() const { return block_; }
  void set_site(uint32_t site) { site_ = site; }
  void set_guard(Guard guard) { guard_ = guard; }
  Program& program() { return program_; }

  Reg reg(Width w) { return program_.add_reg(w); }

  /// Appends and returns the instruction, guard and site filled in.
  Inst& emit(Op op, Type type, std::vector<Reg> dst, std::vector<Operand> src) {
    auto& insts = program_.blocks[block_].insts;
    insts.push_back(instruction(op, type, std::move(dst), std::move(src), site_));
    insts.back().guard = guard_;
    return insts.back();
  }
  /// Same with a fresh destination of the type's width.
  Reg make(Op op, Type type, std::vector<Operand> src) {
    Reg r = reg(width_of(type));
    emit(op, type, {r}, std::move(src));
    return r;
  }
  /// Whether the condition holds of two integers.
  Reg compare(Cond cond, Type type, Operand x, Operand y) {
    const Reg r = reg(Width::pred);
    emit(Op::icmp, type, {r}, {x, y}).cond = cond;
    return r;
  }
  Reg special(SReg which, Type type = Type::u32) {
    const Reg r = reg(width_of(type));
    emit(Op::sreg, type, {r}, {}).mode = static_cast<uint8_t>(which);
    return r;
  }
  /// The lower and the upper word of 64 bits.
  std::pair<Reg, Reg> unpack(Operand wide) {
    const Reg low = reg(Width::b32), high = reg(Width::b32);
    emit(Op::unpack64, Type::none, {low, high}, {wide});
    return {low, high};
  }
  /// A constant that policies of a launch may change.
  Reg open(Choice choice, Type type, uint64_t standard) {
    const Reg r = reg(width_of(type));
    emit(Op::mov, type, {r}, {Operand::immediate(standard)}).mode = static_cast<uint8_t>(choice);
    return r;
  }
  void terminate(Terminator term) {
    term.site = site_;
    program_.blocks[block_].term = std::move(term);
  }
  void jump(uint32_t target) { terminate(jump_to(target)); }
  void branch(Guard cond, uint32_t taken, uint32_t otherwise, bool uniform = false) {
    Terminator t = branch_on(cond, taken, otherwise);
    t.uniform = uniform;
    terminate(std::move(t));
  }
  void exit() { terminate({}); }

 private:
  Program& program_;
  uint32_t block_ = 0;
  uint32_t site_ = kNone;
  Guard guard_;
};

inline Operand imm(uint64_t bits) {
  return Operand::immediate(bits);
}

}  // namespace lanewise::ir
