// Listings of the vendor's disassemblers: their control words, headers and functions.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "runtime/isa/sass/sass.hpp"

using namespace lanewise;

TEST_CASE("control words of vendor listings are taken from their comments") {
  const auto bytes = [](const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(file), {}};
  };
  // The second has addresses of variables: 32@lo(tabf).
  for (const char* name : {"k01_saxpy", "k25_calls"}) {
    CAPTURE(name);
    const std::string base = std::string(LANEWISE_TEST_DATA) + "/kernels/data/sass/" + name;
    const std::string text = bytes(base + ".sass"), cubin = bytes(base + ".cubin");
    const sass::Listing listed = sass::parse(text);
    const sass::Listing read = sass::read_cubin(std::as_bytes(std::span(cubin)));
    for (const Diagnostic& d : listed.diagnostics) FAIL_CHECK(d.line << ": " << d.message);
    REQUIRE(listed.kernels.size() == read.kernels.size());
    for (const sass::Kernel& k : listed.kernels) {
      const auto same = std::ranges::find(read.kernels, k.name, &sass::Kernel::name);
      REQUIRE(same != read.kernels.end());
      CHECK(sass::encode_bundles(k) == sass::encode_bundles(*same));
    }
  }
  // What is written on the line wins; where words are missing, nothing is known.
  const auto first = [](std::string_view annotation, const char* last_word) {
    const sass::Listing l = sass::parse(
        "k:\n   /* 0x001f8000fc0007f6 */\n/*0008*/ MOV R1, c[0x0][0x20]" + std::string(annotation) +
        " ; /* 0x4c98078000870001 */\n NOP ; /* 0x50b0000000070f00 */\n NOP ; " + last_word + "\n");
    REQUIRE(l.ok());
    return l.kernels[0].code[0];
  };
  CHECK(first("", "/* 0x50b0000000070f00 */").control.bits == 0x7f6);
  CHECK(first(" ?WAIT2", "/* 0x50b0000000070f00 */").control.bits == 0x7f2);
  CHECK_FALSE(first("", "").has_control);
  CHECK(sass::parse("k:\n/* 0x001f8000fc000746 */\nMOV R1, R2 ; /* 0x5c98078000270001 */\n"
                    "NOP ; /* 0x50b0000000070f00 */\nNOP ; /* 0x50b0000000070f00 */\n")
            .diagnostics.size() == 1);
}

TEST_CASE("listings of cuobjdump assemble to the words that they show") {
  const std::string folder = LANEWISE_TEST_DATA "/kernels/data/sass/lines/";
  const auto text_of = [&](const char* name) {
    std::ifstream file(folder + name);
    REQUIRE(file.good());
    return std::string{std::istreambuf_iterator<char>(file), {}};
  };
  // By function: the words in the comments behind "code for" that target.
  const auto shown = [](const std::string& text, const std::string& target) {
    std::map<std::string, std::vector<uint64_t>> words;
    std::istringstream lines(text);
    std::string function;
    bool on = false;
    for (std::string line; std::getline(lines, line);) {
      if (line.find("code for sm_") != std::string::npos)
        on = line.find("sm_" + target) != std::string::npos;
      if (const size_t at = line.find("Function : "); at != std::string::npos)
        function = line.substr(at + 11);
      if (const size_t at = line.find("/* 0x"); at != std::string::npos && on)
        words[function].push_back(std::stoull(line.substr(at + 5, 16), nullptr, 16));
    }
    return words;
  };
  const auto check = [&](const std::string& text, unsigned asked, unsigned target) {
    CAPTURE(asked);
    const sass::Listing l = sass::parse(text, asked);
    for (const Diagnostic& d : l.diagnostics) FAIL_CHECK(d.line << ": " << d.message);
    CHECK(l.arch == (asked != 0 ? asked : target));
    const auto words = shown(text, std::to_string(target));
    REQUIRE(l.kernels.size() == 2);
    REQUIRE(words.size() == 2);
    for (const sass::Kernel& k : l.kernels) {
      CAPTURE(k.name);
      const std::vector<std::byte> code = sass::encode_bundles(k);
      REQUIRE(words.contains(k.name));
      const std::vector<uint64_t>& there = words.at(k.name);
      REQUIRE(code.size() == 8 * there.size());
      CHECK(std::memcmp(code.data(), there.data(), code.size()) == 0);
    }
  };
  const std::string one = text_of("lines.cuobjdump.sass");
  check(one, 0, 50);
  check(one, 53, 50);  // as `--target` does with other listings
  const std::string two = text_of("lines.targets.cuobjdump.sass");
  check(two, 50, 50);
  check(two, 61, 61);
  const sass::Listing unclear = sass::parse(two);
  REQUIRE(unclear.diagnostics.size() == 1);
  CHECK(unclear.diagnostics[0].message ==
        "the listing has code for sm_61, sm_50, expected one target: choose with --target");
  const sass::Listing newer = sass::parse("\tcode for sm_70\n\t\tFunction : k\n NOP ;\n");
  REQUIRE(!newer.diagnostics.empty());
  CHECK(newer.diagnostics[0].message ==
        std::string("target sm_70 is not Maxwell, expected ") + std::string(sass::kKnownArchs));
}
