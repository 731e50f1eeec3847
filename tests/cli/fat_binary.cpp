// Fat binaries of nvcc, made here of files that the tests have.
#include <fmt/format.h>

#include "tests/cli/support.hpp"

using namespace cli_test;

namespace {

std::string number(uint64_t value, size_t bytes) {
  std::string out;
  for (size_t n = 0; n < bytes; ++n) out += static_cast<char>(value >> 8 * n);
  return out;
}

struct Image {
  uint16_t kind = 1;  ///< 1 PTX, 2 a cubin
  uint32_t sm = 0;
  std::string data;
  uint64_t flags = 0x11;
  uint64_t size = 0;  ///< unpacked, of compressed ones
};

std::string fat_binary(const std::string& name, const std::vector<Image>& images) {
  std::string all;
  for (const Image& i : images) {
    const std::string padding((8 - i.data.size() % 8) % 8, '\0');
    all += number(i.kind, 2) + number(0x101, 2) + number(64, 4) +
           number(i.data.size() + padding.size(), 8) + number(i.size != 0 ? i.data.size() : 0, 4) +
           number(64, 4) + number(0x10007, 4) + number(i.sm, 4) + number(0, 8) +
           number(i.flags, 8) + number(0, 8) + number(i.size, 8) + i.data + padding;
  }
  return write(name,
               number(0xba55ed50, 4) + number(1, 2) + number(16, 2) + number(all.size(), 8) + all);
}

std::string ptx() {
  return kHeader +
         ".visible .entry from_ptx(.param .u64 p)\n{\n  .reg .b64 %rd<2>;\n"
         "  ld.param.u64 %rd1, [p];\n  st.global.u32 [%rd1], 7;\n  ret;\n}\n";
}

/// A block of LZ4 that repeats a run of blanks by copies of itself, and is literal else.
std::string lz4(std::string& text) {
  text = std::string(100, ' ') + text;
  const auto literals = [](size_t n, unsigned low) {
    std::string out(1, static_cast<char>(std::min<size_t>(n, 15) << 4 | low));
    if (n < 15) return out;
    for (n -= 15; n >= 255; n -= 255) out += '\xff';
    return out + static_cast<char>(n);
  };
  // One blank, 99 copies of the one before (15 + 4 + 80), and the rest.
  return literals(1, 15) + " " + number(1, 2) + number(80, 1) + literals(text.size() - 100, 0) +
         text.substr(100);
}

/// A frame of zstd with one raw block.
std::string zstd(const std::string& text) {
  return "\x28\xb5\x2f\xfd\xa0" + number(text.size(), 4) + number(text.size() << 3 | 1, 3) + text;
}

}  // namespace

TEST_CASE("fat binaries: the images, the one that is taken, and its kernels" * kHostCase) {
  const std::string cubin = slurp(LANEWISE_TEST_DATA "/kernels/data/sass/k01_saxpy.cubin");
  const std::string both = fat_binary("both.fatbin", {{1, 75, ptx()}, {2, 50, cubin}});
  const Output check = program("check " + both);
  CHECK(check.code == 0);
  CHECK(check.out == both + ": ok, 1 kernels\n");
  CHECK(
      contains(check.err,
               "a fat binary of 2 images: PTX for sm_75; a cubin for sm_50; taken: PTX for sm_75; "
               "kernels: from_ptx"));
  const Output machine = program("check --isa sass " + both);
  CHECK(machine.out == both + ": ok, 2 kernels\n");
  CHECK(contains(machine.err, "taken: a cubin for sm_50; kernels: "));
  const Output gcn = program("check --isa gcn " + both);
  CHECK(gcn.code == 2);
  CHECK(contains(gcn.err, "a fat binary of 2 images"));

  const std::string newer =
      fat_binary("newer.fatbin", {{2, 75, cubin}, {1, 70, ptx()}, {1, 75, ptx()}});
  const std::string out = scratch() + "/fat.bin";
  const Output run = program("run --device reference " + newer + " --arg out:" + out + ":u32[1]");
  CHECK(run.code == 0);
  CHECK(contains(run.err, "taken: PTX for sm_75"));
  CHECK(slurp(out) == std::string("\x07\0\0\0", 4));

  // Pascal's cubins run as Maxwell's do, and are for the later target.
  const std::string data = LANEWISE_TEST_DATA "/pairs/data/narrow_results";
  std::string later = slurp(data + ".sm_61.cubin");
  const std::string pascal =
      fat_binary("pascal.fatbin",
                 {{2, 61, later}, {2, 50, slurp(data + ".cubin")}, {2, 75, cubin}, {1, 75, ptx()}});
  CHECK(
      contains(program("check --isa sass " + pascal).err, "taken: a cubin for sm_61; kernels: k"));
  // One with a word that is no instruction is left for one that runs.
  const size_t exit = later.find(number(0xe30000000007000f, 8));
  REQUIRE(exit != std::string::npos);
  later.replace(exit, 8, number(0x0000000000670006, 8));
  const std::string other =
      fat_binary("other.fatbin", {{2, 61, later}, {2, 50, slurp(data + ".cubin")}, {1, 75, ptx()}});
  CHECK(contains(program("check --isa sass " + other).err, "taken: a cubin for sm_50; kernels: k"));
  const Output alone = program("check " + fat_binary("alone.fatbin", {{2, 61, later}}));
  CHECK(alone.code == 1);
  CHECK(contains(alone.err, "this is no instruction that is known for sm_61"));

  const Output none = program("check " + fat_binary("none.fatbin", {{2, 75, cubin}}));
  CHECK(none.code == 2);
  CHECK(
      contains(none.err, "a fat binary of 1 image: a cubin for sm_75; PTX, or a cubin for sm_50"));
  CHECK(lines_of(none.err) == 1);
}

TEST_CASE("fat binaries: compressed images" * kHostCase) {
  std::string text = ptx();
  const std::string packed = lz4(text);
  const std::string file = fat_binary("lz4.fatbin", {{1, 75, packed, 0x2011, text.size()}});
  CHECK(program("check " + file).out == file + ": ok, 1 kernels\n");
  const std::string frame = fat_binary("zstd.fatbin", {{1, 75, zstd(text), 0x8011, text.size()}});
  const Output o = program("check " + frame);
  if (!contains(o.err, "which this build has not")) CHECK(o.out == frame + ": ok, 1 kernels\n");
}

TEST_CASE("fat binaries that are broken are refused" * kHostCase) {
  std::string text = ptx();
  const std::string packed = lz4(text);
  const std::string file = fat_binary("whole.fatbin", {{1, 75, packed, 0x2011, text.size()}});
  const std::string bytes = slurp(file);
  for (size_t n = 1; n < bytes.size(); n += 7) {
    CAPTURE(n);
    CHECK(program("check " + write("cut.fatbin", bytes.substr(0, n))).code == 2);
  }
  for (const uint64_t size :
       {uint64_t{1}, uint64_t{text.size() - 1}, uint64_t{text.size() + 1}, uint64_t{1} << 62}) {
    const Output o = program("check " + fat_binary("size.fatbin", {{1, 75, packed, 0x2011, size}}));
    CHECK(o.code == 2);
    CHECK(contains(o.err, "does not decompress"));
  }
  for (size_t n = 0; n < packed.size(); n += 3) {
    std::string wrong = packed;
    wrong[n] = static_cast<char>(~wrong[n]);
    const int code =
        program("check " + fat_binary("wrong.fatbin", {{1, 75, wrong, 0x2011, text.size()}})).code;
    CHECK((code >= 0 && code <= 2));
  }
}
