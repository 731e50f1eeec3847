// `.version`, `.target` and `.address_size`: known to the assembler, and to each other?
#include <algorithm>
#include <charconv>

#include "runtime/isa/ptx/check.hpp"
#include "runtime/isa/ptx/check_context.hpp"
#include "runtime/isa/ptx/module/rules.hpp"

namespace lanewise::ptx {
namespace legal {
namespace {

struct TargetRow {
  unsigned sm, version;  ///< the first that has it
  unsigned family;       ///< of `sm_100f`: other targets with the same number run its code
};
constexpr TargetRow kTargets[] = {
    {10, 10, 0},    {11, 10, 0},    {12, 12, 0},    {13, 12, 0},    {20, 20, 0},    {21, 20, 0},
    {30, 30, 0},    {32, 40, 0},    {35, 31, 0},    {37, 41, 0},    {50, 40, 0},    {52, 41, 0},
    {53, 42, 0},    {60, 50, 0},    {61, 50, 0},    {62, 50, 0},    {70, 60, 0},    {72, 61, 0},
    {75, 63, 0},    {80, 70, 0},    {86, 71, 0},    {87, 74, 0},    {88, 74, 0},    {89, 78, 0},
    {90, 78, 0},    {100, 86, 100}, {101, 86, 110}, {103, 88, 100}, {110, 90, 110}, {120, 87, 120},
    {121, 88, 120},
};

/// First and last minor version of each major one.
constexpr unsigned kVersions[][3] = {{1, 0, 5}, {2, 0, 3}, {3, 0, 2}, {4, 0, 3}, {5, 0, 1},
                                     {6, 0, 5}, {7, 0, 8}, {8, 0, 8}, {9, 0, 0}};

const TargetRow* row_of(unsigned sm) {
  const auto* it = std::ranges::find(kTargets, sm, &TargetRow::sm);
  return it == std::end(kTargets) ? nullptr : it;
}

/// 'a' of "sm_90a", 0 where there is none.
char suffix_of(std::string_view target) {
  const char last = target.empty() ? '\0' : target.back();
  return last == 'a' || last == 'f' ? last : '\0';
}

unsigned first_version(const TargetRow& row, char suffix) {
  if (suffix == 'f') return std::max(row.version, 88U);
  return suffix == 'a' && row.sm == 90 ? 80 : row.version;
}

/// Versions after the last that an assembler was asked about are taken as the manual has them.
bool is_version(unsigned major, unsigned minor) {
  const auto& last = kVersions[std::size(kVersions) - 1];
  if (major > last[0] || (major == last[0] && minor > last[2])) return true;
  return std::ranges::any_of(
      kVersions, [&](const auto& v) { return v[0] == major && minor >= v[1] && minor <= v[2]; });
}

/// "" where code for `target` is compiled for `arch`, else why not.
std::string misfit(std::string_view target, std::string_view arch, bool old_assembler) {
  const TargetRow* text = row_of(sm_number(target));
  const TargetRow* asked = row_of(sm_number(arch));
  if (text == nullptr || asked == nullptr) return {};
  if (text->sm > asked->sm) return "a later target than";
  const char suffix = suffix_of(target);
  if (suffix == '\0' || old_assembler) return {};
  if (suffix == 'a')
    return text->sm != asked->sm || suffix_of(arch) != 'a' ? "for one target alone, not for"
                                                           : std::string();
  return text->family != asked->family ? "of another family than" : std::string();
}

}  // namespace

void check_header(const Module& module, const CheckOptions& options, const Setting& s,
                  std::vector<Diagnostic>& diagnostics) {
  const auto error = [&](std::string message) {
    diagnostics.push_back({1, 1, std::move(message)});
  };
  const bool own_version = options.version == 0;
  if (own_version && !is_version(module.version_major, module.version_minor))
    return error("there is no .version " + std::to_string(module.version_major) + "." +
                 std::to_string(module.version_minor) + ", one such as 7.8 was expected");
  if (s.old_assembler && s.version > 78)
    error(".version " + version_text(s.version) +
          " is later than the assembler of CUDA 11.8, at most 7.8 was expected");
  const char suffix = suffix_of(s.target);
  if (const TargetRow* row = row_of(s.sm); row == nullptr) {
    if (s.sm != 0) error("there is no `.target " + s.target + "`, one such as sm_80 was expected");
  } else if (suffix != '\0' && !s.old_assembler && (suffix == 'a' ? s.sm < 90 : s.sm < 100)) {
    error("there is no `.target " + s.target + "`, sm_" + std::to_string(s.sm) + " was expected");
  } else {
    const unsigned needed = first_version(*row, s.old_assembler ? '\0' : suffix);
    if (needed > s.version)
      error("`.target " + s.target + "` needs .version " + version_text(needed) +
            " or higher, found " + version_text(s.version));
  }
  const std::string& arch = options.arch.empty() ? s.target : options.arch;
  const bool wide = !s.old_assembler || s.version >= 80 || sm_number(arch) >= 90;
  if (s.address_size == 32 && wide) {
    error("`.address_size 32` ends with .version 7.8 and sm_89, found .version " +
          version_text(s.version) + " and " + arch + ", 64 was expected");
  }
  if (const std::string why = misfit(s.target, arch, s.old_assembler); !why.empty())
    error("the file is for " + s.target + ", which is " + why + " " + arch +
          " that it is compiled for (--target)");
}

}  // namespace legal

bool is_target(std::string_view name) {
  if (!name.starts_with("sm_")) return false;
  unsigned sm = 0;
  const auto [end, error] = std::from_chars(name.data() + 3, name.data() + name.size(), sm);
  if (error != std::errc{} || legal::row_of(sm) == nullptr) return false;
  const std::string_view rest = name.substr(static_cast<size_t>(end - name.data()));
  return rest.empty() || (rest == "a" && sm >= 90) || (rest == "f" && sm >= 100);
}

}  // namespace lanewise::ptx
