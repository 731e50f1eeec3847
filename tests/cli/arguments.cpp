// `--arg`: numbers at their limits, files that make no sense.
#include <fmt/format.h>

#include <cstring>

#include "lanewise/error.hpp"
#include "runtime/support/npy.hpp"
#include "tests/cli/support.hpp"

using namespace cli_test;

namespace {

/// Stores its parameter of a type where the first one points to.
std::string echo(const std::string& type, const std::string& reg) {
  return write("echo_" + type + ".ptx", kHeader + fmt::format(R"(
.visible .entry echo(.param .u64 out, .param .{0} v)
{{
  .reg .{1} %v; .reg .b64 %d;
  ld.param.u64 %d, [out];
  ld.param.{1} %v, [v];
  st.global.{1} [%d], %v;
  ret;
}}
)",
                                                              type, reg));
}

/// The bits that an argument arrives as; fails when it does not run.
template <typename T>
T arrives(const std::string& type, const std::string& reg, const std::string& spec) {
  const std::string out = scratch() + "/echo.bin";
  const Output o =
      run(fmt::format("{} --arg out:{}:u8[{}] --arg '{}'", echo(type, reg), out, sizeof(T), spec));
  CAPTURE(o.err);
  CHECK(o.code == 0);
  const std::vector<T> v = read_bin<T>(out);
  return v.empty() ? T{} : v[0];
}

/// The message of an argument that is refused.
std::string refused(const std::string& type, const std::string& reg, const std::string& spec) {
  const Output o = run(fmt::format("{} --arg zero:u64[1] --arg '{}'", echo(type, reg), spec));
  CHECK(o.code == 2);
  CHECK(lines_of(o.err) == 1);
  return o.err;
}

}  // namespace

TEST_CASE("a buffer is no number") {
  for (const char* type : {"u32", "s32", "b32", "f32"}) {
    CAPTURE(type);
    for (const char* buffer : {"zero:i32[1]", "out:x.bin:u8[4]"})
      CHECK(contains(refused(type, "b32", buffer), "a buffer was given: it takes no pointer"));
  }
  CHECK(arrives<uint64_t>("u64", "b64", "zero:i32[1]") != 0);
}

TEST_CASE("numbers are rounded once and never become infinite") {
  CHECK(arrives<uint64_t>("f64", "b64", "f64:1e-320") == 2024);
  CHECK(arrives<uint64_t>("f64", "b64", "f64:-0") == uint64_t{1} << 63);
  CHECK(arrives<uint32_t>("f32", "b32", "f32:1e-45") == 1);
  CHECK(arrives<uint32_t>("f32", "b32", "f32:inf") == 0x7f800000);
  CHECK(arrives<uint32_t>("u32", "b32", "i32:+5") == 5);
  CHECK(arrives<uint32_t>("u32", "b32", "i32:-5") == 0xfffffffb);
  CHECK(arrives<uint32_t>("u32", "b32", "u32:0xff") == 255);
  CHECK(contains(refused("f64", "b64", "f64:1e400"), "1e400 does not fit f64"));
  CHECK(contains(refused("f32", "b32", "f32:1e39"), "1e39 does not fit f32"));
  CHECK(contains(refused("f32", "b32", "f32: 2"), "' 2' is no number"));
  CHECK(contains(refused("f32", "b32", "f32:2 "), "'2 ' is no number"));
  CHECK(contains(refused("f32", "b32", "f32:"), "'' is no number"));
  CHECK(contains(refused("u32", "b32", "i32:+-5"), "'+-5' is no integer"));
  CHECK(contains(refused("u32", "b32", "u32:-1"), "-1 does not fit u32"));
}

TEST_CASE("kinds that contradict the parameter are refused" * kHostCase) {
  CHECK(contains(refused("f32", "b32", "i32:1"), "declared as f32, an integer was given"));
  CHECK(contains(refused("u32", "b32", "f32:1"),
                 "declared as u32, a floating-point number was given"));
  CHECK(contains(refused("f32", "b32", "zero:u8[4]"), "declared as f32, a buffer was given"));
  CHECK(arrives<uint32_t>("f32", "b32", "hex:0000803f") == 0x3f800000);
}

TEST_CASE("files that are missing or named twice" * kHostCase) {
  const std::string file = echo("u64", "b64");
  const std::string out = scratch() + "/twice.bin";
  const Output twice = run(fmt::format("{0} --arg out:{1}:u64[1] --arg out:{1}:u64[1]", file, out));
  CHECK(twice.code == 2);
  CHECK(contains(twice.err, "two arguments are to be written to"));
  for (const char* spec : {"out::f32[10]", "in:", "inout:", "inout::x.npy"}) {
    CAPTURE(spec);
    const Output o = run(fmt::format("{} --arg zero:u64[1] --arg {}", file, spec));
    CHECK(o.code == 2);
    CHECK(contains(o.err, "a file name is missing"));
  }
  // Not a file called "u64[1]" in whatever folder this is.
  const Output shape = run(fmt::format("{} --arg zero:u64[1] --arg inout:{}:u64[1]", file, out));
  CHECK(shape.code == 2);
  CHECK(contains(shape.err, "the file says what it holds; 'u64[1]' behind it would be the file"));
  const Output local = run(file + " --arg zero:u64[1] --arg local:4294967296");
  CHECK(local.code == 2);
  CHECK(contains(local.err, "below 2^32"));
}

