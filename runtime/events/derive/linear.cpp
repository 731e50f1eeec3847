#include "runtime/events/derive/linear.hpp"

#include <algorithm>
#include <bit>

#include "runtime/ir/evaluate.hpp"

namespace lanewise::events {
namespace {

using ir::Op;

using Maybe = std::optional<Form>;

constexpr uint64_t low_bits(unsigned n) {
  return n >= 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1;
}

/// Rounded down.
int64_t floor_divide(int64_t a, int64_t by) {
  return a / by - (a % by < 0 ? 1 : 0);
}

class Linear {
 public:
  Linear(const ir::Inst& inst, std::span<const Form> sources, const Extents& extents,
         const Decide& decide)
      : i_(inst),
        s_(sources),
        extents_(extents),
        decide_(decide),
        bits_(ir::width_of(inst.type) == ir::Width::b64 ? 64 : 32) {}

  Results results() const {
    switch (i_.op) {
      case Op::icmp:
        return {compare(i_.cond)};
      case Op::addc:
      case Op::subb:
        return with_carry();
      case Op::unpack64:
        return {value(cut(s_[0], 32), 32), value(shifted_right(s_[0], 32, 64, false), 32)};
      case Op::min:
      case Op::max:
        return {smaller_or_greater()};
      default:
        return {value(result(), result_bits())};
    }
  }

 private:
  static Value value(const Maybe& form, unsigned bits) {
    return form ? Value::of(cut(*form, bits)) : Value();
  }

  unsigned result_bits() const {
    switch (i_.op) {
      case Op::pack64:
      case Op::zext64:
      case Op::sext64:
      case Op::mulwide:
        return 64;
      case Op::trunc32:
      case Op::zext8:
      case Op::sext8:
      case Op::zext16:
      case Op::sext16:
      case Op::shf_l:
      case Op::shf_r:
        return 32;
      default:
        return bits_;
    }
  }

  Maybe result() const {
    switch (i_.op) {
      case Op::mov:
        return ir::size_of(i_.type) >= 4 ? Maybe(s_[0]) : std::nullopt;
      case Op::select:
        return s_[0].constant != 0 ? s_[1] : s_[2];
      case Op::pack64:
        return packed();
      case Op::zext64:
        return form(extents_.as_unsigned(s_[0], 32));
      case Op::sext64:
        return form(extents_.as_signed(s_[0], 32));
      case Op::trunc32:
        return s_[0];
      case Op::zext8:
        return masked(s_[0], 0xff, 32);
      case Op::zext16:
        return masked(s_[0], 0xffff, 32);
      case Op::sext8:
        return within(extents_.as_signed(s_[0], 32), -0x80, 0x7f);
      case Op::sext16:
        return within(extents_.as_signed(s_[0], 32), -0x8000, 0x7fff);
      default:
        return arithmetic();
    }
  }

  Maybe arithmetic() const {
    switch (i_.op) {
      case Op::add:
        return sum(s_[0], s_[1]);
      case Op::sub:
        return sum(s_[0], negated(s_[1]));
      case Op::neg:
        return negated(s_[0]);
      case Op::not_:
        return sum(negated(s_[0]), Form::of(~uint64_t{0}));
      case Op::mul:
        return product(s_[0], s_[1]);
      case Op::mulwide:
        return wide_product();
      case Op::mulhi:
        return high_product();
      case Op::div:
        return quotient();
      case Op::rem:
        if (const Maybe q = quotient()) return sum(s_[0], negated(scaled(*q, s_[1].constant)));
        return std::nullopt;
      case Op::abs:
        return within(extents_.as_signed(s_[0], bits_), 0, INT64_MAX);
      default:
        return bitwise();
    }
  }

  Maybe bitwise() const {
    switch (i_.op) {
      case Op::and_:
        if (s_[1].is_constant()) return masked(s_[0], s_[1].constant, bits_);
        if (s_[0].is_constant()) return masked(s_[1], s_[0].constant, bits_);
        return std::nullopt;
      case Op::or_:
      case Op::xor_:
        return joined(s_[0], s_[1], bits_);
      case Op::shl:
        return s_[1].is_constant() ? Maybe(shifted_left(s_[0], s_[1].constant)) : std::nullopt;
      case Op::shr:
        if (!s_[1].is_constant()) return std::nullopt;
        return shifted_right(s_[0], s_[1].constant, bits_, ir::is_signed(i_.type));
      case Op::shf_l:
      case Op::shf_r:
        return funnel();
      case Op::bfe:
        return extracted();
      case Op::bfi:
        return inserted();
      default:
        return std::nullopt;
    }
  }

