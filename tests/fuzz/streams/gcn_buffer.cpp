#include "tests/fuzz/streams/gcn_buffer.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lanewise::fuzz {

namespace spec = oracle::gcn;
namespace {

constexpr uint64_t kLow = 0xffffffff, kBase = (uint64_t{1} << 48) - 1;

void set_words(std::span<Lane> wave, const spec::Words& words) {
  for (Lane& lane : wave)
    for (size_t n = 0; n < 4; ++n) lane.in[n] = words[n];
}
spec::Words with_base(spec::Words w, uint64_t base) {
  w[0] = static_cast<uint32_t>(base);
  w[1] = (w[1] & 0xffff0000) | static_cast<uint32_t>(base >> 32 & 0xffff);
  return w;
}

}  // namespace

/// What a wave's lanes choose their registers from.
struct BufferInstruction::Edges {
  bool tame;
  uint32_t records, stride, unit, step;
};

BufferForm random_buffer_form(Random& random, spec::Generation gen, bool format) {
  BufferForm b;
  b.address.gen = gen;
  b.address.format = format;
  b.address.addr64 = gen != spec::Generation::vi && random.chance(8);
  b.address.idxen = !b.address.addr64 && random.chance(2);
  b.address.offen = !b.address.addr64 && random.chance(2);
  b.address.inst_offset = random.chance(3)
                              ? random.pick<uint32_t>({1, 2, 3, 60, 4092, 4095,
                                                       static_cast<uint32_t>(random.below(4096))})
                              : random.pick<uint32_t>({0, 0, 4, 8});
  static constexpr ScalarOffset kConstants[] = {{ScalarOffset::constant, "0", 0},
                                                {ScalarOffset::constant, "64", 64},
                                                {ScalarOffset::constant, "1", 1},
                                                {ScalarOffset::constant, "-16", 0xfffffff0},
                                                {ScalarOffset::constant, "0.5", 0x3f000000}};
  if (random.chance(3)) b.soffset = kConstants[random.below(std::size(kConstants))];
  if (random.chance(6)) b.soffset = {ScalarOffset::m0, "m0", 0};
  b.glc = random.chance(4);
  b.slc = random.chance(4);
  return b;
}

std::string BufferInstruction::text(unsigned place) const {
  const unsigned s = 8 * place + 8, v = 8 * place + 8;
  const auto& a = b_.address;
  const bool pair = (a.idxen && a.offen) || a.addr64, none = !a.idxen && !a.offen && !a.addr64;
  const std::string vaddr = none   ? "off"
                            : pair ? fmt::format("v[{}:{}]", v, v + 1)
                                   : fmt::format("v{}", v);
  const unsigned n = data_registers();
  const std::string vdata =
      n == 1 ? fmt::format("v{}", v + 4) : fmt::format("v[{}:{}]", v + 4, v + 3 + n);
  std::string t = fmt::format("s_mov_b64 exec, s[{}:{}]\n", s + 6, s + 7);
  if (b_.soffset.kind == ScalarOffset::m0) t += fmt::format("s_mov_b32 m0, s{}\n", s + 4);
  t += fmt::format("{} {}, {}, s[{}:{}], {}{}", mnemonic(), vdata, vaddr, s, s + 3, format_text(),
                   b_.soffset.kind == ScalarOffset::scalar ? fmt::format("s{}", s + 4)
                                                           : std::string(b_.soffset.text));
  if (a.idxen) t += " idxen";
  if (a.offen) t += " offen";
  if (a.addr64) t += " addr64";
  if (a.inst_offset != 0) t += fmt::format(" offset:{}", a.inst_offset);
  if (b_.glc) t += " glc";
  if (b_.slc) t += " slc";
  return t + "\ns_waitcnt vmcnt(0) expcnt(0)\n";
}

std::vector<Value> BufferInstruction::in(unsigned place) const {
  std::vector<Value> values;
  for (const unsigned n : {0U, 1U, 2U, 3U, 4U, 6U, 7U})
    values.push_back({fmt::format("s{}", 8 * place + 8 + n), "", 32});
  for (const unsigned n : {0U, 1U, 4U, 5U, 6U, 7U})
    values.push_back({fmt::format("v{}", 8 * place + 8 + n), "", 32});
  return values;
}

