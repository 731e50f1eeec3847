#include "runtime/cli/commands/bench_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lanewise::cli {
namespace {

constexpr const char* kRatios[] = {"Instructions", "Inverse Throughput"};

/// RADV's names; other drivers' statistics are printed with their names.
struct Column {
  const char *statistic, *heading;
};
constexpr Column kColumns[] = {{"Instructions", "instructions"},
                               {"Inverse Throughput", "inv. throughput"},
                               {"VGPRs", "VGPRs"},
                               {"Spilled VGPRs", "spilled"},
                               {"Code size", "bytes"}};

Json to_object(const std::vector<vulkan::Statistic>& all) {
  Json j = Json::object();
  for (const auto& [name, value] : all) j[name] = value;
  return j;
}

/// What a row's name says of its translation, behind glsl/KERNEL.
std::string_view kind_of(std::string_view name) {
  const size_t kernel = name.find('/') + 1, end = name.find('/', kernel);
  return end == std::string_view::npos ? "" : name.substr(end);
}

Json mean_of(const Json& rows, std::string_view kind) {
  Json mean = {{"kernels", 0}};
  for (const char* statistic : kRatios) {
    double logarithms = 0;
    int count = 0;
    for (const Json& row : rows) {
      const bool wanted =
          row.value("counts", false) && kind_of(row["name"].get_ref<const std::string&>()) == kind;
      if (!wanted || !row.contains("ratio") || !row["ratio"].contains(statistic)) continue;
      logarithms += std::log(row["ratio"][statistic].get<double>());
      ++count;
    }
    if (count == 0) continue;
    mean["kernels"] = count;
    mean[statistic] = std::exp(logarithms / count);
  }
  return mean;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace

Json to_row(const bench::Figure& f) {
  Json j = {{"name", f.name}, {"unit", f.unit}, {"value", f.value}};
  if (!f.beside.empty()) {
    j["beside"] = f.beside;
    j["other"] = f.other;
    j["ratio"] = f.ratio();
  }
  for (const auto& [key, value] : f.more) j[key] = value;
  if (!f.note.empty()) j["note"] = f.note;
  if (!f.wrong.empty()) j["wrong"] = f.wrong;
  return j;
}

Json to_row(const bench::CodeFigure& f) {
  Json j = {{"name", f.name}, {"counts", f.counts}, {"glsl", to_object(f.glsl)}};
  if (!f.failed.empty()) {
    j["failed"] = f.failed;
    return j;
  }
  j["translated"] = to_object(f.translated);
  for (const char* statistic : kRatios) {
    const double other = j["glsl"].value(statistic, 0.0);
    if (other != 0) j["ratio"][statistic] = j["translated"].value(statistic, 0.0) / other;
  }
  return j;
}

Json failed_row(const std::string& name, const std::string& why) {
  return {{"name", name}, {"failed", why}};
}

void print_figure(const Json& row) {
  const std::string name = row["name"];
  if (row.contains("failed")) {
    fmt::print("{:<24} failed: {}\n", name, first_line(row["failed"]));
    std::fflush(stdout);
    return;
  }
  fmt::print("{:<24} {:>10.2f} {:<13}", name, row["value"].get<double>(),
             row["unit"].get<std::string>());
  if (row.contains("beside"))
    fmt::print("{:<13} {:>10.2f}  ratio {:>5.2f}", row["beside"].get<std::string>(),
               row["other"].get<double>(), row["ratio"].get<double>());
  if (row.contains("ratio_min")) {
    fmt::print(" ({:.2f} to {:.2f}), best {:.2f} and {:.2f}", row["ratio_min"].get<double>(),
               row["ratio_max"].get<double>(), row["best_ms"].get<double>(),
               row["glsl_best_ms"].get<double>());
    if (row.contains("cpu_ratio"))
      fmt::print(", processor time {:.2f}", row["cpu_ratio"].get<double>());
  } else {
    for (const auto& [key, value] : row.items()) {
      const bool shown = key == "value" || key == "other" || key == "ratio" || !value.is_number();
      if (!shown) fmt::print("  {} {:.10g}", key, value.get<double>());
    }
  }
  if (row.contains("note")) fmt::print("  {}", row["note"].get<std::string>());
  if (row.contains("wrong")) fmt::print("  WRONG: {}", row["wrong"].get<std::string>());
  fmt::print("\n");
  std::fflush(stdout);
}

void print_code_heading() {
  fmt::print("translated / GLSL\n{:<24}", "");
  for (const Column& c : kColumns) fmt::print(" {:>22}", c.heading);
  fmt::print("\n");
}

void print_code(const Json& row) {
  fmt::print("{:<24}", row["name"].get<std::string>());
  if (row.contains("failed")) {
    fmt::print(" failed: {}\n", first_line(row["failed"]));
    std::fflush(stdout);
    return;
  }
  const Json &ours = row["translated"], &theirs = row["glsl"];
  bool any = false;
  for (const Column& c : kColumns) {
    if (!ours.contains(c.statistic)) continue;
    any = true;
    const double a = ours[c.statistic], b = theirs.value(c.statistic, 0.0);
    fmt::print(" {:>22}", b == 0 ? fmt::format("{} / {}", a, b)
                                 : fmt::format("{} / {} = {:.2f}", a, b, a / b));
  }
  if (!any)
    for (const auto& [name, value] : ours.items())
      fmt::print("  {} {} / {}", name, value.get<double>(), theirs.value(name, 0.0));
  fmt::print("\n");
  std::fflush(stdout);
}

Json code_means(const Json& rows) {
  return {{"unchecked", mean_of(rows, "/off")},
          {"unchecked, of the launch that is timed", mean_of(rows, "/off/launch")},
          {"checked", mean_of(rows, "")},
          {"checked, of the launch that is timed", mean_of(rows, "/launch")},
          {"checked by arena", mean_of(rows, "/arena")},
          {"checked by arena, of the launch that is timed", mean_of(rows, "/arena/launch")}};
}

void print_code_means(const Json& means) {
  for (const auto& [kind, mean] : means.items()) {
    if (mean["kernels"] == 0) continue;
    fmt::print("geometric means of {} kernels without cross-lane instructions, {}:",
               mean["kernels"].get<int>(), kind);
    for (const char* statistic : kRatios)
      if (mean.contains(statistic))
        fmt::print(" {} {:.2f}", statistic, mean[statistic].get<double>());
    fmt::print("\n");
  }
}

}  // namespace lanewise::cli
