// Maxwell SASS as compilers write it: the parts of the printer.
#pragma once

#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "tests/fuzz/programs/print.hpp"

namespace lanewise::programs::sass {

/// A predicate register or its opposite; 7 is always true.
struct Predicate {
  uint32_t number = 7;
  bool negated = false;

  std::string text() const {
    return (negated ? "!P" : "P") + (number == 7 ? "T" : std::to_string(number));
  }
  std::string lead() const { return "@" + text() + " "; }
  Predicate operator!() const { return {number, !negated}; }
};

/// Registers: 0 holds the lane's number in its group, 1 the stack pointer, 2 and 3 the address of
/// the lane's output, 4 the mark. Then those of the program and of its functions, then temporaries.
struct Registers {
  static constexpr uint32_t kSelf = 0, kOut = 2, kMark = 4, kThread = 5, kFirst = 8;
  static constexpr uint32_t kTemporaries = 12;  ///< used in turn

  explicit Registers(const Program& program);
  std::vector<uint32_t> functions;  ///< the first register of each
  uint32_t temporaries = 0;
  uint32_t next = 0;  ///< behind them: one that nothing else uses
};

/// Text, names that are used once, and registers that are used in turn.
class Writer {
 public:
  /// `function`: whose registers the tree's numbers mean; none: the program's.
  Writer(const Program& program, const Style& style, Registers& registers, const uint32_t* function)
      : program(program),
        random(style.seed + (function == nullptr ? 0 : 1 + *function)),
        registers(registers),
        base_(function == nullptr ? Registers::kFirst : registers.functions.at(*function)),
        predicates_(function == nullptr ? 7 : kInFunctions),
        prefix_(function == nullptr ? "" : fmt::format("f{}_", *function)) {}

  template <typename... Args>
  void line(const std::string& format, const Args&... args) {
    text += "  " + fmt::format(fmt::runtime(format), args...) + " ;\n";
  }
  void label(const std::string& name) { text += name + ":\n"; }
  std::string new_label(const std::string& what) {
    return fmt::format(".L_{}_{}{}", what, prefix_, labels_++);
  }

  std::string reg(uint32_t number) const { return fmt::format("R{}", base_ + number); }
  uint32_t first() const { return base_; }
  /// Temporaries. An even one and its successor make a wide one.
  std::string word() { return fmt::format("R{}", registers.temporaries + take(1)); }
  uint32_t wide() { return registers.temporaries + take(2); }
  /// A temporary of one place alone.
  std::string own_word() { return fmt::format("R{}", registers.next++); }

  /// Predicates in turn, without those that are held.
  uint32_t predicate();
  void hold(uint32_t number) { held_.at(number) = true; }
  void release(uint32_t number) { held_.at(number) = false; }
  /// One that no function writes, or nothing. It is held.
  std::optional<uint32_t> lasting_predicate();

  /// A register with the value; one of the 20 bits that most instructions take, or a register.
  std::string in_register(const Operand& o);
  std::string short_operand(const Operand& o);
  static bool is_short(uint32_t value) { return value < 0x80000 || value >= uint32_t(-0x80000); }

  const Program& program;
  Random random;
  Registers& registers;
  std::string text;

 private:
  static constexpr uint32_t kInFunctions = 4;  ///< predicates that functions write
  uint32_t take(uint32_t count);

  const uint32_t base_, predicates_;
  const std::string prefix_;
  uint32_t labels_ = 0, word_ = 0, predicate_ = 0;
  std::array<bool, 7> held_ = {};
};

/// The condition (and `also`) as a predicate, in register `to`.
Predicate test_into(Writer& w, const Condition& c, uint32_t to, Predicate also = {});
Predicate test(Writer& w, const Condition& c, Predicate also = {});
/// The lead of guarded instructions, computed here; empty for no guard.
std::string guard(Writer& w, const Guard& g);
/// "what", "what label" for the lanes for which the condition holds.
void go_if(Writer& w, const Condition& c, const std::string& what, const std::string& label = {});
void go(Writer& w, const std::string& lead, const std::string& what, const std::string& label = {});

/// to = number, which may be any; to = a * b.
void put_value(Writer& w, const std::string& lead, const std::string& to, uint32_t value);
void multiply(Writer& w, const std::string& lead, const std::string& to, const std::string& a,
              const std::string& b);
/// to = table[index]; `index` is below kTableWords.
void load_table(Writer& w, const std::string& lead, const std::string& to,
                const std::string& index);

/// Statements without control flow. `lead` is a guard of the surrounding if; only statements
/// without one of their own have it.
bool is_plain(const Statement& s);
void plain(Writer& w, const Statement& s, const std::string& lead = {});
void cross(Writer& w, const Cross& s);
void exchange(Writer& w, const Exchange& s);
/// `together`: lanes that leave a loop wait for the others.
void combine(Writer& w, const Combine& s, bool together);
void pool(Writer& w, const Pool& s);

}  // namespace lanewise::programs::sass
