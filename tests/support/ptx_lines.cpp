#include "tests/support/ptx_lines.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "runtime/isa/ptx/check.hpp"

namespace lanewise::test {
namespace {

/// With a syntax error among them each half by itself: one may hide what follows.
void judge(std::span<const std::string> lines, const Frame& frame,
           std::span<const std::string> targets, std::span<LineVerdict> out) {
  std::string text = frame.head;
  for (const std::string& line : lines) text += line + "\n";
  const ptx::ParseResult parsed = ptx::parse(text + frame.tail, 0);
  if (!parsed.ok() && lines.size() > 1) {
    const size_t half = lines.size() / 2;
    judge(lines.first(half), frame, targets, out.first(half));
    judge(lines.subspan(half), frame, targets, out.subspan(half));
    return;
  }
  for (size_t i = 0; i < targets.size(); ++i) {
    const auto note = [&](const std::vector<Diagnostic>& found) {
      for (const Diagnostic& d : found) {
        if (d.warning || (d.line < frame.first && parsed.ok())) continue;
        const size_t at = std::max<size_t>(d.line, frame.first) - frame.first;
        LineVerdict& verdict = out[std::min(at, lines.size() - 1)];
        if (verdict.letters.find('R') >= i) verdict.why += d.message + " | ";
        verdict.letters[i] = 'R';
      }
    };
    ptx::CheckOptions options;
    options.target = targets[i];
    note(parsed.diagnostics);
    if (parsed.ok()) note(ptx::check(parsed.module, options));
  }
}

}  // namespace

Frame frame_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}}, mark = "// <candidate line>";
  const size_t at = text.find(mark);
  if (at == text.npos) throw std::runtime_error(path + " has no place for lines");
  Frame frame{text.substr(0, at), text.substr(at + mark.size()), 1};
  frame.first += static_cast<size_t>(std::ranges::count(frame.head, '\n'));
  return frame;
}

std::vector<LineVerdict> judge_lines(std::span<const std::string> lines, const Frame& frame,
                                     std::span<const std::string> targets) {
  std::vector<LineVerdict> out(lines.size(), {std::string(targets.size(), 'A'), {}});
  constexpr size_t kTogether = 64;
  for (size_t i = 0; i < lines.size(); i += kTogether) {
    const size_t n = std::min(kTogether, lines.size() - i);
    judge(lines.subspan(i, n), frame, targets, std::span(out).subspan(i, n));
  }
  return out;
}

}  // namespace lanewise::test
