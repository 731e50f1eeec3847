// The sum of products of matrix instructions: runtime/ir/dot.hpp has the rule. Significands are
// integers with 10 bits of fraction, so products have 20; what is cut off is cut toward zero.

const uint DOT_BF16 = 1u, DOT_TF32 = 2u, DOT_E4M3 = 3u, DOT_E5M2 = 4u;
const uint DOT_S8 = 5u, DOT_U8 = 6u, DOT_S4 = 7u;
const int DOT_ZERO = -2048, DOT_SPECIAL = 8192;  // exponents below and above all others, in products, too

struct DotPart {
  int significand, exponent;
};

uint dot_bits(const in uint kind) {
  return kind == DOT_TF32 ? 32u : kind <= DOT_BF16 ? 16u : kind <= DOT_U8 ? 8u : 4u;
}
uvec3 dot_format(const in uint kind) {  // bits of fraction and exponent, has infinities
  return kind == 0u ? uvec3(10u, 5u, 1u)
         : kind == DOT_BF16 ? uvec3(7u, 8u, 1u)
         : kind == DOT_E4M3 ? uvec3(3u, 4u, 0u)
         : kind == DOT_E5M2 ? uvec3(2u, 5u, 1u) : uvec3(10u, 8u, 1u);
}
uint dot_element(const in uint word, const in uint kind, const in uint i) {
  if (kind == DOT_TF32) return word >> 13;
  uint bits = dot_bits(kind);
  return (word >> (i * bits)) & ((1u << bits) - 1u);
}
DotPart dot_part(const in uint x, const in uvec3 f) {
  uint highest = (1u << f.y) - 1u, mask = (1u << f.x) - 1u;
  uint e = (x >> f.x) & highest, fraction = x & mask;
  bool special = e == highest && (f.z != 0u || fraction == mask);
  uint magnitude = (fraction << (10u - f.x)) | pick(e != 0u, 0x400u, 0u);
  int exponent = max(int(e), 1) - int(highest >> 1);
  int significand = ((x >> (f.x + f.y)) & 1u) != 0u ? -int(magnitude) : int(magnitude);
  if (magnitude == 0u) exponent = DOT_ZERO;
  if (special) exponent = DOT_SPECIAL;
  return DotPart(significand, exponent);
}
/// Bits: 1 NaN, 2 +infinity, 4 -infinity, 8 zero, 16 negative.
uint dot_class(const in uint x, const in uvec3 f) {
  uint highest = (1u << f.y) - 1u, mask = (1u << f.x) - 1u;
  uint e = (x >> f.x) & highest, fraction = x & mask;
  uint negative = ((x >> (f.x + f.y)) & 1u) * 16u;
  if (e == highest && f.z == 0u && fraction == mask) return 1u;
  if (e == highest && f.z != 0u) return fraction != 0u ? 1u : negative != 0u ? 20u : 2u;
  return negative | ((e | fraction) == 0u ? 8u : 0u);
}
uint dot_class_of_product(const in uint a, const in uint b) {
  if (((a | b) & 1u) != 0u) return 1u;
  if (((a | b) & 6u) == 0u) return 0u;
  if (((a | b) & 8u) != 0u) return 1u;
  return ((a ^ b) & 16u) != 0u ? 4u : 2u;
}
int dot_cut(const in int x, const in int up) {
  if (up >= 0) return x << up;
  uint magnitude = uint(abs(x)) >> min(-up, 31);
  return x < 0 ? -int(magnitude) : int(magnitude);
}
/// Rounds (high * 2^16 + low) * 2^e, high and low being sums.
uint dot_round(int high, uint low, int e, const in uint rule, const in bool half_) {
  high += int(low >> 16);
  low &= 0xffffu;
  bool neg = high < 0;
  if (neg) {
    low = 0x10000u - low;
    high = ~high + int(low >> 16);
    low &= 0xffffu;
  }
  uint m = (uint(high) << 16) | low;
  if (high > 0xffff) {
    m = (uint(high) << 13) | (low >> 3) | ((low & 7u) != 0u ? 1u : 0u);
    e += 3;
  }
  if (m == 0u) return 0u;
  if (half_) return round_small(neg, e, m, true, RN);
  if (e - int(clz32(m)) + 31 > 127) return result_inf(neg, false, 0u);
  uint x = round_small(neg, e, m, false, RZ);
  return x & ~((1u << (23u - (rule >> 8))) - 1u);
}

