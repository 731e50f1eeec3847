#include "tests/values/harness.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>

namespace values {

namespace {

constexpr uint32_t kPoison = 0xdeadbeef;  ///< outputs that nobody wrote

lanewise::Device& device() {
  static lanewise::Device d = [] {
    const char* wanted = std::getenv("LANEWISE_TEST_DEVICE");
    return lanewise::Device::open(wanted != nullptr ? wanted : "reference");
  }();
  return d;
}

/// Cases that share a kernel, and where their words lie.
struct Batch {
  std::vector<Slot> slots;
  unsigned in_bytes = 0, out_bytes = 0;
  size_t lanes = 0;

  bool takes(const InstructionSet& set, const Case& c) const {
    return slots.size() < set.cases_in_kernel && in_bytes + 4 * c.inputs <= set.record_bytes &&
           out_bytes + 4 * c.outputs <= set.record_bytes;
  }
  void add(const Case& c) {
    slots.push_back({&c, in_bytes, out_bytes});
    in_bytes += 4 * c.inputs;
    out_bytes += 4 * c.outputs;
    lanes = std::max(lanes, (c.tuples.size() + kGroup - 1) / kGroup * kGroup);
  }
};

In words_of(const Case& c, size_t lane) {
  return c.tuples[lane % c.tuples.size()];
}

/// Every lane's record, all cases side by side.
std::vector<uint32_t> inputs(const Batch& b) {
  std::vector<uint32_t> out(b.lanes * b.in_bytes / 4);
  for (const Slot& s : b.slots)
    for (size_t lane = 0; lane < b.lanes; ++lane) {
      const In words = words_of(*s.test, lane);
      std::copy(words.begin(), words.end(), out.begin() + (lane * b.in_bytes + s.in) / 4);
    }
  return out;
}

std::vector<uint32_t> expected(const Case& c, const InstructionSet& set, size_t lanes) {
  std::vector<uint32_t> want(lanes * c.outputs, kPoison);
  const auto place = [&](size_t lane) { return Out(want).subspan(lane * c.outputs, c.outputs); };
  if (!c.wave) {
    for (size_t lane = 0; c.oracle && lane < lanes; ++lane)
      c.oracle(words_of(c, lane), place(lane));
    return want;
  }
  for (size_t first = 0; first < lanes; first += set.wave) {
    std::vector<In> in;
    std::vector<Out> out;
    for (size_t lane = first; lane < first + set.wave; ++lane) {
      in.push_back(words_of(c, lane));
      out.push_back(place(lane));
    }
    c.wave(in, out);
  }
  return want;
}

std::string hex(In words) {
  std::string s;
  for (uint32_t w : words) s += fmt::format(" {:08x}", w);
  return s;
}

/// For the hardware kit: a row for each form that failed.
class FailedForms {
 public:
  void add(const Case& c, In in, In got) {
    if (!wanted()) return;
    const auto names = c.wrong_forms ? c.wrong_forms(in, got) : std::vector<std::string>{c.row};
    for (const std::string& name : names) {
      Failed& f = forms_[name];
      if (f.lanes++ == 0) f.first = fmt::format("inputs{}: got{}", hex(in), hex(got));
    }
  }
  void print(size_t lanes) const {
    for (const auto& [name, f] : forms_)
      fmt::print(
          "{{\"kind\":\"value\",\"name\":\"{}\",\"state\":\"different\",\"lanes\":{},"
          "\"differing\":{},\"first\":\"{}\"}}\n",
          name, lanes, f.lanes, f.first);
  }

