#include "runtime/support/findings/finding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <type_traits>

#include "runtime/support/findings/rules.hpp"

namespace lanewise::findings {
namespace {

/// The texts and numbers of a fault, by their names.
struct Fields {
  std::map<std::string, std::string, std::less<>> texts;
  std::map<std::string, uint64_t, std::less<>> numbers;
  std::map<std::string, Dim3, std::less<>> sizes;

  explicit Fields(const FaultReport& f) {
    detail::each_fault_field(f, f, [&](const char* name, const auto& value, const auto&) {
      using Value = std::remove_cvref_t<decltype(value)>;
      if constexpr (std::is_same_v<Value, std::string>)
        texts.emplace(name, value);
      else if constexpr (std::is_same_v<Value, Dim3>)
        sizes.emplace(name, value);
      else if constexpr (std::is_arithmetic_v<Value>)
        numbers.emplace(name, static_cast<uint64_t>(value));
    });
  }
  std::string text(const std::string& name) const {
    const auto at = texts.find(name);
    return at == texts.end() ? "" : at->second;
  }
  uint64_t number(const std::string& name) const {
    const auto at = numbers.find(name);
    return at == numbers.end() ? 0 : at->second;
  }
  Dim3 size(const std::string& name) const {
    const auto at = sizes.find(name);
    return at == sizes.end() ? Dim3{0, 0, 0} : at->second;
  }
};

/// "file.cu:12", else the line of the input.
void set_site(Place& place, const std::string& source, uint64_t line, const std::string& file) {
  const size_t colon = source.rfind(':');
  if (colon != std::string::npos) {
    place.file = source.substr(0, colon);
    std::from_chars(source.data() + colon + 1, source.data() + source.size(), place.line);
  } else if (line != 0) {
    place.file = file;
    place.line = static_cast<uint32_t>(line);
  }
}

/// One of the two accesses of a fault; `prefix` is "" or "other_".
Place place_of(const Fields& f, const std::string& prefix, const std::string& file) {
  Place p;
  set_site(p, f.text(prefix + "source"), f.number(prefix + "line"), file);
  p.text = f.text(prefix + "text");
  p.what = f.text(prefix + "access");
  const Dim3 group = f.size(prefix + "group");
  p.thread = fmt::format("lane {} of wave {} in group ({},{},{})", f.number(prefix + "lane"),
                         f.number(prefix + "wave"), group.x, group.y, group.z);
  return p;
}

}  // namespace

std::string Place::site() const {
  if (file.empty()) return "-";
  return line == 0 ? file : fmt::format("{}:{}", file, line);
}

std::string Finding::key() const {
  std::string key = rule + "\n" + subject;
  for (const Place& p : places) key += "\n" + p.site() + (p.file.empty() ? " " + p.text : "");
  return key;
}

Finding of_fault(const FaultReport& fault, const std::string& report, const std::string& file) {
  const Fields fields(fault);
  Finding out;
  out.rule = fault.rule;
  out.subject = fault.kernel;
  out.report = report;
  const std::string_view whole = report;
  out.message = whole.substr(0, whole.find('\n'));
  if (out.message.starts_with("fault: ")) out.message.erase(0, 7);
  if (!fields.text("other_access").empty()) {
    out.places.push_back(place_of(fields, "other_", file));
    const bool order = fault.kind == FaultKind::order_dependent,
               undefined = fault.kind == FaultKind::uninitialised;
    out.message += fmt::format("; {} the {} of {}",
                               order       ? "another order of lanes leaves the value of"
                               : undefined ? "it comes from"
                                           : "nothing orders it behind",
                               fields.text("other_access"), out.places.front().thread);
  }
  if (!fields.text("schedule").empty())
    out.message += fmt::format("; --schedule {} and --schedule {} repeat the two orders",
                               fields.text("other_schedule"), fields.text("schedule"));
  if (!fields.text("remedy").empty()) out.message += "; what would: " + fields.text("remedy");
  out.places.push_back(place_of(fields, "", file));
  out.count = std::max<uint64_t>(fields.number("times"), 1);
  return out;
}

void List::add(Finding finding) {
  const auto [at, is_new] = by_key_.try_emplace(finding.key(), all_.size());
  if (is_new)
    all_.push_back(std::move(finding));
  else
    all_[at->second].count += finding.count;
}

uint64_t List::counted() const {
  return static_cast<uint64_t>(std::ranges::count_if(all_, &Finding::counts));
}

}  // namespace lanewise::findings