#define DOT_WORDS(T)                                                                              \
  const in T a0, const in T a1, const in T a2, const in T a3, const in T a4, const in T a5,       \
      const in T a6, const in T a7, const in T b0, const in T b1, const in T b2, const in T b3,   \
      const in T b4, const in T b5, const in T b6, const in T b7
#define DOT_ARRAYS                                                                                \
  uint a[8] = uint[8](a0, a1, a2, a3, a4, a5, a6, a7);                                            \
  uint b[8] = uint[8](b0, b1, b2, b3, b4, b5, b6, b7);                                            \
  uint ka = mode & 15u, kb = mode >> 4, in_word = 32u / dot_bits(ka);

// HOW: loops of CPU drivers stay loops, as the code would be long; GPUs keep the words in registers.
#define DOT(NAME, HOW)                                                                            \
  uint lw_##NAME##_s32(const in uint c, DOT_WORDS(uint), const in uint words, const in uint mode, \
                       const in uint rule) {                                                      \
    DOT_ARRAYS                                                                                    \
    int sum = 0;                                                                                  \
    [[HOW]] for (uint w = 0u; w < words; ++w) {                                                   \
      [[HOW]] for (uint i = 0u; i < in_word; ++i) {                                               \
        int x = int(dot_element(a[w], ka, i)), y = int(dot_element(b[w], kb, i));                 \
        if (ka == DOT_S8) x = (x << 24) >> 24;                                                    \
        if (kb == DOT_S8) y = (y << 24) >> 24;                                                    \
        if (ka == DOT_S4) x = (x << 28) >> 28;                                                    \
        if (kb == DOT_S4) y = (y << 28) >> 28;                                                    \
        sum += x * y;                                                                             \
      }                                                                                           \
    }                                                                                             \
    int total = int(c) + sum;                                                                     \
    bool beyond = (rule & SAT) != 0u && ((int(c) ^ total) & (sum ^ total)) < 0;                   \
    return beyond ? (int(c) < 0 ? 0x80000000u : 0x7fffffffu) : uint(total);                       \
  }                                                                                               \
  uint NAME##_float(const in uint c, const in bool half_, DOT_WORDS(uint), const in uint words,   \
                    const in uint mode, const in uint rule) {                                     \
    DOT_ARRAYS                                                                                    \
    uvec3 fa = dot_format(ka), fb = dot_format(kb), fc = half_ ? uvec3(10u, 5u, 1u)               \
                                                               : uvec3(23u, 8u, 1u);              \
    int fraction = int(rule & 255u);                                                              \
    uint c_exponent = (c >> fc.x) & ((1u << fc.y) - 1u), c_mask = (1u << fc.x) - 1u;              \
    int c_sum = int((c & c_mask) | pick(c_exponent != 0u, c_mask + 1u, 0u));                      \
    int c_at = max(int(c_exponent), 1) - int(half_ ? 15u : 127u);                                 \
    if (c_sum == 0) c_at = 2 * DOT_ZERO;                                                          \
    if (c_exponent == (half_ ? 31u : 255u)) c_at = DOT_SPECIAL;                                   \
    int highest = c_at;                                                                           \
    [[HOW]] for (uint w = 0u; w < words; ++w) {                                                   \
      [[HOW]] for (uint i = 0u; i < in_word; ++i)                                                 \
        highest = max(highest, dot_part(dot_element(a[w], ka, i), fa).exponent +                  \
                                   dot_part(dot_element(b[w], kb, i), fb).exponent);              \
    }                                                                                             \
    if (highest > DOT_SPECIAL / 2) {                                                              \
      uint found = dot_class(c, fc);                                                              \
      [[HOW]] for (uint w = 0u; w < words; ++w) {                                                 \
        [[HOW]] for (uint i = 0u; i < in_word; ++i)                                               \
          found |= dot_class_of_product(dot_class(dot_element(a[w], ka, i), fa),                  \
                                        dot_class(dot_element(b[w], kb, i), fb));                 \
      }                                                                                           \
      if ((found & 1u) != 0u || (found & 6u) == 6u) return half_ ? NAN16 : NAN32;                 \
      return result_inf((found & 4u) != 0u, half_, 0u);                                           \
    }                                                                                             \
    /* Half of the words at a time, so that sums of 16 products fit 32 bits. */                   \
    int high = 0;                                                                                 \
    uint low = 0u;                                                                                \
    [[HOW]] for (uint first = 0u; first < words; first += 4u) {                                   \
      int sum = 0;                                                                                \
      [[HOW]] for (uint w = first; w < min(first + 4u, words); ++w) {                             \
        [[HOW]] for (uint i = 0u; i < in_word; ++i) {                                             \
          DotPart x = dot_part(dot_element(a[w], ka, i), fa);                                     \
          DotPart y = dot_part(dot_element(b[w], kb, i), fb);                                     \
          sum += dot_cut(x.significand * y.significand,                                           \
                         fraction - 20 - (highest - x.exponent - y.exponent));                    \
        }                                                                                         \
      }                                                                                           \
      high += sum >> 16;                                                                          \
      low += uint(sum) & 0xffffu;                                                                 \
    }                                                                                             \
    c_sum = dot_cut((c >> (fc.x + fc.y)) != 0u ? -c_sum : c_sum,                                  \
                    fraction - int(fc.x) - (highest - c_at));                                     \
    return dot_round(high + (c_sum >> 16), low + (uint(c_sum) & 0xffffu), highest - fraction,     \
                     rule, half_);                                                                \
  }                                                                                               \
  uint lw_##NAME##_f32(const in uint c, DOT_WORDS(uint), const in uint words, const in uint mode, \
                       const in uint rule) {                                                      \
    return NAME##_float(c, false, a0, a1, a2, a3, a4, a5, a6, a7, b0, b1, b2, b3, b4, b5, b6, b7, \
                        words, mode, rule);                                                       \
  }                                                                                               \
  uint lw_##NAME##_f16(const in uint c, DOT_WORDS(uint), const in uint words, const in uint mode, \
                       const in uint rule) {                                                      \
    return NAME##_float(c, true, a0, a1, a2, a3, a4, a5, a6, a7, b0, b1, b2, b3, b4, b5, b6, b7,  \
                        words, mode, rule);                                                       \
  }