  static Maybe form(const std::optional<Exact>& e) { return e ? Maybe(e->form) : std::nullopt; }
  static Maybe within(const std::optional<Exact>& e, int64_t least, int64_t most) {
    return e && e->low >= least && e->high <= most ? Maybe(e->form) : std::nullopt;
  }
  std::optional<Exact> exact(const Form& a) const {
    return ir::is_signed(i_.type) ? extents_.as_signed(a, bits_) : extents_.as_unsigned(a, bits_);
  }

  static Maybe product(const Form& a, const Form& b) {
    if (b.is_constant()) return scaled(a, b.constant);
    if (a.is_constant()) return scaled(b, a.constant);
    return std::nullopt;
  }

  /// Of 32 bits each.
  std::optional<Exact> narrow(const Form& a) const {
    return ir::is_signed(i_.type) ? extents_.as_signed(a, 32) : extents_.as_unsigned(a, 32);
  }
  Maybe wide_product() const {
    const auto a = narrow(s_[0]), b = narrow(s_[1]);
    return a && b ? product(a->form, b->form) : std::nullopt;
  }
  /// Known where it is the same for all lanes.
  Maybe high_product() const {
    if (bits_ != 32) return std::nullopt;
    const bool second = s_[1].is_constant();
    if (!second && !s_[0].is_constant()) return std::nullopt;
    const auto a = exact(s_[second ? 0 : 1]), by = exact(s_[second ? 1 : 0]);
    int64_t first = 0, last = 0;
    if (!a || !by || __builtin_mul_overflow(a->low, by->low, &first) ||
        __builtin_mul_overflow(a->high, by->low, &last) || first >> 32 != last >> 32)
      return std::nullopt;
    return Form::of(static_cast<uint64_t>(first >> 32));
  }

  /// By a positive constant, of what is not negative.
  Maybe quotient() const {
    if (!s_[1].is_constant()) return std::nullopt;
    const auto a = exact(s_[0]), by = exact(s_[1]);
    if (!a || !by || a->low < 0 || by->low <= 0) return std::nullopt;
    const auto parts = split(a->form, by->low);
    return parts ? Maybe(parts->quotient) : std::nullopt;
  }

  /// form = d * quotient + remainder, with 0 <= remainder < d: the factors that d divides, and the
  /// rest.
  struct Parts {
    Form quotient, remainder;
  };
  std::optional<Parts> split(const Form& form, int64_t d) const {
    Parts parts;
    for (size_t k = 0; k < kCoordinates; ++k) {
      if (form.factor[k] % d == 0)
        parts.quotient.factor[k] = form.factor[k] / d;
      else
        parts.remainder.factor[k] = form.factor[k];
    }
    const auto rest = extents_.bounded(parts.remainder);
    int64_t least = 0;
    if (!rest || __builtin_add_overflow(rest->low, static_cast<int64_t>(form.constant), &least))
      return std::nullopt;
    const int64_t whole = floor_divide(least, d);
    if (least - whole * d + (rest->high - rest->low) >= d) return std::nullopt;
    parts.quotient.constant = static_cast<uint64_t>(whole);
    parts.remainder.constant = form.constant - static_cast<uint64_t>(whole * d);
    return parts;
  }

  Maybe packed() const {
    const auto low = extents_.as_unsigned(s_[0], 32);
    return low ? Maybe(sum(low->form, scaled(s_[1], uint64_t{1} << 32))) : std::nullopt;
  }

  static Form shifted_left(const Form& a, uint64_t by) {
    return by >= 64 ? Form() : scaled(a, uint64_t{1} << by);
  }

  Maybe shifted_right(const Form& a, uint64_t by, unsigned bits, bool with_sign) const {
    const auto e = with_sign ? extents_.as_signed(a, bits) : extents_.as_unsigned(a, bits);
    if (!e) return std::nullopt;
    const uint64_t n = std::min<uint64_t>(by, 61);
    const auto parts = split(e->form, int64_t{1} << n);
    return parts ? Maybe(parts->quotient) : std::nullopt;
  }

