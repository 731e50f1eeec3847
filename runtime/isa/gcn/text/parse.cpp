// Assembly files: directives, labels; then each instruction on its own.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "runtime/isa/gcn/objects/metadata.hpp"
#include "runtime/isa/gcn/tables/row.hpp"
#include "runtime/isa/gcn/text/file/directives.hpp"
#include "runtime/isa/gcn/text/file/file_image.hpp"
#include "runtime/isa/gcn/text/file/headers.hpp"
#include "runtime/isa/gcn/text/file/places.hpp"
#include "runtime/isa/gcn/text/file/sections.hpp"
#include "runtime/isa/gcn/text/lost_bits.hpp"
#include "runtime/isa/gcn/text/source/source.hpp"
#include "runtime/support/source_text.hpp"

namespace lanewise::gcn {
namespace {

constexpr std::string_view kNextVgpr = ".amdgcn.next_free_vgpr",
                           kNextSgpr = ".amdgcn.next_free_sgpr",
                           kOldVersion = ".option.machine_version_";

bool declares(std::string_view directive) {
  for (const char* d :
       {".type", ".globl", ".global", ".weak", ".amdhsa_kernel", ".kernel", ".amdgpu_hsa_kernel"})
    if (directive == d) return true;
  return false;
}

/// The names that directives anywhere in the text declare as functions or kernels.
std::set<std::string, std::less<>> declared_names(std::string_view text) {
  std::set<std::string, std::less<>> out;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    Cursor in(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    in.skip_blanks();
    if (!declares(in.until(" \t"))) continue;
    in.skip_blanks();
    out.emplace(in.until(" \t,\r"));
  }
  return out;
}

class FileParser {
 public:
  FileParser(Listing& listing, const ParseOptions& options,
             std::set<std::string, std::less<>> declared)
      : listing_(listing),
        max_errors_(options.max_errors),
        folder_(options.folder),
        symbol_names_(std::move(declared)),
        headers_(listing.gen, options.gen.has_value()),
        text_(listing, symbol_names_) {}

  void run(std::string_view text) {
    Conditions::Ask ask;
    ask.evaluate = [this](Cursor& in) { return evaluated(in); };
    ask.defined = [this](std::string_view name) {
      // Files ask whether they are assembled as before version 3 of code objects.
      if (name.starts_with(kOldVersion) && !headers_.is_old_system()) return false;
      return symbols_.has_value(name) || places_.contains(name);
    };
    source_.emplace(text, folder_, std::move(ask));
    define_target();
    std::string_view line;
    while (!full() && !ended_ && next(line)) parse_line(line);
    guarded(0, [&] { text_.finish(); });
    report_unclosed();
    finish();
  }

  /// Names declared by lines that macros made or other files hold: the decisions on labels in
  /// front of them were made without.
  const std::set<std::string, std::less<>>& declared() const { return symbol_names_; }
  bool has_expanded() const { return source_->has_expanded(); }

 private:
  bool full() const { return max_errors_ != 0 && errors_ >= max_errors_; }
  void report(uint32_t line, size_t column, std::string message, bool warning = false) {
    if (full()) return;
    errors_ += warning ? 0 : 1;
    listing_.diagnostics.push_back(
        {line, static_cast<uint32_t>(column), std::move(message), warning});
  }
  /// At the line in work.
  void report_here(size_t column, std::string message, bool warning = false) {
    report(source_->line(), column, source_->placed(std::move(message)), warning);
  }
  /// `from`: where the cursor's text begins in the line.
  template <class F>
  void guarded(size_t from, F&& f) {
    try {
      f();
    } catch (const SyntaxError& e) {
      report_here(from + e.at + 1, e.message);
    }
  }
  bool next(std::string_view& line) {
    for (;;) {
      try {
        return source_->next(line);
      } catch (const SyntaxError& e) {
        report_here(e.at + 1, e.message);
      }
    }
  }

  /// A number that symbols, and places so far, give.
  int64_t evaluated(Cursor& in) { return read_constant(in, "a number", known_places()); }
  KnownPlaces known_places() {
    return places_.known([this] { return mark_here(); });
  }
  /// A label for the place in work.
  std::string mark_here() {
    const uint64_t at = section_ != nullptr ? section_->data.end() : text_.here(source_->line());
    std::string name = fmt::format(".L.${}${}", section_ != nullptr ? section_->number : 0, at);
    if (!places_.contains(name)) {
      places_.add(name, section_, at);
      if (section_ != nullptr)
        section_->data.label(name);
      else
        symbols_.place(name, at);
    }
    return name;
  }

