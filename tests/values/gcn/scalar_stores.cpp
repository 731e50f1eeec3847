// Scalar stores of GCN3: the wave's words go to memory and are loaded back by every lane.
#include <fmt/format.h>

#include "tests/values/gcn/gcn.hpp"

namespace values::gcn::scalar_stores {

namespace {

/// s[44:45]: where the outputs of the wave's first lane are; they are written over at the end.
const char* const kPlace = "v_readfirstlane_b32 s44, v4\nv_readfirstlane_b32 s45, v5\n";

std::string range(unsigned first, unsigned count) {
  return count == 1 ? fmt::format("s{}", first) : fmt::format("s[{}:{}]", first, first + count - 1);
}
const char* size_of(unsigned words) {
  return words == 1 ? "dword" : words == 2 ? "dwordx2" : "dwordx4";
}
/// Stored again, so that the wave comes together before its first lane writes its outputs there.
std::string load_back(unsigned words, const std::string& offset) {
  return fmt::format(
      "s_waitcnt lgkmcnt(0)\ns_load_{0} {1}, s[44:45], {2}\ns_waitcnt lgkmcnt(0)\n"
      "s_store_{0} {1}, s[44:45], {2}",
      size_of(words), words == 1 ? "{d}" : "{q}", offset);
}

Tuples inputs() {
  Tuples t;
  for (const uint32_t seed : {1U, 0x80000001U, 0x12345678U, 0xffffffffU})
    t.push_back({seed, seed * 3, seed ^ 0x55555555, ~seed, 1});
  return t;
}

}  // namespace

void cases(std::vector<Case>& out) {
  for (const unsigned words : {1U, 2U, 4U}) {
    const auto rule = [words](In in, Out o) {
      for (unsigned n = 0; n < words; ++n) o[n] = in[n];
    };
    const auto step = [&](const std::string& text, auto what) {
      return ScalarStep{kPlace + text, what, words, false};
    };
    const std::string data = range(32, words);
    // EXEC does not matter; GLC and an offset in a register.
    out.push_back(
        scalar_case(fmt::format("s_store_{}", size_of(words)), inputs(),
                    {step(fmt::format("s_mov_b64 exec, 0\ns_store_{} {}, s[44:45], {{out}}\n"
                                      "s_mov_b64 exec, -1\n",
                                      size_of(words), data) +
                              load_back(words, "{out}"),
                          rule),
                     step(fmt::format("s_movk_i32 s46, {{out}}\ns_store_{} {}, s[44:45], s46 glc\n",
                                      size_of(words), data) +
                              load_back(words, "s46"),
                          rule)}));
    // The second one's descriptor ends in front of the last dword, which keeps what it had.
    const auto buffer = [&](const char* records) {
      return fmt::format(
          "s_mov_b32 s48, s44\ns_and_b32 s49, s45, 0xffff\ns_mov_b32 s50, {}\n"
          "s_mov_b32 s51, 0x24fac\n",
          records);
    };
    const std::string store =
        fmt::format("s_buffer_store_{} {}, s[48:51], {{out}}\n", size_of(words), data);
    const std::string before =
        fmt::format("s_mov_b32 s46, 7\ns_store_dword s46, s[44:45], {{out}}+{}\n", 4 * words - 4);
    out.push_back(scalar_case(fmt::format("s_buffer_store_{}", size_of(words)), inputs(),
                              {step(buffer("0x1000") + store + load_back(words, "{out}"), rule),
                               step(before + "s_waitcnt lgkmcnt(0)\n" +
                                        buffer(fmt::format("{{out}}+{}", 4 * words - 1).c_str()) +
                                        store + load_back(words, "{out}"),
                                    [words](In in, Out o) {
                                      for (unsigned n = 0; n + 1 < words; ++n) o[n] = in[n];
                                      o[words - 1] = 7;
                                    })}));
  }
}

}  // namespace values::gcn::scalar_stores
