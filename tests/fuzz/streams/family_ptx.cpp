// PTX ld and st of global and generic memory, as tests/oracle/ptx_memory.hpp has them.
#include <fmt/format.h>

#include <algorithm>

#include "tests/fuzz/streams/model.hpp"
#include "tests/oracle/ptx_memory.hpp"

namespace lanewise::fuzz {
namespace {

namespace spec = oracle::ptx;

constexpr const char* kLetters = "busf";
struct Form {
  bool store = false, generic = false;
  spec::Type type{spec::Class::untyped, 32};
  spec::Class reg = spec::Class::untyped;
  unsigned width = 32, elements = 1, guard = 0, offsets = 0;
  unsigned sinks = 0;   ///< elements that are `_`
  std::string flavour;  ///< ".volatile", ".relaxed.gpu", ".cg", ...
  int64_t first = 0, second = 0;
  spec::Align align = spec::Align::trap;
};
std::string spelled(spec::Class c, unsigned bits) {
  return fmt::format("{}{}", kLetters[static_cast<unsigned>(c)], bits);
}

/// Values: address, guard, data registers.
class Access : public Instruction {
 public:
  explicit Access(const Form& form) : f_(form) {}

  std::string text(unsigned place) const override {
    std::string data;
    for (unsigned n = 0; n < f_.elements; ++n)
      data +=
          (n == 0 ? "" : ", ") + (sunk(n) ? std::string("_") : fmt::format("%d{}_{}", place, n));
    if (f_.elements > 1) data = fmt::format("{{{}}}", data);
    std::string at = fmt::format("[%a{}", place);
    if (f_.offsets > 0) at += fmt::format("+{}", f_.first);
    if (f_.offsets > 1) at += fmt::format("+{}", f_.second);
    at += "]";
    const std::string name =
        fmt::format("{}{}{}{}.{}", f_.store ? "st" : "ld", f_.flavour, f_.generic ? "" : ".global",
                    f_.elements > 1 ? fmt::format(".v{}", f_.elements) : "",
                    spelled(f_.type.cls, f_.type.bits));
    const std::string guard =
        f_.guard == 0 ? "" : fmt::format("@{}%p{} ", f_.guard == 1 ? "" : "!", place);
    return f_.store ? fmt::format("{}{} {}, {};\n", guard, name, at, data)
                    : fmt::format("{}{} {}, {};\n", guard, name, data, at);
  }
  std::vector<Value> in(unsigned place) const override {
    std::vector<Value> v = {{fmt::format("%a{}", place), "b64", 64},
                            {fmt::format("%p{}", place), "pred", 1}};
    for (unsigned n = 0; n < f_.elements; ++n)
      v.push_back({fmt::format("%d{}_{}", place, n), spelled(f_.reg, f_.width), f_.width});
    return v;
  }
  unsigned outputs() const override { return f_.elements; }
  bool writes() const override { return f_.store; }

  void draw(Random& random, const Region& region, std::span<Lane> wave) const override {
    const uint64_t start = region.first + random.below(region.size - 0x10000);
    const unsigned habit = static_cast<unsigned>(random.below(4));
    for (size_t n = 0; n < wave.size(); ++n) {
      Lane& lane = wave[n];
      lane.in = {0, random.chance(8) == (f_.guard == 2) ? 1ULL : 0ULL};
      for (unsigned k = 0; k < f_.elements; ++k) lane.in.push_back(random_value(random));
      const uint64_t step = habit == 0 ? bytes() : habit == 1 ? 128 : 32;
      const uint64_t unit = f_.align == spec::Align::trap && !random.chance(6) ? bytes() : 1;
      uint64_t address =
          habit == 3 ? region.first + random.below(region.size - 64) : start + n * step;
      address = address / unit * unit;
      if (random.chance(24))
        address = random.pick<uint64_t>({0, 0xfff8, kFar, kUnallocated, uint64_t{1} << 32,
                                         uint64_t{1} << 63, ~uint64_t{0} - 31,
                                         (uint64_t{1} << 32) + guest::kArenaBase});
      aim(lane, address);
    }
  }
  void redraw(Random& random, const Region& region, std::span<Lane> wave,
              size_t lane) const override {
    aim(wave[lane], (region.first + random.below(region.size - 64)) / 32 * 32);
  }
  void disable(std::span<Lane> wave, size_t lane) const override {
    wave[lane].in[1] = f_.guard == 2 ? 1 : 0;
  }
  void run(const Lane& lane, Memory& memory, std::vector<uint64_t>& out) const override {
    if (f_.guard != 0 && (lane.in[1] != 0) != (f_.guard == 1)) return;
    const spec::Place p = spec::aligned(effective(lane), bytes(), f_.align);
    const FaultKind mapped = Memory::verdict(p.address);
    const bool faults = p.faults && mapped == FaultKind::none;
    if (faults) memory.fault(FaultKind::misaligned, p.address);
    const unsigned size = spec::bytes_of(f_.type);
    Bytes data{};
    if (f_.store) {
      uint32_t which = 0;
      for (unsigned n = 0; n < bytes(); ++n) {
        data[n] = spec::stored(out[n / size], n % size);
        if (!sunk(n / size)) which |= uint32_t{1} << n;
      }
      if (!faults) memory.store(p.address, data, bytes(), which);
      return;
    }
    if (!faults) data = memory.load(p.address, bytes());
    for (unsigned n = 0; n < f_.elements; ++n) {
      if (sunk(n)) continue;
      uint64_t value = 0;
      for (unsigned b = 0; b < size; ++b) value |= uint64_t{data[n * size + b]} << (8 * b);
      out[n] = spec::loaded(f_.type, f_.width, value);
    }
  }
  void move(Lane& lane, int64_t delta) const override {
    lane.in[0] += static_cast<uint64_t>(delta);
  }
  std::vector<InstructionPtr> simpler() const override {
    std::vector<InstructionPtr> list;
    const auto with = [&](auto change) {
      Form g = f_;
      change(g);
      list.push_back(std::make_shared<Access>(g));
    };
    if (f_.guard != 0) with([](Form& g) { g.guard = 0; });
    if (!f_.flavour.empty()) with([](Form& g) { g.flavour = ""; });
    if (f_.sinks != 0) with([](Form& g) { g.sinks &= g.sinks - 1; });
    if (f_.offsets > 0) with([](Form& g) { --g.offsets; });
    if (f_.generic) with([](Form& g) { g.generic = false; });
    return list;
  }

