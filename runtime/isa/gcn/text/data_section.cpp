#include "runtime/isa/gcn/text/data_section.hpp"

#include "runtime/isa/gcn/text/directives.hpp"
#include "runtime/isa/gcn/text/expression.hpp"

namespace lanewise::gcn {
namespace {

constexpr size_t kMost = size_t{1} << 26;

uint64_t value_of(Cursor& in) {
  return static_cast<uint64_t>(read_constant(in, "a number"));
}

size_t size_of(std::string_view name) {
  if (name == ".byte") return 1;
  if (name == ".short" || name == ".hword" || name == ".2byte") return 2;
  if (name == ".long" || name == ".int" || name == ".4byte") return 4;
  return name == ".quad" || name == ".8byte" ? 8 : 0;
}

char escaped(Cursor& in) {
  const char c = in.peek();
  if (c >= '0' && c <= '7') {
    unsigned n = 0;
    for (int k = 0; k < 3 && in.peek() >= '0' && in.peek() <= '7'; ++k) {
      n = n * 8 + static_cast<unsigned>(in.peek() - '0');
      in.seek(in.at() + 1);
    }
    return static_cast<char>(n);
  }
  in.seek(in.at() + 1);
  return c == 'n'   ? '\n'
         : c == 't' ? '\t'
         : c == 'r' ? '\r'
         : c == 'b' ? '\b'
         : c == 'f' ? '\f'
                    : c;
}

}  // namespace

void DataSection::append(uint64_t value, size_t size) {
  for (size_t n = 0; n < size; ++n)
    bytes_.push_back(static_cast<std::byte>(value >> (8 * n) & 255));
}

void DataSection::numbers(Cursor& in, size_t size) {
  do append(value_of(in), size);
  while (in.take(','));
}

void DataSection::fill(Cursor& in) {
  const size_t at = in.at();
  const uint64_t count = value_of(in), value = in.take(',') ? value_of(in) : 0;
  if (count > kMost) Cursor::fail_value(at, "too many bytes");
  bytes_.insert(bytes_.end(), count, static_cast<std::byte>(value & 255));
}

void DataSection::align(std::string_view name, Cursor& in) {
  const Alignment a = read_alignment(name, in);
  bytes_.insert(bytes_.end(), a.gap(bytes_.size()), static_cast<std::byte>(a.fill));
}

void DataSection::text(Cursor& in, bool ends) {
  do {
    in.skip_blanks();
    in.expect('"', "before the text");
    while (in.peek() != '"' && in.peek() != '\0') {
      char c = in.peek();
      in.seek(in.at() + 1);
      if (c == '\\') c = escaped(in);
      bytes_.push_back(static_cast<std::byte>(c));
    }
    in.expect('"', "behind the text");
    if (ends) bytes_.push_back(std::byte{0});
  } while (in.take(','));
}

bool DataSection::directive(std::string_view name, Cursor& in) {
  if (const size_t size = size_of(name); size != 0) {
    numbers(in, size);
  } else if (name == ".zero" || name == ".skip" || name == ".space") {
    fill(in);
  } else if (is_alignment(name)) {
    align(name, in);
  } else if (name == ".ascii" || name == ".asciz" || name == ".string") {
    text(in, name != ".ascii");
  } else {
    return false;
  }
  if (!in.done()) in.fail("unexpected text behind the data" + in.found());
  return true;
}

}  // namespace lanewise::gcn
