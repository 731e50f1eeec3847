// Which bits of a result depend on bits that were never written (--check init): held against what
// changes when those bits are others.
#include "runtime/reference/init/undefined.hpp"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <random>

#include "runtime/ir/integer.hpp"

using namespace lanewise;
using namespace lanewise::reference;
using ir::Op;
using ir::Type;

namespace {

constexpr Slot kWord = static_cast<Slot>(ir::Width::b32);

struct Case {
  Op op;
  Type type = Type::u32;
  uint32_t sources = 2;
  uint64_t most[4] = {~0ULL, ~0ULL, ~0ULL, ~0ULL};  ///< of each source's values
  bool exact = true;  ///< no bit is reported that does not depend on one
  uint8_t mode = 0;
  uint32_t undefined = 4;  ///< the first sources of which bits may be undefined
};

const std::vector<Case> kCases = {
    {Op::and_},
    {Op::or_},
    {Op::xor_},
    {Op::not_, Type::u32, 1},
    {Op::brev, Type::u32, 1},
    {Op::shl, Type::u32, 2, {~0ULL, 40}, true, 0, 1},
    {Op::shr, Type::u32, 2, {~0ULL, 40}, true, 0, 1},
    {Op::shr, Type::s32, 2, {~0ULL, 40}, true, 0, 1},
    {Op::shf_l, Type::u32, 3, {~0ULL, ~0ULL, 63}, true, 1, 2},
    {Op::shf_r, Type::u32, 3, {~0ULL, ~0ULL, 63}, true, 0, 2},
    {Op::bfe, Type::u32, 3, {~0ULL, 40, 40}, true, 0, 1},
    {Op::bfe, Type::s32, 3, {~0ULL, 40, 40}, true, 0, 1},
    {Op::bfi, Type::u32, 4, {~0ULL, ~0ULL, 40, 40}, true, 0, 2},
    {Op::prmt, Type::u32, 3, {~0ULL, ~0ULL, 0xffff}, true, 0, 2},
    {Op::lop3, Type::u32, 3, {}, true, 0xca},
    {Op::lop3, Type::u32, 3, {}, true, 0x96},
    {Op::add, Type::u32, 2, {}, false},
    {Op::sub, Type::u32, 2, {}, false},
    {Op::neg, Type::u32, 1, {}, false},
    {Op::mul, Type::u32, 2, {}, false},
    {Op::mulhi, Type::s32, 2, {}, false},
    {Op::min, Type::s32, 2, {}, false},
    {Op::popc, Type::u32, 1, {}, false},
    {Op::clz, Type::u32, 1, {}, false},
};

}  // namespace

TEST_CASE("unwritten values: the bits of a result that depend on them") {
  std::mt19937_64 random(7);
  for (const Case& c : kCases) {
    CAPTURE(static_cast<int>(c.op));
    CAPTURE(static_cast<int>(c.mode));
    std::array<Slot, 1> dst = {kWord};
    std::array<Slot, 4> src = {kWord | 64, kWord | 128, kWord | 192, kWord | 256};
    Code code;
    code.op = c.op;
    code.type = c.type;
    code.mode = c.mode;
    code.action = Action::integer;
    code.sources = static_cast<uint8_t>(c.sources);
    code.results = 1;
    code.dst = dst.data();
    code.src = src.data();
    for (int round = 0; round < 300; ++round) {
      std::array<uint64_t, 4> values{};
      std::array<UndefinedBits, 4> marks{};
      unsigned bits = 0;
      for (uint32_t i = 0; i < c.sources; ++i) {
        const uint64_t most = c.most[i] == 0 ? ~0ULL : c.most[i];
        values[i] = most == ~0ULL ? random() & 0xffffffff : random() % (most + 1);
        // Few, so that every choice of them can be tried.
        for (int n = 0; n < 3 && i < c.undefined; ++n)
          if (random() % 2 == 0) marks[i].bits |= uint64_t{1} << random() % 32;
        bits += static_cast<unsigned>(std::popcount(marks[i].bits));
      }
      const auto with = [&](uint32_t choice) {
        std::array<uint64_t, 4> in = values;
        for (uint32_t i = 0; i < c.sources; ++i)
          for (uint64_t left = marks[i].bits; left != 0; left &= left - 1, choice >>= 1) {
            const uint64_t bit = left & (~left + 1);
            in[i] = (choice & 1) != 0 ? in[i] | bit : in[i] & ~bit;
          }
        return ir::integer_op(c.op, c.type, c.mode, in[0], in[1], in[2], in[3]) & 0xffffffff;
      };
      uint64_t differs = 0;
      for (uint32_t choice = 1; choice < 1U << bits; ++choice) differs |= with(choice) ^ with(0);
      const uint64_t found = Transfer{code, 0, values.data(), marks.data()}.result(0);
      CHECK((differs & ~found) == 0);
      if (c.exact) CHECK(found == differs);
    }
  }
}
