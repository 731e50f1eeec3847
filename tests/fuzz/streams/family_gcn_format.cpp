// GCN's typed buffer loads and stores, as tests/oracle/gcn_format.hpp has them.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "tests/fuzz/streams/gcn_buffer.hpp"
#include "tests/oracle/gcn_format.hpp"

namespace lanewise::fuzz {
namespace {

namespace spec = oracle::gcn;

constexpr const char* kParts[] = {"x", "xy", "xyz", "xyzw"};
constexpr uint32_t kIdentity = 4 | 5 << 3 | 6 << 6 | 7 << 9;

struct Format {
  bool store = false, mtbuf = false, d16 = false;
  unsigned count = 1;
  unsigned data = 1, number = 0;  ///< MTBUF: in the instruction; MUBUF: what descriptors prefer
};

class Typed : public BufferInstruction {
 public:
  Typed(const BufferForm& form, const Format& format) : BufferInstruction(form), f_(format) {}
  bool writes() const override { return f_.store; }
  void run(const Lane& lane, Memory& memory, std::vector<uint64_t>& out) const override {
    if (!enabled(lane)) return;
    const spec::Descriptor d = spec::decode(words(lane));
    const unsigned dfmt = f_.mtbuf ? f_.data : d.data_format;
    const unsigned nfmt = f_.mtbuf ? f_.number : d.num_format;
    const auto select = f_.mtbuf ? std::array<unsigned, 4>{4, 5, 6, 7} : d.dst_sel;
    const unsigned bytes = spec::layout(dfmt).bytes;
    const spec::Place p = place(lane, 0, bytes);
    const uint64_t at = bytes == 0 ? p.address : spec::aligned(p.address, bytes);
    const bool vi = b_.address.gen == spec::Generation::vi;
    if (!f_.mtbuf && p.in_range && !spec::legal(dfmt, nfmt, f_.store, vi))
      memory.fault(FaultKind::illegal_encoding, 0);
    spec::Rules rules;
    rules.d16 = f_.d16;
    if (f_.store)
      store(memory, out, p.in_range && bytes != 0, at, {dfmt, nfmt, bytes}, select, rules);
    else
      load(memory, out, p.in_range, at, {dfmt, nfmt, bytes}, select, rules);
  }

 protected:
  std::string mnemonic() const override {
    return fmt::format("{}buffer_{}_format_{}{}", f_.mtbuf ? "t" : "", f_.store ? "store" : "load",
                       f_.d16 ? "d16_" : "", kParts[f_.count - 1]);
  }
  unsigned data_registers() const override { return f_.count; }
  std::string format_text() const override {
    return f_.mtbuf ? fmt::format("dfmt:{}, nfmt:{}, ", f_.data, f_.number) : std::string();
  }
  unsigned reach() const override {
    return f_.mtbuf ? std::max(1U, spec::layout(f_.data).bytes) : 16;
  }
  std::shared_ptr<BufferInstruction> with(const BufferForm& form) const override {
    return std::make_shared<Typed>(form, f_);
  }
  void draw_format(Random& random, spec::Words& words) const override {
    const auto u = [](uint64_t v) { return static_cast<uint32_t>(v); };
    const uint32_t select = random.chance(3) ? u(random.below(4096)) : kIdentity;
    const uint32_t data = random.chance(8) ? u(random.below(16)) : u(1 + random.below(14));
    words[3] = (words[3] & ~0x7ffffU) | data << 15 | u(random.below(8)) << 12 | select;
  }
  uint64_t draw_data(Random& random) const override {
    const auto bits = [](float v) { return std::bit_cast<uint32_t>(v); };
    const float scale = random.pick({1.0F, 2.0F, 300.0F, 70000.0F, 1e-5F, 1e-8F});
    const auto wide =
        static_cast<float>(static_cast<double>(random.below(1 << 20)) / (1 << 19) - 1);
    switch (random.below(6)) {
      case 0:
        return random.next() & 0xffffffff;
      case 1:
        return random.pick<uint64_t>({0, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001,
                                      1, 0x7f7fffff, 0x33000000, 0x33000001, 0x387fc000, 0x477ff000,
                                      0x477fefff});
      case 2:  // halfway between codes
        return bits((static_cast<float>(random.below(256)) + 0.5F) /
                    random.pick({1.0F, 255.0F, 127.0F, 1023.0F}));
      case 3:
        return (random.below(1 << 17) - (1 << 16)) & 0xffffffff;
      default:
        return bits(wide * scale);
    }
  }

 private:
  struct Kind {
    unsigned data, number, bytes;
  };
  void load(Memory& memory, std::vector<uint64_t>& out, bool in_range, uint64_t at, const Kind& k,
            const std::array<unsigned, 4>& select, const spec::Rules& rules) const {
    spec::Texel raw{};
    if (in_range && k.bytes != 0) {
      const auto data = memory.load(at, k.bytes);
      for (unsigned b = 0; b < k.bytes; ++b) raw[b / 4] |= uint32_t{data[b]} << (8 * (b % 4));
    }
    const auto got = spec::load(raw, k.data, k.number, select, in_range, rules);
    for (unsigned n = 0; n < f_.count; ++n) out[n] = got[n];
  }
  void store(Memory& memory, const std::vector<uint64_t>& out, bool reaches, uint64_t at,
             const Kind& k, const std::array<unsigned, 4>& select, const spec::Rules& rules) const {
    if (!reaches) return;
    spec::Texel data{};
    for (unsigned n = 0; n < 4; ++n) data[n] = static_cast<uint32_t>(out[n]);
    const auto raw = spec::store(data, f_.count, k.data, k.number, select, rules);
    Bytes bytes{};
    for (unsigned b = 0; b < 16; ++b) bytes[b] = static_cast<uint8_t>(raw[b / 4] >> (8 * (b % 4)));
    memory.store(at, bytes, k.bytes);
  }
  Format f_;
};

}  // namespace

InstructionPtr make_gcn_format(Random& random, const Setting& setting) {
  const auto gen = setting.target == "gfx600"   ? spec::Generation::si
                   : setting.target == "gfx700" ? spec::Generation::ci
                                                : spec::Generation::vi;
  const BufferForm form = random_buffer_form(random, gen, true);
  Format f;
  f.store = random.chance(2);
  f.mtbuf = random.chance(2);
  f.d16 = gen == spec::Generation::vi && random.chance(3);
  f.count = static_cast<unsigned>(1 + random.below(4));
  f.data = static_cast<unsigned>(random.chance(16) ? random.below(16) : 1 + random.below(14));
  f.number = static_cast<unsigned>(random.below(8));
  return std::make_shared<Typed>(form, f);
}

}  // namespace lanewise::fuzz
