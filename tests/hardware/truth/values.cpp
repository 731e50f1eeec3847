// Every instruction form that has a value case, with the case's edge values and random ones: the
// card beside Lanewise, and the card beside the oracle of the value tests.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "runtime/isa/ptx/lower.hpp"
#include "tests/hardware/device/rows.hpp"
#include "tests/hardware/truth/both.hpp"
#include "tests/values/ptx/ptx.hpp"

namespace lanewise::truth {
namespace {

using kit::Json;
using values::Case;
using values::In;
using values::Tuples;
using values::ptx::Op;

constexpr size_t kTogether = 14;       ///< forms of one kernel
constexpr size_t kRandomTuples = 512;  ///< beside a case's own

/// Values that an operand may have: any bits, unless the case chooses them from a pool of its own.
bool takes_any(const values::ptx::Operand& o) {
  return o.pool.empty() && o.type.letter != 'p';
}

void add_random(Tuples& tuples, const Op& op, size_t count) {
  if (op.sources.empty() || tuples.empty()) return;
  values::Random random(7);
  const size_t own = tuples.size();
  for (size_t n = 0; n < count; ++n) {
    values::Words words = tuples[random() % own];
    size_t at = 0;
    for (const auto& o : op.sources)
      for (unsigned k = values::ptx::words_of(o); k > 0; --k, ++at)
        if (takes_any(o)) words[at] = static_cast<uint32_t>(random());
    tuples.push_back(std::move(words));
  }
}

std::string for_card(const std::string& text, const Card& card) {
  const std::string_view kEnd = ".address_size 64\n";
  const size_t end = text.find(kEnd);
  if (!text.starts_with(".version ") || end == std::string::npos)
    throw std::logic_error("a value case begins with other directives than was thought");
  return card.header() + text.substr(end + kEnd.size());
}

std::string hex(In words) {
  return words.empty() ? " -" : " " + words_text(words);
}

/// Several forms in one kernel.
class Group {
 public:
  Group(Bench& bench, Device& ours, std::string table, std::vector<Op> ops)
      : bench_(bench), ours_(ours), table_(std::move(table)), ops_(std::move(ops)) {}

  bool run() {
    const std::vector<Case> cases = values::ptx::joined(ops_);
    if (cases.size() != 1) return divide();
    case_ = cases[0];
    add_random(case_.tuples, ops_[0], bench_.small ? 0 : kRandomTuples);
    const bool inputs = case_.inputs != 0;
    // Without inputs all lanes do the same; the value cases say what a whole group sees.
    lanes_ = inputs ? (case_.tuples.size() + values::kGroup - 1) / values::kGroup * values::kGroup
                    : values::kGroup;
    const Job job = make_job();
    std::vector<Words> card, ours;
    try {
      card = on_card(bench_.card, job);
    } catch (const Refused& e) {
      return ops_.size() > 1 ? divide() : report("refused", e.what());
    }
    try {
      ours = on_ours(ours_, job);
    } catch (const Error& e) {
      if (e.kind() == ErrorKind::device) throw;
      return ops_.size() > 1 ? divide() : report("not run", e.what());
    }
    bool right = true;
    unsigned place = 0;
    for (const Op& op : ops_) {
      const unsigned width = values::ptx::joined({op}).at(0).outputs;
      right = compare(op, place, width, card.back(), ours.back()) && right;
      place += width;
    }
    return right;
  }

 private:
  bool divide() {
    const auto half = ops_.begin() + static_cast<std::ptrdiff_t>((ops_.size() + 1) / 2);
    Group a(bench_, ours_, table_, {ops_.begin(), half}),
        b(bench_, ours_, table_, {half, ops_.end()});
    const bool first = a.run();
    return b.run() && first;
  }

  Json row(const Op& op, const std::string& state) const {
    return {{"kind", "truth"},
            {"name", fmt::format("{}/{}", table_, op.form)},
            {"table", table_},
            {"state", state}};
  }
  bool report(const char* state, const std::string& why) const {
    Json r = row(ops_[0], state);
    r["why"] = why.substr(0, 200);
    kit::print_row(r);
    return true;
  }

