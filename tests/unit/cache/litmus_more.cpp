// The rules that cache_litmus.cpp shows in one dialect, in the others that have them; and H14,
// whose near misses were false alarms once.
#include "tests/unit/cache/pairs.hpp"

namespace lanewise::cache {
namespace {

/// 16 bytes a lane, so that a wave covers several lines; from a byte on.
Touch wide(uint64_t from, unsigned lanes = 8) {
  return {kA + from, lanes, 16};
}

const Pair kMorePairs[] = {
    // H4
    {"glc that an older line may serve", kGcn, "glc-hits", "H4e",
     [](Stream& s) {
       s.op(1, "buffer_load_dword", kFlag).op(0, "buffer_store_dword", kFlag);
       s.op(1, "buffer_load_dword v0, v1, s[0:3], 0 offen glc", kFlag);
     },
     [](Stream& s) {
       s.op(1, "buffer_load_dword", kFlag).op(0, "buffer_store_dword", {kA + 4});
       s.op(1, "buffer_load_dword v0, v1, s[0:3], 0 offen glc", kFlag);
     }},
    // H6
    {"discarded in SASS", kSass, "ga100", "H6e",
     [](Stream& s) {
       s.op(0, "STG.E", kWarp).op(0, "CCTL.E.RML2 [R2]", kFlag).op(0, "LDG.E", kFlag);
     },
     [](Stream& s) {
       s.op(0, "STG.E", kWarp).op(0, "CCTL.E.RML2 [R2]", kFlag).op(0, "LDG.E", {kA + 128});
     }},
    {"never written, SASS", kSass, "gm204", "H6e",
     [](Stream& s) {
       s.buffer({"tmp", kC, 4096, false, true}).op(0, "STG.E", {kC, 31});
       s.op(0, "LDG.E", {kC, 32});
     },
     [](Stream& s) {
       s.buffer({"tmp", kC, 4096, false, true}).op(0, "STG.E", {kC, 31});
       s.op(0, "LDG.E", {kC, 31});
     }},
    {"never written, GCN", kGcn, "tahiti", "H6e",
     [](Stream& s) {
       s.buffer({"tmp", kC, 4096, false, true}).op(0, "buffer_store_dword", {kC, 63});
       s.op(0, "buffer_load_dword", {kC, 64});
     },
     [](Stream& s) {
       s.buffer({"tmp", kC, 4096, false, true}).op(0, "buffer_store_dword", {kC, 63});
       s.op(0, "buffer_load_dword", {kC, 63});
     }},
    // H7
    {"LDL.LU, then read again", kSass, "sm50-spec", "H7w",
     [](Stream& s) { s.op(0, "STL", kStack).op(0, "LDL.LU", kStack).op(0, "LDL", kStack); },
     [](Stream& s) {
       s.op(0, "STL", kStack).op(0, "LDL.LU", kStack).op(0, "LDL", {0x44, 32, 0});
     }},
    // H8
    {"early eviction of what is used again, SASS", kSass, "tiny", "H8a",
     [](Stream& s) {
       s.op(0, "LDG.E.EF", {kA});
       for (uint64_t i = 1; i < 5; ++i) s.op(0, "LDG.E", {kA + i * 128});
       s.op(0, "LDG.E.EF", {kA});
     },
     [](Stream& s) {
       s.op(0, "LDG.E.EF", {kA});
       for (uint64_t i = 1; i < 4; ++i) s.op(0, "LDG.E", {kA + i * 128});
       s.op(0, "LDG.E.EF", {kA});
     }},
    {"slc on data that is used again", kGcn, "tiny", "H8a",
     [](Stream& s) {
       s.op(0, "buffer_load_dword v0 slc", {kA});
       for (uint64_t i = 1; i < 5; ++i) s.op(0, "buffer_load_dword", {kA + i * 128});
       s.op(0, "buffer_load_dword v0 slc", {kA});
     },
     [](Stream& s) {
       s.op(0, "buffer_load_dword v0 slc", {kA});
       for (uint64_t i = 1; i < 4; ++i) s.op(0, "buffer_load_dword", {kA + i * 128});
       s.op(0, "buffer_load_dword v0 slc", {kA});
     }},
    // H9
    {"scattered bytes, SASS", kSass, "tiny", "H9a",
     [](Stream& s) {
       for (uint64_t i = 0; i < 80; ++i) s.op(0, "STG.E.U8", {kA + i * 128, 31, 1});
     },
     [](Stream& s) {
       for (uint64_t i = 0; i < 80; ++i) s.op(0, "STG.E.U8", {kA + i * 128, 32, 1});
     }},
    {"scattered bytes, GCN", kGcn, "tiny", "H9a",
     [](Stream& s) {
       for (uint64_t i = 0; i < 80; ++i) s.op(0, "buffer_store_byte", {kA + i * 128, 31, 1});
     },
     [](Stream& s) {
       for (uint64_t i = 0; i < 80; ++i) s.op(0, "buffer_store_byte", {kA + i * 128, 32, 1});
     }},
    // H10
    {"unaligned CCTL.DML2", kSass, "ga100", "H10w",
     [](Stream& s) { s.op(0, "CCTL.E.RML2 [R2]", {kA + 4}); },
     [](Stream& s) { s.op(0, "CCTL.E.RML2 [R2]", {kA + 128}); }},
    // H14
    {"bytes of one sector, two CUs", kGcn, "tahiti", "H14a",
     [](Stream& s) {
       for (unsigned i = 0; i < 12; ++i)
         s.op(i % 2, "buffer_store_dword", {kA + uint64_t{4} * (i % 2)});
     },
     [](Stream& s) {
       for (unsigned i = 0; i < 12; ++i)
         s.op(i % 2, "buffer_store_dword", {kA + uint64_t{64} * (i % 2)});
     }},
    {"the same bytes of two 64-byte lines", kGcn, "tahiti", "H14a",
     [](Stream& s) {
       for (unsigned i = 0; i < 24; ++i)
         s.op(i % 2, "buffer_store_dword",
              {kA + uint64_t{64} * (i / 2 % 2) + uint64_t{8} * (i % 2), 2});
     },
     [](Stream& s) {
       for (unsigned i = 0; i < 24; ++i) {
         s.op(i % 2, "buffer_store_dword", {kA, 16}).op(i % 2, "buffer_store_dword", {kA + 64, 16});
       }
     }},
    {"two instructions cover a line", kSass, "gv100", "H14a",
     [](Stream& s) {
       for (unsigned i = 0; i < 12; ++i)
         s.op(i % 2, "STG.E.64", {kA + uint64_t{16} * (i % 2), 2, 8});
     },
     [](Stream& s) {
       for (unsigned i = 0; i < 12; ++i) {
         s.op(i % 2, "STG.E.64", {kA, 2, 8}).op(i % 2, "STG.E.64", {kA + 16, 2, 8});
       }
     }},
    {"different halves at first, the same bytes in the end", kPtx, "gv100", "H14a",
     [](Stream& s) {
       for (unsigned i = 0; i < 20; ++i)
         s.op(i % 2, "st.global.v2.u32", {kA + uint64_t{8} * (i % 2)});
     },
     [](Stream& s) {
       for (unsigned i = 0; i < 20; ++i)
         s.op(i % 2, "st.global.v2.u32", {kA + uint64_t{8} * (i % 2)});
       s.op(1, "st.global.v2.u32", {kA});
     }},
    {"two kernels, two SMs", kPtx, "infinite", "H14a",
     [](Stream& s) {
       for (unsigned i = 0; i < 9; ++i) s.op(i % 2, "st.global.u32", {kA + uint64_t{4} * (i % 2)});
       s.next_kernel();
     },
     [](Stream& s) {
       for (unsigned i = 0; i < 40; ++i) {
         s.op(i % 2, "st.global.u32", {kA + uint64_t{4} * (i % 2)});
         if (i % 8 == 7) s.next_kernel();
       }
     }},
    {"atomics are there to share", kPtx, "ga100", "H14a",
     [](Stream& s) {
       for (unsigned i = 0; i < 12; ++i) s.op(i % 2, "st.global.u32", {kA + uint64_t{4} * (i % 2)});
     },
     [](Stream& s) {
       for (unsigned i = 0; i < 12; ++i)
         s.op(i % 2, "atom.global.add.u32", {kA + uint64_t{4} * (i % 2)});
     }},
    {"the limit", kSass, "gm204", "H14a",
     [](Stream& s) {
       for (unsigned i = 0; i < 9; ++i) s.op(i % 3, "STG.E", {kA + uint64_t{4} * (i % 3)});
     },
     [](Stream& s) {
       for (unsigned i = 0; i < 8; ++i) s.op(i % 3, "STG.E", {kA + uint64_t{4} * (i % 3)});
     }},
    {"lines of their own beside each other", kPtx, "gh100", "H14a",
     [](Stream& s) {
       for (unsigned i = 0; i < 20; ++i)
         s.op(i % 2, "st.global.v4.u32", wide(uint64_t{16} * (i % 2), 1));
     },
     [](Stream& s) {
       for (unsigned i = 0; i < 20; ++i)
         s.op(i % 2, "st.global.v4.u32", wide(uint64_t{128} * (i % 2)));
     }},
    // H15
    {"constant changed under the cache, PTX", kPtx, "gv100", "H15e",
     [](Stream& s) {
       s.op(1, "ld.const.u32", kFlag).op(0, "st.global.u32", kFlag).op(1, "ld.const.u32", kFlag);
     },
     [](Stream& s) {
       s.op(1, "ld.const.u32", kFlag).op(0, "st.global.u32", kFlag).next_kernel();
       s.op(1, "ld.const.u32", kFlag);
     }},
    // H18
    {"strong load emitted as plain, SASS", kSass, "gv100", "H18e",
     [](Stream& s) { s.op(0, emitted(kSass, "LDG.E.STRONG.GPU", trace::Emitted::plain), kFlag); },
     [](Stream& s) { s.op(0, emitted(kSass, "LDG.E.STRONG.CTA", trace::Emitted::plain), kFlag); }},
};

/// `tiny`: four lines of L2 in one set, hardly any L1 hits: what a hint does is seen at once.
Preset preset_of(const std::string& name) {
  if (name == "tiny")
    return parse_preset(R"({"name": "tiny", "sms": 2,
    "l1": {"sets": 1, "ways": 1, "line": 128, "sector": 32},
    "l2": {"sets": 1, "ways": 4, "line": 128, "sector": 32}})",
                        "tiny");
  if (name != "glc-hits") return load_preset(name);
  Preset p = load_preset("tahiti");
  p.knobs.glc_on_l1_line = PassBy::hit;
  return p;
}