 private:
  static bool wanted() {
    static const bool is = std::getenv("LANEWISE_VALUE_ROWS") != nullptr;
    return is;
  }
  struct Failed {
    size_t lanes = 0;
    std::string first;
  };
  std::map<std::string, Failed> forms_;
};

std::optional<std::string> judge(const Slot& s, const Batch& b, const InstructionSet& set,
                                 const std::vector<uint32_t>& results) {
  const Case& c = *s.test;
  const std::vector<uint32_t> want = expected(c, set, b.lanes);
  std::optional<std::string> first;
  size_t wrong = 0;
  FailedForms failed;
  for (size_t lane = 0; lane < b.lanes; ++lane) {
    const In got = In(results).subspan((lane * b.out_bytes + s.out) / 4, c.outputs);
    const In right = In(want).subspan(lane * c.outputs, c.outputs);
    if (c.bound ? c.bound->holds(words_of(c, lane), got) : std::ranges::equal(got, right)) continue;
    failed.add(c, words_of(c, lane), got);
    if (wrong++ == 0)
      first = fmt::format("{}: {}\n  lane {}, inputs{}: got{}, expected{}", c.row, c.text, lane,
                          hex(words_of(c, lane)), hex(got),
                          c.bound ? " within " + c.bound->text : hex(right));
  }
  if (first) *first += fmt::format(" ({} of {} lanes)", wrong, b.lanes);
  failed.print(b.lanes);
  return first;
}

std::vector<std::string> run(const InstructionSet& set, const Batch& b) {
  std::vector<std::string> bad;
  auto in = device().buffer(inputs(b), "inputs");
  auto out = device().buffer(std::vector<uint32_t>(b.lanes * b.out_bytes / 4, kPoison), "outputs");
  const std::string text = set.kernel(b.slots, b.in_bytes, b.out_bytes);
  const lanewise::Kernel kernel = device().load_text(text, set.isa, "values", set.target).kernel();
  std::vector<lanewise::Arg> arguments = {in, out};
  for (uint32_t c : set.constants) arguments.emplace_back(c);
  const auto groups = static_cast<uint32_t>(b.lanes / kGroup);
  lanewise::LaunchOptions options{.grid = {groups}, .block = {kGroup}};
  options.dynamic_shared = set.shared_bytes;
  options.memcheck = lanewise::Memcheck::off;  // smaller modules; memory has tests of its own
  kernel.launch(options, arguments).check();
  const auto results = out.read<uint32_t>();
  for (const Slot& s : b.slots)
    if (auto message = judge(s, b, set, results)) bad.push_back(std::move(*message));
  return bad;
}

/// A batch that does not even run is tried again case by case: one of them is to blame.
std::vector<std::string> run_or_divide(const InstructionSet& set, const Batch& b) {
  try {
    return run(set, b);
  } catch (const lanewise::Error& e) {
    if (b.slots.size() == 1)
      return {fmt::format("{}: {}\n  {}", b.slots[0].test->row, b.slots[0].test->text, e.what())};
  }
  std::vector<std::string> bad;
  for (const Slot& s : b.slots) {
    Batch alone;
    alone.add(*s.test);
    for (std::string& m : run_or_divide(set, alone)) bad.push_back(std::move(m));
  }
  if (bad.empty()) bad.push_back("a kernel of several cases does not run, each of them alone does");
  return bad;
}

}  // namespace

std::vector<std::string> failures(const InstructionSet& set, std::span<const Case> cases) {
  const bool all = device().info().index < 0;  // the reference engine
  const bool doubles = all || device().info().float64;
  std::vector<const Case*> order;
  for (const Case& c : cases)
    if (all || (c.on_devices && (doubles || !c.doubles))) order.push_back(&c);
  // Kernels have as many lanes as their largest case: like goes with like.
  std::ranges::stable_sort(order, {}, [](const Case* c) { return c->tuples.size(); });
  std::vector<std::string> bad;
  Batch batch;
  const auto flush = [&] {
    if (!batch.slots.empty())
      for (std::string& m : run_or_divide(set, batch)) bad.push_back(std::move(m));
    batch = {};
  };
  for (const Case* c : order) {
    if (!batch.takes(set, *c)) flush();
    batch.add(*c);
  }
  flush();
  return bad;
}

void check(const InstructionSet& set, std::span<const Case> cases) {
  for (const Case& c : cases)
    REQUIRE(std::ranges::all_of(c.tuples, [&](const Words& w) { return w.size() == c.inputs; }));
  const std::vector<std::string> bad = failures(set, cases);
  constexpr size_t kShown = 40;
  for (size_t n = 0; n < std::min(kShown, bad.size()); ++n) FAIL_CHECK(bad[n]);
  CHECK(bad.size() == 0);
}

}  // namespace values