  void parse_line(std::string_view line) {
    Cursor in(line);
    if (!metadata_end_.empty()) return metadata_line(line);
    if (headers_.is_open()) return header_line(in);
    while (!in.done() && take_label(in)) {
    }
    if (in.done()) return;
    Cursor word = in;
    const std::string_view name = read_name(word);
    if (source_->is_macro(name)) return guarded(0, [&] { source_->call(name, word); });
    if (take_assignment(in)) return;
    if (in.peek() == '.') return guarded(0, [&] { directive(in); });
    if (section_ != nullptr) return report_here(in.at() + 1, "instructions are read in .text only");
    instruction(in, line);
  }

  bool take_label(Cursor& in) {
    const size_t start = in.at();
    std::string name(in.until(" \t:,[(=\""));
    if (name.empty() || !in.take(':')) {
      in.seek(start);
      return false;
    }
    const bool numbered = std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
    if (numbered) name = symbols_.numbered_label(name);
    if (places_.contains(name) || symbols_.has_value(name)) {
      report_here(start + 1, fmt::format("label '{}' is defined twice", name));
      return true;
    }
    guarded(start, [&] {
      if (section_ != nullptr) {
        section_->data.label(name);
        places_.add(name, section_, section_->data.end());
        return;
      }
      text_.label(name, source_->line());
      places_.add(name, nullptr, text_.here(source_->line()));
    });
    return true;
  }

  void metadata_line(std::string_view line) {
    Cursor in(line);
    in.skip_blanks();
    if (!in.rest().starts_with(metadata_end_)) return metadata_text_.line(line, source_->line());
    metadata_end_ = {};
    if (const auto bad = metadata_text_.read(metadata_))
      report(bad->line, bad->column, source_->placed(bad->message));
  }

  void header_line(Cursor& in) {
    guarded(0, [&] {
      in.skip_blanks();
      const std::string text = symbols_.with_values(in.rest());
      Cursor value(text);
      const size_t from = in.at();
      try {
        const std::string kernel = section_ == nullptr ? text_.kernel().name : std::string();
        if (std::string cut = headers_.line(value, kernel); !cut.empty())
          report_here(from + 1, std::move(cut), true);
      } catch (SyntaxError& e) {
        e.at += from;
        throw;
      }
    });
    if (!headers_.is_open()) define_target();
  }

  void directive(Cursor& in) {
    const size_t at = in.at();
    std::string name(read_name(in));
    if (source_->directive(name, in)) return;
    if (headers_.directive(name, in)) {
      if (headers_.is_open()) block_line_ = source_->line();
      if (name == ".amdhsa_kernel") declare(Cursor(in.rest()), headers_.name());
      return define_target();
    }
    if (const std::string_view end = end_of_metadata(name); !end.empty()) {
      metadata_end_ = end;
      block_line_ = source_->line();
      return;
    }
    for (char& c : name)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (declares(name)) declare(in, {});
    if (sections_.directive(name, in)) {
      section_ = sections_.current();
      return;
    }
    if (name == ".set" || name == ".equ" || name == ".equiv")
      return assign(in, ',', name == ".equiv");
    if (name == ".end") {
      ended_ = true;
    } else if (DataSection::is_data(name)) {
      data(name, in);
    } else if (name == ".comm" || name == ".lcomm") {
      common(in);
    } else if (!is_harmless(name)) {
      Cursor::fail_at(at, "unknown directive " + name + ": what it does would be missing");
    }
  }
  void declare(Cursor in, std::string_view name) {
    in.skip_blanks();
    symbol_names_.emplace(name.empty() ? in.until(" \t,\r") : name);
  }