void check(const Pair& p) {
  CAPTURE(std::string(p.name));
  Stream bad(p.dialect, preset_of(p.preset)), good(p.dialect, preset_of(p.preset));
  p.bad(bad);
  p.good(good);
  CHECK_EQ(bad.verdict(true), std::string(p.expected));
  CHECK_EQ(good.verdict(true), std::string());
  // What is found does not go away when the kernel ends.
  bad.end();
  CHECK(bad.verdict(true).find(p.expected) != std::string::npos);
}

bool shows(const Pair& p, const std::string& id) {
  const std::string expected = std::string(" ") + p.expected;
  const size_t at = expected.find(" " + id);
  return at != std::string::npos && expected.find_first_of("ewa", at) == at + 1 + id.size();
}

}  // namespace

std::span<const Pair> more_pairs() {
  return kMorePairs;
}

TEST_CASE("every hazard is found, and no near miss is accused") {
  CHECK(first_pairs().size() + more_pairs().size() >= 80);
  for (const Pair& p : first_pairs()) check(p);
  for (const Pair& p : more_pairs()) check(p);
}

TEST_CASE("every rule has a pair in every dialect that can break it") {
  struct {
    Dialect dialect;
    std::vector<unsigned> absent;  ///< what the instruction set has no words for
  } const kDialects[] = {
      {kPtx, {2, 12, 13, 16, 17}}, {kSass, {16}}, {kGcn, {3, 5, 7, 10, 12, 13, 17}}};
  for (const auto& [of, absent] : kDialects)
    for (unsigned r = 1; r <= kRules; ++r) {
      const std::string id(rule(r).id);
      const Dialect dialect = of;
      CAPTURE(id);
      CAPTURE(static_cast<int>(dialect));
      const auto here = [&](const Pair& p) { return p.dialect == dialect && shows(p, id); };
      const bool found = std::any_of(first_pairs().begin(), first_pairs().end(), here) ||
                         std::any_of(more_pairs().begin(), more_pairs().end(), here);
      CHECK(found == (std::find(absent.begin(), absent.end(), r) == absent.end()));
    }
}

}  // namespace lanewise::cache