  Job make_job() const {
    const values::Slot slot{&case_, 0, 0};
    const unsigned in = 4 * case_.inputs, out = 4 * case_.outputs;
    Job job;
    job.text = for_card(values::ptx::instruction_set().kernel({&slot, 1}, in, out), bench_.card);
    job.kernel = "values";
    job.shape.grid[0] = static_cast<uint32_t>(std::max<size_t>(1, lanes_ / values::kGroup));
    job.shape.block[0] = static_cast<uint32_t>(std::min<size_t>(lanes_, values::kGroup));
    Words inputs;
    for (size_t lane = 0; lane < lanes_; ++lane) {
      const auto& words = case_.tuples[lane % case_.tuples.size()];
      inputs.insert(inputs.end(), words.begin(), words.end());
    }
    inputs.resize(std::max<size_t>(1, inputs.size()));
    job.buffers = {inputs, Words(std::max<size_t>(1, lanes_ * case_.outputs), kPoison)};
    return job;
  }

  bool compare(const Op& op, unsigned place, unsigned width, const Words& card,
               const Words& ours) const {
    const Case alone = values::ptx::joined({op}).at(0);
    const bool oracle = op.value != nullptr || op.near != nullptr;
    size_t differing = 0, card_wrong = 0, ours_wrong = 0;
    std::string first;
    Json samples = Json::array();  // for a table (table.cpp): what differed, and some of the rest
    const size_t apart = std::max<size_t>(1, lanes_ / kSamples);
    for (size_t lane = 0; lane < lanes_; ++lane) {
      const In in = case_.tuples[lane % case_.tuples.size()];
      const auto of = [&](const Words& all) {
        return In(all).subspan(lane * case_.outputs + place, width);
      };
      const In got = of(card), mine = of(ours);
      const bool same = std::ranges::equal(got, mine);
      if (oracle) {
        const bool card_right = holds(alone, in, got);
        card_wrong += card_right ? 0 : 1;
        ours_wrong += (same ? card_right : holds(alone, in, mine)) ? 0 : 1;
      }
      if (oracle && !in.empty() && samples.size() < 2 * kSamples && (!same || lane % apart == 0))
        samples.push_back({words_text(in), words_text(got)});
      if (!same && differing++ == 0)
        first = fmt::format("inputs{}: card{}, Lanewise{}", hex(in), hex(got), hex(mine));
    }
    // Approximate results need not be the card's; both must lie in the bound.
    const bool near = op.near && card_wrong == 0 && ours_wrong == 0;
    const bool right = differing == 0 || near;
    Json r = row(op, differing == 0 ? "same" : near ? "within bound" : "different");
    r["lanes"] = lanes_;
    if (differing != 0) {
      r["differing"] = differing;
      r["first"] = first;
    }
    if (!op.near && !samples.empty()) r["card"] = samples;
    if (card_wrong != 0) r["card_not_oracle"] = card_wrong;
    if (ours_wrong != 0) r["ours_not_oracle"] = ours_wrong;
    kit::print_row(r);
    return right;
  }

  static bool holds(const Case& c, In in, In got) {
    if (c.bound) return c.bound->holds(in, got);
    Words want(got.size());
    c.oracle(in, want);
    return std::ranges::equal(want, got);
  }

