// Operand kinds: a constant where a register may stand.
#include <fmt/format.h>

#include "tests/values/ptx/ptx.hpp"

namespace values::ptx {

namespace {

struct Constant {
  std::string text;
  uint64_t bits;
};

std::optional<Constant> constant_for(const Operand& o) {
  const Type& t = o.type;
  if (t.name == "f32" || t.name == "f64") {
    if (t.bits == 32) return Constant{"0fBFC00000", 0xbfc00000};
    return Constant{"0dBFF8000000000000", 0xbff8000000000000};
  }
  if (t.is_float() || t.letter == 'p' || t.bits > 64) return {};
  if (!o.pool.empty()) return Constant{"5", 5};  // a count, a place
  const uint64_t bits = ~uint64_t{2} & mask(t.bits);
  return Constant{t.is_signed() ? "-3" : fmt::format("{:#x}", bits), bits};
}

Op with_constant(const Op& op, size_t place, const Constant& c) {
  static const char* const kNames[] = {"a", "b", "c", "e", "f"};
  std::vector<std::string> sources(kNames, kNames + op.sources.size());
  sources[place] = c.text;
  Op out = op;
  out.text = text_with(op, sources);
  const auto replaced = [place, bits = c.bits, n = op.sources.size()](Args in) {
    std::vector<uint64_t> values(in, in + n);
    values[place] = bits;
    return values;
  };
  if (op.near)
    out.near = [replaced, near = op.near](Args in, Args got) {
      return near(replaced(in).data(), got);
    };
  else
    out.value = [replaced, value = op.value](Args in, Results r) { value(replaced(in).data(), r); };
  return out;
}

bool is_plain(const Op& op) {
  for (const Operand& o : op.sources)
    if (o.type.bits > 64) return false;
  // Video instructions on parts read registers, pairs of integers have no constants either.
  const std::string opcode = Mods(op.form).opcode();
  const bool parts = opcode[0] == 'v' && (opcode.back() == '2' || opcode.back() == '4');
  return op.text.empty() && !parts && !op.form.ends_with("16x2");
}

}  // namespace

std::vector<Op> with_constants(const std::vector<Op>& ops) {
  std::vector<Op> out;
  for (const Op& op : ops)
    for (size_t place = 0; is_plain(op) && place < op.sources.size(); ++place)
      if (const auto c = constant_for(op.sources[place]))
        out.push_back(with_constant(op, place, *c));
  return out;
}

}  // namespace values::ptx
