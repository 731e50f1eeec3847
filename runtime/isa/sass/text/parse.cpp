// Listings: comments, directives, labels, dual-issue braces; then each instruction on its own.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "runtime/isa/sass/sass.hpp"
#include "runtime/isa/sass/text/dump_text.hpp"
#include "runtime/isa/sass/text/listed_control.hpp"
#include "runtime/support/source_text.hpp"

namespace lanewise::sass {
namespace {

class ListingParser {
 public:
  ListingParser(Listing& listing, unsigned arch, size_t max_errors)
      : listing_(listing), forced_arch_(arch), max_errors_(max_errors) {
    listing_.arch = arch != 0 ? arch : 50;
  }

  void run(std::string_view text) {
    if (text.find('\0') != std::string_view::npos) {
      report(1, 1, "this is a binary file, expected SASS text");
      return;
    }
    const std::string clean = without_comments(text);
    sections_ =
        clean.find(".text.") != std::string::npos || clean.find(".global") != std::string::npos;
    choose_dumped(dumped_targets(clean));
    std::string_view rest = clean;
    for (line_ = 1; !rest.empty() && !full(); ++line_) {
      const size_t end = rest.find('\n');
      const std::string_view whole = text.substr(clean.size() - rest.size(), end);
      if (!dumped_ || !take_dump_line(rest.substr(0, end))) parse_line(rest.substr(0, end));
      if (!listing_.kernels.empty() && !skips_) listed_[listing_.kernels.size() - 1].line(whole);
      rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    }
    if (open_brace_line_ != 0)
      report(open_brace_line_, open_brace_column_, "'{' is never closed, expected '}'");
    for (const auto& [n, words] : listed_)
      words.give_control(listing_.kernels[n], listing_.diagnostics);
    drop_empty_kernels();
    if (listing_.kernels.empty() && listing_.ok())
      report(1, 1, "no instructions found, expected SASS text");
    for (Kernel& k : listing_.kernels) resolve(k);
  }

 private:
  bool full() const { return max_errors_ != 0 && listing_.diagnostics.size() >= max_errors_; }
  void report(uint32_t line, size_t column, std::string message) {
    if (!full())
      listing_.diagnostics.push_back(
          {line, static_cast<uint32_t>(column), std::move(message), false});
  }

  Kernel& kernel() {
    if (listing_.kernels.empty()) start_kernel("stream");
    return listing_.kernels.back();
  }

  void start_kernel(std::string_view name) {
    Kernel k;
    k.name = std::string(name);
    k.registers = pending_registers_;
    listing_.kernels.push_back(std::move(k));
  }

  /// Of a listing of cuobjdump: which code is read. That of a file for several targets is that of
  /// the one which was asked for.
  void choose_dumped(const std::vector<std::string_view>& targets) {
    if (targets.empty()) return;
    dumped_ = sections_ = true;
    skips_ = true;  // the banner of a fat binary stands in front of its code
    const std::string asked = std::to_string(forced_arch_);
    if (std::ranges::count(targets, asked) != 0) {
      dumped_target_ = asked;
    } else if (std::ranges::count(targets, targets[0]) == static_cast<ptrdiff_t>(targets.size())) {
      dumped_target_ = targets[0];
    } else {
      report(
          1, 1,
          fmt::format("the listing has code for sm_{}, expected one target: choose with --target",
                      fmt::join(targets, ", sm_")));
    }
  }

  /// False for what stands in the code that is read.
  bool take_dump_line(std::string_view line) {
    using Kind = DumpLine::Kind;
    const DumpLine found = dump_line(line);
    if (found.kind == Kind::target) {
      skips_ = found.text != dumped_target_;
      if (!skips_ && forced_arch_ == 0)
        set_arch(std::string(found.text), static_cast<size_t>(found.text.data() - line.data()));
    } else if (found.kind == Kind::header) {
      skips_ = true;
    } else if (found.kind == Kind::function && !skips_) {
      start_kernel(found.text);
    }
    return skips_ || found.kind != Kind::code;
  }

  void parse_line(std::string_view line) {
    Cursor in(line);
    while (!in.done()) {
      const char c = in.peek();
      if (c == ';') {
        in.take(';');
      } else if (c == '{') {
        open_brace(in);
      } else if (c == '}') {
        close_brace(in);
      } else if (!take_label(in)) {
        if (c == '.' && !in.rest().starts_with(".word ")) return directive(in);
        instruction(in, line);
      }
    }
  }

  void open_brace(Cursor& in) {
    if (open_brace_line_ != 0) report(line_, in.at() + 1, "'{' inside a dual-issue pair");
    open_brace_line_ = line_;
    open_brace_column_ = in.at() + 1;
    pair_start_ = kernel().code.size();
    in.take('{');
  }
  void close_brace(Cursor& in) {
    const size_t at = in.at();
    in.take('}');
    if (open_brace_line_ == 0) return report(line_, at + 1, "'}' without '{'");
    open_brace_line_ = 0;
    std::vector<Instruction>& code = kernel().code;
    if (code.size() == pair_start_ + 2) code[pair_start_].control.set(0, 5, 0x10);
  }

  /// `name:` or `.L_x_0:`. `.text.NAME:` and labels of functions start a kernel.
  bool take_label(Cursor& in) {
    const size_t start = in.at();
    const std::string_view name = in.until(" \t:;,{}[@");
    if (name.empty() || in.peek() != ':') {
      in.seek(start);
      return false;
    }
    in.take(':');
    if (name.substr(0, 6) == ".text.") return true;
    if (name[0] != '.' && name[0] != '$' && starts_kernel()) {
      start_kernel(name);
      return true;
    }
    for (const Label& l : kernel().labels)
      if (l.name == name)
        report(line_, start + 1, fmt::format("label '{}' is defined twice", name));
    kernel().labels.push_back({std::string(name), kernel().code.size()});
    return true;
  }

