// Forms of the instruction table as kernels.
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdio>

#include "tests/hardware/truth/matrix.hpp"
#include "tests/oracle/ptx_matrix.hpp"

namespace lanewise::truth {
namespace {

namespace model = oracle::matrix;

bool is_type(const std::string& part) {
  for (const char* type :
       {"f16", "bf16", "tf32", "f32", "f64", "s8", "u8", "s4", "u4", "b1", "s32", "e4m3", "e5m2"})
    if (part == type) return true;
  return false;
}

bool is_integer(const std::string& type) {
  return type[0] == 's' || type[0] == 'u' || type == "b1";
}

/// %q is the lane's record, %r its result.
std::string head(const std::string& header, unsigned in, unsigned out) {
  return header + fmt::format(R"(.visible .entry k(.param .u64 in, .param .u64 out)
{{
.reg .b64 %q, %r, %w; .reg .b32 %lane, %group;
ld.param.u64 %q, [in];
ld.param.u64 %r, [out];
mov.u32 %lane, %tid.x;
mov.u32 %group, %ctaid.x;
mad.lo.u32 %lane, %group, {}, %lane;
mul.wide.u32 %w, %lane, {};
add.u64 %q, %q, %w;
mul.wide.u32 %w, %lane, {};
add.u64 %r, %r, %w;
)",
                              kWarp, 4 * in, 4 * out);
}

std::string load(const Fragment& f, const char* prefix, unsigned& at) {
  const unsigned unit = f.type == "f64" ? 8 : 4;
  std::string text = fmt::format(".reg .{} %{}<{}>;\n", f.reg(), prefix, f.registers());
  for (unsigned i = 0; i < f.registers(); ++i, at += unit)
    text += fmt::format("ld.global.{} %{}{}, [%q+{}];\n", f.reg(), prefix, i, at);
  return text;
}

std::string store(const Fragment& f, const char* prefix) {
  const unsigned unit = f.type == "f64" ? 8 : 4;
  std::string text;
  for (unsigned i = 0; i < f.registers(); ++i)
    text += fmt::format("st.global.{} [%r+{}], %{}{};\n", f.reg(), unit * i, prefix, i);
  return text;
}

std::optional<std::array<unsigned, 3>> shape_of(const std::string& part) {
  std::array<unsigned, 3> s{};
  int end = 0;
  if (std::sscanf(part.c_str(), "m%un%uk%u%n", &s[0], &s[1], &s[2], &end) != 3) return {};
  if (static_cast<size_t>(end) != part.size()) return {};
  return s;
}

}  // namespace

std::string register_list(const char* prefix, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i) text += fmt::format("{}%{}{}", i ? ", " : "", prefix, i);
  return text + "}";
}

unsigned Fragment::bits() const {
  return type == "f64" ? 64 : 32 / model::per_register(type);
}
std::string Fragment::reg() const {
  return type == "f64" || type == "f32" ? type : "b32";
}

std::optional<MatrixForm> matrix_form(const std::string& form) {
  const std::vector<std::string> parts = parts_of(form);
  if (parts[0] != "mma") return {};
  MatrixForm f;
  f.form = form;
  std::vector<std::string> types;
  for (const std::string& part : parts) {
    if (const auto shape = shape_of(part)) {
      f.m = (*shape)[0];
      f.n = (*shape)[1];
      f.k = (*shape)[2];
    }
    if (part.starts_with("sp")) f.sparse = true;
    if (part.starts_with("kind")) return {};
    if (is_type(part)) types.push_back(part);
  }
  if (f.m == 0 || types.size() != 4) return {};
  // Of halves, four quads of lanes multiply matrices of 8 x 8 x 4 of their own.
  const unsigned many = f.m == 8 && f.k == 4 && types[1] == "f16" ? 4 : 1;
  f.d = {types[0], many * f.m * f.n / kWarp};
  f.a = {types[1], many * f.m * f.k / (f.sparse ? 2 : 1) / kWarp};
  f.b = {types[2], many * f.n * f.k / kWarp};
  f.c = {types[3], many * f.m * f.n / kWarp};
  return f;
}

unsigned matrix_record(const MatrixForm& f) {
  const unsigned words = f.a.words() + f.b.words() + f.c.words() + (f.sparse ? 1 : 0);
  return words + words % 2;  // of doubles
}

std::string matrix_kernel(const std::string& header, const MatrixForm& f) {
  std::string text = head(header, matrix_record(f), f.d.words());
  unsigned at = 0;
  text += load(f.a, "a", at);
  text += load(f.b, "b", at);
  text += load(f.c, "c", at);
  if (f.sparse) text += fmt::format(".reg .b32 %e;\nld.global.b32 %e, [%q+{}];\n", at);
  text += fmt::format(".reg .{} %d<{}>;\n{} {}, {}, {}, {}{};\n", f.d.reg(), f.d.registers(),
                      f.form, register_list("d", f.d.registers()),
                      register_list("a", f.a.registers()), register_list("b", f.b.registers()),
                      register_list("c", f.c.registers()), f.sparse ? ", %e, 0" : "");
  return text + store(f.d, "d") + "ret;\n}\n";
}

uint64_t matrix_element(const std::string& type, bool edge, std::mt19937_64& random) {
  if (is_integer(type)) {
    if (type != "s32" || random() % 3 == 0) return random();
    return (random() % 2 == 0 ? 0x7fffff00 : 0x80000000) + random() % 256;
  }
  if (type == "f64") {
    constexpr uint64_t kEdges[] = {0,
                                   uint64_t{1} << 63,
                                   1,
                                   0x3ff0000000000000,
                                   0xbff0000000000001,
                                   0x7fefffffffffffff,
                                   0x0010000000000000};
    if (edge) return kEdges[random() % std::size(kEdges)];
    const auto x = static_cast<double>(random() >> 11);
    return std::bit_cast<uint64_t>((x * 0x1p-53 - 0.5) * 8);
  }
  const model::Format f = model::format(type);
  const uint64_t sign = (random() & 1) << (f.fraction + f.exponent);
  const uint64_t fraction = (uint64_t{1} << f.fraction) - 1;
  const unsigned below = type == "tf32" ? 13 : 0;
  if (edge) {
    const uint64_t one = static_cast<uint64_t>((1 << f.exponent) / 2 - 1) << f.fraction;
    const uint64_t top = static_cast<uint64_t>((1 << f.exponent) - 1) << f.fraction;
    const uint64_t edges[] = {0,       1,       fraction, fraction + 1, one,
                              one + 1, one - 1, top - 1,  top,          top | fraction};
    // Infinities and NaN are few, or every sum had one.
    const size_t count = std::size(edges) - (random() % 16 == 0 ? 0 : 2);
    return (edges[random() % count] | sign) << below;
  }
  const int bias = (1 << f.exponent) / 2 - 1, spread = std::min(bias - 1, 12);
  const auto exponent = static_cast<uint64_t>(
      bias + static_cast<int>(random() % (uint64_t{2} * static_cast<unsigned>(spread))) - spread);
  return (sign | exponent << f.fraction | (random() & fraction)) << below;
}

void put_element(Words& words, size_t base, const std::string& type, unsigned index,
                 uint64_t bits) {
  const unsigned n = Fragment{type}.bits();
  if (n == 64) {
    words[base + size_t{2} * index] = static_cast<uint32_t>(bits);
    words[base + size_t{2} * index + 1] = static_cast<uint32_t>(bits >> 32);
    return;
  }
  const uint64_t mask = n == 32 ? 0xffffffff : (uint64_t{1} << n) - 1;
  const unsigned shift = index * n % 32;
  uint32_t& word = words[base + index * n / 32];
  word = (word & ~static_cast<uint32_t>(mask << shift)) |
         static_cast<uint32_t>((bits & mask) << shift);
}

std::optional<MatrixMove> matrix_move(const std::string& header, const std::string& form) {
  const std::vector<std::string> parts = parts_of(form);
  const std::string& opcode = parts[0];
  MatrixMove move{form, {}, 4, 4};
  // A lane's row of a matrix lies at its number times 16, of four matrices.
  const std::string shared =
      ".shared .align 16 .b8 tile[512];\n.reg .b32 %s, %x<4>, %own;\nmov.u32 %own, %tid.x;\n"
      "mov.u32 %s, tile;\nmad.lo.u32 %s, %own, 16, %s;\n";
  const auto each = [](const char* text) {
    std::string all;
    for (unsigned i = 0; i < 4; ++i)
      all += fmt::format(fmt::runtime(text), fmt::arg("i", i), fmt::arg("at", 4 * i));
    return all;
  };
  unsigned count = 0;
  for (const std::string& part : parts)
    if (part.size() == 2 && part[0] == 'x') count = static_cast<unsigned>(part[1] - '0');
  const std::string body =
      head(header, move.in, move.out) + shared + each("ld.global.b32 %x{i}, [%q+{at}];\n");
  const std::string end = each("st.global.b32 [%r+{at}], %x{i};\n") + "ret;\n}\n";
  if (opcode == "movmatrix") {
    move.text = body + form + " %x1, %x0;\n" + end;
  } else if (opcode == "ldmatrix" && count >= 1 && count <= 4) {
    move.text = body + each("st.shared.b32 [%s+{at}], %x{i};\n") + "bar.sync 0;\n" + form + " " +
                register_list("x", count) + ", [%s];\n" + end;
  } else if (opcode == "stmatrix" && count >= 1 && count <= 4) {
    move.text = body + each("st.shared.b32 [%s+{at}], 7;\n") + "bar.sync 0;\n" + form + " [%s], " +
                register_list("x", count) + ";\nbar.sync 0;\n" +
                each("ld.shared.b32 %x{i}, [%s+{at}];\n") + end;
  } else {
    return {};
  }
  return move;
}

}  // namespace lanewise::truth
