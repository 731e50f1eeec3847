// Matrix units: every form of the table on random and edge elements, in bits, and how sums are
// made. Lanewise's side is the reference engine, which all devices equal.
#include "tests/hardware/truth/matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "runtime/isa/ptx/lower.hpp"
#include "tests/hardware/device/rows.hpp"
#include "tests/hardware/truth/matrix_probe.hpp"
#include "tests/hardware/truth/wmma.hpp"

namespace lanewise::truth {
namespace {

using kit::Json;

std::vector<std::string> forms_that_run() {
  std::vector<std::string> forms;
  for (const auto& c : ptx::coverage())
    if (c.state != ptx::FormState::unsupported) forms.push_back(c.form);
  return forms;
}

/// Metadata that the manual allows: two of four columns in their order, or one of two.
uint32_t metadata(const std::string& type, std::mt19937_64& random) {
  constexpr uint32_t kPairs[] = {0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110};
  uint32_t word = 0;
  for (unsigned i = 0; i < 8; ++i)
    word |= (type == "tf32" ? kPairs[random() % 2 * 5] : kPairs[random() % 6]) << (4 * i);
  return word;
}

Job form_job(const std::string& header, const MatrixForm& f, uint32_t groups) {
  std::mt19937_64 random(11);
  const unsigned record = matrix_record(f);
  Job job;
  job.text = matrix_kernel(header, f);
  job.shape.grid[0] = groups;
  job.shape.block[0] = kWarp;
  Words in(size_t{groups} * kWarp * record);
  for (size_t lane = 0; lane < size_t{groups} * kWarp; ++lane) {
    size_t base = lane * record;
    const bool edge = lane / kWarp % 2 == 1;
    for (const Fragment* part : {&f.a, &f.b, &f.c}) {
      for (unsigned i = 0; i < part->elements; ++i)
        put_element(in, base, part->type, i, matrix_element(part->type, edge, random));
      base += part->words();
    }
    if (f.sparse) in[base] = metadata(f.a.type, random);
  }
  job.buffers = {std::move(in), Words(size_t{groups} * kWarp * f.d.words())};
  return job;
}

Job move_job(const MatrixMove& move, uint32_t groups) {
  std::mt19937_64 random(5);
  Words in(size_t{groups} * kWarp * move.in);
  for (uint32_t& word : in) word = static_cast<uint32_t>(random());
  Job job;
  job.text = move.text;
  job.shape.grid[0] = groups;
  job.shape.block[0] = kWarp;
  job.buffers = {in, Words(size_t{groups} * kWarp * move.out)};
  return job;
}

class Matrices {
 public:
  Matrices(Bench& bench, std::string name)
      : bench_(bench),
        reference_(Device::open("reference")),
        name_(std::move(name)),
        header_(bench.card.header()) {}

  bool form(const std::string& form, const Job& job) {
    Json row = {{"kind", "truth"}, {"name", fmt::format("{}/{}", name_, form)}, {"table", name_}};
    bool right = true;
    const bool asked = both(row, job, [&](const Words& card, const Words& ours) {
      size_t differing = 0, first = 0;
      for (size_t i = 0; i < card.size(); ++i)
        if (card[i] != ours[i] && differing++ == 0) first = i;
      right = differing == 0;
      row["state"] = right ? "same" : "different";
      row["words"] = card.size();
      if (right) return;
      row["differing"] = differing;
      row["first"] =
          fmt::format("word {}: card {:08x}, Lanewise {:08x}", first, card[first], ours[first]);
    });
    if (asked) kit::print_row(row);
    asked_ = asked;
    return right;
  }
  /// Whether the last form was one that either side takes.
  bool asked() const { return asked_; }

