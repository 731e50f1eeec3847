// Random Maxwell loads and stores on every engine, against the literal oracle.
#include "runtime/isa/sass/sass.hpp"
#include "tests/differential/engines.hpp"
#include "tests/oracle/sass_address.hpp"
#include "tests/support/shares.hpp"

namespace sass_memory {

using namespace lanewise;
using namespace lanewise::test;

namespace {

constexpr unsigned kLanes = 32, kCases = 32, kWindow = 256;
constexpr uint32_t kSentinel = 0x5eed0000;
constexpr uint64_t kData = guest::kArenaBase + kOutputOffset;
constexpr const char* kSizes[] = {".U8", ".S8", ".U16", ".S16", "", ".64", ".128", ".U.128"};
constexpr const char* kLoadCops[] = {"", ".CG", ".CI", ".CV"};
constexpr const char* kStoreCops[] = {"", ".CG", ".CS", ".WT"};
constexpr const char* kGuards[] = {"", "@P0 ", "@!P0 "};

/// One instruction; what differs per lane is the address it aims at.
struct Case {
  bool store, generic, extended;
  unsigned size, cop, guard;
  int64_t offset;
  uint32_t value;  ///< a store writes value + lane, value + lane + 1, ...

  bool runs(unsigned lane) const { return guard == 0 || (guard == 1) == (lane % 2 == 1); }
  std::string text() const {
    const std::string mods =
        std::string(extended ? ".E" : "") + (store ? kStoreCops : kLoadCops)[cop] + kSizes[size];
    const std::string place =
        "[R2" + std::string(offset < 0 ? "+-" : "+") + std::to_string(std::abs(offset)) + "]";
    const std::string tail = generic ? ", P1 ;\n" : " ;\n";
    if (store)
      return std::string(kGuards[guard]) + (generic ? "ST" : "STG") + mods + " " + place + ", R8" +
             tail;
    return std::string(kGuards[guard]) + (generic ? "LD" : "LDG") + mods + " R8, " + place + tail;
  }
};

class Round {
 public:
  explicit Round(unsigned seed) : random_(seed) {
    table_.resize(kLanes * kCases * 2 + kLanes * kWindow / 4);
    for (uint32_t& w : table_) w = random_();
    for (unsigned n = 0; n < kCases; ++n) cases_.push_back(make_case(n));
  }

  /// R20: results, R22: table, R28: this lane's window; P0: odd lanes, P1: true.
  std::string text() const {
    std::string t =
        "S2R R19, SR_TID.X ;\n"
        "ISCADD R22.CC, R19, c[0x0][0x140], 0x8 ;\nIADD.X R23, RZ, c[0x0][0x144] ;\n"
        "ISCADD R20.CC, R19, c[0x0][0x148], 0x9 ;\nIADD.X R21, RZ, c[0x0][0x14c] ;\n"
        "ISCADD R28.CC, R19, c[0x0][0x148], 0x8 ;\nIADD.X R29, RZ, c[0x0][0x14c] ;\n"
        "LOP32I.AND R4, R19, 0x1 ;\nISETP.NE.AND P0, PT, R4, RZ, PT ;\n"
        "ISETP.EQ.AND P1, PT, RZ, RZ, PT ;\n";
    for (unsigned n = 0; n < kWindow; n += 16)
      t += "LDG.E.128 R8, [R22+" + std::to_string(0x2000 + n) + "] ;\nSTG.E.128 [R28+" +
           std::to_string(n) + "], R8 ;\n";
    for (unsigned n = 0; n < kCases; ++n) {
      t += "LDG.E.64 R2, [R22+" + std::to_string(8 * n) + "] ;\n";
      for (unsigned r = 0; r < 4; ++r)
        t += "IADD32I R" + std::to_string(8 + r) + ", R19, " +
             std::to_string(first_register(n) + r) + " ;\n";
      t += cases_[n].text();
      t += "STG.E.128 [R20+" + std::to_string(0x2000 + 16 * n) + "], R8 ;\n";
    }
    return t + "EXIT ;\n";
  }

  /// Windows, then the four registers after every case, as the document says.
  std::vector<uint32_t> expected() const {
    std::vector<uint32_t> out(kLanes * kWindow / 4 + kLanes * kCases * 4);
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      std::array<uint8_t, kWindow> window{};
      std::memcpy(window.data(), &table_[kLanes * kCases * 2 + lane * kWindow / 4], kWindow);
      for (unsigned n = 0; n < kCases; ++n) {
        std::array<uint32_t, 4> r{};
        for (unsigned k = 0; k < 4; ++k) r[k] = lane + first_register(n) + k;
        if (cases_[n].runs(lane)) run(cases_[n], lane, n, window, r);
        std::memcpy(&out[kLanes * kWindow / 4 + (lane * kCases + n) * 4], r.data(), 16);
      }
      std::memcpy(&out[lane * kWindow / 4], window.data(), kWindow);
    }
    return out;
  }
  const std::vector<uint32_t>& input() const { return table_; }
  std::string describe(size_t n) const { return cases_[n].text(); }