bool BufferInstruction::enabled(const Lane& lane) {
  return (lane.in[kExec + lane.number / 32] >> (lane.number % 32) & 1) != 0;
}
spec::Words BufferInstruction::words(const Lane& lane) {
  spec::Words w{};
  for (size_t n = 0; n < 4; ++n) w[n] = static_cast<uint32_t>(lane.in[n]);
  return w;
}
spec::Operands BufferInstruction::operands(const Lane& lane) const {
  spec::Operands o;
  o.vgpr[0] = static_cast<uint32_t>(lane.in[kAddress]);
  o.vgpr[1] = static_cast<uint32_t>(lane.in[kAddress + 1]);
  o.soffset = b_.soffset.kind == ScalarOffset::constant ? b_.soffset.value
                                                        : static_cast<uint32_t>(lane.in[kSoffset]);
  o.lane = lane.number;
  return o;
}
spec::Place BufferInstruction::place(const Lane& lane, uint64_t element, uint64_t size) const {
  return spec::place(b_.address, spec::decode(words(lane)), operands(lane), element, size);
}

void BufferInstruction::draw_address(Random& random, const Edges& e, Lane& lane) const {
  const auto u = [](uint64_t v) { return static_cast<uint32_t>(v); };
  const uint32_t n = lane.number, last = e.records - 1;
  const uint32_t below_stride = u(random.below(std::max(1U, e.stride)));
  uint32_t index =
      e.tame ? random.pick<uint32_t>({n, n, n, 63 - n, n / 2, u(random.below(64))})
             : random.pick<uint32_t>({n, 0, 1, 15, 16, 63, 64, last, e.records, 0U - n, 0xffffffff,
                                      0x80000000, u(random.below(1 << 16)), u(random.next())});
  uint32_t offset =
      e.tame ? random.pick<uint32_t>({e.step * n, e.step * n, e.step * n, below_stride, 0})
             : random.pick<uint32_t>({0, e.unit * n, e.stride, e.stride - 1, e.stride - e.unit,
                                      below_stride, 0U - b_.address.inst_offset, 0xffffffff,
                                      e.records - e.unit, e.records - e.unit + 1,
                                      e.stride - b_.address.inst_offset, u(random.below(4096)),
                                      u(random.next())});
  if (b_.address.addr64) {
    // Aimed by the base; the full range of the register pair is the first lane's.
    offset = e.tame || n != 0 ? 0 : u(random.next() & 0xffff);
    index = e.tame ? e.step * n : random.pick<uint32_t>({e.step * n, u(random.below(1 << 16)), n});
    lane.in[kAddress] = index;
    lane.in[kAddress + 1] = offset;
    return;
  }
  const bool index_first = b_.address.idxen;
  lane.in[kAddress] = index_first ? index : offset;
  lane.in[kAddress + 1] = offset;
}

