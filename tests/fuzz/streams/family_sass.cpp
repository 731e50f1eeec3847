// Maxwell's LDG, STG, LD and ST, as tests/oracle/sass_address.hpp has them.
#include <fmt/format.h>

#include <algorithm>

#include "tests/fuzz/streams/sass_address.hpp"

namespace lanewise::fuzz {
namespace {

namespace spec = oracle::sass;

constexpr const char* kSizes[] = {".U8", ".S8", ".U16", ".S16", "", ".64", ".128", ".U.128"};
constexpr const char* kLoadCops[] = {"", ".CG", ".CI", ".CV"};
constexpr const char* kStoreCops[] = {"", ".CG", ".CS", ".WT"};

struct Form {
  bool store = false, generic = false, trap = false;
  unsigned size = 4, cop = 0;
};

class Access : public SassInstruction {
 public:
  Access(const SassAddress& address, const Form& form) : SassInstruction(address), f_(form) {}

  std::string text(unsigned place) const override {
    const unsigned rb = 8 * place + 4;
    const std::string name = fmt::format(
        "{}{}{}{}{}", f_.store ? "ST" : "LD", f_.generic ? "" : "G", a_.extended ? ".E" : "",
        (f_.store ? kStoreCops : kLoadCops)[f_.cop], kSizes[f_.size]);
    const char* tail = f_.generic ? ", PT" : "";
    const std::string guard = guard_text(place), at = address_text(place);
    return f_.store ? fmt::format("{}{} {}, R{}{} ;\n", guard, name, at, rb, tail)
                    : fmt::format("{}{} R{}, {}{} ;\n", guard, name, rb, at, tail);
  }
  bool writes() const override { return f_.store; }

  void run(const Lane& lane, Memory& memory, std::vector<uint64_t>& out) const override {
    if (!enabled(lane)) return;
    const uint64_t ea = effective(lane);
    const uint64_t address = trapping() ? ea : spec::forced(ea, bytes());
    const bool trapped = trapping() && ea % bytes() != 0;
    if (trapped && Memory::verdict(address) == FaultKind::none)
      return memory.fault(FaultKind::misaligned, address);
    if (f_.store) {
      Bytes data{};
      for (unsigned n = 0; n < 16; ++n) data[n] = static_cast<uint8_t>(out[n / 4] >> (8 * (n % 4)));
      memory.store(address, data, bytes());
      return;
    }
    const auto data = memory.load(address, bytes());
    const auto got = spec::loaded(f_.size, data.data());
    for (unsigned n = 0; n < std::max(1U, bytes() / 4); ++n) out[n] = got[n];
  }
  std::vector<InstructionPtr> simpler() const override {
    std::vector<InstructionPtr> list;
    for (const SassAddress& a : simpler_addresses())
      list.push_back(std::make_shared<Access>(a, f_));
    const auto with = [&](const SassAddress& a, auto change) {
      Form g = f_;
      change(g);
      list.push_back(std::make_shared<Access>(a, g));
    };
    if (f_.cop != 0) with(a_, [](Form& g) { g.cop = 0; });
    if (f_.size > 4) with(a_, [](Form& g) { --g.size; });
    SassAddress narrow = a_;
    narrow.field_bits = 24;
    if (f_.generic && !a_.absolute && std::abs(a_.offset) < 0x800000)
      with(narrow, [](Form& g) { g.generic = false; });
    return list;
  }

 private:
  unsigned bytes() const override { return spec::bytes_of(f_.size); }
  /// Only stores can be asked to trap.
  bool trapping() const { return f_.trap && f_.store; }
  Form f_;
};

}  // namespace

Setting sass_setting(Random& random) {
  return {"sass", "sm_52", {{"sass.align", random.chance(4) ? "trap" : "force"}}, 32};
}

InstructionPtr make_sass(Random& random, const Setting& setting) {
  Form f;
  SassAddress a;
  f.store = random.chance(2);
  f.generic = random.chance(3);
  f.trap = setting.policies[0].second == "trap";
  f.size = static_cast<unsigned>(random.below(f.store ? 7 : 8));
  f.cop = static_cast<unsigned>(random.below(4));
  a.extended = random.chance(2);
  a.field_bits = f.generic ? 32 : 24;
  a.guard = static_cast<unsigned>(f.store ? 1 + random.below(2) : random.below(3));
  a.offset = random_sass_offset(random, a.field_bits);
  if (f.generic && !f.store && random.chance(6)) {
    a.absolute = true;
    a.offset = static_cast<int64_t>(kLoads.first + random.below(kLoads.size - 16));
  }
  return std::make_shared<Access>(a, f);
}

}  // namespace lanewise::fuzz
