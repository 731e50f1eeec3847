// Maxwell's integer ATOM, ATOM.CAS and RED, as tests/oracle/sass_atomic.hpp has them.
#include <fmt/format.h>

#include "tests/fuzz/streams/batch.hpp"
#include "tests/fuzz/streams/sass_address.hpp"
#include "tests/oracle/sass_atomic.hpp"

namespace lanewise::fuzz {
namespace {

namespace spec = oracle::sass;
using Op = spec::AtomicOp;

constexpr const char* kNames[] = {"ADD", "MIN", "MAX", "INC",  "DEC",
                                  "AND", "OR",  "XOR", "EXCH", "CAS"};

struct Form {
  Op op = Op::add;
  bool wide = false, is_signed = false, reduces = false;
};

class Atomic : public SassInstruction {
 public:
  Atomic(const SassAddress& address, const Form& form) : SassInstruction(address), f_(form) {}

  std::string text(unsigned place) const override {
    const unsigned data = 8 * place + 4;
    const std::string type = f_.op == Op::cas ? f_.wide ? ".64" : ""
                             : f_.wide        ? f_.is_signed ? ".S64" : ".U64"
                             : f_.is_signed   ? ".S32"
                                              : "";
    const std::string name =
        fmt::format("{}{}.{}{}", f_.reduces ? "RED" : "ATOM", a_.extended ? ".E" : "",
                    kNames[static_cast<unsigned>(f_.op)], type);
    const std::string guard = guard_text(place), at = address_text(place);
    if (f_.reduces) return fmt::format("{}{} {}, R{} ;\n", guard, name, at, data);
    const std::string swap =
        f_.op == Op::cas ? fmt::format(", R{}", data + words()) : std::string();
    return fmt::format("{}{} R{}, {}, R{}{} ;\n", guard, name, data + result(), at, data, swap);
  }
  bool writes() const override { return true; }

  /// Half of the compares find what they look for.
  void draw(Random& random, const Region& region, std::span<Lane> wave) const override {
    SassInstruction::draw(random, region, wave);
    if (f_.op != Op::cas) return;
    for (Lane& lane : wave) {
      const uint64_t at = spec::forced(effective(lane), bytes());
      if (random.chance(2) || !region.holds(at, bytes())) continue;
      for (unsigned w = 0; w < words(); ++w) {
        lane.in[3 + w] = 0;
        for (unsigned n = 0; n < 4; ++n)
          lane.in[3 + w] |= uint64_t{noise()[at - guest::kArenaBase + 4 * w + n]} << (8 * n);
      }
    }
  }

  void run(const Lane& lane, Memory& memory, std::vector<uint64_t>& out) const override {
    if (!enabled(lane)) return;
    const uint64_t at = spec::forced(effective(lane), bytes());
    const Bytes before = memory.load(at, bytes());
    uint64_t old = 0;
    for (unsigned n = 0; n < bytes(); ++n) old += uint64_t{before[n]} << (8 * n);
    const uint64_t next =
        spec::atomic(f_.op, 8 * bytes(), f_.is_signed, old, value(out, 0), value(out, words()));
    Bytes after{};
    for (unsigned n = 0; n < bytes(); ++n) after[n] = static_cast<uint8_t>(next >> (8 * n));
    memory.store(at, after, bytes());
    if (f_.reduces) return;
    out[result()] = old & 0xffffffff;
    if (f_.wide) out[result() + 1] = old >> 32;
  }
  std::vector<InstructionPtr> simpler() const override {
    std::vector<InstructionPtr> list;
    for (const SassAddress& a : simpler_addresses())
      list.push_back(std::make_shared<Atomic>(a, f_));
    return list;
  }

 private:
  unsigned words() const { return f_.wide ? 2 : 1; }
  unsigned bytes() const override { return 4 * words(); }
  /// Where the old value goes, counted from the first data register: behind the operands, or, of
  /// a wide CAS, over them.
  unsigned result() const { return f_.op == Op::cas && f_.wide ? 0 : 2; }
  uint64_t value(const std::vector<uint64_t>& out, unsigned first) const {
    return f_.wide ? out[first] | out[first + 1] << 32 : out[first];
  }
  Form f_;
};

}  // namespace

InstructionPtr make_sass_atomic(Random& random, const Setting&) {
  Form f;
  f.reduces = random.chance(3);
  f.op = static_cast<Op>(random.below(f.reduces ? 8 : 10));
  const bool counts = f.op == Op::inc || f.op == Op::dec;
  f.wide = !counts && random.chance(3);
  f.is_signed = (f.op == Op::min || f.op == Op::max) && random.chance(2);
  SassAddress a;
  a.extended = random.chance(2);
  a.field_bits = 20;
  a.guard = static_cast<unsigned>(1 + random.below(2));
  a.offset = random_sass_offset(random, a.field_bits);
  return std::make_shared<Atomic>(a, f);
}

}  // namespace lanewise::fuzz