 private:
  unsigned bytes() const { return spec::bytes_of(f_.type, f_.elements); }
  bool sunk(unsigned element) const { return (f_.sinks >> element & 1) != 0; }
  int64_t offset() const {
    return (f_.offsets > 0 ? f_.first : 0) + (f_.offsets > 1 ? f_.second : 0);
  }
  uint64_t effective(const Lane& lane) const { return spec::at_register(lane.in[0], offset()); }
  void aim(Lane& lane, uint64_t address) const {
    lane.in[0] = address - static_cast<uint64_t>(offset());
  }
  uint64_t random_value(Random& random) const {
    const uint64_t v =
        random.chance(4) ? random.pick<uint64_t>({0, ~uint64_t{0}, uint64_t{1} << 63, 0x80, 0x8000,
                                                  0x80000000, 0x7f800001, 0x7ff0000000000001})
                         : random.next();
    return f_.width == 64 ? v : v & ((uint64_t{1} << f_.width) - 1);
  }
  Form f_;
};

spec::Align rule(const std::string& name) {
  return name == "trap"    ? spec::Align::trap
         : name == "force" ? spec::Align::force
                           : spec::Align::any;
}

}  // namespace

Setting ptx_setting(Random& random) {
  return {"ptx",
          random.pick({"sm_90", "sm_100"}),
          {{"ptx.align", random.pick({"trap", "trap", "force", "any"})}},
          32};
}

InstructionPtr make_ptx(Random& random, const Setting& setting) {
  Form f;
  f.store = random.chance(2);
  f.generic = random.chance(3);
  f.align = rule(setting.policies[0].second);
  do {
    f.type = {static_cast<spec::Class>(random.below(4)), random.pick({8U, 16U, 32U, 64U})};
  } while (f.type.cls == spec::Class::floating && f.type.bits < 32);
  do {
    f.reg = static_cast<spec::Class>(random.below(4));
    f.width = random.pick({16U, 32U, 64U});
  } while (!spec::register_fits(f.type, f.reg, f.width) ||
           (f.reg == spec::Class::floating && f.width < 32));
  do {
    f.elements = random.pick({1U, 1U, 2U, 4U, 8U});
  } while (!spec::fits(f.type, f.elements, setting.target == "sm_100"));
  // Only 256-bit vectors have elements that go nowhere, and one that goes somewhere.
  if (f.type.bits * f.elements == 256 && random.chance(2))
    f.sinks = static_cast<unsigned>(random.below((1U << f.elements) - 1));
  f.guard = static_cast<unsigned>(f.store ? 1 + random.below(2) : random.below(3));
  f.flavour = f.store ? random.pick({"", "", ".volatile", ".relaxed.gpu", ".release.sys", ".cg",
                                     ".cs", ".wt", ".wb", ".weak"})
                      : random.pick({"", "", ".volatile", ".relaxed.cta", ".acquire.gpu", ".ca",
                                     ".cg", ".cs", ".lu", ".cv", ".weak"});
  f.offsets = static_cast<unsigned>(random.below(3));
  const auto offset = [&] {
    return random.pick<int64_t>({0, 4, -4, 1, -1, 4095, 0x7fffffff, -0x80000000LL, 0xffffffffLL,
                                 static_cast<int64_t>(random.below(1 << 20)) - (1 << 19)});
  };
  f.first = offset();
  f.second = offset();
  return std::make_shared<Access>(f);
}

}  // namespace lanewise::fuzz