  void data(const std::string& name, Cursor& in) {
    if (section_ != nullptr && !section_->loaded) return;  // may hold what it likes
    const std::string text = symbols_.with_values(in.rest());
    Cursor values(text);
    const DataSection::Surroundings around = {[&](Cursor& c) { return source_->included(c); },
                                              known_places(), [this] { return mark_here(); }};
    try {
      if (section_ == nullptr && is_alignment(name))
        return text_.align(read_alignment(name, values), source_->line());
      const auto carry_out = [&](DataSection& s) {
        const size_t late = s.late().size();
        s.directive(name, values, around);
        for (size_t n = late; n < s.late().size(); ++n) {
          s.late()[n].line = source_->line();
          s.late()[n].from = source_->placed("");
        }
      };
      if (section_ != nullptr)
        carry_out(section_->data);
      else
        text_.data(source_->line(), carry_out);
    } catch (SyntaxError& e) {
      e.at += in.at();
      throw;
    }
  }
  /// `.comm name, size, alignment`: zeros.
  void common(Cursor& in) {
    in.skip_blanks();
    const std::string name(in.until(" \t,"));
    in.expect(',', "behind the name");
    const int64_t size = evaluated(in);
    const int64_t align = in.take(',') ? evaluated(in) : 1;
    Section& bss = sections_.named(".bss", "a");
    if (size < 0 || align < 1 || align > 4096 || (align & (align - 1)) != 0)
      in.fail("expected a size and an alignment of 1 to 4096 bytes, a power of two");
    Alignment to;
    to.to = static_cast<uint64_t>(align);
    bss.data.fill(to.gap(bss.data.end()), std::byte{0});
    if (places_.contains(name)) in.fail(fmt::format("label '{}' is defined twice", name));
    places_.add(name, &bss, bss.data.end());
    bss.data.label(name);
    bss.data.fill(static_cast<uint64_t>(size), std::byte{0});
  }

  /// `name = value`, another spelling of .set.
  bool take_assignment(Cursor& in) {
    Cursor sign = in;
    sign.skip_blanks();
    const std::string_view name = sign.until(" \t=,");
    if (name.empty() || !sign.take('=') || sign.peek() == '=') return false;
    guarded(0, [&] { assign(in, '=', false); });
    return true;
  }
  void assign(Cursor& in, char sign, bool once) {
    symbols_.assign(in, sign, once,
                    {[this] { return mark_here(); }, known_places(),
                     [this](const std::string& name) { return places_.contains(name); }});
  }
  /// The assembler's own symbols.
  void define_target() {
    const auto major = static_cast<int64_t>(listing_.gen) + 6;
    const int64_t stepping = listing_.gen == Gen::gfx8 ? 3 : 0;
    for (const auto& [name, value] :
         {std::pair("major", major), {"minor", int64_t{0}}, {"stepping", stepping}}) {
      symbols_.define(std::string(kOldVersion) + name, value);
      symbols_.define(".amdgcn.gfx_generation_" +
                          std::string(name == std::string_view("major") ? "number" : name),
                      value);
    }
    for (const std::string_view next : {kNextVgpr, kNextSgpr})
      if (!symbols_.has_value(next)) symbols_.define(std::string(next), 0);
  }
  /// One more than the last register that the code so far names.
  void count_registers(const Instruction& i) {
    int64_t next[2] = {symbols_.number(kNextSgpr), symbols_.number(kNextVgpr)};
    const int64_t before[2] = {next[0], next[1]};
    for (const Operand& o : i.operands) {
      const bool vector = o.code >= kVgpr0;
      if (o.immediate || (!vector && o.code >= kSgprs)) continue;
      int64_t& n = next[vector ? 1 : 0];
      n = std::max<int64_t>(n, o.code + o.count - (vector ? kVgpr0 : 0));
    }
    if (next[0] != before[0]) symbols_.define(std::string(kNextSgpr), next[0]);
    if (next[1] != before[1]) symbols_.define(std::string(kNextVgpr), next[1]);
  }

  void instruction(Cursor& in, std::string_view line) {
    const size_t start = in.at();
    std::string text(line.substr(start));
    guarded(start, [&] {
      text = symbols_.with_operand_values(text);
      Parsed p = parse_instruction(text, listing_.gen);
      if (!p.instruction) throw SyntaxError{p.error.column - 1, std::move(p.error.message), false};
      p.instruction->text = with_single_blanks(text);
      count_registers(*p.instruction);
      if (std::string lost = lost_bits(*p.instruction); !lost.empty())
        report_here(start + 1, std::move(lost), true);
      if (keep_words_only(*p.instruction, listing_.gen))
        report_here(start + 1, "no register has a condition's code here: the words are kept", true);
      text_.instruction(std::move(*p.instruction), source_->line(),
                        static_cast<uint32_t>(start + 1));
    });
  }

