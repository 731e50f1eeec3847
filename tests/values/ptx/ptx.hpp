// How PTX cases are written: what one form of an instruction makes of its operands. Forms come from
// the instruction table (`ptx::coverage()`), which is how none is forgotten; what they must give
// comes from here. Forms with the same inputs share a case.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/values/harness.hpp"
#include "tests/values/numbers.hpp"

namespace values::ptx {

/// An operand type: u8 .. s64, b8 .. b128, f16, f16x2, bf16, f32, f64, pred.
struct Type {
  std::string name;
  char letter = 'b';  ///< u, s, b, f, p; B for bf16
  unsigned bits = 32;

  bool is_signed() const { return letter == 's'; }
  bool is_float() const { return letter == 'f' || letter == 'B'; }
  unsigned words() const { return bits <= 32 ? 1 : bits / 32; }
  /// Type of the registers that hold it; 8 bits take a register of 32.
  std::string reg() const;
};
/// Fails on names that are no types.
Type type_named(std::string_view name);
bool is_type(std::string_view name);

/// The words of operands and results, zero above each one's type.
using Args = const uint64_t*;
using Results = uint64_t*;

struct Operand {
  Type type;
  std::string pool = {};  ///< see pool_of(); empty: by type
  std::string reg = {};   ///< another register type, ".b32" for an s8 with more bits above it
};

/// One form. In `text` sources are a, b, c, e, f and results d, g, h.
struct Op {
  std::string form;
  std::vector<Operand> sources;
  std::vector<Operand> results;
  std::function<void(Args, Results)> value;
  std::string text = {};  ///< empty: the form with its results and sources in order
  /// For approximate forms: instead of `value`.
  std::function<bool(Args, Args)> near = nullptr;
  std::string bound = {};
};

/// The qualifiers of a form, taken one by one; a form is understood when none is left.
class Mods {
 public:
  explicit Mods(std::string_view form);
  const std::string& opcode() const { return opcode_; }
  bool take(std::string_view name);
  /// The first of these that is there; empty for none.
  std::string one_of(std::initializer_list<std::string_view> names);
  /// The next type from the left; nothing when there is none.
  std::optional<Type> type();
  bool done() const { return left_.empty(); }

 private:
  std::string opcode_;
  std::vector<std::string> left_;
};

/// What a form does, or nothing for one that is not understood.
using Maker = std::optional<Op> (*)(const std::string& form, Mods& m);
using Makers = std::map<std::string, Maker>;
/// By file, as each has names of its own.
namespace integer {
const Makers& makers();
const Makers& carry_makers();
}  // namespace integer
namespace bit_ops {
const Makers& makers();
}
namespace compare {
const Makers& makers();
}
namespace floats {
const Makers& makers();
}
namespace approximate {
const Makers& makers();
}
namespace half {
const Makers& makers();
}
namespace bfloat {
const Makers& makers();
}
namespace convert {
const Makers& makers();
}
namespace video {
const Makers& makers();
/// Those with parts of words, which no form names.
std::vector<Op> part_ops();
}  // namespace video
namespace move {
const Makers& makers();
/// Those that have more than one kind of operand, sinks or no operands: written by hand.
std::vector<Op> extra_ops();
}  // namespace move

/// Every form of the table that a maker understands.
std::vector<Op> ops();
std::vector<Op> ops_of(const std::vector<std::string>& forms);
/// The ops again, each source in turn being a constant. Halves have none in the language, and
/// predicates are left out.
std::vector<Op> with_constants(const std::vector<Op>& ops);
/// The form with its results and these sources.
std::string text_with(const Op& op, const std::vector<std::string>& sources);
namespace memory {
/// Loads and stores of all forms but those of parameters, and the variables that they are about.
/// All lanes use the same ones: for the reference engine, which runs lanes in turn.
std::vector<Op> ops();
std::string variables();
}  // namespace memory
namespace wave {
/// Instructions that look at other lanes; key of the row is the form.
std::vector<Case> cases();
}  // namespace wave

/// 32-bit words that a value takes in a lane's record.
unsigned words_of(const Operand& o);

/// Ops over the same inputs, joined. `row` of a case is the first form in it.
std::vector<Case> joined(const std::vector<Op>& ops);

const InstructionSet& instruction_set();

inline uint64_t mask(unsigned bits) {
  return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
}
__extension__ using Wide = __int128;
/// The number that the bits of an integer type stand for.
Wide number(const Type& t, uint64_t bits);
Wide lowest(const Type& t);
Wide highest(const Type& t);
uint64_t clamped(const Type& t, Wide value);

/// rn, rz, rm, rp (also rni ...) as the host's rounding direction; empty is rn.
int direction(std::string_view name);

}  // namespace values::ptx
