// Texture and surface instructions of the table as kernels, and images for them.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "tests/hardware/truth/textures.hpp"

namespace lanewise::truth {
namespace {

constexpr const char* kGeometries[] = {"1d", "2d", "3d", "a1d", "a2d", "cube", "acube"};

bool has(const std::vector<std::string>& parts, const char* part) {
  return std::ranges::find(parts, part) != parts.end();
}

/// `{...}` of registers %f or %r, and the layer's.
std::string place(const std::string& geometry, char reg) {
  const bool layered = geometry[0] == 'a';
  std::string base = layered ? geometry.substr(1) : geometry;
  const unsigned axes = base == "1d" ? 1 : base == "2d" ? 2 : 3;
  std::vector<std::string> all;
  if (layered) all.emplace_back("%r4");
  for (unsigned i = 1; i <= axes; ++i) all.push_back(fmt::format("%{}{}", reg, i));
  while (all.size() == 3) all.push_back(all.back());
  std::string text;
  for (const std::string& part : all) text += (text.empty() ? "{" : ", ") + part;
  return text + "}";
}

std::string results(unsigned count, const char* prefix = "%r1") {
  if (count == 1) return fmt::format("{}0", prefix);
  std::string text;
  for (unsigned i = 0; i < count; ++i) text += fmt::format("{}{}{}", i ? ", " : "{", prefix, i);
  return text + "}";
}

std::string fetch_code(const std::string& form, const std::vector<std::string>& parts,
                       const std::string& geometry, bool integers) {
  std::string extra;
  const char reg = integers ? 'r' : 'f';
  if (has(parts, "level")) extra = integers ? ", %r5" : ", %f5";
  if (has(parts, "grad")) {
    const std::string base = geometry[0] == 'a' ? geometry.substr(1) : geometry;
    extra = base == "1d"   ? ", {%f5}, {%f8}"
            : base == "2d" ? ", {%f5, %f9}, {%f9, %f8}"
                           : ", {%f5, %f9, %f9, %f9}, {%f9, %f9, %f8, %f9}";
  }
  const std::string from = fmt::format("[%rd5, {}]{};\n", place(geometry, reg), extra);
  if (has(parts, "f16x2")) return form + " {%r10, %r11}, " + from;
  if (!has(parts, "f16")) return form + " " + results(4) + ", " + from;
  std::string code = form + " " + results(4, "%h") + ", " + from;
  for (unsigned i = 0; i < 4; ++i) code += fmt::format("cvt.u32.u16 %r1{}, %h{};\n", i, i);
  return code;
}

/// Elements of 8 and 16 bits have registers of 16, those of 64 of 64.
std::string surface_code(ImageForm& f, const std::vector<std::string>& parts) {
  const unsigned count = has(parts, "v4") ? 4 : has(parts, "v2") ? 2 : 1;
  const bool formatted = has(parts, "p");
  unsigned bits = 32;
  for (const unsigned b : {8U, 16U, 64U})
    for (const char* letter : {"b", "u", "s"})
      if (has(parts, fmt::format("{}{}", letter, b).c_str())) bits = b;
  if (bits * count > 128 || (formatted && f.form.starts_with("sured") && bits != 32)) return {};
  f.bytes = formatted ? 4 : bits * count / 8;
  const std::string at = fmt::format("[%rd5, {}]", place(f.geometry, 'r'));
  // Of bytes, x counts bytes.
  std::string code = formatted ? "" : fmt::format("mul.lo.u32 %r1, %r1, {};\n", f.bytes);
  const char* prefix = bits == 64 ? "%l" : bits <= 16 ? "%h" : "%r1";
  if (f.form.starts_with("suld")) {
    code += fmt::format("{} {}, {};\n", f.form, results(count, prefix), at);
    for (unsigned i = 0; i < count; ++i) {
      if (bits <= 16) code += fmt::format("cvt.u32.u16 %r1{}, %h{};\n", i, i);
      if (bits == 64) code += fmt::format("mov.b64 {{%r1{}, %r1{}}}, %l{};\n", 2 * i, 2 * i + 1, i);
    }
    return code;
  }
  f.stores = true;
  for (unsigned i = 0; i < count; ++i) {
    if (bits == 32) code += fmt::format("mov.b32 %r1{}, %r{};\n", i, 6 + i % 2);
    if (bits <= 16) code += fmt::format("cvt.u16.u32 %h{}, %r{};\n", i, 6 + i % 2);
    if (bits == 64) code += fmt::format("mov.b64 %l{}, {{%r6, %r7}};\n", i);
  }
  return code + fmt::format("{} {}, {};\n", f.form, at, results(count, prefix));
}

}  // namespace

std::optional<ImageForm> query_form(const std::string& form) {
  const std::vector<std::string> parts = parts_of(form);
  const std::string& opcode = parts[0];
  ImageForm f;
  f.form = form;
  f.query = true;
  f.surface = opcode == "suq" || parts.back() == "surfref";
  if (opcode == "istypep")
    f.code = form + " %p1, %rd5;\nselp.u32 %r10, 1, 0, %p1;\n";
  else if (opcode == "suq" || opcode == "txq")
    f.code = form + " %r10, [%rd5]" + (has(parts, "level") ? ", %r5" : "") + ";\n";
  else
    return {};
  if (has(parts, "level")) f.detail = ImageForm::Detail::level;
  return f;
}

std::optional<ImageForm> image_form(const std::string& form) {
  if (auto query = query_form(form)) return query;
  const std::vector<std::string> parts = parts_of(form);
  ImageForm f;
  f.form = form;
  if (has(parts, "level")) f.detail = ImageForm::Detail::level;
  if (has(parts, "grad")) f.detail = ImageForm::Detail::gradients;
  for (const char* geometry : kGeometries)
    if (has(parts, geometry)) f.geometry = geometry;
  if (f.geometry.empty()) return {};
  const std::string& opcode = parts[0];
  f.integers = parts.back() == "s32";
  if (opcode == "tex" || opcode == "tld4") {
    f.integers = f.integers && opcode == "tex";
    f.halves = has(parts, "f16") || has(parts, "f16x2");
    f.code = fetch_code(form, parts, f.geometry, f.integers);
  } else if (opcode == "suld" || opcode == "sust" || opcode == "sured") {
    f.surface = f.integers = true;
    f.code = surface_code(f, parts);
  }
  if (f.code.empty()) return {};
  return f;
}

std::string image_kernel(const std::string& header, const std::string& code) {
  return header + R"(.visible .entry k(.param .u64 image, .param .u64 in, .param .u64 out)
{
.reg .pred %p<2>; .reg .b32 %r<20>; .reg .f32 %f<10>; .reg .b64 %rd<8>, %l<4>; .reg .b16 %h<8>;
ld.param.u64 %rd5, [image]; ld.param.u64 %rd2, [in]; ld.param.u64 %rd3, [out];
mov.u32 %r14, %ctaid.x; mov.u32 %r15, %tid.x; mov.u32 %r16, %ntid.x;
mad.lo.u32 %r17, %r14, %r16, %r15;
mul.wide.u32 %rd6, %r17, 32; add.s64 %rd2, %rd2, %rd6;
mul.wide.u32 %rd7, %r17, 16; add.s64 %rd3, %rd3, %rd7;
ld.global.b32 %r1, [%rd2]; ld.global.b32 %r2, [%rd2+4]; ld.global.b32 %r3, [%rd2+8];
ld.global.b32 %r4, [%rd2+12]; ld.global.b32 %r5, [%rd2+16]; ld.global.b32 %r6, [%rd2+20];
ld.global.b32 %r7, [%rd2+24]; ld.global.b32 %r8, [%rd2+28]; mov.b32 %f8, %r8;
mov.b32 %f1, %r1; mov.b32 %f2, %r2; mov.b32 %f3, %r3; mov.b32 %f5, %r5; mov.f32 %f9, 0f00000000;
mov.u32 %r10, 0; mov.u32 %r11, 0; mov.u32 %r12, 0; mov.u32 %r13, 0;
)" + code +
         "st.global.v4.b32 [%rd3], {%r10, %r11, %r12, %r13};\nret;\n}\n";
}

}  // namespace lanewise::truth
