// Surfaces, queries, offsets, halves and texture variables of PTX, each with what the host expects.
#include <fmt/format.h>

#include "tests/kernels/support.hpp"

namespace surface_tests {

using namespace kernels;

namespace {

/// Parameters: a handle and an output of words. %r1 = the lane.
std::string text_of(const std::string& body, const std::string& module = {}) {
  return ".version 8.1\n.target sm_80\n.address_size 64\n" + module +
         "\n.visible .entry k(.param .u64 handle, .param .u64 out)\n{\n.reg .b32 %r<30>; .reg .f32 "
         "%f<10>; .reg .b64 %rd<20>; .reg .b16 %h<8>; .reg .pred %p<4>;\nld.param.u64 %rd1, "
         "[handle]; ld.param.u64 %rd2, [out];\nmov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 16; "
         "add.s64 %rd3, %rd3, %rd2;\n" +
         body + "\nret;\n}\n";
}

lanewise::Kernel kernel_of(const std::string& body) {
  return device().load_text(text_of(body), lanewise::Isa::ptx).kernel();
}

struct Grid {
  uint32_t width, height;
  std::vector<uint32_t> words;
  lanewise::Buffer buffer;
  lanewise::Texture texture;
};

/// Texels of one u32, which count up from 100.
Grid words_of(uint32_t width, uint32_t height, uint32_t channels = 1) {
  Grid g{width, height, {}, {}, {}};
  for (uint32_t n = 0; n < width * height * channels; ++n) g.words.push_back(100 + n);
  g.buffer = device().buffer(g.words, "texels");
  lanewise::TextureOptions o;
  o.texel_kind = LW_TEXEL_UNSIGNED;
  o.channels = channels;
  o.width = width;
  o.height = height;
  o.row_pitch = 4 * width * channels;
  o.unnormalised = 1;
  g.texture = device().texture(o, g.buffer);
  return g;
}

std::vector<uint32_t> run(const std::string& body, const lanewise::Texture& texture,
                          uint32_t lanes) {
  auto out = device().allocate(16 * lanes, "out");
  kernel_of(body).launch({.grid = {1}, .block = {lanes}}, texture, out).check();
  return out.read<uint32_t>();
}

}  // namespace

TEST_CASE("suld.b and sust.b count bytes along x; clamp, zero and trap beside the surface") {
  const Grid g = words_of(5, 3);
  // Lanes read x = 4 * (lane - 2), y = 1: two texels before the row to two behind it.
  const auto at = [](const std::string& mode) {
    return "sub.s32 %r2, %r1, 2; shl.b32 %r3, %r2, 2; mov.u32 %r4, 1;\nsuld.b.2d.b32." + mode +
           " %r10, [%rd1, {%r3, %r4}];\nst.global.u32 [%rd3], %r10;";
  };
  const auto clamped = run(at("clamp"), g.texture, 9), zero = run(at("zero"), g.texture, 9);
  for (int lane = 0; lane < 9; ++lane) {
    const int x = lane - 2;
    CAPTURE(x);
    CHECK(clamped[static_cast<size_t>(4 * lane)] ==
          105 + static_cast<uint32_t>(std::clamp(x, 0, 4)));
    CHECK(zero[static_cast<size_t>(4 * lane)] ==
          (x < 0 || x > 4 ? 0 : 105 + static_cast<uint32_t>(x)));
  }
  auto out = device().allocate(16 * 9, "out");
  const auto result = kernel_of(at("trap")).launch({.grid = {1}, .block = {9}}, g.texture, out);
  CHECK(result.fault_count == 4);
  REQUIRE(!result.faults.empty());
  CHECK(result.faults[0].kind == lanewise::FaultKind::out_of_range);
}

TEST_CASE("sust.b of narrow and wide elements; a pair that does not fit the row's end is dropped") {
  const Grid g = words_of(5, 2);
  run("shl.b32 %r3, %r1, 3; mov.u32 %r4, 0; mov.u32 %r5, 7; mov.u32 %r6, 8;\nsust.b.2d.v2.b32.zero "
      "[%rd1, {%r3, %r4}], {%r5, %r6};\nmov.u32 %r4, 1; add.u32 %r7, %r1, 1; cvt.u16.u32 %h1, "
      "%r1;\nsust.b.2d.b8.zero [%rd1, {%r7, %r4}], %h1;",
      g.texture, 3);
  std::vector<uint32_t> want = g.words;
  for (const size_t n : {0, 2}) want[n] = 7, want[n + 1] = 8;  // the third pair lacks its half
  want[5] = (want[5] & 0xff) | 0 << 8 | 1 << 16 | 2 << 24;
  CHECK(g.buffer.read<uint32_t>() == want);
}

TEST_CASE("sust.p converts, and clamps what the surface's numbers cannot hold") {
  std::vector<uint8_t> bytes(4 * 4, 9);
  auto buffer = device().buffer(bytes, "texels");
  lanewise::TextureOptions o;
  o.texel_kind = LW_TEXEL_SIGNED;
  o.channels = 4;
  o.channel_bits = 8;
  o.width = 4;
  auto surface = device().texture(o, buffer);
  auto out = device().allocate(64, "out");
  kernel_of(
      "mov.s32 %r5, -300; mov.s32 %r6, 300; mov.s32 %r7, -5;\nsust.p.1d.v4.b32.zero [%rd1, "
      "{%r1}], {%r5, %r6, %r7, %r1};")
      .launch({.grid = {1}, .block = {3}}, surface, out)
      .check();
  for (uint8_t n = 0; n < 3; ++n) {
    bytes[4U * n] = 0x80;
    bytes[4U * n + 1] = 0x7f;
    bytes[4U * n + 2] = 0xfb;
    bytes[4U * n + 3] = n;
  }
  CHECK(buffer.read<uint8_t>() == bytes);
}

TEST_CASE("sured adds and takes minima, by bytes or by texels, with the sign that the type has") {
  const Grid g = words_of(4, 2);
  run("and.b32 %r2, %r1, 3; shl.b32 %r3, %r2, 2; mov.u32 %r4, 0; mov.u32 %r5, "
      "1;\nsured.b.add.2d.u32."
      "trap [%rd1, {%r3, %r4}], %r1;\nsured.b.min.2d.s32.zero [%rd1, {%r3, %r5}], -1;\n",
      g.texture, 16);
  std::vector<uint32_t> want = g.words;
  for (uint32_t n = 0; n < 4; ++n) {
    want[n] += n + (n + 4) + (n + 8) + (n + 12);
    want[4 + n] = 0xffffffff;
  }
  CHECK(g.buffer.read<uint32_t>() == want);
  run("mov.u32 %r5, 1;\nsured.p.max.2d.b32.zero [%rd1, {%r1, %r5}], 3;\nsured.p.or.2d.b32.clamp "
      "[%rd1, {%r1, 0}], 0x80000000;\n",
      g.texture, 4);
  for (uint32_t n = 0; n < 4; ++n) want[n] |= 0x80000000;
  CHECK(g.buffer.read<uint32_t>() == want);  // unsigned: the largest number stays
}

TEST_CASE("txq., suq. and istypep. give what the host described") {
  lanewise::TextureOptions o;
  o.texel_kind = LW_TEXEL_FLOAT;
  o.channels = 2;
  o.channel_bits = 16;
  o.width = 20;
  o.height = 10;
  o.layers = 3;
  o.levels = 4;
  o.filter = LW_FILTER_LINEAR;
  o.address_mode[0] = LW_ADDRESS_MIRROR;
  o.address_mode[1] = LW_ADDRESS_BORDER;
  auto buffer = device().allocate(lanewise::Texture::layout(o, 3).end, "texels");
  auto texture = device().texture(o, buffer);
  std::string body;
  const std::vector<std::pair<std::string, uint32_t>> queries = {
      {"txq.width.b32 %r10, [%rd1];", 20},
      {"txq.height.b32 %r10, [%rd1];", 10},
      {"txq.depth.b32 %r10, [%rd1];", 3},
      {"txq.level.width.b32 %r10, [%rd1], 3;", 2},
      {"txq.level.height.b32 %r10, [%rd1], 3;", 1},
      {"txq.array_size.b32 %r10, [%rd1];", 3},
      {"txq.num_mipmap_levels.b32 %r10, [%rd1];", 4},
      {"txq.num_samples.b32 %r10, [%rd1];", 1},
      {"txq.normalized_coords.b32 %r10, [%rd1];", 1},
      {"txq.filter_mode.b32 %r10, [%rd1];", 1},
      {"txq.addr_mode_0.b32 %r10, [%rd1];", 1},
      {"txq.addr_mode_1.b32 %r10, [%rd1];", 4},
      {"txq.addr_mode_2.b32 %r10, [%rd1];", 0},
      {"txq.channel_data_type.b32 %r10, [%rd1];", 0x10dd},
      {"suq.channel_order.b32 %r10, [%rd1];", 0x10b2},
      {"istypep.texref %p1, %rd1; selp.u32 %r10, 1, 0, %p1;", 1},
      {"istypep.texref %p1, %rd2; selp.u32 %r10, 1, 0, %p1;", 0},
  };
  for (size_t n = 0; n < queries.size(); ++n)
    body += queries[n].first + fmt::format(" st.global.u32 [%rd2+{}], %r10;\n", 4 * n);
  auto out = device().allocate(512, "out");
  kernel_of(body).launch({.grid = {1}, .block = {1}}, texture, out).check();
  const auto got = out.read<uint32_t>();
  for (size_t n = 0; n < queries.size(); ++n) {
    CAPTURE(queries[n].first);
    CHECK(got[n] == queries[n].second);
  }
}

TEST_CASE("tex with offsets, halves, a guard, and the predicate of residency") {
  std::vector<float> values;
  for (int n = 0; n < 24; ++n) values.push_back(static_cast<float>(n));
  auto buffer = device().buffer(values, "texels");
  lanewise::TextureOptions o;
  o.width = 8;
  o.height = 3;
  o.unnormalised = 1;
  o.row_pitch = 32;
  o.address_mode[0] = o.address_mode[1] = LW_ADDRESS_CLAMP;
  auto texture = device().texture(o, buffer);
  const auto got =
      run("cvt.rn.f32.u32 %f1, %r1; mov.f32 %f2, 0f3f800000; setp.lt.u32 %p1, %r1, 6; mov.u32 "
          "%r10, 77; "
          "mov.u32 %r13, 0; mov.u32 %r2, 2; mov.u32 %r3, -1;\nmov.f32 %f3, 0fbf800000;\n"
          "@%p1 tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}|%p2, [%rd1, {%f1, %f2}], {%r2, %r3};\n"
          "mov.b32 %r10, %f3;\ntex.2d.v2.f16x2.f32 {%r11, %r12}, [%rd1, {%f1, %f2}];\nselp.u32 "
          "%r13, 1, "
          "0, %p2;\nst.global.v4.u32 [%rd3], {%r10, %r11, %r12, %r13};",
          texture, 8);
  constexpr uint32_t kHalves[] = {0x4800, 0x4880, 0x4900, 0x4980, 0x4a00, 0x4a80, 0x4b00, 0x4b80};
  for (uint32_t lane = 0; lane < 8; ++lane) {
    CAPTURE(lane);
    CHECK(got[4 * lane] == bits(lane < 6 ? static_cast<float>(std::min(lane + 2, 7U)) : -1.0F));
    CHECK(got[4 * lane + 1] == kHalves[lane]);
    CHECK(got[4 * lane + 2] == 0x3c000000);
    if (lane < 6) CHECK(got[4 * lane + 3] == 1);
  }
}

TEST_CASE("texture variables, their addresses in registers, and what is bound to nothing") {
  const std::string module = ".global .texref t1; .global .texref t2; .global .surfref s1;";
  auto m = device().load_text(
      text_of("mov.u64 %rd5, t1; tex.1d.v4.u32.s32 {%r10, %r11, %r12, %r13}, [%rd5, {%r1}];\n"
              "tex.1d.v4.u32.s32 {%r11, %r14, %r15, %r16}, [t2, {%r1}];\nshl.b32 %r2, %r1, 2; "
              "suld.b.1d.b32.trap %r12, [s1, {%r2}];\nst.global.v4.u32 [%rd3], {%r10, %r11, %r12, "
              "%r13};",
              module),
      lanewise::Isa::ptx);
  const Grid a = words_of(6, 0 + 1), b = words_of(6, 1);
  m.bind_texture("t1", a.texture);
  m.bind_texture("s1", b.texture);
  auto out = device().allocate(16 * 4, "out");
  if (device().info().name == "reference") {  // for which no driver compiles a general version
    const auto unbound = m.kernel("k").launch({.grid = {1}, .block = {4}}, uint64_t{0}, out);
    CHECK(unbound.fault_count == 4);
  }
  m.bind_texture("t2", b.texture);
  m.kernel("k").launch({.grid = {1}, .block = {4}}, uint64_t{0}, out).check();
  const auto got = out.read<uint32_t>();
  for (uint32_t lane = 0; lane < 4; ++lane)
    for (uint32_t n = 0; n < 3; ++n) CHECK(got[4 * lane + n] == 100 + lane);
  CHECK_THROWS_WITH_AS(m.bind_texture("t3", a.texture), "the module has no texture 't3'",
                       lanewise::Error);
}

TEST_CASE("a handle that is none is a fault; so is a store into a texture's block") {
  if (device().info().name != "reference") return;
  auto out = device().allocate(256, "out");  // as large as a block: its words can be looked at
  const auto bad = kernel_of(
                       "mov.f32 %f1, 0f00000000; tex.1d.v4.u32.f32 {%r10, %r11, %r12, %r13}, "
                       "[%rd2, {%f1}];\nst.global.u32 [%rd3], %r10;")
                       .launch({.grid = {1}, .block = {1}}, uint64_t{0}, out);
  REQUIRE(bad.fault_count == 1);
  CHECK(bad.faults[0].kind == lanewise::FaultKind::illegal_encoding);
  const Grid g = words_of(4, 1);
  const auto store = kernel_of("mov.u32 %r2, 7; st.global.u32 [%rd1], %r2;")
                         .launch({.grid = {1}, .block = {1}}, g.texture, out);
  REQUIRE(store.fault_count == 1);
  CHECK(store.faults[0].kind == lanewise::FaultKind::write_to_read_only);
}

// Launches that know where a texture's texels are ask nothing about their addresses.

constexpr const char* kFetch =
    "cvt.rn.f32.u32 %f1, %r1; tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd1, {%f1}];\n"
    "st.global.f32 [%rd3], %f2;";

/// Sixteen floats at an address, from which the caller may take the memory.
lanewise::TextureOptions floats_at(uint64_t address) {
  lanewise::TextureOptions o;
  o.width = 16;
  o.unnormalised = 1;
  o.offset = address;
  for (uint32_t& mode : o.address_mode) mode = LW_ADDRESS_CLAMP;
  return o;
}

TEST_CASE("texels whose memory is gone are out of range") {
  auto texels = device().buffer(std::vector<float>(16, 2.5F), "texels");
  const lanewise::Texture texture = device().texture(floats_at(texels.address()));
  auto out = device().allocate(16 * 4, "out");
  const auto kernel = kernel_of(kFetch);
  kernel.launch({.grid = {1}, .block = {4}}, texture, out).check();
  CHECK(out.read<float>()[12] == 2.5F);
  texels = {};
  const auto gone = kernel.launch({.grid = {1}, .block = {4}}, texture, out);
  REQUIRE(gone.fault_count == 4);
  CHECK(gone.faults[0].kind == lanewise::FaultKind::out_of_range);
}

TEST_CASE("a block that a kernel wrote over describes nothing that is certain") {
  auto own = new_device();
  auto texels = own.buffer(std::vector<float>(16, 2.5F), "texels");
  auto out = own.allocate(16 * 4, "out");
  const lanewise::Texture texture = own.texture(floats_at(texels.address()));
  const auto fetch = own.load_text(text_of(kFetch), lanewise::Isa::ptx).kernel();
  fetch.launch({.grid = {1}, .block = {4}}, texture, out).check();
  // The upper half of where texels begin.
  own.load_text(text_of("mov.u32 %r2, 99; st.global.u32 [%rd1+68], %r2;"), lanewise::Isa::ptx)
      .kernel()
      .launch({.grid = {1}, .block = {1}, .memcheck = lanewise::Memcheck::arena}, texture, out)
      .check();
  const auto wild = fetch.launch({.grid = {1}, .block = {4}}, texture, out);
  REQUIRE(wild.fault_count == 4);
  CHECK(wild.faults[0].kind == lanewise::FaultKind::out_of_range);
}

TEST_CASE("descriptions that do not fit together are refused in words") {
  const auto refused = [](auto change, const char* why) {
    lanewise::TextureOptions o;
    o.width = 8;
    auto buffer = device().allocate(64, "texels");
    change(o);
    CHECK_THROWS_WITH_AS(device().texture(o, buffer), why, lanewise::Error);
  };
  refused([](auto& o) { o.channels = 3; }, "3 channels: 1, 2 or 4 are possible");
  refused([](auto& o) { o.width = 17; },
          "a texture of 68 bytes from offset 0 on does not lie in a buffer of 64 bytes");
  refused([](auto& o) { o.texel_kind = LW_TEXEL_SIGNED, o.filter = LW_FILTER_LINEAR; },
          "integers cannot be filtered: read them as fractions, or take LW_FILTER_NEAREST");
  refused([](auto& o) { o.levels = 5; }, "5 levels are more than the image has");
  refused([](auto& o) { o.texel_buffer = 1, o.height = 2; },
          "a texel buffer is one row of texels, without levels and layers");
  refused([](auto& o) { o.height = 2, o.row_pitch = 30; },
          "rows of 8 texels of 4 bytes do not lie 30 bytes apart");
}

}  // namespace surface_tests
