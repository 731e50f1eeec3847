// The mock's clock for kernels that time loads: they are known by their names and their text, and
// their loads go through caches of a preset. What they store is then what a card of that shape
// would have measured.
#include <cstring>
#include <memory>

#include "runtime/cache/dialects/policy_word.hpp"
#include "runtime/cache/engine/engine.hpp"
#include "runtime/trace/site_text.hpp"
#include "tests/hardware/mock/state.hpp"

namespace mock {
namespace {

constexpr uint32_t kL1 = 40, kL2 = 270, kMemory = 600, kConstant = 28, kConstant15 = 98;
constexpr uint64_t kPage = 1 << 16;

class Caches {
 public:
  explicit Caches(const std::string& preset) : engine_(cache::load_preset(preset), nullptr) {
    engine_.set_site(&site_);
  }
  uint64_t l2_bytes() const { return engine_.preset().l2.bytes(); }
  void kernel_begin() { engine_.kernel_begin(kernel_++); }

  /// One lane's access, in cycles; `form` as PTX has it.
  uint32_t run(const std::string& form, uint64_t address, bool whole_line = false,
               uint64_t policy = 0) {
    const std::string key = form + " " + std::to_string(policy);
    auto it = plans_.find(key);
    if (it == plans_.end()) {
      trace::Site site = trace::site_from_text(trace::Dialect::ptx, form);
      site.hinted = policy != 0;
      site.policy = policy;
      it = plans_.emplace(key, Planned{site, engine_.plan(site, space_of(form))}).first;
    }
    const cache::SiteCounters before = site_;
    const uint64_t missed = engine_.counters(cache::Cache::constant).read_misses;
    cache::Access a;
    a.block = address & ~uint64_t{127};
    a.mask =
        whole_line ? ~cache::Mask{} : cache::byte_range(static_cast<unsigned>(address % 128), 4);
    if (it->second.site.kind == trace::OpKind::control)
      engine_.control(
          form.ends_with("L1") ? cache::Effect::prefetch_l1 : cache::Effect::prefetch_l2,
          it->second.site, false, a);
    else
      engine_.run(it->second.plan, a);
    if (space_of(form) == trace::Space::constant)
      return engine_.counters(cache::Cache::constant).read_misses == missed ? kConstant
                                                                            : kConstant15;
    if (site_.l2_misses != before.l2_misses) return kMemory;
    return site_.l2_hits != before.l2_hits ? kL2 : kL1;
  }

 private:
  struct Planned {
    trace::Site site;
    cache::Plan plan;
  };
  static trace::Space space_of(const std::string& form) {
    return form.starts_with("ld.const") ? trace::Space::constant : trace::Space::global;
  }
  cache::SiteCounters site_;
  cache::Engine engine_;
  std::map<std::string, Planned> plans_;
  uint32_t kernel_ = 0;
};

std::unique_ptr<Caches>& holder() {
  static std::unique_ptr<Caches> all;
  return all;
}
Caches* caches() {
  const std::string preset = setting("MOCK_CUDA_CACHE");
  if (holder() == nullptr && !preset.empty()) holder() = std::make_unique<Caches>(preset);
  return holder().get();
}

/// Memory as a kernel sees it, a page at a time.
class Reader {
 public:
  uint32_t word(uint64_t address) {
    const uint64_t page = address / kPage * kPage;
    auto& bytes = pages_[page];
    if (bytes.empty()) load(bytes, page, address);
    uint32_t value = 0;
    std::memcpy(&value, bytes.data() + (address - page), sizeof value);
    return value;
  }