TEST_CASE("iota and random fill arrays, print shows them" * kHostCase) {
  const std::string copy = write("copy.ptx", kHeader + R"(
.visible .entry copy(.param .u64 to, .param .u64 from, .param .u32 n) {
  .reg .b64 %d<8>; .reg .b32 %r<8>; .reg .b8 %b; .reg .pred %p;
  ld.param.u64 %d1, [to]; ld.param.u64 %d2, [from]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x; setp.ge.u32 %p, %r2, %r1; @%p bra $end;
  cvt.u64.u32 %d3, %r2; add.u64 %d4, %d1, %d3; add.u64 %d5, %d2, %d3;
  ld.global.u8 %r3, [%d5]; st.global.u8 [%d4], %r3;
$end: ret;
}
)");
  const auto printed = [&](const std::string& to, const std::string& from, unsigned bytes) {
    const Output o =
        program(fmt::format("run {} --device reference --grid 1 --block 64 --arg print:{} "
                            "--arg {} --arg u32:{}",
                            copy, to, from, bytes));
    CAPTURE(o.err);
    CHECK(o.code == 0);
    return o.out.substr(0, o.out.find("copy: done"));
  };
  CHECK(printed("i8[2,3]", "iota:i8[6]", 6) == "0 1 2\n3 4 5\n");
  CHECK(printed("f16[4]", "iota:f16[4]", 8) == "0 1 2 3\n");
  CHECK(printed("f64[3]", "iota:f64[3]", 24) == "0 1 2\n");
  const std::string numbers = printed("f32[4]", "random:f32[4]:7", 16);
  CHECK(numbers == printed("f32[4]", "random:f32[4]:7", 16));
  CHECK(numbers != printed("f32[4]", "random:f32[4]", 16));
  CHECK(printed("u8[18]", "iota:u8[18]", 18) == "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n16 17\n");
  const Output wrong = program("run " + copy + " --grid 1 --block 1 --arg iota:u8[4]:3");
  CHECK(wrong.code == 2);
  CHECK(contains(wrong.err, "iota counts from 0"));
  CHECK(contains(program("run " + copy + " --grid 1 --block 1 --arg random:u8[4]:x").err,
                 "expected the seed, a number"));
}

TEST_CASE("arrays of one dimension have no order") {
  using namespace lanewise::npy;
  for (const std::vector<uint64_t>& shape : {std::vector<uint64_t>{4}, {4, 1}, {1, 4}, {2, 2}}) {
    const Array a{"u8", shape, std::vector<std::byte>(4, std::byte{7})};
    std::string npy = format_npy(a);
    const size_t at = npy.find("False");
    npy.replace(at, 5, "True ");
    const bool flat = shape != std::vector<uint64_t>{2, 2};
    CAPTURE(flat);
    if (flat)
      CHECK(parse_npy(npy, "x").bytes == a.bytes);
    else
      CHECK_THROWS_WITH_AS(parse_npy(npy, "x"), doctest::Contains("Fortran order"),
                           lanewise::Error);
  }
}

TEST_CASE("tex: a file's elements are texels, which a surface store changes; keys are judged") {
  const std::string kernel = write("texels.ptx", kHeader + R"(
.visible .entry k(.param .u64 t, .param .u64 out)
{
  .reg .b32 %r<8>; .reg .f32 %f<8>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [t]; ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x; cvt.rn.f32.u32 %f1, %r1; mov.f32 %f2, 0f3F800000;
  tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd1, {%f1, %f2}];
  mul.wide.u32 %rd3, %r1, 4; add.s64 %rd3, %rd3, %rd2; st.global.f32 [%rd3], %f3;
  bar.sync 0;
  shl.b32 %r2, %r1, 2; mov.u32 %r3, 0; sust.b.2d.b32.zero [%rd1, {%r2, %r3}], %r1;
  ret;
}
)");
  const std::string in = scratch() + "/texels.npy", out = scratch() + "/sampled.bin",
                    to = scratch() + "/stored.npy";
  lanewise::npy::Array image{"f32", {2, 3}, {}};
  const std::vector<float> texels = {0, 4, 8, 20, 40, 60};
  image.bytes.resize(24);
  std::memcpy(image.bytes.data(), texels.data(), 24);
  lanewise::npy::write_array(in, image);
  const Output o = run(fmt::format(
      "{} --block 4 --arg tex:{}:filter=linear,address=border/clamp,border=100,to={} --arg "
      "out:{}:u8[16]",
      kernel, in, to, out));
  CAPTURE(o.err);
  CHECK(o.code == 0);
  // Halfway between texels of both axes; beside the image the border.
  CHECK(read_bin<float>(out) == std::vector<float>{55, 16, 28, 67});
  const auto stored = lanewise::npy::read_array(to);
  uint32_t words[6];
  std::memcpy(words, stored.bytes.data(), 24);
  for (uint32_t n = 0; n < 3; ++n) CHECK(words[n] == n);
  CHECK(words[3] == 0x41a00000);
  const Output key =
      run(fmt::format("{} --arg tex:{}:fliter=linear --arg zero:f32[4]", kernel, in));
  CHECK(key.code == 2);
  CHECK(key.err.find("unknown key 'fliter'") != std::string::npos);
  const Output kind = run(fmt::format("{} --arg tex:{}:kind=3d --arg zero:f32[4]", kernel, in));
  CHECK(kind.err.find("a texture of kind 3d has 3 dimensions beside the channels, the file 2") !=
        std::string::npos);
}

