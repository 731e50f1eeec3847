// Residency of pages through the API: what sparse loads of a SASS kernel find.
#include "tests/kernels/support.hpp"

using namespace kernels;

TEST_CASE("sparse loads see the pages that the host took away, and those that came back") {
  // out[lane] = lane's word, out[32 + lane] = absent; lane n reads page n % 4.
  const std::string text =
      ".target sm_52\nS2R R0, SR_TID.X ;\nSHL R1, R0, 0x10 ;\nLOP32I.AND R1, R1, 0x30000 ;\n"
      "ISCADD R1, R0, R1, 0x2 ;\nIADD R2.CC, R1, c[0x0][0x140] ;\nIADD.X R3, RZ, c[0x0][0x144] ;\n"
      "ISCADD R4.CC, R0, c[0x0][0x148], 0x2 ;\nIADD.X R5, RZ, c[0x0][0x14c] ;\n"
      "LDG.E P0, R6, [R2] ;\nSEL R7, RZ, 0x1, !P0 ;\nSTG.E [R4], R6 ;\nSTG.E [R4+0x80], R7 ;\n"
      "EXIT ;\n";
  // Where memory that was freed comes back depends on all that was.
  auto own = new_device();
  const auto kernel = own.load_text(text, lanewise::Isa::sass).kernel();
  auto pages = own.allocate_paged(4 * 65536 - 100, "pages");
  REQUIRE(pages.size() == 4 * 65536);
  CHECK(pages.address() % 65536 == 0);
  std::vector<uint32_t> words(pages.size() / 4);
  for (uint32_t n = 0; n < words.size(); ++n) words[n] = 7 + n;
  pages.write(words);
  auto out = own.allocate(256, "out");
  const auto check = [&](unsigned absent) {
    CAPTURE(absent);
    kernel.launch({.grid = {1}, .block = {32}}, pages, out).check();
    const auto got = out.read<uint32_t>();
    for (uint32_t lane = 0; lane < 32; ++lane) {
      const bool gone = (absent >> lane % 4 & 1) != 0;
      CHECK(got[lane] == (gone ? 0 : words[lane % 4 * 0x4000 + lane]));
      CHECK(got[32 + lane] == (gone ? 1 : 0));
    }
  };
  check(0);
  pages.set_resident(1, 2, false);
  check(0b0110);
  pages.set_resident(0, 2, true);
  pages.set_resident(3, 1, false);
  check(0b1100);
  CHECK_THROWS_WITH_AS(pages.set_resident(3, 2, true),
                       "2 pages from page 3 on do not lie in a buffer of 4 pages", lanewise::Error);
  CHECK_THROWS_AS(out.set_resident(0, 1, false), lanewise::Error);
  // Memory that is given back is resident for its next owner.
  const uint64_t address = pages.address();
  pages = own.allocate(16);
  own.allocate(16 << 20);  // released memory has its next owner when so much more was released
  pages = own.allocate_paged(4 * 65536);
  CHECK(pages.address() == address);
  pages.write(words);
  check(0);
}