 private:
  static void load(std::vector<std::byte>& bytes, uint64_t page, uint64_t address) {
    bytes.resize(kPage);
    for (const auto& [at, symbol] : state().symbols)
      if (address >= at && address < at + symbol.size) {
        const uint64_t from = std::max(page, at),
                       to = std::min(page + kPage, at + symbol.bytes.size());
        if (from < to)
          std::memcpy(bytes.data() + (from - page), symbol.bytes.data() + (from - at), to - from);
        return;
      }
    auto it = state().buffers.upper_bound(address);
    if (it == state().buffers.begin()) return;
    --it;
    const uint64_t from = std::max(page, it->first),
                   to = std::min(page + kPage, it->first + it->second.size());
    if (from < to)
      it->second.read(std::span(bytes.data() + (from - page), to - from), from - it->first);
  }
  std::map<uint64_t, std::vector<std::byte>> pages_;
};

template <typename T>
T value_of(void** arguments, size_t i) {
  T value{};
  std::memcpy(&value, arguments[i], sizeof value);
  return value;
}

template <typename T>
void give(uint64_t address, const std::vector<T>& values) {
  if (auto at = buffer_at(address, values.size() * sizeof(T)))
    at->first.write(std::as_bytes(std::span(values)), at->second);
}

constexpr unsigned kUnrolled = 8;  ///< loads of one iteration of a chase

void run_chase(Caches& c, const Function& f, void** arguments) {
  const bool constant = f.name == "chase_const";
  const std::string form = constant               ? "ld.const.u32"
                           : f.name == "chase_ca" ? "ld.global.ca.u32"
                           : f.name == "chase_nc" ? "ld.global.nc.u32"
                                                  : "ld.global.cg.u32";
  const uint64_t base =
      constant ? f.module->module.symbol("table").address : value_of<uint64_t>(arguments, 0);
  auto at = value_of<uint32_t>(arguments, 2);
  const auto warm = value_of<uint32_t>(arguments, 3), timed = value_of<uint32_t>(arguments, 4);
  Reader memory;
  uint64_t cycles = 0;
  for (uint64_t n = 0; n < uint64_t{kUnrolled} * (warm + timed); ++n) {
    const uint32_t took = c.run(form, base + at);
    if (n >= uint64_t{kUnrolled} * warm) cycles += took;
    at = memory.word(base + at);
  }
  give(value_of<uint64_t>(arguments, 1), std::vector<uint64_t>{cycles});
}

/// The instruction between two marks of a text, without its operands.
std::string form_between(const std::string& text, const std::string& from, const std::string& to) {
  const size_t begin = text.find(from) + from.size(), end = text.find(to, begin);
  const std::string code = text.substr(begin, end - begin);
  const size_t first = code.find_first_not_of(" \n");
  if (first == std::string::npos) return {};
  return code.substr(first, code.find(' ', first) - first);
}

void run_operators(Caches& c, const Function& f, void** arguments) {
  constexpr uint32_t kLines = 512, kLine = 128;  // operators.cpp
  const std::string& text = f.module->text;
  const std::string fill = form_between(text, "FILL:", "add.u64"),
                    ask = form_between(text, "%clock64;", "st.shared");
  const auto lines = value_of<uint64_t>(arguments, 0);
  if (!fill.empty() && fill != "add.u64")
    for (uint32_t n = 0; n < kLines; ++n) c.run(fill, lines + uint64_t{n} * kLine);
  std::vector<uint32_t> times;
  for (uint32_t n = 0; n < kLines; ++n) times.push_back(c.run(ask, lines + uint64_t{n} * kLine));
  give(value_of<uint64_t>(arguments, 1), times);
}

uint64_t policy_in(const std::string& text) {
  const size_t at = text.find("createpolicy.fractional.L2::");
  if (at == std::string::npos) return 0;
  const std::string line = text.substr(at, text.find(';', at) - at);
  const size_t second = line.find(".L2::", sizeof "createpolicy.fractional.L2::");
  const auto class_in = [](const std::string& part) {
    return part.find("evict_first") != part.npos       ? cache::Class::first
           : part.find("evict_last") != part.npos      ? cache::Class::last
           : part.find("evict_unchanged") != part.npos ? cache::Class::unchanged
                                                       : cache::Class::normal;
  };
  return cache::fractional_policy(
      class_in(line.substr(0, second)),
      second == line.npos ? cache::Class::unchanged : class_in(line.substr(second)),
      std::stod(line.substr(line.rfind(' '))));
}

void run_sweep(Caches& c, const Function& f, uint32_t groups, void** arguments) {
  constexpr uint64_t kGroupBytes = uint64_t{256} * 32, kLine = 128;
  const uint64_t policy = policy_in(f.module->text), base = value_of<uint64_t>(arguments, 0);
  for (uint64_t at = 0; at < groups * kGroupBytes; at += kLine)
    c.run("ld.global.cg.u32", base + at, true, policy);
}

}  // namespace

bool run_timed(const Function& f, uint32_t groups, void** arguments) {
  Caches* const c = caches();
  if (c == nullptr) return false;
  const bool operators = f.module->text.find("\nFILL:") != std::string::npos;
  if (!f.name.starts_with("chase_") && f.name != "sweep" && !operators) return false;
  c->kernel_begin();
  if (operators)
    run_operators(*c, f, arguments);
  else if (f.name == "sweep")
    run_sweep(*c, f, groups, arguments);
  else
    run_chase(*c, f, arguments);
  return true;
}

void reset_caches() {
  holder().reset();
}

uint64_t modelled_l2() {
  return caches() == nullptr ? 0 : caches()->l2_bytes();
}

}  // namespace mock