  /// A name without a dot is a kernel's, unless the code before it runs on into it: then it is a
  /// label like others. Files with sections say themselves what is what.
  bool starts_kernel() const {
    if (sections_ || listing_.kernels.empty()) return true;
    const std::vector<Instruction>& code = listing_.kernels.back().code;
    size_t n = code.size();
    while (n != 0 && code[n - 1].text.starts_with("NOP")) --n;
    if (n == 0) return code.empty();
    const std::string& last = code[n - 1].text;
    return last.starts_with("EXIT") || last.starts_with("RET") || last.starts_with("BRA");
  }

  /// Directives say nothing about what the code does, except the register count and the target.
  void directive(Cursor& in) {
    const std::string_view text = in.rest();
    if (text.substr(0, 12) == ".sectioninfo") {
      const size_t at = text.find("SHI_REGISTERS=");
      if (at != std::string_view::npos) {
        Cursor number(text, at + 14);
        pending_registers_ = static_cast<unsigned>(std::atoi(std::string(number.word()).c_str()));
      }
    } else if (text.substr(0, 12) == ".headerflags") {
      const size_t at = text.find("EF_CUDA_SM");
      if (at != std::string_view::npos && forced_arch_ == 0)
        set_arch(std::string(Cursor(text, at + 10).word()), in.at());
    } else if (text.substr(0, 7) == ".target" && forced_arch_ == 0) {
      Cursor name(text, 7);
      const std::string target(name.word());
      set_arch(target.rfind("sm_", 0) == 0 ? target.substr(3) : target, in.at());
    }
  }
  void set_arch(const std::string& digits, size_t at) {
    if (const unsigned arch = known_arch(digits); arch != 0)
      listing_.arch = arch;
    else
      report(line_, at + 1,
             fmt::format("target sm_{} is not Maxwell, expected {}", digits, kKnownArchs));
  }

  /// Up to the semicolon, the end of the line or the pair's closing brace.
  static size_t instruction_end(std::string_view line, size_t start) {
    int depth = 0;
    for (size_t i = start; i < line.size(); ++i) {
      if (line[i] == ';') return i;
      if (line[i] == '{') ++depth;
      if (line[i] == '}' && --depth < 0) return i;
    }
    return line.size();
  }
  void instruction(Cursor& in, std::string_view line) {
    const size_t start = in.at(), end = instruction_end(line, start);
    in.seek(end);
    Parsed p = parse_instruction(line.substr(start, end - start), listing_.arch);
    if (!p.instruction) return report(line_, start + p.error.column, p.error.message);
    p.instruction->line = line_;
    p.instruction->column = static_cast<uint32_t>(start + 1);
    p.instruction->text = with_single_blanks(line.substr(start, end - start));
    p.instruction->pc = pc_of(kernel().code.size());
    kernel().code.push_back(std::move(*p.instruction));
  }

  void drop_empty_kernels() {
    std::erase_if(listing_.kernels, [](const Kernel& k) { return k.code.empty(); });
  }

  void resolve(Kernel& k) {
    std::map<std::string, uint64_t> addresses{{k.name, pc_of(0) - 8}};
    // The first instruction of a bundle is addressed through its control word.
    for (const Label& l : k.labels)
      addresses[l.name] = l.index % 3 == 0 ? pc_of(l.index) - 8 : pc_of(l.index);
    for (Instruction& i : k.code) {
      if (i.label.empty()) continue;
      if (i.label.starts_with("32@")) {
        half_of_address(k, i);
        continue;
      }
      const auto known = addresses.find(i.label);
      uint64_t target = 0;
      if (known != addresses.end()) {
        target = known->second;
      } else if (is_address(i.label)) {
        const bool negative = i.label[0] == '-';
        target = std::stoull(i.label.substr(negative ? 1 : 0), nullptr, 16);
        if (negative) target = 0 - target;
        i.label.clear();
      } else {
        report(i.line, i.column, fmt::format("label '{}' is not defined in '{}'", i.label, k.name));
        continue;
      }
      const Field field = i.operand(Role::target)->field;
      field.set(i.word, target - i.pc - 8);
    }
  }

  /// "32@lo(name": what a loader puts into a MOV32I.
  void half_of_address(Kernel& k, Instruction& i) {
    const bool high = i.label.starts_with("32@hi(");
    if (high || i.label.starts_with("32@lo("))
      k.relocations.push_back({i.pc, i.label.substr(6), 0, high});
    else
      report(i.line, i.column, "expected 32@lo(NAME) or 32@hi(NAME)");
    i.label.clear();
  }

  Listing& listing_;
  std::map<size_t, ListedWords> listed_;  ///< by kernel
  bool sections_ = false;                 ///< the file says where kernels begin
  bool dumped_ = false;                   ///< it is a listing of cuobjdump
  std::string dumped_target_;             ///< whose code is read
  bool skips_ = false;                    ///< up to the next "code for"
  unsigned forced_arch_;
  size_t max_errors_;
  uint32_t line_ = 0;
  unsigned pending_registers_ = 0;
  uint32_t open_brace_line_ = 0;
  size_t open_brace_column_ = 0;
  size_t pair_start_ = 0;
};

}  // namespace

unsigned known_arch(std::string_view digits) {
  for (const unsigned arch : {50U, 52U, 53U, 60U, 61U, 62U})
    if (digits == std::to_string(arch)) return arch;
  return 0;
}

Listing parse(std::string_view text, unsigned arch, size_t max_errors) {
  Listing listing;
  ListingParser(listing, arch, max_errors).run(text);
  return listing;
}

}  // namespace lanewise::sass
