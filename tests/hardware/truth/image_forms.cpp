// Texture and surface instructions of the table as kernels, and images for them.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "tests/hardware/truth/textures.hpp"

namespace lanewise::truth {
namespace {

constexpr const char* kGeometries[] = {"1d", "2d", "3d", "a1d", "a2d", "cube", "acube"};

std::vector<std::string> parts_of(const std::string& form) {
  std::vector<std::string> parts;
  for (size_t from = 0; from <= form.size();) {
    const size_t end = std::min(form.find('.', from), form.size());
    parts.push_back(form.substr(from, end - from));
    from = end + 1;
  }
  return parts;
}

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
    const char* zeros = base == "1d"   ? "{%f9}"
                        : base == "2d" ? "{%f9, %f9}"
                                       : "{%f9, %f9, %f9, %f9}";
    extra = fmt::format(", {}, {}", zeros, zeros);
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

std::optional<ImageForm> image_form(const std::string& form) {
  const std::vector<std::string> parts = parts_of(form);
  ImageForm f;
  f.form = form;
  for (const char* geometry : kGeometries)
    if (has(parts, geometry)) f.geometry = geometry;
  if (f.geometry.empty()) return {};
  const std::string& opcode = parts[0];
  f.integers = parts.back() == "s32";
  if (opcode == "tex" || opcode == "tld4") {
    f.integers = f.integers && opcode == "tex";
    f.halves = has(parts, "f16") || has(parts, "f16x2");
    if (has(parts, "grad") && f.integers) return {};
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
.reg .b32 %r<20>; .reg .f32 %f<10>; .reg .b64 %rd<8>, %l<4>; .reg .b16 %h<8>;
ld.param.u64 %rd5, [image]; ld.param.u64 %rd2, [in]; ld.param.u64 %rd3, [out];
mov.u32 %r14, %ctaid.x; mov.u32 %r15, %tid.x; mov.u32 %r16, %ntid.x;
mad.lo.u32 %r17, %r14, %r16, %r15;
mul.wide.u32 %rd6, %r17, 32; add.s64 %rd2, %rd2, %rd6;
mul.wide.u32 %rd7, %r17, 16; add.s64 %rd3, %rd3, %rd7;
ld.global.b32 %r1, [%rd2]; ld.global.b32 %r2, [%rd2+4]; ld.global.b32 %r3, [%rd2+8];
ld.global.b32 %r4, [%rd2+12]; ld.global.b32 %r5, [%rd2+16]; ld.global.b32 %r6, [%rd2+20];
ld.global.b32 %r7, [%rd2+24];
mov.b32 %f1, %r1; mov.b32 %f2, %r2; mov.b32 %f3, %r3; mov.b32 %f5, %r5; mov.f32 %f9, 0f00000000;
mov.u32 %r10, 0; mov.u32 %r11, 0; mov.u32 %r12, 0; mov.u32 %r13, 0;
)" + code +
         "st.global.v4.b32 [%rd3], {%r10, %r11, %r12, %r13};\nret;\n}\n";
}

Image random_image(const ImageForm& f, std::mt19937& random) {
  Image i;
  const std::string base = f.geometry[0] == 'a' ? f.geometry.substr(1) : f.geometry;
  const bool gathers = f.form.starts_with("tld4");
  i.width = 4 + random() % 9;
  if (base != "1d") i.height = base == "cube" ? i.width : 4 + random() % 6;
  if (base == "3d") i.depth = 2 + random() % 4;
  if (f.geometry[0] == 'a') i.layers = 1 + random() % 4;
  i.cube = base == "cube";
  i.layered = f.geometry[0] == 'a';
  i.gathers = gathers && f.geometry == "2d";  // CUDA has the flag for these alone
  if (i.cube) i.layers = 6 * std::max(1U, i.layers);
  i.surface = f.surface;
  if (f.surface) {
    // Elements of the access's size; sust.p and sured.p see words.
    i.kind = LW_TEXEL_UNSIGNED;
    i.bits = f.bytes >= 4 ? 32 : 8 * f.bytes;
    i.channels = std::max(1U, f.bytes / 4);
    i.width = 256;
    if (base != "1d") i.height = 2;
    if (base == "3d") i.depth = 2;
  } else {
    i.kind = f.halves ? uint32_t{LW_TEXEL_FLOAT} : random() % 3;
    constexpr uint32_t kBits[] = {8, 16, 32};
    i.bits = i.kind == LW_TEXEL_FLOAT ? kBits[1 + random() % 2] : kBits[random() % 3];
    i.channels = 1U << random() % 3;
    i.fractions = i.kind != LW_TEXEL_FLOAT && i.bits != 32 && random() % 2 == 0;
    const bool reads_floats = i.kind == LW_TEXEL_FLOAT || i.fractions;
    i.linear = reads_floats && !f.integers && !gathers && random() % 2 == 0;
    i.normalised =
        i.cube || (!f.integers && random() % 2 == 0) || f.form.find(".level") != f.form.npos;
    for (uint32_t& mode : i.mode) mode = random() % 4;
    if (i.cube) i.mode = {LW_ADDRESS_CLAMP, LW_ADDRESS_CLAMP, LW_ADDRESS_CLAMP};
  }
  i.texels.resize(i.count() * i.texel_bytes());
  const size_t components = i.count() * i.channels;
  for (size_t n = 0; n < components; ++n) {
    uint32_t value = static_cast<uint32_t>(random());
    if (i.kind == LW_TEXEL_FLOAT && i.bits == 32)
      value = std::bit_cast<uint32_t>((static_cast<float>(random() % 65536) - 32768.0F) / 4096.0F);
    if (i.kind == LW_TEXEL_FLOAT && i.bits == 16)
      value = random() % 2 * 0x8000U + 0x3000U + random() % 0x1800U;
    std::memcpy(i.texels.data() + n * i.bits / 8, &value, i.bits / 8);
  }
  return i;
}

Words random_places(const ImageForm& f, const Image& image, uint32_t lanes, std::mt19937& random) {
  Words words;
  const std::array<uint32_t, 3> sizes = {image.width, image.rows(), image.slices()};
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    std::array<uint32_t, 8> w{};
    for (unsigned axis = 0; axis < 3; ++axis) {
      const uint32_t size = sizes[axis];
      if (f.surface) {
        // A store's element is its lane's own.
        w[axis] = axis == 0 ? lane % size : random() % size;
      } else if (f.integers) {
        w[axis] = static_cast<uint32_t>(static_cast<int>(random() % (size + 2)) - 1);
      } else if (image.cube) {
        w[axis] =
            std::bit_cast<uint32_t>((static_cast<float>(random() % 8191) - 4095.5F) / 1024.0F);
      } else {
        const float any = static_cast<float>(random() % (1U << 16)) / (1U << 16);
        const float x = any * (static_cast<float>(size) + 4) - 2;
        w[axis] = std::bit_cast<uint32_t>(image.normalised ? x / static_cast<float>(size) : x);
      }
    }
    if (image.layers != 0)
      w[3] = random() % std::max(1U, image.cube ? image.layers / 6 : image.layers);
    w[5] = static_cast<uint32_t>(random());
    w[6] = static_cast<uint32_t>(random());
    words.insert(words.end(), w.begin(), w.end());
  }
  return words;
}

}  // namespace lanewise::truth