  void report_unclosed() {
    if (full()) return;
    if (headers_.is_open())
      report(block_line_, 1, fmt::format("{} is missing", headers_.block_end()));
    if (!metadata_end_.empty()) report(block_line_, 1, fmt::format("{} is missing", metadata_end_));
    if (const uint32_t open = source_->unclosed(); open != 0 && !ended_)
      report(open, 1, "the condition that begins here has no .endif");
  }

  void finish() {
    std::erase_if(listing_.kernels, [](const Kernel& k) { return k.code.empty(); });
    FileImage image(listing_, symbols_, text_, sections_);
    for (Kernel& k : listing_.kernels) {
      k.unaligned = headers_.hsa() && listing_.gen != Gen::gfx6;
      const auto block = headers_.blocks().find(k.name);
      if (block != headers_.blocks().end()) apply_amdhsa(block->second, k);
      if (std::string problem = headers_.problem(k.name); !problem.empty())
        k.problems.push_back({1, 1, std::move(problem), false});
      if (sections_.of_mesa() && !headers_.hsa() && headers_.is_old(k.name)) add_mesa_values(k);
      symbols_.resolve(k, [&](const Instruction& i, std::string message) {
        report(i.line, i.column, std::move(message));
      });
      image.write_code(k);
    }
    image.write_late_values(
        [&](uint32_t line, std::string message) { report(line, 1, std::move(message)); });
    listing_.print_formats = metadata_.print_formats();
    for (Kernel& k : listing_.kernels)
      if (const std::string bad = metadata_.apply(k); !bad.empty())
        report(std::max(source_->line(), 1U), 1, bad);
    separate_functions();
    if (listing_.kernels.empty() && listing_.ok())
      report(1, 1, "no instructions found, expected GCN assembly text");
  }

  /// Where some of the code has kernel descriptors the rest is functions; so is what holds nothing
  /// but data, beside code.
  void separate_functions() {
    const auto described = [&](const Kernel& k) { return headers_.blocks().contains(k.name); };
    const auto data_only = [&](const Kernel& k) {
      return text_.holds_data_only(k) && !symbol_names_.contains(k.name);
    };
    const bool descriptors = std::ranges::any_of(listing_.kernels, described);
    const bool code = !std::ranges::all_of(listing_.kernels, data_only);
    const auto is_function = [&](const Kernel& k) {
      return descriptors ? !described(k) : code && data_only(k);
    };
    for (Kernel& k : listing_.kernels) {
      if (!is_function(k)) continue;
      k.data_only = data_only(k);
      listing_.functions.push_back(std::move(k));
    }
    std::erase_if(listing_.kernels, [](const Kernel& k) { return k.code.empty(); });
  }

  Listing& listing_;
  size_t max_errors_, errors_ = 0;
  std::optional<std::string> folder_;
  std::set<std::string, std::less<>> symbol_names_;  ///< what directives declare
  Headers headers_;
  TextSection text_;
  std::optional<Source> source_;
  Sections sections_;
  Section* section_ = nullptr;  ///< none: .text
  bool ended_ = false;
  std::string_view metadata_end_;  ///< inside of metadata: what ends them
  uint32_t block_line_ = 0;        ///< where the open block or the metadata began
  Symbols symbols_;
  Places places_{symbols_};  ///< labels so far
  Metadata metadata_;
  MetadataText metadata_text_;
};

}  // namespace

Listing parse(std::string_view text, const ParseOptions& options) {
  Listing listing;
  const Gen target = options.gen.value_or(named_for_all(text).value_or(Gen::gfx6));
  listing.gen = target;
  if (text.find('\0') != std::string_view::npos) {
    listing.diagnostics.push_back(
        {1, 1, "this is a binary file, expected GCN assembly text", false});
    return listing;
  }
  // What directives declare decides about labels in front of them.
  std::set<std::string, std::less<>> declared = declared_names(text);
  for (bool again = true; again;) {
    listing = {};
    listing.gen = target;
    FileParser parser(listing, options, declared);
    parser.run(text);
    again = parser.has_expanded() && declared.size() != parser.declared().size();
    declared = parser.declared();
  }
  return listing;
}

Listing parse(std::string_view text, std::optional<Gen> gen, size_t max_errors) {
  return parse(text, ParseOptions{gen, max_errors, std::nullopt});
}

}  // namespace lanewise::gcn
