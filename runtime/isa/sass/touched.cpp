#include "runtime/isa/sass/touched.hpp"

#include <fmt/format.h>

#include "runtime/isa/sass/semantics.hpp"

namespace lanewise::sass {
namespace {

using Kind = OperandSpec::Kind;

void add_registers(Places& set, unsigned first, unsigned count) {
  if (first == kRZ) return;
  for (unsigned n = first; n < std::min(first + count, kRZ); ++n) set.set(n);
}

/// Stores name their data in the place where others have the destination.
bool is_store(const Instruction& i) {
  const LowerFn f = i.form->lower;
  return f == lower_stg || f == lower_st || f == lower_stl || f == lower_sts || f == lower_red;
}

bool is_atomic(const Instruction& i) {
  const std::string& m = i.form->mnemonic;
  return m == "ATOM" || m == "ATOMS" || m == "RED";
}

/// Registers of a data operand. What the table does not say to be wider is one register.
unsigned data_registers(const Instruction& i) {
  if (is_atomic(i)) {
    if (i.mod(ModId::wide) != 0) return 2;
    const Mod* type = i.form->mod(ModId::type);
    if (type == nullptr) return 1;
    for (const Code& c : type->codes)
      if (c.value == type->field.get(i.word) && !c.alias)
        return c.text == "U64" || c.text == "S64" ? 2 : 1;
    return 1;
  }
  const Mod* size = i.form->mod(ModId::size);
  const bool memory = i.operand(Role::addr) != nullptr;
  return size != nullptr && memory ? access_size(i).count : 1;
}

class Collector {
 public:
  explicit Collector(const Instruction& i) : i_(i), count_(data_registers(i)) {}

  Touched run() {
    if (i_.form->has_guard) add_predicate(out_.reads, i_.guard());
    for (const OperandSpec& o : i_.form->operands) add(o);
    if (i_.mod(ModId::x) != 0) out_.reads.set(kConditionCode);
    return out_;
  }

 private:
  static void add_predicate(Places& set, unsigned n) {
    if (n < kPT) set.set(kFirstPredicate + n);
  }

  void add(const OperandSpec& o) {
    const auto value = static_cast<unsigned>(o.field.get(i_.word));
    switch (o.kind) {
      case Kind::reg:
        add_registers(o.role == Role::d && !is_store(i_) ? out_.writes : out_.reads, value,
                      holds_data(o) ? count_ : 1);
        if (o.cc.present() && o.cc.get(i_.word) != 0) out_.writes.set(kConditionCode);
        break;
      case Kind::next:
        add_registers(out_.reads, value, 2 * count_);
        break;
      case Kind::pred: {
        const bool window = o.optional && i_.operand(Role::addr) != nullptr;
        const bool source = o.neg.present() || window || o.role == Role::r;
        add_predicate(source ? out_.reads : out_.writes, o.inverted ? kPT - value : value);
        break;
      }
      case Kind::address:
      case Kind::cindex:
        add_registers(out_.reads, static_cast<unsigned>(Field{8, 8}.get(i_.word)),
                      i_.mod(ModId::ext) != 0 ? 2 : 1);
        break;
      default:
        break;
    }
  }
  bool holds_data(const OperandSpec& o) const {
    return i_.operand(Role::addr) != nullptr && o.role != Role::a;
  }

  const Instruction& i_;
  const unsigned count_;
  Touched out_;
};

}  // namespace

std::string place_name(size_t place) {
  if (place == kConditionCode) return "CC";
  return place < kFirstPredicate ? fmt::format("R{}", place)
                                 : fmt::format("P{}", place - kFirstPredicate);
}

Touched touched(const Instruction& i) {
  return Collector(i).run();
}

}  // namespace lanewise::sass
