#include "runtime/isa/gcn/text/operands/swizzle_text.hpp"

#include <fmt/format.h>

#include <bit>

namespace lanewise::gcn {
namespace {

constexpr unsigned kQuads = 0x8000;

unsigned bit_masks(unsigned keep, unsigned set, unsigned flip) {
  return keep | set << 5 | flip << 10;
}

unsigned argument(Cursor& in, unsigned least, unsigned most) {
  in.expect(',', "before the next number of the swizzle");
  in.skip_blanks();
  const size_t at = in.at();
  const uint64_t n = in.number("a number");
  if (n < least || n > most)
    Cursor::fail_value(at, fmt::format("number goes from {} to {} here", least, most));
  return static_cast<unsigned>(n);
}

unsigned group_size(Cursor& in, unsigned least, unsigned most) {
  const size_t at = in.at();
  const unsigned size = argument(in, least, most);
  if (!std::has_single_bit(size)) Cursor::fail_value(at, "the size must be a power of two");
  return size;
}

/// One letter for each bit, the highest first: 0, 1, p (as it is), i (inverted).
unsigned read_letters(Cursor& in) {
  in.expect(',', "before the letters");
  in.expect('"', "before the letters");
  const size_t at = in.at();
  const std::string letters(in.until("\""));
  in.expect('"', "after the letters");
  if (letters.size() != 5) Cursor::fail_at(at, "expected five letters of 0, 1, p and i");
  unsigned keep = 0, set = 0, flip = 0;
  for (const char c : letters) {
    if (c != '0' && c != '1' && c != 'p' && c != 'i')
      Cursor::fail_at(at, "expected five letters of 0, 1, p and i");
    keep = keep << 1 | unsigned{c == 'p' || c == 'i'};
    set = set << 1 | unsigned{c == '1'};
    flip = flip << 1 | unsigned{c == 'i'};
  }
  return bit_masks(keep, set, flip);
}

unsigned read_mode(Cursor& in) {
  in.skip_blanks();
  const size_t at = in.at();
  if (in.take_word("QUAD_PERM")) {
    unsigned offset = kQuads;
    for (unsigned lane = 0; lane < 4; ++lane) offset |= argument(in, 0, 3) << (2 * lane);
    return offset;
  }
  if (in.take_word("BITMASK_PERM")) return read_letters(in);
  if (in.take_word("SWAP")) return bit_masks(31, 0, group_size(in, 1, 16));
  if (in.take_word("REVERSE")) return bit_masks(31, 0, group_size(in, 2, 32) - 1);
  if (in.take_word("BROADCAST")) {
    const unsigned size = group_size(in, 2, 32);
    return bit_masks(32 - size, argument(in, 0, size - 1), 0);
  }
  Cursor::fail_at(at,
                  "expected QUAD_PERM, BITMASK_PERM, SWAP, REVERSE or BROADCAST" + in.found(at));
}

std::string letters(unsigned keep, unsigned set, unsigned flip) {
  std::string out;
  for (unsigned bit = 16; bit != 0; bit >>= 1) {
    if ((keep & bit) != 0)
      out += (flip & bit) != 0 ? 'i' : 'p';
    else
      out += (set & bit) != 0 ? '1' : '0';
  }
  return out;
}

}  // namespace

uint16_t read_swizzle(Cursor& in) {
  in.expect('(', "after 'swizzle'");
  const unsigned offset = read_mode(in);
  in.expect(')', "after the swizzle");
  return static_cast<uint16_t>(offset);
}

std::string swizzle_text(uint16_t offset) {
  if ((offset & 0xff00) == kQuads)
    return fmt::format("swizzle(QUAD_PERM,{},{},{},{})", offset & 3, offset >> 2 & 3,
                       offset >> 4 & 3, offset >> 6 & 3);
  if ((offset & kQuads) != 0) return std::to_string(offset);
  const unsigned keep = offset & 31U, set = offset >> 5 & 31U, flip = offset >> 10 & 31U;
  if (keep == 31 && set == 0 && std::has_single_bit(flip))
    return fmt::format("swizzle(SWAP,{})", flip);
  if (keep == 31 && set == 0 && flip > 0 && std::has_single_bit(flip + 1))
    return fmt::format("swizzle(REVERSE,{})", flip + 1);
  const unsigned size = 32 - keep;
  if (size > 1 && std::has_single_bit(size) && set < size && flip == 0)
    return fmt::format("swizzle(BROADCAST,{},{})", size, set);
  // Two encodings of one permutation: the letters stand for one of them only.
  if (((keep & set) | (~keep & flip)) != 0) return std::to_string(offset);
  return fmt::format("swizzle(BITMASK_PERM,\"{}\")", letters(keep, set, flip));
}

}  // namespace lanewise::gcn
