// Maxwell's LDG, STG, LD and ST, as tests/oracle/sass_address.hpp has them.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tests/fuzz/streams/model.hpp"
#include "tests/oracle/sass_address.hpp"

namespace lanewise::fuzz {
namespace {

namespace spec = oracle::sass;

constexpr const char* kSizes[] = {".U8", ".S8", ".U16", ".S16", "", ".64", ".128", ".U.128"};
constexpr const char* kLoadCops[] = {"", ".CG", ".CI", ".CV"};
constexpr const char* kStoreCops[] = {"", ".CG", ".CS", ".WT"};
constexpr uint64_t kLow = 0xffffffff;

struct Form {
  bool store = false, generic = false, extended = false, absolute = false, trap = false;
  unsigned size = 4, cop = 0, guard = 0;  ///< guard: none, @P, @!P
  int64_t offset = 0;
};

/// Values: low and high address register, guard, four data registers.
class Access : public Instruction {
 public:
  explicit Access(const Form& form) : f_(form) {}

  std::string text(unsigned place) const override {
    const unsigned ra = 8 * place, rb = ra + 4;
    const std::string guard =
        f_.guard == 0 ? "" : fmt::format("@{}P{} ", f_.guard == 1 ? "" : "!", place);
    const std::string name = fmt::format(
        "{}{}{}{}{}", f_.store ? "ST" : "LD", f_.generic ? "" : "G", f_.extended ? ".E" : "",
        (f_.store ? kStoreCops : kLoadCops)[f_.cop], kSizes[f_.size]);
    const std::string at = f_.absolute ? fmt::format("[{:#x}]", f_.offset)
                                       : fmt::format("[R{}+{}{:#x}]", ra, f_.offset < 0 ? "-" : "",
                                                     std::abs(f_.offset));
    const char* tail = f_.generic ? ", PT" : "";
    return f_.store ? fmt::format("{}{} {}, R{}{} ;\n", guard, name, at, rb, tail)
                    : fmt::format("{}{} R{}, {}{} ;\n", guard, name, rb, at, tail);
  }
  std::vector<Value> in(unsigned place) const override {
    const auto r = [&](unsigned n) { return Value{fmt::format("R{}", 8 * place + n), "", 32}; };
    return {r(0), r(1), {fmt::format("P{}", place), "", 1}, r(4), r(5), r(6), r(7)};
  }
  unsigned outputs() const override { return 4; }
  bool writes() const override { return f_.store; }

  void draw(Random& random, const Region& region, std::span<Lane> wave) const override {
    const unsigned habit = static_cast<unsigned>(random.below(4));
    for (size_t n = 0; n < wave.size(); ++n) {
      wave[n].in = {0,
                    random.next() & kLow,
                    random.chance(8) ? 0ULL : 1ULL,
                    random.next() & kLow,
                    random.next() & kLow,
                    random.next() & kLow,
                    random.next() & kLow};
      if (f_.guard == 2) wave[n].in[2] ^= 1;
      if (random.chance(16)) return_to_edge(random, wave[n]);
      // Neighbours, one line apart, the same place, anywhere.
      const uint64_t base = region.first + random.below(region.size - 0x10000);
      const uint64_t step = habit == 0 ? bytes() : habit == 1 ? 128 : habit == 2 ? 16 : 0;
      if (n == 0 || habit == 3)
        aim(wave[n], base);
      else
        aim(wave[n], aimed(wave[0]) + n * step);
      if (random.chance(24)) outside(random, wave[n]);
    }
  }
  void redraw(Random& random, const Region& region, std::span<Lane> wave,
              size_t lane) const override {
    aim(wave[lane], region.first + random.below(region.size - 64));
  }
  void disable(std::span<Lane> wave, size_t lane) const override {
    wave[lane].in[2] = f_.guard == 2 ? 1 : 0;
  }
  void run(const Lane& lane, Memory& memory, std::vector<uint64_t>& out) const override {
    if (f_.guard != 0 && (lane.in[2] != 0) != (f_.guard == 1)) return;
    const uint64_t ea = spec::effective_address(operand(lane));
    const uint64_t address = trapping() ? ea : spec::forced(ea, bytes());
    const bool trapped = trapping() && ea % bytes() != 0;
    if (trapped && Memory::verdict(address) == FaultKind::none)
      return memory.fault(FaultKind::misaligned, address);
    if (f_.store) {
      std::array<uint8_t, 16> data{};
      for (unsigned n = 0; n < 16; ++n) data[n] = static_cast<uint8_t>(out[n / 4] >> (8 * (n % 4)));
      memory.store(address, data, bytes());
      return;
    }
    const auto data = memory.load(address, bytes());
    const auto got = spec::loaded(f_.size, data.data());
    for (unsigned n = 0; n < std::max(1U, bytes() / 4); ++n) out[n] = got[n];
  }
  void move(Lane& lane, int64_t delta) const override {
    aim(lane, aimed(lane) + static_cast<uint64_t>(delta));
  }
  std::vector<InstructionPtr> simpler() const override {
    std::vector<InstructionPtr> list;
    const auto with = [&](auto change) {
      Form g = f_;
      change(g);
      list.push_back(std::make_shared<Access>(g));
    };
    if (f_.guard != 0) with([](Form& g) { g.guard = 0; });
    if (f_.cop != 0) with([](Form& g) { g.cop = 0; });
    if (f_.offset != 0 && !f_.absolute) with([](Form& g) { g.offset = 0; });
    if (f_.generic && !f_.absolute && std::abs(f_.offset) < 0x800000)
      with([](Form& g) { g.generic = false; });
    if (f_.extended) with([](Form& g) { g.extended = false; });
    if (f_.size > 4) with([](Form& g) { --g.size; });
    return list;
  }

