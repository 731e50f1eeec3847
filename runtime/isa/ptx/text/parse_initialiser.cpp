// Values of .global and .const variables.
#include <algorithm>

#include "runtime/isa/ptx/text/parser.hpp"

namespace lanewise::ptx {
namespace {

bool is_byte_mask(uint64_t mask) {
  for (int shift = 0; shift < 64; shift += 8) {
    if (mask == uint64_t{0xFF} << shift) return true;
  }
  return false;
}

}  // namespace

void Parser::initialiser(Variable& v) {
  v.has_init = true;
  if (is_opaque(v.type) && is('{')) return fields(v);
  std::vector<uint64_t> shape = v.dims;
  if (v.vector > 1) shape.push_back(v.vector);
  // The assemblers take any number of values for the two halves.
  v.braced = is('{');
  if (v.type == "f16x2" && (!shape.empty() || v.braced)) shape.push_back(0);
  if (shape.empty()) {
    if (is('{')) fail(peek(), "braces around the value of a scalar, a constant was expected");
    v.init.push_back(initial_value());
    return;
  }
  if (!is('{')) fail_expected("`{` before the values of an array");
  initialiser_level(v, shape, 0);
  if (v.dims.empty() && v.vector > 1 && v.init.size() % v.vector != 0)
    fail_expected("a value for each element of the vector, before `}`");
  if (v.dims.empty() || v.dims[0] != 0) return;
  if (v.init.empty()) fail_expected("a value in the braces, which give the array its size");
  uint64_t row = 1;
  for (size_t i = 1; i < shape.size(); ++i) row *= std::max<uint64_t>(shape[i], 1);
  v.dims[0] = v.init.size() / row;
}

/// `{filter_mode = linear, width = 4}`, nested as the array is.
void Parser::fields(Variable& v) {
  nest();
  ++vector_depth_;
  take();
  while (!is('}')) {
    if (is('{')) {
      fields(v);
    } else {
      Variable::Field field;
      field.loc = loc_of(peek());
      field.name = take_name("a field such as `filter_mode`");
      expect('=', "between the field and its value");
      if (is_name())
        field.value = take_name("a value");
      else
        integer_constant("a name or an integer");
      v.fields.push_back(std::move(field));
    }
    if (!accept(',')) break;
    if (is('}')) fail_expected("a field after `,`");
  }
  if (!accept('}')) fail_expected("`,` or `}` after the value");
  --vector_depth_;
  --nesting_;
}

/// One pair of braces; appends to v.init.
void Parser::initialiser_level(Variable& v, const std::vector<uint64_t>& shape, size_t level) {
  const bool innermost = level + 1 == shape.size();
  ++vector_depth_;
  take();
  uint64_t count = 0;
  if (!is('}')) {
    do {
      const Token& t = peek();
      if (shape[level] != 0 && count == shape[level]) {
        fail(t, "more values than the " + std::to_string(count) +
                    " of this dimension, `}` was expected");
      }
      ++count;
      if (innermost) {
        if (is('{'))
          fail(t, "braces deeper than the array has dimensions, a constant was expected");
        v.init.push_back(initial_value());
        continue;
      }
      if (!is('{')) fail_expected("`{` of the next dimension");
      const size_t first = v.init.size();
      initialiser_level(v, shape, level + 1);
      pad_row(v, shape, level, first);
    } while (accept(','));
  }
  if (!accept('}')) fail_expected("`,` or `}` after the value");
  --vector_depth_;
}

/// Fills the row that began at `first` with zeros, so that the next one starts at its place.
void Parser::pad_row(Variable& v, const std::vector<uint64_t>& shape, size_t level, size_t first) {
  uint64_t row = 1;
  for (size_t i = level + 1; i < shape.size(); ++i) {
    if (shape[i] == 0) return;  // as many as are written
    if (row > UINT64_MAX / shape[i])
      fail(peek(), "the array is too large, a smaller one was expected");
    row *= shape[i];
  }
  const uint64_t missing = row - (v.init.size() - first);
  if (missing > padding_left_) {
    fail(peek(), "rows left open add up to more than 1048576 zeros, written values were expected");
  }
  padding_left_ -= missing;
  Variable::Initialiser zero;
  zero.value.kind = Operand::Kind::integer;
  zero.value.loc = loc_of(peek());
  zero.padding = true;
  v.init.insert(v.init.end(), missing, zero);
}

Variable::Initialiser Parser::initial_value() {
  Variable::Initialiser value;
  const Token& t = peek();
  if (is_name()) {
    initial_symbol(value);
  } else if (t.kind == Kind::integer && is(1, '(')) {
    value.mask = take_integer("a mask");
    if (!is_byte_mask(value.mask)) {
      fail(t, "the mask is " + found(t) + ", one byte such as 0xff or 0xff00 was expected");
    }
    take();
    initial_symbol(value);
    expect(')', "after the masked address");
  } else {
    if (!starts_constant()) fail_expected("a constant, a name or `generic(name)`");
    value.value = constant_operand();
  }
  return value;
}

/// `name`, `name+4`, `generic(name)`, `generic(name)+4`
void Parser::initial_symbol(Variable::Initialiser& value) {
  Operand& o = value.value;
  o.loc = loc_of(peek());
  o.name = take_name("a name or `generic(name)`");
  if (o.name == "generic" && accept('(')) {
    value.generic = true;
    o.name = take_name("the name of a variable");
    expect(')', "after the name");
  }
  if (is('-')) fail(peek(), "found `-`, a negative offset is written `+-`");
  if (!accept('+')) return;
  o.offset = integer_constant("an integer constant after `+`");
  o.has_offset = true;
}

}  // namespace lanewise::ptx
