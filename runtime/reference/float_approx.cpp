#include <bit>
#include <cmath>

#include "runtime/reference/float_ops.hpp"
#include "runtime/reference/soft_float.hpp"

namespace lanewise::reference {
namespace {

using ir::Op;
using ir::Round;
using ir::Type;

double evaluate(Op op, double x) {
  switch (op) {
    case Op::frsqrt_approx:
      return 1.0 / std::sqrt(x);
    case Op::fex2_approx:
      return std::exp2(x);
    case Op::flg2_approx:
      return std::log2(x);
    case Op::fsin_approx:
      return std::sin(x);
    case Op::fcos_approx:
      return std::cos(x);
    default:
      return std::tanh(x);
  }
}

}  // namespace

uint64_t approximate(Op op, Type type, uint64_t a) {
  const uint64_t wide = pack(kF64, unpack(format_of(type), a), Round::rn);
  const uint64_t result = std::bit_cast<uint64_t>(evaluate(op, std::bit_cast<double>(wide)));
  return pack(format_of(type), unpack(kF64, result), Round::rn);
}

}  // namespace lanewise::reference