  /// A mask of bits that follow each other, and any mask of bits that all lanes share.
  Maybe masked(const Form& a, uint64_t mask, unsigned bits) const {
    const uint64_t kept = mask & low_bits(bits);
    const unsigned even = std::min(even_bits(a), bits);
    if (even == 64 || kept <= low_bits(even)) return Form::of(a.constant & kept);
    const auto first = static_cast<unsigned>(std::countr_zero(kept));
    const auto end = static_cast<unsigned>(std::bit_width(kept));
    if (kept != (low_bits(end) & ~low_bits(first))) return std::nullopt;
    const Maybe low = below(a, end, bits);
    if (!low || first == 0) return low;
    const Maybe gone = below(a, first, bits);
    return gone ? Maybe(sum(*low, negated(*gone))) : std::nullopt;
  }
  /// The low n bits.
  Maybe below(const Form& a, unsigned n, unsigned bits) const {
    if (n == bits) return a;
    if (n > 61) return std::nullopt;
    const auto parts = split(a, int64_t{1} << n);
    return parts ? Maybe(parts->remainder) : std::nullopt;
  }

  /// Or, or exclusive or, where bits of one are where the other has none, or where all lanes have
  /// the same.
  Maybe joined(const Form& a, const Form& b, unsigned bits) const {
    for (const auto& [x, y] : {std::pair(&a, &b), std::pair(&b, &a)}) {
      const unsigned even = even_bits(*x);
      const auto e = extents_.as_unsigned(*y, bits);
      if (!e) continue;
      const unsigned empty = std::min(even, static_cast<unsigned>(std::countr_zero(x->constant)));
      if (static_cast<uint64_t>(e->high) <= low_bits(std::min(empty, 61U))) return sum(*x, e->form);
      if (!y->is_constant() || even >= 64 || y->constant > low_bits(even)) continue;
      Form r = *x;
      r.constant = i_.op == Op::xor_ ? x->constant ^ y->constant : x->constant | y->constant;
      return r;
    }
    return std::nullopt;
  }

  Maybe funnel() const {
    if (!s_[2].is_constant()) return std::nullopt;
    const uint64_t n = i_.mode == 0 ? std::min<uint64_t>(s_[2].constant, 32) : s_[2].constant & 31;
    const bool left = i_.op == Op::shf_l;
    if (n == 0) return left ? s_[1] : s_[0];
    if (n == 32) return left ? s_[0] : s_[1];
    // left: high << n | low >> (32 - n); right: low >> n | high << (32 - n)
    const Maybe down = shifted_right(s_[0], left ? 32 - n : n, 32, false);
    if (!down) return std::nullopt;
    return joined(cut(shifted_left(s_[1], left ? n : 32 - n), 32), *down, 32);
  }

  /// Position and length of a field that all lanes share.
  struct Field {
    unsigned at = 0, length = 0;
  };
  std::optional<Field> field(const Form& at, const Form& length) const {
    if (!at.is_constant() || !length.is_constant()) return std::nullopt;
    const Field f{static_cast<unsigned>(at.constant & 0xff),
                  static_cast<unsigned>(length.constant & 0xff)};
    if (f.length == 0 || f.at + f.length > bits_) return std::nullopt;
    return f;
  }
  Maybe extracted() const {
    const auto f = field(s_[1], s_[2]);
    if (!f) return std::nullopt;
    const Maybe down = shifted_right(s_[0], f->at, bits_, false);
    if (!down) return std::nullopt;
    const Maybe bits = masked(cut(*down, bits_), low_bits(f->length), bits_);
    if (!bits || !ir::is_signed(i_.type)) return bits;
    const auto e = extents_.as_unsigned(*bits, bits_);
    return within(e, 0, static_cast<int64_t>(low_bits(f->length - 1)));
  }
  Maybe inserted() const {
    const auto f = field(s_[2], s_[3]);
    if (!f) return std::nullopt;
    const uint64_t hole = low_bits(f->length) << f->at;
    const Maybe rest = masked(s_[1], low_bits(bits_) & ~hole, bits_);
    const Maybe bits = masked(s_[0], low_bits(f->length), bits_);
    if (!rest || !bits) return std::nullopt;
    return joined(cut(*rest, bits_), cut(shifted_left(*bits, f->at), bits_), bits_);
  }