DOT(dot, dont_unroll)
DOT(dot_flat, unroll)

/// The f32 with the value of an element.
uint dot_as_f32(const in uint x, const in uint kind) {
  if (kind == DOT_TF32) return x << 13;
  if (kind == DOT_BF16) return x << 16;
  if (kind == 0u) return widen16(x);
  if (kind == DOT_E5M2) return widen16(x << 8);
  uint sign = (x & 0x80u) << 24, rest = x & 0x7fu;
  if (rest == 0x7fu) return NAN32;
  // An f16 with this fraction, whose exponent is 8 less than it should be.
  uint wide = widen16(rest << 7);
  return sign | (rest == 0u ? 0u : wide + (8u << 23));
}
#define DOT_CHAIN(NAME, HOW)                                                                      \
  uint NAME##_sum(const in uint c, DOT_WORDS(uint), const in uint words, const in uint mode) {    \
    DOT_ARRAYS                                                                                    \
    uint sum = c;                                                                                 \
    [[HOW]] for (uint w = 0u; w < words; ++w) {                                                   \
      [[HOW]] for (uint i = 0u; i < in_word; ++i)                                                 \
        sum = lw_ffma_f32(dot_as_f32(dot_element(a[w], ka, i), ka),                               \
                          dot_as_f32(dot_element(b[w], kb, i), kb), sum, RN);                     \
    }                                                                                             \
    return sum;                                                                                   \
  }                                                                                               \
  uint lw_##NAME##_f32(const in uint c, DOT_WORDS(uint), const in uint words, const in uint mode, \
                       const in uint rule) {                                                      \
    return NAME##_sum(c, a0, a1, a2, a3, a4, a5, a6, a7, b0, b1, b2, b3, b4, b5, b6, b7, words,   \
                      mode);                                                                      \
  }                                                                                               \
  uint lw_##NAME##_f16(const in uint c, DOT_WORDS(uint), const in uint words, const in uint mode, \
                       const in uint rule) {                                                      \
    return narrow16(NAME##_sum(widen16(c & 0xffffu), a0, a1, a2, a3, a4, a5, a6, a7, b0, b1, b2,  \
                               b3, b4, b5, b6, b7, words, mode), RN);                             \
  }
DOT_CHAIN(dot_chain, dont_unroll)
DOT_CHAIN(dot_chain_flat, unroll)
