// A card's results in a file, and whether a device of ours gives the same.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "tests/hardware/truth/both.hpp"
#include "tests/hardware/truth/matrix_probe.hpp"
#include "tests/values/ptx/ptx.hpp"

namespace lanewise::truth {
namespace {

struct Line {
  values::Words operands, result;
};

values::Words words_of_text(const std::string& text) {
  values::Words words;
  std::istringstream in(text);
  for (std::string word; in >> word;)
    words.push_back(static_cast<uint32_t>(std::stoul(word, nullptr, 16)));
  return words;
}

/// Lines by form.
std::map<std::string, std::vector<Line>> read_table(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw Error(ErrorKind::usage, fmt::format("cannot read '{}'", path));
  std::map<std::string, std::vector<Line>> table;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream columns(line);
    std::string form, operands, result;
    if (!std::getline(columns, form, '\t') || !std::getline(columns, operands, '\t') ||
        !std::getline(columns, result, '\t'))
      throw Error(ErrorKind::usage,
                  fmt::format("{}: '{}': expected form, operands, result", path, line));
    table[form].push_back({words_of_text(operands), words_of_text(result)});
  }
  return table;
}

/// The same of the sums of a matrix unit.
size_t wrong_sums(Device& device, const MatrixForm& f, const std::vector<Line>& lines) {
  std::vector<Dot> dots;
  dots.reserve(lines.size());
  for (const Line& line : lines) dots.push_back(dot_of_words(line.operands));
  const Job job = dot_job(".version 8.4\n.target sm_90\n.address_size 64\n", f, dots);
  const std::vector<uint32_t> got = dot_results(f, on_ours(device, job).back(), dots.size());
  size_t wrong = 0;
  for (size_t n = 0; n < lines.size(); ++n)
    if (lines[n].result != Words{got[n]} && wrong++ == 0)
      fmt::print("{} {}: the card gave {}, Lanewise {:08x}\n", f.form,
                 words_text(lines[n].operands), words_text(lines[n].result), got[n]);
  return wrong;
}

/// How many of the lines come out otherwise; the first is printed.
size_t wrong_lines(Device& device, const std::string& form, const std::vector<Line>& lines) {
  if (const auto f = matrix_form(form)) return wrong_sums(device, *f, lines);
  const std::vector<values::ptx::Op> ops = values::ptx::ops_of({form});
  if (ops.size() != 1) {
    fmt::print("{}: no value case has this form\n", form);
    return lines.size();
  }
  values::Case c = values::ptx::joined(ops).at(0);
  Job job;
  job.kernel = "values";
  job.shape.grid[0] = static_cast<uint32_t>((lines.size() + values::kGroup - 1) / values::kGroup);
  job.shape.block[0] = values::kGroup;
  const size_t lanes = job.shape.grid[0] * size_t{values::kGroup};
  Words inputs;
  for (size_t lane = 0; lane < lanes; ++lane) {
    const Words& words = lines[lane % lines.size()].operands;
    if (words.size() != c.inputs || lines[lane % lines.size()].result.size() != c.outputs) {
      fmt::print("{}: expected {} words of operands and {} of results\n", form, c.inputs,
                 c.outputs);
      return lines.size();
    }
    inputs.insert(inputs.end(), words.begin(), words.end());
  }
  const values::Slot slot{&c, 0, 0};
  job.text = values::ptx::instruction_set().kernel({&slot, 1}, 4 * c.inputs, 4 * c.outputs);
  job.buffers = {inputs, Words(lanes * c.outputs)};
  const Words got = on_ours(device, job)[1];
  size_t wrong = 0;
  for (size_t n = 0; n < lines.size(); ++n) {
    const std::span<const uint32_t> own(got.data() + n * c.outputs, c.outputs);
    if (std::ranges::equal(own, lines[n].result) || wrong++ != 0) continue;
    fmt::print("{} {}: the card gave {}, Lanewise {}\n", form, words_text(lines[n].operands),
               words_text(lines[n].result), words_text(own));
  }
  return wrong;
}

}  // namespace

bool check_table(Device& device, const std::string& path) {
  size_t wrong = 0, all = 0;
  for (const auto& [form, lines] : read_table(path)) {
    all += lines.size();
    wrong += wrong_lines(device, form, lines);
  }
  fmt::print("{}: {} of {} results differ\n", path, wrong, all);
  return wrong == 0 && all != 0;
}

}  // namespace lanewise::truth
