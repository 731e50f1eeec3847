#include "tests/fuzz/streams/batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "runtime/api/program/policies.hpp"
#include "runtime/script/run/stream.hpp"
#include "runtime/script/run/wrap.hpp"
#include "runtime/script/script.hpp"
#include "tests/fuzz/streams/script_text.hpp"

namespace lanewise::fuzz {
namespace {

constexpr uint64_t kParamsAt = guest::kArenaBase + (uint64_t{6} << 20);
constexpr uint64_t kArenaBytes = uint64_t{56} << 20;
constexpr uint64_t kImageBytes = kLoads.size + kStores.size;

std::vector<uint8_t> make_noise() {
  Random random(0x5eed);
  std::vector<uint32_t> words(kImageBytes / 4);
  for (uint32_t& w : words) {
    w = static_cast<uint32_t>(random.next());
    const uint64_t habit = random.below(8);
    if (habit == 0)
      w = random.pick<uint32_t>({0, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0x7fc00001,
                                 0x7f800001, 1, 0x7c007bff, 0xfc00fbff, 0x7e010001, 0x80ff7f81,
                                 0xffffffff});
    if (habit == 1) w = static_cast<uint32_t>(w & 0x7fffff) + (127U << 23);
  }
  std::vector<uint8_t> bytes(kImageBytes);
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

}  // namespace

const std::vector<uint8_t>& noise() {
  static const std::vector<uint8_t> bytes = make_noise();
  return bytes;
}

struct Batch::Compiled {
  ir::Module module;
  script::HiddenRegisters hidden;
  std::map<std::string, std::string> policies;
};

Batch::Batch(const Family& family, uint64_t seed, unsigned waves, const Mode& mode)
    : mode_(mode), waves_(waves) {
  Random random(seed);
  setting_ = family.setting(random);
  block_ = setting_.wave;
  if (random.chance(4)) block_ = static_cast<unsigned>(1 + random.below(setting_.wave));
  for (unsigned n = 0; n < family.per_program; ++n) code_.push_back(family.make(random, setting_));
  memory_ = noise();
  owner_.resize(memory_.size());
  faults_.resize(threads());
  const bool masks = setting_.wave == 32 && random.chance(2);
  std::vector<char> active(threads(), 1);
  if (masks)
    for (char& a : active) a = random.chance(4) ? 0 : 1;
  partial_ = std::ranges::find(active, 0) != active.end();
  lanes_.resize(code_.size());
  outs_.resize(code_.size());
  for (unsigned place = 0; place < code_.size(); ++place) {
    lanes_[place].resize(threads());
    outs_[place].resize(threads());
    for (size_t n = 0; n < threads(); ++n) {
      lanes_[place][n].active = active[n] != 0;
      lanes_[place][n].number = static_cast<unsigned>(n % block_);
    }
    fill(random, place);
  }
  cases_ = threads() * code_.size();
}

/// A lane is settled when it touches what it may touch: known bytes, or nothing near any memory.
/// Where nothing is checked, nothing may fault.
bool Batch::settle(unsigned place, size_t thread, const Effect& e) {
  if (mode_.check == Memcheck::off && e.memory.kind != FaultKind::none) return false;
  if (mode_.check == Memcheck::arena && e.memory.unallocated) return false;
  const bool writes = code_[place]->writes();
  const auto self = static_cast<uint32_t>(1 + place * threads() + thread);
  for (const Touch& t : e.memory.touches) {
    if (!(writes ? kStores : kLoads).holds(t.address, t.bytes)) return false;
    for (unsigned b = 0; writes && b < t.bytes; ++b) {
      const uint32_t owner = owner_[t.address + b - guest::kArenaBase];
      if (owner != 0 && owner != self) return false;
    }
  }
  if (writes)
    for (const Touch& t : e.memory.touches)
      std::fill_n(owner_.begin() + static_cast<ptrdiff_t>(t.address - guest::kArenaBase), t.bytes,
                  self);
  return true;
}

/// Values for every lane of one instruction, and what they do.
void Batch::fill(Random& random, unsigned place) {
  const Instruction& code = *code_[place];
  const Memory::Image image = [&](uint64_t a) { return noise().at(a - guest::kArenaBase); };
  const Memory::Image blank = [](uint64_t) { return uint8_t{0}; };
  const Region region = code.writes() ? kStores : kLoads;
  for (unsigned w = 0; w < waves_; ++w) {
    const std::span<Lane> wave(lanes_[place].data() + size_t{w} * block_, block_);
    code.draw(random, region, wave);
    for (size_t n = 0; n < wave.size(); ++n) {
      const size_t thread = size_t{w} * block_ + n;
      unsigned tries = 0;
      // Where it goes does not depend on what lies there.
      while (!settle(place, thread, effect(code, wave[n], blank))) {
        if (++tries < 8)
          code.redraw(random, region, wave, n);
        else
          code.disable(wave, n);
      }
    }
    for (size_t n = 0; n < wave.size(); ++n) {
      const size_t thread = size_t{w} * block_ + n;
      const Effect e = effect(code, wave[n], image);
      outs_[place][thread] = e.out;
      reaching_ += e.memory.touches.empty() ? 0 : 1;
      faulting_ += e.memory.kind == FaultKind::none ? 0 : 1;
      for (const auto& [address, byte] : e.memory.written)
        memory_[address - guest::kArenaBase] = byte;
      Fault& f = faults_[thread];
      if (f.kind == FaultKind::none && e.memory.kind != FaultKind::none)
        f = {e.memory.kind, e.memory.fault_address, place};
    }
  }
}

std::string Batch::text() const {
  std::string t;
  for (unsigned n = 0; n < code_.size(); ++n) t += code_[n]->text(n);
  return t;
}

const ir::Program& Batch::program() {
  if (compiled_) return compiled_->module.kernels[0];
  const script::Script parsed = script::parse(batch_script(setting_, code_, block_, partial_));
  if (!parsed.ok())
    throw std::runtime_error("the batch is no script: " + parsed.diagnostics[0].message);
  const script::Case& c = parsed.cases.at(0);
  compiled_ = std::make_shared<Compiled>();
  std::vector<std::string> observed;
  script::HiddenRegisters& hidden = compiled_->hidden;
  for (unsigned place = 0; place < code_.size(); ++place) {
    const std::vector<Value> values = code_[place]->in(place);
    for (size_t n = 0; n < values.size(); ++n) {
      const script::RegisterPart part = script::resolve_register(c, values[n].name, {}).parts.at(0);
      hidden.in.push_back(part);
      if (n + code_[place]->outputs() < values.size()) continue;
      hidden.out.push_back(part);
      observed.push_back(values[n].name);
    }
  }
  const auto* code = std::get_if<script::Code>(&c.steps.at(0));
  host::detail::Compiled made = script::compile_stream(c, *code, observed);
  for (const Diagnostic& d : made.diagnostics)
    if (!d.warning) throw std::runtime_error(d.message + " in\n" + text());
  hidden.partial = partial_;
  hidden.out_at = threads() * hidden.in_stride();
  compiled_->policies =
      host::detail::complete_policies({setting_.policies.begin(), setting_.policies.end()});
  compiled_->module = std::move(made.module);
  ir::Program& program = compiled_->module.kernels.at(0);
  host::detail::apply_policies(program, compiled_->policies);
  script::wrap(program, hidden, {waves_, 1, 1}, {block_, 1, 1});
  return program;
}

std::vector<uint64_t> Batch::records() const {
  std::vector<uint64_t> table;
  for (size_t thread = 0; thread < threads(); ++thread) {
    table.push_back(lanes_[0][thread].active ? 1 : 0);
    for (const auto& lanes : lanes_)
      table.insert(table.end(), lanes[thread].in.begin(), lanes[thread].in.end());
  }
  return table;
}

LaunchRequest Batch::request(std::span<std::byte> record) {
  static const std::vector<Allocation> kAllocations = {{kLoads.first, kLoads.size, "loads"},
                                                       {kStores.first, kStores.size, "stores"}};
  LaunchRequest r;
  r.program = &program();
  r.grid = {waves_, 1, 1};
  r.block = {block_, 1, 1};
  r.params.resize(std::max<size_t>(r.program->param_bytes, 16));
  r.param_address = kParamsAt;
  r.allocations = kAllocations;
  r.memcheck = mode_.check;
  r.wave = mode_.wave;
  r.policies = compiled_->policies;
  r.record = record;
  return r;
}

std::optional<Batch::Mismatch> Batch::run(Engine& engine) {
  program();
  const std::vector<uint64_t> in = records();
  std::vector<uint64_t> out(threads() * compiled_->hidden.out_stride() / 8);
  engine.reserve(kArenaBytes);
  engine.write(guest::kArenaBase, std::as_bytes(std::span(noise())));
  std::vector<uint64_t> record = in;
  record.resize(in.size() + out.size());
  const LaunchRequest asked = request(std::as_writable_bytes(std::span(record)));
  engine.write(kParamsAt, asked.params);
  const LaunchResult result = engine.launch(asked);
  if (mode_.wave != WaveMode::automatic && result.wave_mode != name(mode_.wave) &&
      engine.info().type != "reference")
    return Mismatch{fmt::format("it ran in {} mode: {}", result.wave_mode, result.wave_reason), {}};
  std::copy_n(record.begin() + static_cast<ptrdiff_t>(in.size()), out.size(), out.begin());
  if (auto m = compare_registers(out)) return m;
  std::vector<uint8_t> memory(memory_.size());
  engine.read(guest::kArenaBase, std::as_writable_bytes(std::span(memory)));
  if (auto m = compare_memory(memory)) return m;
  return compare_faults(result);
}

Repro Batch::suspect(unsigned place, size_t thread) const {
  Repro r{setting_, mode_, code_[place], {}, {}};
  const size_t first = thread / block_ * block_;
  for (size_t n = first; n < first + block_; ++n) {
    r.wave.push_back(lanes_[place][n]);
    const Effect e = effect(*r.code, r.wave.back(), [](uint64_t) { return uint8_t{0}; });
    for (const Touch& t : e.memory.touches)
      for (unsigned b = 0; b < t.bytes; ++b)
        r.bytes[t.address + b] = noise()[t.address + b - guest::kArenaBase];
  }
  // The lane that was found stands first for the shrinker, which knows it by its number.
  std::rotate(r.wave.begin(), r.wave.begin() + static_cast<ptrdiff_t>(thread - first),
              r.wave.end());
  return r;
}

Batch::Mismatch Batch::mismatch(const std::string& what, std::optional<unsigned> place,
                                size_t thread) const {
  Mismatch m{what, {}};
  if (place) m.suspects.push_back(suspect(*place, thread));
  for (unsigned n = 0; n < code_.size(); ++n)
    if (n != place) m.suspects.push_back(suspect(n, thread));
  return m;
}

std::optional<Batch::Mismatch> Batch::compare_registers(const std::vector<uint64_t>& got) const {
  const size_t stride = compiled_->hidden.out_stride() / 8;
  for (size_t thread = 0; thread < threads(); ++thread) {
    size_t at = thread * stride;
    if (got[at++] != 1)
      return mismatch(fmt::format("thread {} did not come to its end", thread), {}, thread);
    for (unsigned place = 0; place < code_.size(); ++place) {
      const std::vector<Value> values = code_[place]->in(place);
      const size_t first = values.size() - code_[place]->outputs();
      for (size_t n = first; n < values.size(); ++n, ++at) {
        const unsigned bits = values[n].bits;
        const uint64_t all = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
        const uint64_t want = outs_[place][thread][n - first];
        if ((got[at] & all) == want) continue;
        return mismatch(fmt::format("{} is {:#x} in thread {}, expected {:#x}: {}", values[n].name,
                                    got[at] & all, thread, want, code_[place]->text(place)),
                        place, thread);
      }
    }
  }
  return std::nullopt;
}

std::optional<Batch::Mismatch> Batch::compare_memory(const std::vector<uint8_t>& got) const {
  const auto [a, b] = std::mismatch(got.begin(), got.end(), memory_.begin());
  if (a == got.end()) return std::nullopt;
  const auto at = static_cast<size_t>(a - got.begin());
  const std::string what = fmt::format("byte {:#x} of memory is {:#04x}, expected {:#04x}",
                                       guest::kArenaBase + at, *a, *b);
  if (owner_[at] == 0) return Mismatch{what + ", and nobody writes there", {}};
  const size_t who = owner_[at] - 1;
  const auto place = static_cast<unsigned>(who / threads());
  return mismatch(what + ": " + code_[place]->text(place), place, who % threads());
}

/// Devices report the first faults to come: each must be right, and few enough must all be there.
std::optional<Batch::Mismatch> Batch::compare_faults(const LaunchResult& got) const {
  std::vector<char> reported(threads(), 0);
  for (const lanewise::Fault& g : got.faults) {
    const size_t thread = size_t{g.group[0]} * block_ + g.lane;
    const Fault& f = faults_.at(thread);
    reported[thread] = 1;
    if (g.kind == f.kind && g.address == f.address) continue;
    return mismatch(fmt::format("thread {} faults with {} at {:#x}, expected {} at {:#x}: {}",
                                thread, name(g.kind), g.address, name(f.kind), f.address,
                                code_[f.place]->text(f.place)),
                    f.place, thread);
  }
  uint64_t expected = 0;
  std::optional<size_t> missing;
  for (size_t thread = 0; thread < threads(); ++thread) {
    if (faults_[thread].kind == FaultKind::none) continue;
    ++expected;
    if (reported[thread] == 0) missing = thread;
  }
  if (got.fault_count == expected && (!missing || expected > kMaxFaults)) return std::nullopt;
  const std::string what = fmt::format("{} threads fault, expected {}", got.fault_count, expected);
  if (missing && got.fault_count <= kMaxFaults)
    return mismatch(what, faults_[*missing].place, *missing);
  // More than are reported: it can be anyone.
  Mismatch all{what, {}};
  for (unsigned wave = 0; wave < waves_; ++wave)
    for (unsigned place = 0; place < code_.size(); ++place)
      all.suspects.push_back(suspect(place, size_t{wave} * block_));
  return all;
}

}  // namespace lanewise::fuzz
