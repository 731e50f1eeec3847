// descriptor(field = value, ...): a GCN buffer resource.
#include <fmt/format.h>

#include <utility>

#include "runtime/script/language/expr.hpp"

namespace lanewise::script {
namespace {

struct Field {
  std::string_view name;
  unsigned low, bits;  ///< place in the 128 bits
  unsigned scale = 0;  ///< stored as log2(value / scale); 0 = as it is
};
constexpr Field kFields[] = {
    {"base", 0, 48},
    {"stride", 48, 14},
    {"cache_swizzle", 62, 1},
    {"swizzle", 63, 1},
    {"num_records", 64, 32},
    {"dst_sel_x", 96, 3},
    {"dst_sel_y", 99, 3},
    {"dst_sel_z", 102, 3},
    {"dst_sel_w", 105, 3},
    {"num_format", 108, 3},
    {"data_format", 111, 4},
    {"element_size", 115, 2, 2},
    {"index_stride", 117, 2, 8},
    {"add_tid", 119, 1},
    {"atc", 120, 1},
    {"hash", 121, 1},
    {"heap", 122, 1},
    {"mtype", 123, 3},
    {"type", 126, 2},
};

const Field& field_named(const std::string& name, Loc loc) {
  for (const Field& f : kFields)
    if (f.name == name) return f;
  std::string known;
  for (const Field& f : kFields) known += fmt::format("{}{}", known.empty() ? "" : " ", f.name);
  fail(loc, fmt::format("a descriptor has no field '{}'; there are {}", name, known));
}

uint64_t stored(const Field& f, uint64_t value, Loc loc) {
  if (f.scale == 0) {
    if (value >> f.bits == 0) return value;
    fail(loc,
         fmt::format("{} = {} does not fit {} bits", f.name, static_cast<int64_t>(value), f.bits));
  }
  for (uint64_t n = 0; n >> f.bits == 0; ++n)
    if (value == uint64_t{f.scale} << n) return n;
  fail(loc, fmt::format("{} = {}: expected {}, {}, {} or {}", f.name, static_cast<int64_t>(value),
                        f.scale, f.scale * 2, f.scale * 4, f.scale * 8));
}

}  // namespace

std::array<uint32_t, 4> descriptor_words(const Expr& e, const Env& env) {
  std::array<uint32_t, 4> words{};
  std::array<bool, std::size(kFields)> seen{};
  for (size_t n = 0; n < e.args.size(); ++n) {
    const Expr& arg = *e.args[n];
    if (e.fields[n].empty()) fail(arg.loc, "descriptor(...) takes 'field = value' pairs");
    const Field& f = field_named(e.fields[n], arg.loc);
    if (std::exchange(seen[static_cast<size_t>(&f - kFields)], true))
      fail(arg.loc, fmt::format("field '{}' is given twice", e.fields[n]));
    const Value v = evaluate(arg, env);
    if (v.is_real) fail(arg.loc, "descriptor fields are integers");
    const uint64_t bits = stored(f, v.bits, arg.loc);
    for (unsigned b = 0; b < f.bits; ++b)
      if ((bits >> b & 1) != 0) words[(f.low + b) / 32] |= uint32_t{1} << (f.low + b) % 32;
  }
  return words;
}

}  // namespace lanewise::script
