#include "runtime/cache/reports/source_text.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>

namespace lanewise::cache {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kAround = 6;             ///< lines before and after one that is used
constexpr uint32_t kWholeFile = 400;        ///< lines: such a file is shown whole
constexpr uintmax_t kLargest = 64 << 20;    ///< bytes
constexpr size_t kLongestSourceLine = 400;  ///< bytes: what is longer is cut
constexpr std::string_view kEndings[] = {".cu",  ".cuh", ".ptx", ".sass", ".s",   ".asm",
                                         ".cl",  ".c",   ".cc",  ".cpp",  ".cxx", ".h",
                                         ".hpp", ".hip", ".inl", ".lw",   ".py",  ".txt"};

bool is_source(const fs::path& file) {
  std::string ending = file.extension().string();
  std::ranges::transform(ending, ending.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return std::ranges::find(kEndings, ending) != std::end(kEndings);
}

bool readable(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) && fs::file_size(file, error) <= kLargest && !error;
}

std::optional<fs::path> find_file(const std::string& name, std::span<const std::string> folders) {
  const fs::path own(name);
  if (readable(own)) return own;
  const std::vector<fs::path> parts(own.begin(), own.end());
  for (const std::string& folder : folders)
    for (size_t from = 0; from < parts.size(); ++from) {
      fs::path end;
      for (size_t i = from; i < parts.size(); ++i)
        if (parts[i] != own.root_path()) end /= parts[i];
      if (!end.empty() && end.is_relative() && readable(folder / end)) return folder / end;
    }
  return {};
}

/// All lines; nothing where the file holds zero bytes, which no text does.
std::optional<std::vector<std::string>> lines_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (line.find('\0') != line.npos) return {};
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.size() > kLongestSourceLine) line = line.substr(0, kLongestSourceLine) + "...";
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<SourceLines> chunks_of(const std::vector<std::string>& lines,
                                   const std::set<uint32_t>& used) {
  const auto count = static_cast<uint32_t>(lines.size());
  std::vector<std::pair<uint32_t, uint32_t>> ranges;  // first and last line
  if (count <= kWholeFile && count != 0) ranges.emplace_back(1, count);
  for (const uint32_t line : used) {
    if (count <= kWholeFile || line > count) continue;
    const uint32_t first = line > kAround ? line - kAround : 1,
                   last = std::min(count, line + kAround);
    if (!ranges.empty() && first <= ranges.back().second + 1)
      ranges.back().second = last;
    else
      ranges.emplace_back(first, last);
  }
  std::vector<SourceLines> chunks;
  for (const auto& [first, last] : ranges)
    chunks.push_back({first, {lines.begin() + (first - 1), lines.begin() + last}});
  return chunks;
}

}  // namespace

std::vector<SourceFile> source_files(std::span<const trace::Site> sites,
                                     std::span<const std::string> folders) {
  std::map<std::string, std::set<uint32_t>> used;
  for (const trace::Site& s : sites)
    if (!s.file.empty() && s.line != 0) used[s.file].insert(s.line);
  std::vector<SourceFile> files;
  for (const auto& [name, lines] : used) {
    SourceFile& file = files.emplace_back(SourceFile{name, {}, {}});
    if (!is_source(name)) {
      file.why = "not the ending of a source file";
    } else if (const auto path = find_file(name, folders); !path) {
      file.why = "the file is not here; --source FOLDER says where to look";
    } else if (const auto text = lines_of(*path); !text) {
      file.why = "the file is no text";
    } else if (*lines.rbegin() > text->size()) {
      // Another version of the file would put counts beside the wrong lines.
      file.why = "the file has fewer lines than the instructions name, so it is another version";
    } else {
      file.chunks = chunks_of(*text, lines);
    }
  }
  return files;
}

}  // namespace lanewise::cache