 private:
  uint32_t below(uint32_t n) { return random_() % n; }
  uint32_t first_register(unsigned n) const {
    return cases_[n].store ? cases_[n].value : kSentinel;
  }

  /// Chooses an instruction, and registers for every lane that aim into the lane's own window.
  Case make_case(unsigned n) {
    Case c{below(2) == 0, below(4) == 0, below(2) == 0, 0, below(4), below(3), 0, 0};
    c.size = below(c.store ? 7 : 8);
    c.value = random_() & 0x3fffffff;
    const int64_t extremes[] = {0, 4, -0x800000, 0x7fffff, -1, 1};
    c.offset =
        below(3) == 0 ? extremes[below(6)] : static_cast<int64_t>(below(1U << 24)) - 0x800000;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const uint64_t aim = kData + lane * kWindow + below(kWindow);
      const uint64_t registers = aim - static_cast<uint64_t>(c.offset);
      uint32_t* slot = &table_[(lane * kCases + n) * 2];
      slot[0] = static_cast<uint32_t>(registers);
      if (c.extended) slot[1] = static_cast<uint32_t>(registers >> 32);
    }
    return c;
  }

  void run(const Case& c, unsigned lane, unsigned n, std::array<uint8_t, kWindow>& window,
           std::array<uint32_t, 4>& r) const {
    const uint32_t* slot = &table_[(lane * kCases + n) * 2];
    ::oracle::sass::Address a;
    a.extended = c.extended;
    a.ra = 2;
    a.low = slot[0];
    a.high = slot[1];
    a.field_bits = c.generic ? 32 : 24;
    a.field = static_cast<uint32_t>(c.offset) & (c.generic ? 0xffffffffU : 0xffffffU);
    const unsigned bytes = ::oracle::sass::bytes_of(c.size);
    const uint64_t address = ::oracle::sass::forced(::oracle::sass::effective_address(a), bytes);
    uint8_t* at = &window.at(address - kData - lane * kWindow);
    if (c.store) {
      std::memcpy(at, r.data(), bytes);
      return;
    }
    const auto got = ::oracle::sass::loaded(c.size, at);
    std::memcpy(r.data(), got.data(), bytes < 4 ? 4 : bytes);
  }

  std::mt19937 random_;
  std::vector<uint32_t> table_;
  std::vector<Case> cases_;
};

ir::Program lower_one(const std::string& text) {
  const sass::Listing listing = sass::parse(text);
  for (const Diagnostic& d : listing.diagnostics) FAIL_CHECK(d.line << ": " << d.message);
  sass::LowerResult r = sass::lower(listing);
  for (const Diagnostic& d : r.diagnostics) FAIL_CHECK(d.line << ": " << d.message);
  REQUIRE(r.module.kernels.size() == 1);
  return std::move(r.module.kernels[0]);
}

}  // namespace

TEST_CASE("random SASS loads and stores do what the document says, on every engine") {
  unsigned ran = 0, refused = 0, device = 0;
  for (const TestEngine& engine : test_engines()) {
    // Drivers take long to compile them: one for each, and not the same.
    const bool reference = engine.label == "reference";
    const unsigned first = reference || every_device() ? 1 : ++device;
    const unsigned last = reference ? 40 : every_device() ? 3 : first;
    for (unsigned seed = first; seed <= last; ++seed) {
      CAPTURE(engine.label);
      CAPTURE(seed);
      const Round round(seed);
      const ir::Program program = lower_one(round.text());
      const std::vector<uint32_t> expected = round.expected();
      Outcome got;
      try {
        got = run_on(*engine.engine, program, {1, 1, 1}, {kLanes, 1, 1}, round.input(),
                     expected.size());
      } catch (const Error& e) {
        // Accesses that the document calls volatile keep the wave in step, which is much code.
        if (std::string_view(e.what()).find("too large for this driver's compiler") ==
            std::string_view::npos)
          throw;
        ++refused;
        continue;
      }
      ++ran;
      CHECK_MESSAGE(got.fault_count == 0, describe(got));
      size_t wrong = 0;
      for (size_t i = 0; i < expected.size() && wrong < 3; ++i) {
        if (got.words[i] == expected[i]) continue;
        ++wrong;
        const size_t windows = kLanes * kWindow / 4;
        FAIL_CHECK(
            "word " << i << ": " << std::hex << got.words[i] << ", expected " << expected[i]
                    << (i < windows ? std::string() : round.describe((i - windows) / 4 % kCases)));
      }
    }
  }
  CHECK(ran > 3 * refused);
  CHECK(validation_messages() == 0);
}

}  // namespace sass_memory