void BufferInstruction::draw(Random& random, const Region& region, std::span<Lane> wave) const {
  const auto u = [](uint64_t v) { return static_cast<uint32_t>(v); };
  Edges e{};
  e.tame = !random.chance(3);
  e.unit = std::min(4U, std::max(1U, reach()));
  e.step = std::max(4U, reach());
  e.stride =
      e.tame
          ? random.pick<uint32_t>({0, 4, 8, 16, 16, 20, 32, 64, 256})
          : random.pick<uint32_t>({0, 0, 1, 2, 3, 4, 12, 16, 16380, 16383, u(random.below(16384))});
  e.records = e.tame ? random.pick<uint32_t>(
                           {0xffffffff, 0xffffffff, 0xffffffff, 1 << 20, 1 << 16, 64, 60, 4096})
                     : random.pick<uint32_t>({0, 1, 2, 3, 15, 16, 63, 64, 65, 1000, 0x7fffffff,
                                              0x80000000, 0xfffffffe, 0xffffffff, 64 * e.stride,
                                              64 * e.stride - 1, u(random.next())});
  const uint32_t soffset =
      e.tame
          ? random.pick<uint32_t>({0, 0, 4, 64, 1024})
          : random.pick<uint32_t>({0, 1, 4, e.records, e.records - 1, e.records - 4, e.records + 1,
                                   0xffffffff, u(random.below(4096)), u(random.next())});
  spec::Words w = {
      0, e.stride << 16 | (random.chance(2) ? 1U << 30 : 0) | (random.chance(2) ? 1U << 31 : 0),
      e.records, u(random.next()) & 0x3f7fffff};
  if (random.chance(3)) w[3] |= 1U << 23;
  if (random.chance(24)) w[3] |= u(1 + random.below(3)) << 30;
  draw_format(random, w);
  const uint64_t exec = random.pick<uint64_t>(
      {~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0},
       ~uint64_t{0}, ~uint64_t{0}, random.next() | random.next(), random.next(),
       uint64_t{1} << random.below(64), kLow, 0, 0x8000000000000001});
  for (Lane& lane : wave) {
    lane.in.assign(13, 0);
    lane.in[kSoffset] = soffset;
    lane.in[kExec] = exec & kLow;
    lane.in[kExec + 1] = exec >> 32;
    draw_address(random, e, lane);
    for (size_t n = kData; n < 13; ++n) lane.in[n] = draw_data(random);
  }
  set_words(wave, w);
  aim(random, region, wave);
}

/// Chooses a base that brings one lane into the region.
void BufferInstruction::aim(Random& random, const Region& region, std::span<Lane> wave) const {
  const Lane& chosen = wave[random.below(wave.size())];
  const uint64_t without_base = place(chosen, 0, 4).address;
  const uint64_t misalignment = random.chance(4) ? random.below(4) : 0;
  const uint64_t target =
      region.first + random.below(region.size - 0x20000) / 16 * 16 + misalignment;
  uint64_t base = region.first + random.below(region.size - 0x20000);
  if (b_.address.addr64)
    base = (target - without_base) & kBase;
  else if (without_base <= target)
    base = target - without_base;
  if (random.chance(32))
    base = random.pick<uint64_t>({0, kBase, kFar, kUnallocated, kFar << 8, 0x8000});
  set_words(wave, with_base(words(wave[0]), base));
}

void BufferInstruction::redraw(Random& random, const Region&, std::span<Lane> wave,
                               size_t lane) const {
  const spec::Words w = words(wave[lane]);
  const Edges e{true, w[2], w[1] >> 16 & 0x3fff, 4, std::max(4U, reach())};
  draw_address(random, e, wave[lane]);
}

void BufferInstruction::disable(std::span<Lane> wave, size_t lane) const {
  const unsigned number = wave[lane].number;
  for (Lane& l : wave) l.in[kExec + number / 32] &= ~(uint64_t{1} << (number % 32));
}

void BufferInstruction::move(Lane& lane, int64_t delta) const {
  const spec::Words w = words(lane);
  const uint64_t base = (spec::decode(w).base + static_cast<uint64_t>(delta)) & kBase;
  const spec::Words moved = with_base(w, base);
  for (size_t n = 0; n < 4; ++n) lane.in[n] = moved[n];
}

std::vector<InstructionPtr> BufferInstruction::simpler() const {
  std::vector<InstructionPtr> list;
  const auto add = [&](auto change) {
    BufferForm g = b_;
    change(g);
    list.push_back(with(g));
  };
  if (b_.glc) add([](BufferForm& g) { g.glc = false; });
  if (b_.slc) add([](BufferForm& g) { g.slc = false; });
  if (b_.soffset.kind != ScalarOffset::scalar) add([](BufferForm& g) { g.soffset = {}; });
  if (b_.address.inst_offset != 0) add([](BufferForm& g) { g.address.inst_offset = 0; });
  if (b_.address.idxen) add([](BufferForm& g) { g.address.idxen = false; });
  if (b_.address.offen) add([](BufferForm& g) { g.address.offen = false; });
  return list;
}

}  // namespace lanewise::fuzz
