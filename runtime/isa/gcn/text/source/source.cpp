#include "runtime/isa/gcn/text/source/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "runtime/support/error.hpp"
#include "runtime/support/input_file.hpp"
#include "runtime/support/source_text.hpp"

namespace lanewise::gcn {
namespace {

constexpr size_t kMostDepth = 20;  ///< of macros in each other, as LLVM has it
constexpr size_t kMostLines = size_t{1} << 20, kMostText = size_t{64} << 20;
constexpr uint64_t kMostIncluded = uint64_t{16} << 20;

std::string lower(std::string_view name) {
  std::string out(name);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

/// The directive that the line begins with; empty where it begins with something else.
std::string directive_of(std::string_view line) {
  Cursor in(line);
  in.skip_blanks();
  return in.peek() == '.' ? lower(read_name(in)) : std::string();
}

}  // namespace

std::string_view end_of_metadata(std::string_view text) {
  if (text.starts_with(".amdgpu_metadata")) return ".end_amdgpu_metadata";
  if (text.starts_with(".amd_amdgpu_hsa_metadata")) return ".end_amd_amdgpu_hsa_metadata";
  return {};
}

namespace {

const CommentStyle kComments = {.assembler = true, .raw = end_of_metadata};

}  // namespace

Source::Source(std::string_view text, std::optional<std::string> folder, Conditions::Ask ask)
    : folder_(std::move(folder)), conditions_(std::move(ask)) {
  style_.evaluate = [this](Cursor& in) { return conditions_.evaluate(in); };
  buffers_.emplace_back();
  buffers_.back().text = without_comments(text, kComments);
}

/// The end of a text that began inside of conditions is no end of theirs.
std::optional<std::string_view> Source::raw_line() {
  while (!buffers_.empty()) {
    Buffer& b = buffers_.back();
    if (b.at < b.text.size()) {
      const std::string_view rest = std::string_view(b.text).substr(b.at);
      const size_t end = std::min(rest.find('\n'), rest.size());
      b.at += end + 1;
      b.line += 1 + std::exchange(b.taken, 0);
      return rest.substr(0, end);
    }
    if (b.more && b.more(b.text)) {
      b.at = 0;
      b.taken = 0;
      b.line = b.first - 1;
      continue;
    }
    if (buffers_.size() == 1) return std::nullopt;
    buffers_.pop_back();
  }
  return std::nullopt;
}

bool Source::next(std::string_view& line) {
  while (!stopped_) {
    const auto raw = raw_line();
    if (!raw) return false;
    line = *raw;
    if (!conditions_.skips()) return true;
    const std::string name = directive_of(line);
    if (!Conditions::is_condition(name)) continue;
    Cursor in(line);
    in.skip_blanks();
    in.seek(in.at() + name.size());
    conditions_.take(name, in, this->line());
  }
  return false;
}

void Source::stop(const std::string& message) {
  stopped_ = true;
  throw SyntaxError{0, message, true};
}

void Source::count(size_t lines, size_t bytes) {
  expanded_lines_ += lines;
  expanded_bytes_ += bytes;
  if (expanded_lines_ > kMostLines || expanded_bytes_ > kMostText)
    stop(fmt::format("macros and repetitions make more than {} lines or {} MiB of text", kMostLines,
                     kMostText >> 20));
}

void Source::push(Buffer buffer) {
  if (buffers_.size() > kMostDepth)
    stop(fmt::format("{} macros, repetitions or included files in each other: more than {}",
                     buffers_.size(), kMostDepth));
  buffer.line = buffer.first - 1;
  buffer.conditions = conditions_.depth();
  buffers_.push_back(std::move(buffer));
}

/// The lines up to the directive that closes what this line opened, in the same text.
Body Source::read_body(std::string_view opening, std::initializer_list<std::string_view> nested,
                       std::initializer_list<std::string_view> closing) {
  Buffer& b = buffers_.back();
  Body body{"", b.line + 1, b.file};
  const uint32_t opened = b.line;
  for (size_t depth = 1; b.at < b.text.size();) {
    const std::string_view line = *raw_line();
    const std::string name = directive_of(line);
    const auto is_one_of = [&](const auto& names) {
      return std::ranges::find(names, name) != names.end();
    };
    if (is_one_of(nested)) ++depth;
    if (is_one_of(closing) && --depth == 0) {
      b.taken = b.line - opened;
      b.line = opened;
      return body;
    }
    body.text.append(line);
    body.text += '\n';
  }
  b.line = opened;
  Cursor::fail_at(0, fmt::format("{} without {}", opening, *closing.begin()));
}

void Source::define(Cursor& in) {
  Macro m;
  std::optional<SyntaxError> wrong;
  try {
    m = read_macro_head(in, style_);
  } catch (const SyntaxError& e) {
    wrong = e;
  }
  m.body = read_body(".macro", {".macro"}, {".endm", ".endmacro"});
  if (wrong) throw SyntaxError(*wrong);
  const std::string name = m.name;
  if (!macros_.try_emplace(name, std::move(m)).second)
    Cursor::fail_at(0, fmt::format("macro '{}' is defined already", name));
}

void Source::call(std::string_view name, Cursor& in) {
  const Macro& m = macros_.find(name)->second;
  const std::vector<std::string> values = read_call(in, m, style_);
  Buffer b;
  b.text = substituted(m.body.text, m.parameters, values, calls_++, style_.alternate);
  b.first = m.body.line;
  b.file = m.body.file;
  b.what = fmt::format("macro '{}'", m.name);
  b.macro = true;
  count(1 + static_cast<size_t>(std::ranges::count(b.text, '\n')), b.text.size());
  push(std::move(b));
}

void Source::repeat(std::string_view name, Cursor& in) {
  std::optional<SyntaxError> wrong;
  int64_t times = 0;
  try {
    in.skip_blanks();
    const size_t at = in.at();
    times = conditions_.evaluate(in);
    if (times < 0) Cursor::fail_value(at, "expected a count of 0 or more");
    if (!in.done()) in.fail("unexpected text behind the count" + in.found());
  } catch (const SyntaxError& e) {
    wrong = e;
  }
  const std::string text_of = std::string(name);
  Body body = read_body(text_of, {".rept", ".rep", ".irp", ".irpc"}, {".endr"});
  if (wrong) throw SyntaxError(*wrong);
  const std::string text = substituted(body.text, {}, {}, std::nullopt, false);
  const auto lines = static_cast<size_t>(std::ranges::count(text, '\n'));
  Buffer b;
  b.first = body.line;
  b.file = body.file;
  b.what = text_of;
  b.more = [this, text, lines, left = times](std::string& out) mutable {
    if (left-- <= 0) return false;
    count(1 + lines, text.size());
    out = text;
    return true;
  };
  push(std::move(b));
}

/// `.irp x, 1, 2` and `.irpc x, 12`: the lines once with each value in the place of `\x`.
void Source::repeat_over(std::string_view name, Cursor& in) {
  std::optional<SyntaxError> wrong;
  std::vector<MacroParameter> parameter(1);
  std::vector<std::string> values;
  try {
    parameter[0].name = read_name(in);
    if (parameter[0].name.empty()) in.fail("expected the name that the values take" + in.found());
    in.expect(',', "behind the name");
    values = read_values(in, style_);
    if (name == ".irpc") {
      if (values.size() != 1) in.fail("expected one text, whose characters are the values");
      const std::string text = values[0];
      values.clear();
      for (const char c : text) values.emplace_back(1, c);
    }
  } catch (const SyntaxError& e) {
    wrong = e;
  }
  Body body = read_body(name, {".rept", ".rep", ".irp", ".irpc"}, {".endr"});
  if (wrong) throw SyntaxError(*wrong);
  const auto lines = static_cast<size_t>(std::ranges::count(body.text, '\n'));
  Buffer b;
  b.first = body.line;
  b.file = body.file;
  b.what = std::string(name);
  const bool alternate = style_.alternate;
  b.more = [this, text = body.text, lines, parameter, values, alternate,
            n = size_t{0}](std::string& out) mutable {
    if (n == values.size()) return false;
    out = substituted(text, parameter, {values[n++]}, calls_, alternate);
    count(1 + lines, out.size());
    return true;
  };
  push(std::move(b));
}

/// Of the file that the line stands in.
std::string Source::path_of(Cursor& in) {
  in.skip_blanks();
  const size_t at = in.at();
  in.expect('"', "before the file's name");
  const std::string name(in.until("\""));
  in.expect('"', "behind the file's name");
  if (!in.done()) in.fail("unexpected text behind the file's name" + in.found());
  if (!folder_)
    Cursor::fail_value(
        at, fmt::format("'{}' cannot be included: this text was given without the folder that "
                        "its files lie in",
                        name));
  const std::filesystem::path own = buffers_.back().file, wanted = name;
  if (wanted.is_absolute()) return name;
  const std::filesystem::path beside = std::filesystem::path(own).parent_path() / wanted;
  const std::string near = own.empty() ? "" : beside.string();
  if (!near.empty() && std::filesystem::exists(near)) return near;
  return (std::filesystem::path(*folder_) / wanted).string();
}

std::string Source::included(Cursor& in) {
  const size_t at = in.at();
  const std::string path = path_of(in);
  try {
    std::string text = read_file(path, kMostIncluded);
    count(0, text.size());
    return text;
  } catch (const Error& e) {
    Cursor::fail_value(at, e.what());
  }
}

void Source::include(Cursor& in) {
  Cursor look = in;
  Buffer b;
  b.file = path_of(look);
  b.text = included(in);
  if (b.text.find('\0') != std::string::npos)
    Cursor::fail_value(0, fmt::format("'{}' is a binary file, expected GCN assembly text", b.file));
  b.text = without_comments(b.text, kComments);
  count(1 + static_cast<size_t>(std::ranges::count(b.text, '\n')), 0);
  push(std::move(b));
}

void Source::leave_macro() {
  while (buffers_.size() > 1 && buffers_.back().what.empty()) buffers_.pop_back();
  if (buffers_.size() == 1) Cursor::fail_at(0, ".exitm outside of a macro");
  conditions_.leave(buffers_.back().conditions);
  buffers_.pop_back();
}

bool Source::directive(std::string_view written, Cursor& in) {
  const std::string name = lower(written);
  if (Conditions::is_condition(name)) {
    conditions_.take(name, in, line());
  } else if (name == ".macro") {
    define(in);
  } else if (name == ".rept" || name == ".rep") {
    repeat(name, in);
  } else if (name == ".irp" || name == ".irpc") {
    repeat_over(name, in);
  } else if (name == ".include") {
    include(in);
  } else if (name == ".exitm") {
    leave_macro();
  } else if (name == ".purgem") {
    const std::string macro(read_name(in));
    if (macros_.erase(macro) == 0) in.fail(fmt::format("macro '{}' is not defined", macro));
  } else if (name == ".altmacro" || name == ".noaltmacro") {
    style_.alternate = name == ".altmacro";
  } else if (name == ".endm" || name == ".endmacro" || name == ".endr") {
    in.fail(name + " without what it ends");
  } else if (name == ".err") {
    in.fail(".err");
  } else if (name == ".error") {
    std::string text(in.rest());
    std::erase(text, '"');
    Cursor::fail_value(0, ".error:" + (text.starts_with(' ') ? text : " " + text));
  } else {
    return false;
  }
  return true;
}

uint32_t Source::line() const {
  for (auto b = buffers_.rbegin(); b != buffers_.rend(); ++b)
    if (b->file.empty()) return b->line;
  return 1;
}

std::string Source::placed(std::string message) const {
  const auto place = [](const Buffer& b) {
    return b.file.empty() ? fmt::format("line {}", b.line) : fmt::format("{}:{}", b.file, b.line);
  };
  // The innermost and the outermost say enough of a deep nest.
  constexpr size_t kMostShown = 4;
  size_t shown = 0;
  const Buffer& innermost = buffers_.back();
  if (!innermost.file.empty()) message = place(innermost) + ": " + message;
  for (size_t n = buffers_.size(); n-- > 1;) {
    const Buffer& b = buffers_[n];
    if (b.what.empty()) continue;
    if (++shown > kMostShown && n > 1) continue;
    message += fmt::format(" (in {}, {} at {})", b.what, b.macro ? "called" : "which is",
                           place(buffers_[n - 1]));
  }
  return message;
}

}  // namespace lanewise::gcn