  Bench& bench_;
  Device& ours_;
  std::string table_;
  std::vector<Op> ops_;
  Case case_;
  size_t lanes_ = 0;
};

bool run_all(Bench& bench, Device& ours, const std::string& table, const std::vector<Op>& ops) {
  Resume at = bench.resume;
  while (at.from < ops.size()) {
    const size_t count = std::min(ops.size() - at.from, at.alone != 0 ? 1 : kTogether);
    const auto begin = ops.begin() + static_cast<std::ptrdiff_t>(at.from);
    try {
      const bool right =
          Group(bench, ours, table, {begin, begin + static_cast<std::ptrdiff_t>(count)}).run();
      at.wrong = at.wrong || !right;
    } catch (const CudaError& e) {
      if (at.faults == kMostFaults) throw;
      if (count > 1) {
        at.alone = count;
      } else {
        kit::print_row({{"kind", "truth"},
                        {"name", fmt::format("{}/{}", table, begin->form)},
                        {"table", table},
                        {"state", "faulted"},
                        {"why", e.what()}});
        at = {at.from + 1, at.alone > 0 ? at.alone - 1 : 0, at.faults + 1, true};
      }
      start_again(table, at);
    }
    at.from += count;
    if (at.alone != 0) --at.alone;
  }
  return !at.wrong;
}

/// Forms with the same operands behind each other, so that they share kernels.
void sort_by_operands(std::vector<Op>& ops) {
  std::map<std::string, std::vector<Op>> kinds;
  for (Op& op : ops) {
    std::string key = op.near ? "near" : "";
    for (const auto& o : op.sources) key += fmt::format(" {}/{}{}", o.type.name, o.pool, o.reg);
    kinds[key].push_back(std::move(op));
  }
  ops.clear();
  for (auto& [key, list] : kinds)
    for (Op& op : list) ops.push_back(std::move(op));
}

std::vector<Op> ops_of_table(const std::string& name) {
  using namespace values::ptx;
  // An opcode belongs to the first family that has it.
  const std::pair<const char*, const Makers& (*)()> families[] = {
      {"integer", integer::makers}, {"bits", bit_ops::makers},    {"compare", compare::makers},
      {"float", floats::makers},    {"convert", convert::makers}, {"move", move::makers},
      {"video", video::makers}};
  const std::string family = name.substr(name.find('-') + 1);
  std::vector<Op> out;
  if (family == "move") {
    out = move::extra_ops();
    for (Op& op : video::part_ops()) out.push_back(std::move(op));
  }
  for (Op& op : ops()) {
    const std::string opcode = Mods(op.form).opcode();
    const auto owner =
        std::ranges::find_if(families, [&](const auto& f) { return f.second().contains(opcode); });
    const std::string its = op.near != nullptr            ? "approx"
                            : owner == std::end(families) ? "float"
                                                          : owner->first;
    if (its == family) out.push_back(std::move(op));
  }
  sort_by_operands(out);
  return out;
}

/// The lane's own cell: where its inputs were, or in shared memory. The old value is the first
/// operand.
std::optional<Op> atomic_op(const std::string& form) {
  using namespace values::ptx;
  Mods m(form);
  const std::string opcode = m.opcode();
  if ((opcode != "atom" && opcode != "red") || m.take("async") || m.take("shared::cluster"))
    return {};
  const bool shared = !m.one_of({"shared", "shared::cta"}).empty();
  m.take("global");
  const bool hint = m.take("L2::cache_hint"), swap = m.take("cas");
  const auto t = m.type();
  if (!t || t->bits > 64 || m.take("v2") || m.take("v4") || m.take("v8")) return {};
  // Half of an address's word would be the neighbour lane's.
  if (t->bits < 16) return {};
  const std::string narrow = t->bits == 16 ? "b16" : t->bits == 32 ? "b32" : "b64";
  const bool returns = opcode == "atom";
  Op op{form, std::vector<Operand>(swap ? 3 : 2, {*t}), {}, nullptr};
  op.results.assign(returns ? 2 : 1, {*t});
  const std::string cell = shared ? "[at]" : "[in+@in]", space = shared ? "shared" : "global";
  if (shared)
    op.text = fmt::format(
        ".reg .b64 at;\n.reg .b32 x;\n.shared .align 8 .b8 v[{}];\nmov.u32 x, %tid.x;\n"
        "mov.u64 at, v;\nmad.wide.u32 at, x, 8, at;\n",
        8 * values::kGroup);
  if (hint)
    op.text += ".reg .b64 policy;\ncreatepolicy.fractional.L2::evict_first.b64 policy, 1.0;\n";
  op.text += fmt::format("st.{2}.{0} {1}, a;\n{3} {4}{1}, b{5}{6};\nld.{2}.{0} {7}, {1};", narrow,
                         cell, space, form, returns ? "d, " : "", swap ? ", c" : "",
                         hint ? ", policy" : "", returns ? "g" : "d");
  return op;
}

}  // namespace

bool asks_values(const std::string& form) {
  static const std::set<std::string> asked = [] {
    std::set<std::string> all;
    const auto add = [&](const std::vector<Op>& ops) {
      for (const Op& op : ops) all.insert(op.form);
    };
    add(values::ptx::ops());
    add(values::ptx::move::extra_ops());
    add(values::ptx::memory::ops());
    for (const Case& c : values::ptx::wave::cases()) all.insert(c.row);
    return all;
  }();
  return asked.contains(form) || atomic_op(form).has_value();
}

bool value_table(Bench& bench, const std::string& name) {
  std::vector<Op> ops = ops_of_table(name);
  if (bench.small) {
    const char* const few[] = {"add.s32", "fma.rn.f32", "rcp.approx.f32", "popc.b32"};
    std::erase_if(ops,
                  [&](const Op& op) { return std::ranges::find(few, op.form) == std::end(few); });
  }
  return run_all(bench, bench.ours, name, ops);
}

bool memory_table(Bench& bench, const std::string& name) {
  std::vector<Op> ops = values::ptx::memory::ops();
  if (bench.small) ops.resize(28);
  // Thousands of forms, of which only the reference engine has a say in what they mean.
  Device reference = Device::open("reference");
  return run_all(bench, reference, name, ops);
}

bool atomic_table(Bench& bench, const std::string& name) {
  std::vector<Op> ops;
  for (const auto& c : ptx::coverage())
    if (c.state != ptx::FormState::unsupported)
      if (auto op = atomic_op(c.form)) ops.push_back(std::move(*op));
  sort_by_operands(ops);
  if (bench.small) ops.resize(std::min<size_t>(ops.size(), 14));
  return run_all(bench, bench.ours, name, ops);
}

bool wave_table(Bench& bench, const std::string& name) {
  bool right = true;
  size_t done = 0;
  for (const Case& c : values::ptx::wave::cases()) {
    if (bench.small && ++done > 4) break;
    const size_t lanes = (c.tuples.size() + values::kGroup - 1) / values::kGroup * values::kGroup;
    const values::Slot slot{&c, 0, 0};
    Job job;
    job.text = for_card(
        values::ptx::instruction_set().kernel({&slot, 1}, 4 * c.inputs, 4 * c.outputs), bench.card);
    job.kernel = "values";
    job.shape.grid[0] = static_cast<uint32_t>(lanes / values::kGroup);
    job.shape.block[0] = values::kGroup;
    Words inputs;
    for (size_t lane = 0; lane < lanes; ++lane)
      for (const uint32_t w : c.tuples[lane % c.tuples.size()]) inputs.push_back(w);
    job.buffers = {inputs, Words(lanes * c.outputs, kPoison)};
    Json row = {
        {"kind", "truth"}, {"name", fmt::format("{}/{}/{}", name, c.row, done)}, {"table", name}};
    if (!bench.small) ++done;
    try {
      const Words card = on_card(bench.card, job)[1], ours = on_ours(bench.ours, job)[1];
      size_t differing = 0, at = 0;
      for (size_t i = 0; i < card.size(); ++i)
        if (card[i] != ours[i] && differing++ == 0) at = i;
      row["state"] = differing == 0 ? "same" : "different";
      if (differing != 0) {
        row["differing"] = differing;
        row["first"] = fmt::format("lane {} word {}: card {:08x}, Lanewise {:08x}; {}",
                                   at / c.outputs, at % c.outputs, card[at], ours[at], c.text);
        right = false;
      }
    } catch (const Refused& e) {
      row["state"] = "refused";
      row["why"] = e.what();
    } catch (const Error& e) {
      if (e.kind() == ErrorKind::device) throw;
      row["state"] = "not run";
      row["why"] = std::string(e.what()).substr(0, 200);
    }
    kit::print_row(row);
  }
  return right;
}

}  // namespace lanewise::truth
