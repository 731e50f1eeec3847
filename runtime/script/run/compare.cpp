// Expectations: what is expected against what is there, with the places that differ.
#include <fmt/format.h>

#include <cstring>

#include "runtime/script/run/case_run.hpp"

namespace lanewise::script {
namespace {

constexpr uint64_t kShown = 8;

/// How values of this expectation are shown: as asked, else as the expected value is.
std::optional<ir::Type> shown_as(std::optional<ir::Type> as, const Value& v, unsigned bits) {
  if (as || !v.is_real) return as;
  return bits == 16 ? ir::Type::f16 : bits == 32 ? ir::Type::f32 : ir::Type::f64;
}

/// words(...) is compared register by register, however few there are.
bool gives_words(const Expr& e) {
  return e.kind == Expr::Kind::call && e.text == "words";
}

std::string words_text(const std::vector<uint32_t>& words) {
  std::string out;
  for (const uint32_t w : words) out += fmt::format("{}0x{:08x}", out.empty() ? "" : " ", w);
  return out;
}

}  // namespace

void Differences::add(const std::string& where, const std::string& expected,
                      const std::string& actual) {
  if (count_++ < kShown)
    shown_ += fmt::format("\n    {}: expected {}, found {}", where, expected, actual);
}

std::string Differences::text(const std::string& what, uint64_t compared, const char* unit) const {
  std::string out = fmt::format("{}: {} of {} {} differ{}", what, count_, compared, unit, shown_);
  if (count_ > kShown) out += fmt::format("\n    ... and {} more", count_ - kShown);
  return out;
}

std::string CaseRun::place(uint64_t thread) const {
  const uint64_t threads = ran_.block.total();
  if (ran_.grid.total() == 1) return fmt::format("lane {}", thread % threads);
  return fmt::format("group {} lane {}", thread / threads, thread % threads);
}

bool CaseRun::in_set(const LaneSet& lanes, uint64_t thread) {
  const bool active = !ran_.stream || active_[thread] != 0;
  if (!lanes.holds(thread % ran_.block.total(), active)) return false;
  return lanes.where == nullptr || evaluate(*lanes.where, thread_env(thread)).truth();
}

uint64_t CaseRun::register_out(const Register& r, uint64_t thread) const {
  uint64_t value = 0;
  for (size_t n = 0; n < r.parts.size() && n < 2; ++n) {
    size_t slot = 0;
    while (hidden_.out[slot].ir_name != r.parts[n].ir_name) ++slot;
    uint64_t word = 0;
    std::memcpy(&word, out_.data() + thread * hidden_.out_stride() + 8 * (slot + 1), 8);
    value |= word << (32 * n);
  }
  return r.bits >= 64 ? value : value & ((uint64_t{1} << r.bits) - 1);
}

void CaseRun::expect(const ExpectRegister& e) {
  const Register& r = observed_.at(e.name);
  if (e.as && bits_of(*e.as) != r.bits)
    fail(e.loc, fmt::format("'{}' has {} bits, {} has {}", e.name, r.bits, type_name(*e.as),
                            bits_of(*e.as)));
  if (r.exec) return expect_exec(e);
  Differences differences;
  uint64_t compared = 0;
  for (uint64_t thread = 0; thread < ran_.threads(); ++thread) {
    if (!in_set(e.lanes, thread)) continue;
    ++compared;
    const Env env = thread_env(thread);
    uint64_t finished = 0;
    std::memcpy(&finished, out_.data() + thread * hidden_.out_stride(), 8);
    if (r.bits > 64 || gives_words(*e.value)) {
      const auto words = evaluate_words(*e.value, env, r.words());
      std::vector<uint32_t> actual;
      for (const RegisterPart& part : r.parts) {
        Register one;
        one.parts = {part};
        actual.push_back(static_cast<uint32_t>(register_out(one, thread)));
      }
      if (engine_ != nullptr && (words != actual || finished == 0))
        differences.add(place(thread), words_text(words), words_text(actual));
      continue;
    }
    const Value v = evaluate(*e.value, env);
    const uint64_t wanted = r.bits == 1
                                ? uint64_t{v.truth()}
                                : encode(v, r.bits, e.as ? takes(*e.as) : r.takes, e.value->loc);
    if (engine_ == nullptr) continue;
    const auto as = shown_as(e.as ? e.as : r.as, v, r.bits);
    const uint64_t actual = register_out(r, thread);
    if (finished == 0) {
      differences.add(place(thread), show(wanted, r.bits, as), "a lane that never came to its end");
    } else if (v.any_nan() ? !is_nan_bits(actual, r.bits) : actual != wanted) {
      differences.add(place(thread), v.any_nan() ? "a NaN" : show(wanted, r.bits, as),
                      show(actual, r.bits, as));
    }
  }
  if (compared == 0) fail(e.loc, "this expectation is about no lane at all");
  if (differences.count() != 0) failure(e.loc, differences.text(e.name, compared, "lanes"));
}

/// One mask per wave, made of the lanes' own bits.
void CaseRun::expect_exec(const ExpectRegister& e) {
  const Register& r = observed_.at(e.name);
  Differences differences;
  uint64_t waves = 0;
  const uint64_t threads = ran_.block.total();
  for (uint64_t group = 0; group < ran_.grid.total(); ++group) {
    for (uint64_t first = 0; first < threads; first += ran_.wave_lanes) {
      const Env env = thread_env(group * threads + first);
      const uint64_t wanted =
          encode(evaluate(*e.value, env), ran_.wave_lanes, Takes::integer, e.loc);
      uint64_t actual = 0;
      for (uint64_t lane = 0; lane < ran_.wave_lanes && first + lane < threads; ++lane)
        actual |= register_out(r, group * threads + first + lane) << lane;
      ++waves;
      if (engine_ != nullptr && wanted != actual)
        differences.add(fmt::format("group {} wave {}", group, first / ran_.wave_lanes),
                        fmt::format("0x{:016x}", wanted), fmt::format("0x{:016x}", actual));
    }
  }
  if (differences.count() != 0) failure(e.loc, differences.text(e.name, waves, "waves"));
}

std::vector<std::byte> CaseRun::read_buffer(const std::string& name) {
  const Array& a = names_.arrays.at(name);
  std::vector<std::byte> bytes(a.bytes.size());
  if (engine_ != nullptr && !bytes.empty()) engine_->read(a.address, bytes);
  return bytes;
}

void CaseRun::expect(const ExpectMemory& e) {
  const Array& a = names_.arrays.at(e.buffer);
  const ir::Type type = e.as.value_or(a.type);
  const unsigned size = ir::size_of(type), bits = bits_of(type);
  const uint64_t count = a.bytes.size() / size;
  uint64_t first = 0, last = count - 1;
  if (e.first != nullptr) {
    const Value from = evaluate(*e.first, plain_env()), to = evaluate(*e.last, plain_env());
    if (from.is_real || to.is_real) fail(e.loc, "element numbers are integers");
    first = from.bits;
    last = to.bits;
  }
  if (count == 0 || first > last || last >= count)
    fail(e.loc, fmt::format("elements {} to {} are not in '{}' of {} {} elements",
                            static_cast<int64_t>(first), static_cast<int64_t>(last), e.buffer,
                            count, type_name(type)));
  const bool list = e.value != nullptr && e.value->kind == Expr::Kind::list;
  if (list && e.value->args.size() != last - first + 1)
    fail(e.loc, fmt::format("{} elements are expected to be a list of {}", last - first + 1,
                            e.value->args.size()));
  const std::vector<std::byte> now = read_buffer(e.buffer);
  Differences differences;
  for (uint64_t i = first; i <= last; ++i) {
    Value v = read_element(a.bytes, i * size, type);
    uint64_t wanted = v.bits;
    if (e.value != nullptr) {
      Env env = plain_env();
      env.set(Var::i, i);
      env.list_index = i - first;
      v = evaluate(*e.value, env);
      wanted = encode(v, bits, takes(type), e.value->loc);
    }
    if (engine_ == nullptr) continue;
    uint64_t actual = 0;
    std::memcpy(&actual, now.data() + i * size, size);
    if (bits < 64) wanted &= (uint64_t{1} << bits) - 1;
    if (v.any_nan() ? !is_nan_bits(actual, bits) : actual != wanted)
      differences.add(fmt::format("[{}]", i), v.any_nan() ? "a NaN" : show(wanted, bits, type),
                      show(actual, bits, type));
  }
  if (differences.count() != 0)
    failure(e.loc, differences.text(e.buffer, last - first + 1, "elements"));
}

/// Counts and addresses of expectations about caches do not depend on the lane.
uint64_t CaseRun::plain_integer(const Expr& e) {
  const Value v = evaluate(e, plain_env());
  if (v.is_real) fail(e.loc, "expected an integer");
  return v.bits;
}

void CaseRun::expect(const ExpectCache& e) {
  const uint64_t address = e.address != nullptr ? plain_integer(*e.address) : 0;
  const uint64_t wanted = e.value != nullptr ? plain_integer(*e.value) : 0;
  if (engine_ == nullptr) return;
  std::string what = fmt::format("cache {} {}", e.cache, e.name);
  if (e.sm) what = fmt::format("cache {} sm {} {}", e.cache, *e.sm, e.name);
  if (e.address != nullptr) what += fmt::format(" {}0x{:x}", e.local ? "local " : "", address);
  if (e.value != nullptr) {
    const uint64_t n = watch_->count(e, address);
    if (n != wanted)
      failure(e.loc,
              fmt::format("{}: expected {}, found {}", what, static_cast<int64_t>(wanted), n));
    return;
  }
  const cache::LineState found = watch_->line(e, address);
  const bool holds = e.what == ExpectCache::What::holds;
  if (found.present == holds && (!e.dirty || found.dirty == *e.dirty)) return;
  const std::string_view state = !e.dirty ? "" : *e.dirty ? ", dirty" : ", clean";
  failure(e.loc, fmt::format("{}: expected {}{}, found {}", what, holds ? "present" : "absent",
                             holds ? state : "",
                             !found.present ? "absent"
                             : found.dirty  ? "present, dirty"
                                            : "present, clean"));
}

std::string CaseRun::describe(const Fault& f) const {
  std::string out(name(f.kind));
  if (f.size != 0) out += fmt::format(", {} bytes at 0x{:x}", f.size, f.address);
  if (f.site < ran_.program->sites.size()) {
    const ir::Site& site = ran_.program->sites[f.site];
    out += fmt::format(", by '{}'", site.text);
    if (site.line != 0) out += fmt::format(" (line {})", site.line);
  }
  return out;
}

/// The fault expectations that belong to the run of step `after`.
void CaseRun::expect_faults(size_t after) {
  std::vector<const ExpectFault*> expected;
  for (size_t n = after + 1; n < case_.steps.size(); ++n) {
    const Step& s = case_.steps[n];
    if (std::holds_alternative<Code>(s) || std::holds_alternative<Launch>(s)) break;
    const auto* f = std::get_if<ExpectFault>(&s);
    if (f != nullptr && f->kind != FaultKind::none) expected.push_back(f);
  }
  compare_faults(expected);
}

void CaseRun::compare_faults(const std::vector<const ExpectFault*>& expected) {
  const uint64_t threads = ran_.block.total();
  std::map<uint64_t, const ExpectFault*> wanted;
  for (uint64_t thread = 0; thread < ran_.threads() && !expected.empty(); ++thread) {
    for (const ExpectFault* f : expected)
      if (in_set(f->lanes, thread)) wanted.emplace(thread, f);
  }
  // Evaluated without an engine, too, so that `check` sees what is wrong with them.
  std::map<uint64_t, std::pair<uint64_t, uint64_t>> place_of;
  for (const auto& [thread, f] : wanted) {
    const Env env = thread_env(thread);
    auto& [address, size] = place_of[thread];
    if (f->address != nullptr)
      address = encode(evaluate(*f->address, env), 64, Takes::integer, f->loc);
    if (f->size != nullptr) size = encode(evaluate(*f->size, env), 64, Takes::integer, f->loc);
  }
  if (engine_ == nullptr || !options_.judge_faults) return;
  Differences differences;
  uint64_t last_listed = 0;
  std::map<uint64_t, const Fault*> actual;
  for (const Fault& f : ran_.result.faults) {
    const uint64_t group =
        f.group[0] + uint64_t{ran_.grid.x} * (f.group[1] + uint64_t{ran_.grid.y} * f.group[2]);
    last_listed = group * threads + f.lane;
    actual[last_listed] = &f;
    const auto it = wanted.find(last_listed);
    if (it == wanted.end()) {
      differences.add(place(last_listed), "no fault", describe(f));
      continue;
    }
    const ExpectFault& e = *it->second;
    const auto& [address, size] = place_of[last_listed];
    const std::string text =
        f.site < ran_.program->sites.size() ? ran_.program->sites[f.site].text : "";
    const bool same = f.kind == e.kind && (e.address == nullptr || f.address == address) &&
                      (e.size == nullptr || f.size == size) &&
                      text.find(e.text) != std::string::npos;
    std::string reported = std::string(name(e.kind));
    if (e.address != nullptr) reported += fmt::format(" at 0x{:x}", address);
    if (e.size != nullptr) reported += fmt::format(" of {} bytes", size);
    if (!e.text.empty()) reported += fmt::format(" by '{}'", e.text);
    if (!same) differences.add(place(last_listed), reported, describe(f));
  }
  const bool cut = ran_.result.fault_count > ran_.result.faults.size();
  for (const auto& [thread, f] : wanted)
    if (!actual.contains(thread) && (!cut || thread <= last_listed))
      differences.add(place(thread), std::string(name(f->kind)), "no fault");
  const Loc loc = expected.empty() ? case_.loc : expected[0]->loc;
  if (differences.count() != 0)
    failure(loc, differences.text("faults", ran_.threads(), "lanes"));
  else if (ran_.result.fault_count != wanted.size())
    failure(loc, fmt::format("expected {} faulting lanes, found {}", wanted.size(),
                             ran_.result.fault_count));
}

}  // namespace lanewise::script