 private:
  unsigned bytes() const { return spec::bytes_of(f_.size); }
  /// Only stores can be asked to trap.
  bool trapping() const { return f_.trap && f_.store; }
  spec::Address operand(const Lane& lane) const {
    spec::Address a;
    a.extended = f_.extended;
    a.ra = f_.absolute ? 255 : 0;
    a.low = static_cast<uint32_t>(lane.in[0]);
    a.high = static_cast<uint32_t>(lane.in[1]);
    a.field_bits = f_.generic ? 32 : 24;
    a.field = static_cast<uint32_t>(f_.offset) & (f_.generic ? 0xffffffffU : 0xffffffU);
    return a;
  }
  uint64_t aimed(const Lane& lane) const { return spec::effective_address(operand(lane)); }
  void aim(Lane& lane, uint64_t address) const {
    if (f_.absolute) return;
    const uint64_t registers = address - static_cast<uint64_t>(f_.offset);
    lane.in[0] = registers & kLow;
    if (f_.extended) lane.in[1] = registers >> 32;
  }
  void return_to_edge(Random& random, Lane& lane) const {
    for (size_t n = 3; n < 7; ++n)
      lane.in[n] = random.pick<uint64_t>({0, 1, 0x7fffffff, 0x80000000, 0xffffffff});
  }
  void outside(Random& random, Lane& lane) const {
    if (f_.extended)
      aim(lane, random.pick<uint64_t>({0, 0xfffc, kFar, uint64_t{1} << 32,
                                       (uint64_t{1} << 40) + guest::kArenaBase, uint64_t{1} << 63,
                                       ~uint64_t{0} - 15}));
    else
      aim(lane, random.pick<uint64_t>({0, 0xfff0, kFar, 0x7ffffff0, 0xfffffff0}));
  }
  Form f_;
};

}  // namespace

Setting sass_setting(Random& random) {
  return {"sass", "sm_52", {{"sass.align", random.chance(4) ? "trap" : "force"}}, 32};
}

InstructionPtr make_sass(Random& random, const Setting& setting) {
  Form f;
  f.store = random.chance(2);
  f.generic = random.chance(3);
  f.extended = random.chance(2);
  f.trap = setting.policies[0].second == "trap";
  f.size = static_cast<unsigned>(random.below(f.store ? 7 : 8));
  f.cop = static_cast<unsigned>(random.below(4));
  f.guard = static_cast<unsigned>(f.store ? 1 + random.below(2) : random.below(3));
  const int64_t limit = f.generic ? int64_t{1} << 31 : 1 << 23;
  const int64_t anywhere =
      static_cast<int64_t>(random.below(static_cast<uint64_t>(2 * limit))) - limit;
  f.offset =
      random.pick<int64_t>({0, 4, -4, 1, -1, 16, 0x100, limit - 1, -limit, anywhere, anywhere});
  if (f.generic && !f.store && random.chance(6)) {
    f.absolute = true;
    f.offset = static_cast<int64_t>(kLoads.first + random.below(kLoads.size - 16));
  }
  return std::make_shared<Access>(f);
}

}  // namespace lanewise::fuzz
