#include "runtime/support/findings/output.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/support/findings/formats.hpp"
#include "runtime/support/output_file.hpp"

namespace lanewise::findings {

Output::Output(Options options) : options_(std::move(options)) {
  for (const std::string& file : options_.files) {
    format_of(file);
    check_writable(file);
  }
  if (!options_.write_baseline.empty()) check_writable(options_.write_baseline);
  if (!options_.suppress.empty()) suppressions_.read(options_.suppress);
  if (!options_.baseline.empty()) baseline_.read(options_.baseline);
}

void Output::add_subject(const std::string& name) {
  if (std::ranges::find(subjects_, name) == subjects_.end()) subjects_.push_back(name);
}

bool Output::add(Finding finding) {
  finding.suppressed = suppressions_.match(finding);
  finding.known = baseline_.match(finding);
  const bool counts = finding.counts();
  found_.add(std::move(finding));
  return counts;
}

std::vector<std::string> Output::finish() {
  const Contents contents{found_.all(), subjects_, !options_.baseline.empty()};
  for (const std::string& file : options_.files) write_file(file, format_of(file)(contents));
  if (!options_.write_baseline.empty())
    write_file(options_.write_baseline, baseline_text(found_.all()));
  std::vector<std::string> lines;
  if (const uint64_t less = found_.all().size() - found_.counted(); less != 0)
    lines.push_back(fmt::format("{} of {} findings are suppressed or in the baseline", less,
                                found_.all().size()));
  for (const std::string& line : suppressions_.unused())
    lines.push_back(fmt::format("{}  matched nothing", line));
  for (const std::string& line : baseline_.unused())
    lines.push_back(fmt::format("{}  was not found any more", line));
  return lines;
}

}  // namespace lanewise::findings
