// Kernels that nvcc compiled for sm_50, as PTX and as cubins: `lanewise diff` calls each pair
// equal. A device gets a share of them.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tests/cli/support.hpp"
#include "tests/support/shares.hpp"

using namespace cli_test;
using nlohmann::json;

namespace {

struct Pair {
  const char *file, *kernel, *grid, *block, *arguments;
  const char* more = "--tries 2";
  bool reference_only = false;
};

const Pair kPairs[] = {
    {"k01_saxpy", "saxpy", "4", "128", "i32:500 f32:2 zero:f32[512] zero:f32[512]"},
    {"k01_saxpy", "saxpy_gs", "2", "64", "i32:500 f32:-3 zero:f32[512] zero:f32[512]"},
    {"k02_reduce", "reduce", "2", "256", "zero:f32[1024] zero:f32[2] u32:1000"},
    {"k02_reduce", "reduce_shfl_atomic", "2", "64", "zero:i32[1000] zero:i32[1] i32:1000"},
    {"k03_transpose", "transpose", "3,2", "32,8", "zero:f32[2800] zero:f32[2800] i32:70 i32:40"},
    {"k05_hist", "hist", "2", "128", "zero:u8[3000] zero:u32[256] i32:3000"},
    {"k05_hist", "atoms_mix", "1", "32", "zero:i32[320] zero:u32[256] zero:u64[192] zero:f32[96]"},
    {"k05_hist", "atoms_shared", "1", "32", "zero:i32[101]"},
    {"k07_spmv", "spmv", "1", "64",
     "i32:64 zero:i32[65] zero:i32[64] zero:f32[64] zero:f32[64] zero:f32[64]", "--tries 1"},
    {"k09_mandel", "mandel", "3,2", "8,8", "zero:i32[384] i32:24 i32:16 i32:50"},
    {"k11_ddot", "ddot", "1", "128", "zero:f64[200] zero:f64[200] zero:f64[1] i32:200"},
    {"k11_ddot", "dconv", "1", "9",
     "zero:f64[11] zero:f32[18] zero:i32[18] zero:i64[18] zero:f64[9]"},
    {"k13_divmod", "divmod", "1", "100", "zero:i32[100] zero:u32[100] zero:i32[5100] i32:7 u32:9"},
    {"k13_divmod", "div64", "1", "32", "zero:i64[32] zero:u64[131] i64:12345 u64:77777"},
    {"k15_vec4", "vec4", "1", "64", "zero:f32[256] zero:f32[256] zero:i32[128] zero:f64[128]"},
    {"k15_vec4", "structs", "1", "32",
     "zero:f32[256] zero:f32[32] "
     "hex:0000803F000000400000404000008040070000000900000000000000000008C0"},
    {"k17_vote", "vote", "1", "64", "zero:i32[64] zero:u32[192]"},
    {"k19_crc32", "crc32", "1", "64", "zero:u8[1024] zero:u32[64] i32:16"},
    {"k19_crc32", "crc32t", "1", "64", "zero:u8[1024] zero:u32[64] i32:16"},
    {"k21_matvec", "matvec", "8", "32", "zero:f32[800] zero:f32[100] zero:f32[8] i32:8 i32:100"},
    {"k21_matvec", "softmax", "1", "32", "zero:f32[64] zero:f32[64] i32:64",
     "--tries 2 --dyn-shared 256"},
    {"k23_mc", "mcpi", "2", "32", "zero:u32[1] i32:40"},
    {"k23_mc", "lcg64", "1", "32", "zero:u64[32] zero:f32[128]"},
    {"k25_calls", "calls", "1", "32", "zero:f32[32] zero:f32[32] i32:5"},
    {"k25_calls", "indirect", "1", "32", "zero:i32[32] zero:i32[32]"},
    {"k27_math", "mathf", "1", "32", "zero:f32[34] zero:f32[288] i32:32", "--tries 1"},
    {"k27_math", "cvts", "1", "9",
     "zero:f32[9] zero:i32[41] zero:u32[18] zero:i64[18] zero:f32[9]"},
    // Groups that wait for each other: a device need not run both.
    {"k28_fence", "fence", "2", "32", "zero:i32[2] zero:i32[2] zero:i32[32]", "--tries 1", true},
    // The group that counts last adds up: the count must begin at 0.
    {"k28_fence", "lastblock", "4", "32", "zero:f32[4] zero:f32[4] in:zero.npy zero:f32[1]"},
    {"k28_fence", "barred", "1", "64", "zero:i32[64] zero:i32[64]"},
    {"k28_fence", "dynsm", "1", "64", "zero:i32[64]", "--tries 2 --dyn-shared 256"},
    {"k29_cacheops", "cacheops", "1", "32", "zero:i32[1024] zero:i32[1024]"},
    {"k29_cacheops", "prefetch_loop", "1", "32", "zero:f32[2048] zero:f32[32] i32:256"},
    {"k30_switch", "k", "1", "32", "zero:u32[3]"},
};

/// One u32 of 0; `diff` fills what `zero:` makes.
std::string zero_file() {
  std::string header = "{'descr': '<u4', 'fortran_order': False, 'shape': (1,), }";
  header.resize(117, ' ');
  return write("zero.npy",
               std::string("\x93NUMPY\x01\0\x76\0", 10) + header + "\n" + std::string(4, '\0'));
}

}  // namespace

TEST_CASE("diff: kernels compiled for sm_50 are equal to their PTX") {
  const std::string folder = LANEWISE_TEST_DATA "/kernels/data/sass/";
  size_t place = 0;
  for (const Pair& p : kPairs) {
    if (!lanewise::test::runs_here(place++)) continue;
    if (p.reference_only && std::string_view(device()) != "reference") continue;
    std::string arguments;
    for (size_t at = 0; at < std::string_view(p.arguments).size();) {
      const std::string_view rest = std::string_view(p.arguments).substr(at);
      const std::string_view one = rest.substr(0, rest.find(' '));
      arguments += fmt::format(" --arg '{}'", one == "in:zero.npy" ? "in:" + zero_file() : one);
      at += one.size() + 1;
    }
    const Output o = program(fmt::format(
        "diff {}.ptx {}.cubin --kernel {} --grid {} --block {} {} {} --device {} --json",
        folder + p.file, folder + p.file, p.kernel, p.grid, p.block, arguments, p.more, device()));
    INFO(p.file << ", " << p.kernel);
    CAPTURE(o.out);
    CAPTURE(o.err);
    CHECK(o.code == 0);
  }
}