namespace {

std::string little(uint64_t value, unsigned bytes) {
  std::string out;
  for (unsigned n = 0; n < bytes; ++n) out += static_cast<char>(value >> (8 * n) & 0xff);
  return out;
}

/// An archive as np.savez writes it: the local headers have extra fields, the directory none.
std::string npz(const std::vector<std::pair<std::string, std::string>>& arrays,
                unsigned method = 0) {
  std::string files, directory;
  for (const auto& [name, bytes] : arrays) {
    const std::string file = name + ".npy", extra = little(1, 2) + little(4, 2) + "more";
    const std::string sizes = little(bytes.size(), 4) + little(bytes.size(), 4);
    const std::string common = little(method, 2) + little(0, 8) + sizes + little(file.size(), 2);
    directory += "PK\x01\x02" + little(20, 2) + little(20, 2) + little(0, 2) + common +
                 little(0, 12) + little(files.size(), 4) + file;
    files += "PK\x03\x04" + little(20, 2) + little(0, 2) + common + little(extra.size(), 2) + file +
             extra + bytes;
  }
  return files + directory + "PK\x05\x06" + little(0, 4) + little(arrays.size(), 2) +
         little(arrays.size(), 2) + little(directory.size(), 4) + little(files.size(), 4) +
         little(0, 2);
}

}  // namespace

TEST_CASE("arrays of .npz archives, by their names" * kHostCase) {
  const auto array = [](std::initializer_list<uint32_t> values) {
    lanewise::npy::Array a{"u32", {values.size()}, {}};
    a.bytes.resize(4 * values.size());
    std::memcpy(a.bytes.data(), values.begin(), a.bytes.size());
    return lanewise::npy::format_npy(a);
  };
  const std::string kernel =
      write("copy.ptx",
            ".version 7.8\n.target sm_52\n.address_size 64\n.visible .entry k(.param .u64 a, "
            ".param .u64 b)\n{\n.reg .b64 %rd<4>;\n.reg .b32 %r<3>;\nld.param.u64 %rd1, "
            "[a];\nld.param.u64 %rd2, [b];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, "
            "4;\nadd.u64 %rd1, %rd1, %rd3;\nadd.u64 %rd2, %rd2, %rd3;\nld.global.u32 %r2, "
            "[%rd1];\nst.global.u32 [%rd2], %r2;\nret;\n}\n");
  const auto with = [&](const std::string& argument) {
    return program("run --device reference " + kernel + " --block 3 --arg in:" + argument +
                   " --arg print:u32[3]");
  };
  const std::string first = array({1, 2, 3}), second = array({40, 50, 60});
  const std::string both = write("both.npz", npz({{"x", first}, {"y", second}})),
                    one = write("one.npz", npz({{"only", second}})),
                    packed = write("packed.npz", npz({{"x", first}}, 8)),
                    cut = write("cut.npz", npz({{"x", first}}).substr(40)),
                    none = write("none.npz", "no archive");
  CHECK(contains(with(both + ":x").out, "1 2 3"));
  CHECK(contains(with(both + ":y").out, "40 50 60"));
  CHECK(contains(with(one).out, "40 50 60"));
  const auto refused = [&](const std::string& argument, const std::string& message) {
    const Output o = with(argument);
    CAPTURE(o.err);
    CHECK(o.code == 2);
    CHECK(contains(o.err, message));
  };
  refused(both, "it holds several arrays, name one as " + both + ":NAME: x, y");
  refused(both + ":z", "it holds no array 'z'; there are: x, y");
  refused(packed, "array 'x' is compressed: write it with np.savez");
  refused(cut, "broken .npz archive");
  refused(none, "it is no .npz archive");
}
