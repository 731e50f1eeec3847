// Where CCTL and CCTLL point, lane by lane, on every device: against the document's address rule.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "runtime/api/behind.hpp"
#include "tests/kernels/support.hpp"
#include "tests/oracle/sass_address.hpp"

using namespace kernels;

namespace {

constexpr uint32_t kLanes = 32;

/// One instruction with its address operand: [R2 + imm] or [imm].
struct Row {
  const char* name;
  bool extended, absolute, local;
  int64_t offset;
  const char* guard;  ///< "", "@P0 " (odd lanes) or "@!P0 "
};
const Row kRows[] = {{"CCTL.E.PF1", true, false, false, 0, ""},
                     {"CCTL.E.D.PF2", true, false, false, 0x7ffffffc, "@P0 "},
                     {"CCTL.E.U.WB", true, false, false, -0x80000000LL, "@!P0 "},
                     {"CCTL.E.IV", true, false, false, -4, ""},
                     {"CCTL.PF1", false, false, false, 0, ""},
                     {"CCTL.PF2", false, false, false, 0x7ffffffc, "@P0 "},
                     {"CCTL.RS", false, false, false, -0x80000000LL, ""},
                     {"CCTL.U.IV", false, false, false, -8, "@!P0 "},
                     {"CCTL.C.WB", false, false, false, 0x20010, ""},
                     {"CCTL.E.I.PF1", true, false, false, 0x100, "@P0 "},
                     {"CCTL.E.WB", true, true, false, 0xfffffffc, ""},
                     {"CCTL.IV", false, true, false, 0x80000000, "@P0 "},
                     {"CCTLL.PF1", false, false, true, 0x7ffffc, ""},
                     {"CCTLL.WB", false, false, true, -0x800000, "@P0 "},
                     {"CCTLL.IV", false, true, true, 0xfffffc, "@!P0 "}};

std::string place(const Row& row) {
  if (row.absolute) return fmt::format("[{:#x}]", row.offset);
  return fmt::format("[R2{}{:#x}]", row.offset < 0 ? "-" : "+", std::abs(row.offset));
}

std::string kernel_text() {
  std::string text =
      "S2R R19, SR_TID.X ;\nISCADD R20.CC, R19, c[0x0][0x140], 0x3 ;\n"
      "IADD.X R21, RZ, c[0x0][0x144] ;\nLOP32I.AND R4, R19, 0x1 ;\n"
      "ISETP.NE.AND P0, PT, R4, RZ, PT ;\nLDG.E.64 R2, [R20] ;\n";
  for (const Row& row : kRows) text += fmt::format("{}{} {} ;\n", row.guard, row.name, place(row));
  return text + "EXIT ;\n";
}

uint64_t expected(const Row& row, uint64_t registers) {
  oracle::sass::Address a;
  a.extended = row.extended;
  a.ra = row.absolute ? 255 : 2;
  a.low = static_cast<uint32_t>(registers);
  a.high = static_cast<uint32_t>(registers >> 32);
  a.field_bits = row.local ? 24 : 32;
  a.field = static_cast<uint32_t>(row.offset) & (row.local ? 0xffffffU : 0xffffffffU);
  return oracle::sass::line_address(a);
}

/// What each cache-control site was given by each lane.
class Controls final : public lanewise::trace::Sink {
 public:
  std::map<std::string, std::map<unsigned, uint64_t>> seen;
  void kernel(const lanewise::trace::Kernel&) override {}
  void site(const lanewise::trace::Site& s) override { texts_.push_back(s.text); }
  void buffer(const lanewise::trace::Buffer&) override {}
  void event(const lanewise::trace::Event& e) override {
    if (e.kind != lanewise::trace::EventKind::wave) return;
    const lanewise::trace::WaveRecord& r = e.wave;
    uint64_t address = r.base;
    for (unsigned lane = 0, n = 0; lane < kLanes; ++lane) {
      if ((r.mask >> lane & 1) == 0) continue;
      if (n != 0)
        address += static_cast<uint64_t>(
            r.mode == lanewise::trace::AddressMode::affine ? r.stride : r.deltas[n - 1]);
      seen[texts_.at(r.site)][lane] = address;
      ++n;
    }
  }

 private:
  std::vector<std::string> texts_;
};

}  // namespace

TEST_CASE("trace: CCTL and CCTLL point where the document says, in every lane") {
  std::vector<uint64_t> registers = random_ints<uint64_t>(kLanes, 11);
  const uint64_t edges[] = {0,           1,          3,           0xffffffff,
                            0x80000000,  0x7fffffff, 0x100000000, ~0ULL,
                            0x1fffffffc, 0x10000040, 0x10000042,  0x8000000000000000};
  std::copy(std::begin(edges), std::end(edges), registers.begin());
  lanewise::Device& d = device();
  lanewise::Buffer in = d.buffer(registers);
  Controls controls;
  const auto traced = lanewise::host::device_behind(d.c_handle());
  traced->start_tracing(controls, lanewise::host::kDefaultTraceBuffer);
  d.load_text(kernel_text(), lanewise::Isa::sass)
      .kernel("stream")
      .launch({.grid = {1}, .block = {kLanes}}, in)
      .check();
  traced->stop_tracing();
  for (const Row& row : kRows) {
    const std::string text = fmt::format("{}{} {}", row.guard, row.name, place(row));
    CAPTURE(text);
    const std::string guard = row.guard;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      CAPTURE(lane);
      const bool runs = guard.empty() || (guard == "@P0 ") == (lane % 2 == 1);
      const auto& given = controls.seen[text];
      CHECK((given.count(lane) != 0) == runs);
      if (runs && given.count(lane) != 0) CHECK(given.at(lane) == expected(row, registers[lane]));
    }
  }
}