  bool probe(const MatrixForm& f) {
    const auto probes = probes_of(f);
    std::vector<Dot> dots;
    dots.reserve(probes.size());
    for (const auto& [probe, dot] : probes) dots.push_back(dot);
    Json row = {{"kind", "truth"},
                {"name", fmt::format("{}/sum of {}", name_, f.form)},
                {"table", name_},
                {"form", f.form}};
    bool right = true;
    const bool asked =
        both(row, dot_job(header_, f, dots), [&](const Words& card, const Words& ours) {
          const auto theirs = dot_results(f, card, dots.size()),
                     own = dot_results(f, ours, dots.size());
          std::map<std::string, uint32_t> by_name[2];
          Json samples = Json::array(), differing = Json::array();
          const size_t apart = std::max<size_t>(1, dots.size() / kSamples);
          for (size_t i = 0; i < dots.size(); ++i) {
            by_name[0][probes[i].first] = theirs[i];
            by_name[1][probes[i].first] = own[i];
            const bool same = theirs[i] == own[i];
            if (!same) differing.push_back(probes[i].first);
            if (samples.size() < 4 * kSamples && (!same || i % apart == 0))
              samples.push_back({words_text(dot_words(dots[i])), words_text({{theirs[i]}})});
          }
          right = differing.empty();
          row["state"] = right ? "same" : "different";
          row["probes"] = dots.size();
          if (!right) row["first"] = differing[0];
          row["differing"] = differing;
          row["found"] = findings_of(f, by_name[0]);
          row["model"] = findings_of(f, by_name[1]);
          row["card"] = samples;
        });
    if (asked) kit::print_row(row);
    return right;
  }

  void print_refused() const {
    kit::print_row({{"kind", "fact"}, {"name", name_ + "/refused by both"}, {"kernels", refused_}});
  }

 private:
  /// False where neither side takes the form: the table has each slot of a form with all of
  /// another's, and not all of them belong together.
  template <typename F>
  bool both(Json& row, const Job& job, F compare) {
    try {
      const Words card = on_card(bench_.card, job).back();
      compare(card, on_ours(reference_, job).back());
    } catch (const Refused& e) {
      if (ours_refuses(reference_, job.text)) {
        ++refused_;
        return false;
      }
      row["state"] = "refused";
      row["why"] = e.what();
    } catch (const Error& e) {
      row["state"] = "not run";
      row["why"] = std::string(e.what()).substr(0, 200);
    }
    return true;
  }

  Bench& bench_;
  Device reference_;
  std::string name_, header_;
  unsigned refused_ = 0;
  bool asked_ = false;
};

bool is_float(const MatrixForm& f) {
  return f.d.type == "f32" || f.d.type == "f16";
}

}  // namespace

bool matrix_table(Bench& bench, const std::string& name) {
  Matrices matrices(bench, name);
  const std::string header = bench.card.header();
  const uint32_t groups = bench.small ? 2 : 64;
  bool right = true;
  std::set<std::string> seen;  // kinds of which a small run has asked one
  const auto wanted = [&](const std::string& kind) { return !bench.small || !seen.contains(kind); };
  const auto ask = [&](const std::string& kind, const std::string& form, const Job& job) {
    right = matrices.form(form, job) && right;
    if (matrices.asked()) seen.insert(kind);
    return matrices.asked();
  };
  for (const std::string& form : forms_that_run()) {
    if (const auto f = matrix_form(form)) {
      const std::string kind = fmt::format("{} {}{}", f->a.type, f->m, f->sparse ? " sparse" : "");
      if (!wanted(kind) || !ask(kind, form, form_job(header, *f, groups))) continue;
      if (is_float(*f) && !f->sparse && f->m == 16 && f->c.type == f->d.type)
        right = matrices.probe(*f) && right;
    } else if (const auto w = wmma_form(header, form)) {
      if (wanted("wmma " + w->a.type)) ask("wmma " + w->a.type, form, wmma_job(*w, groups));
    } else if (const auto move = matrix_move(header, form)) {
      const std::string kind = form.substr(0, form.find('.'));
      if (wanted(kind)) ask(kind, form, move_job(*move, groups));
    }
  }
  matrices.print_refused();
  return right;
}

bool asks_matrix(const std::string& form) {
  return matrix_form(form) || matrix_move("", form) || form.starts_with("wmma.");
}

}  // namespace lanewise::truth