  /// a < b, for all lanes or as a test; `negated`: not so.
  Value below(const std::optional<Exact>& a, const std::optional<Exact>& b, bool negated) const {
    if (!a || !b) return {};
    const auto d = extents_.bounded(sum(a->form, events::negated(b->form)));
    if (!d) return {};
    if (d->high < 0) return Value::of(!negated);
    if (d->low >= 0) return Value::of(negated);
    return Value::of(Test{d->form, false}, negated);
  }
  Value equal(bool negated) const {
    const auto a = exact(s_[0]), b = exact(s_[1]);
    if (!a || !b) return {};
    const auto d = extents_.bounded(sum(a->form, events::negated(b->form)));
    if (!d) return {};
    if (d->low > 0 || d->high < 0) return Value::of(negated);
    if (d->low == 0 && d->high == 0) return Value::of(!negated);
    return Value::of(Test{d->form, true}, negated);
  }
  Value compare(ir::Cond cond) const {
    switch (cond) {
      case ir::Cond::eq:
        return equal(false);
      case ir::Cond::ne:
        return equal(true);
      case ir::Cond::lt:
        return below(exact(s_[0]), exact(s_[1]), false);
      case ir::Cond::ge:
        return below(exact(s_[0]), exact(s_[1]), true);
      case ir::Cond::gt:
        return below(exact(s_[1]), exact(s_[0]), false);
      case ir::Cond::le:
        return below(exact(s_[1]), exact(s_[0]), true);
      default:
        return {};
    }
  }

  Value smaller_or_greater() const {
    const Value less = below(exact(s_[0]), exact(s_[1]), false);
    std::optional<bool> first;
    if (less.kind == Value::Kind::form) first = less.form.constant != 0;
    if (less.kind == Value::Kind::test) first = decide_(less.test);
    if (!first) return {};
    return Value::of(s_[*first == (i_.op == Op::min) ? 0 : 1]);
  }

  /// The carry is a question about the sum that does not wrap.
  Results with_carry() const {
    const bool adds = i_.op == Op::addc;
    const Form second = adds ? s_[1] : negated(s_[1]);
    const Form in = Form::of(adds ? s_[2].constant : ~s_[2].constant + 1);
    Results r{Value::of(cut(sum(sum(s_[0], second), in), bits_))};
    const auto a = extents_.as_unsigned(s_[0], bits_), b = extents_.as_unsigned(s_[1], bits_);
    if (!a || !b || (adds && bits_ == 64)) return r;
    // Below 2^bits: no carry. Below 0: a borrow.
    const Form whole = sum(sum(a->form, adds ? b->form : negated(b->form)), in);
    const auto e = extents_.bounded(whole);
    const auto limit = extents_.bounded(Form::of(adds ? uint64_t{1} << 32 : 0));
    r[1] = below(e, limit, adds);
    return r;
  }

  const ir::Inst& i_;
  std::span<const Form> s_;
  const Extents& extents_;
  const Decide& decide_;
  unsigned bits_;
};

bool is_plain_integer(const ir::Inst& i) {
  return i.op <= Op::icmp && i.op != Op::sreg && !i.sat && !i.ftz;
}

}  // namespace

Results linear_results(const ir::Inst& inst, std::span<const Form> sources, const Extents& extents,
                       const Decide& decide) {
  if (std::ranges::all_of(sources, &Form::is_constant)) {
    std::array<uint64_t, 4> bits{};
    if (sources.size() > bits.size()) return {};
    std::ranges::transform(sources, bits.begin(), &Form::constant);
    const auto known = ir::evaluate(inst, std::span(bits).first(sources.size()));
    if (!known) return {};
    return {Value::of(Form::of((*known)[0])), Value::of(Form::of((*known)[1]))};
  }
  if (!is_plain_integer(inst) || inst.type == ir::Type::pred) return {};
  return Linear(inst, sources, extents, decide).results();
}

}  // namespace lanewise::events
