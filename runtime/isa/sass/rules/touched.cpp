#include "runtime/isa/sass/rules/touched.hpp"

#include <fmt/format.h>

#include "runtime/isa/sass/lowering/semantics.hpp"

namespace lanewise::sass {
namespace {

using Kind = OperandSpec::Kind;

void add_registers(Places& set, unsigned first, unsigned count) {
  if (first == kRZ) return;
  for (unsigned n = first; n < std::min(first + count, kRZ); ++n) set.set(n);
}

/// A conversion's modifier for one of its sides names a format of 64 bits.
bool names_64_bits(const Instruction& i, ModId id) {
  const Mod* m = i.form->mod(id);
  if (m == nullptr) return false;
  for (const Code& c : m->codes)
    if (c.value == m->get(i.word) && !c.alias) return c.text.ends_with("64");
  return false;
}

/// Registers of a conversion's result and source.
struct Widths {
  unsigned result = 1, source = 1;
};
Widths widths(const Instruction& i) {
  if (!i.form->is(kConverts)) return {};
  // What stands first is what is made; I2F and F2F keep it in `type`.
  const bool type_is_result =
      i.form->mods[0].id == ModId::type ||
      (i.form->mods[0].id == ModId::ftz && i.form->mods[1].id == ModId::type);
  const bool type = names_64_bits(i, ModId::type), size = names_64_bits(i, ModId::size);
  return {(type_is_result ? type : size) ? 2U : 1U, (type_is_result ? size : type) ? 2U : 1U};
}

/// Registers of a data operand. What the table does not say to be wider is one register.
unsigned data_registers(const Instruction& i) {
  if (i.form->is(kAtomic)) {
    if (i.mod(ModId::wide) != 0) return 2;
    const Mod* type = i.form->mod(ModId::type);
    if (type == nullptr) return 1;
    for (const Code& c : type->codes)
      if (c.value == type->get(i.word) && !c.alias)
        return c.text == "U64" || c.text == "S64" ? 2 : 1;
    return 1;
  }
  const Mod* size = i.form->mod(ModId::size);
  const bool memory = i.operand(Role::addr) != nullptr;
  return size != nullptr && memory ? access_size(i).count : 1;
}

class Collector {
 public:
  explicit Collector(const Instruction& i) : i_(i), count_(data_registers(i)), widths_(widths(i)) {}

  Touched run() {
    if (i_.form->has_guard) add_predicate(out_.reads, i_.guard());
    for (const OperandSpec& o : i_.form->operands) add(o);
    const bool extends = i_.mod(ModId::x) != 0;
    const bool reads = i_.form->is(kReadsFlags) &&
                       (i_.form->mod(ModId::mode) == nullptr || i_.mod(ModId::mode) != 0);
    if (extends || reads) out_.reads.set(kConditionCode);
    if (moves_flags()) {
      if (i_.form->is(kReadsPredicates)) out_.reads.set(kConditionCode);
      if (i_.form->is(kWritesPredicates)) out_.writes.set(kConditionCode);
      return out_;
    }
    for (unsigned n = 0; n < kPT; ++n) {
      if (i_.form->is(kReadsPredicates)) out_.reads.set(kFirstPredicate + n);
      if (i_.form->is(kWritesPredicates)) out_.writes.set(kFirstPredicate + n);
    }
    return out_;
  }

 private:
  /// R2P and P2R of CC in place of PR.
  bool moves_flags() const {
    const OperandSpec* which = i_.operand(Role::p);
    return which != nullptr && which->kind == Kind::bits && which->field.get(i_.word) != 0;
  }

  static void add_predicate(Places& set, unsigned n) {
    if (n < kPT) set.set(kFirstPredicate + n);
  }

  void add(const OperandSpec& o) {
    const auto value = static_cast<unsigned>(o.field.get(i_.word));
    switch (o.kind) {
      case Kind::reg:
        add_registers(o.role == Role::d && !i_.form->is(kStores) ? out_.writes : out_.reads, value,
                      registers_of(o));
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
      case Kind::indirect:
      case Kind::cindex:
      case Kind::attribute_at:
        add_registers(out_.reads, static_cast<unsigned>(Field{8, 8}.get(i_.word)),
                      !o.counts.empty()         ? registers_of(o)
                      : i_.mod(ModId::ext) != 0 ? 2
                                                : 1);
        break;
      case Kind::cctest:
        if (value != kAlways) out_.reads.set(kConditionCode);
        break;
      default:
        break;
    }
  }
  unsigned registers_of(const OperandSpec& o) const {
    if (o.wide) return 2;
    if (!o.counts.empty() || i_.form->is(kTexture) || i_.form->is(kGraphics)) {
      unsigned sum = o.counts.empty() ? 1 : 0;
      for (const Count& c : o.counts) sum += c.get(i_.word);
      return sum;
    }
    if (holds_data(o)) return count_;
    return o.role == Role::d ? widths_.result : o.role == Role::b ? widths_.source : 1;
  }
  bool holds_data(const OperandSpec& o) const {
    return i_.operand(Role::addr) != nullptr && o.role != Role::a;
  }

  const Instruction& i_;
  const unsigned count_;
  const Widths widths_;
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
