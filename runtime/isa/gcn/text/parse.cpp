// Assembly files: comments, directives, labels; then each instruction on its own.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "runtime/guest/launch_layout.hpp"
#include "runtime/isa/gcn/objects/kernel_code.hpp"
#include "runtime/isa/gcn/objects/metadata.hpp"
#include "runtime/isa/gcn/tables/row.hpp"
#include "runtime/isa/gcn/text/data_section.hpp"
#include "runtime/isa/gcn/text/directives.hpp"
#include "runtime/isa/gcn/text/number_text.hpp"
#include "runtime/isa/gcn/text/symbols.hpp"
#include "runtime/support/cursor.hpp"

namespace lanewise::gcn {
namespace {

/// What ends the metadata that begin here, before version 3 of code objects and from it on; empty
/// where none do.
std::string_view end_of_metadata(std::string_view text) {
  if (text.starts_with(".amdgpu_metadata")) return ".end_amdgpu_metadata";
  if (text.starts_with(".amd_amdgpu_hsa_metadata")) return ".end_amd_amdgpu_hsa_metadata";
  return {};
}

/// `;`, `//` and block comments become blanks so that lines and columns stay what they were. The
/// metadata block is left alone.
std::string without_comments(std::string_view text) {
  std::string out(text);
  const auto at = [&](size_t i, std::string_view s) { return out.compare(i, s.size(), s) == 0; };
  for (size_t i = 0; i < out.size(); ++i) {
    if (const std::string_view end = end_of_metadata(std::string_view(out).substr(i));
        !end.empty()) {
      i = out.find(end, i);
      if (i == std::string::npos) break;
      continue;
    }
    const bool block = at(i, "/*");
    if (!block && out[i] != ';' && !at(i, "//")) continue;
    size_t end = block ? out.find("*/", i + 2) : out.find('\n', i);
    end = end == std::string::npos ? out.size() : end + (block ? 2 : 0);
    for (; i < end; ++i)
      if (out[i] != '\n') out[i] = ' ';
    --i;
  }
  return out;
}

std::string squeeze(std::string_view text) {
  std::string out;
  for (char c : text) {
    const bool blank = c == ' ' || c == '\t' || c == '\r';
    if (!blank)
      out += c;
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

class FileParser {
 public:
  FileParser(Listing& listing, bool forced, size_t max_errors)
      : listing_(listing), forced_(forced), max_errors_(max_errors) {}

  void run(std::string_view text) {
    if (text.find('\0') != std::string_view::npos)
      return report(1, 1, "this is a binary file, expected GCN assembly text");
    const std::string clean = without_comments(text);
    read_symbol_names(clean);
    std::string_view rest = clean;
    for (line_ = 1; !rest.empty() && !full() && !ended_; ++line_) {
      const size_t end = rest.find('\n');
      parse_line(rest.substr(0, end));
      rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    }
    end_words();
    if (code_block_) report(line_, 1, ".amd_kernel_code_t without .end_amd_kernel_code_t");
    std::erase_if(listing_.kernels, [](const Kernel& k) { return k.code.empty(); });
    place();
    for (Kernel& k : listing_.kernels) {
      k.unaligned = hsa_ && listing_.gen != Gen::gfx6;
      const auto block = amdhsa_.find(k.name);
      if (block != amdhsa_.end()) apply_amdhsa(block->second, k);
      if (mesa_ && !hsa_ && old_kernels_.contains(k.name)) add_mesa_values(k);
      symbols_.resolve(k, [&](const Instruction& i, std::string message) {
        report(i.line, i.column, std::move(message));
      });
      write_code(k);
    }
    listing_.print_formats = metadata_.print_formats();
    if (const std::string bad = metadata_.apply(listing_.kernels); !bad.empty())
      report(line_, 1, bad);
    separate_functions();
    if (listing_.kernels.empty() && listing_.ok())
      report(1, 1, "no instructions found, expected GCN assembly text");
  }

 private:
  bool full() const { return max_errors_ != 0 && errors_ >= max_errors_; }
  void report(uint32_t line, size_t column, std::string message) {
    if (full()) return;
    ++errors_;
    listing_.diagnostics.push_back(
        {line, static_cast<uint32_t>(column), std::move(message), false});
  }
  Kernel& kernel() {
    if (listing_.kernels.empty()) {
      listing_.kernels.emplace_back();
      listing_.kernels.back().name = "stream";
    }
    return listing_.kernels.back();
  }

  void parse_line(std::string_view line) {
    Cursor in(line);
    if (!metadata_end_.empty()) {
      in.skip_blanks();
      if (in.rest().starts_with(metadata_end_))
        metadata_end_ = {};
      else if (const std::string bad = metadata_.line(line); !bad.empty())
        report(line_, 1, bad);
      return;
    }
    if (code_block_) return header_line(in);
    while (!in.done() && take_label(in)) {
    }
    if (in.done()) return;
    if (take_words(in)) return;
    end_words();
    if (take_assignment(in)) return;
    if (in.peek() == '.') return directive(in);
    if (!in_text_) return report(line_, in.at() + 1, "instructions are read in .text only");
    pad();
    instruction(in, line);
  }

  bool take_label(Cursor& in) {
    const size_t start = in.at();
    const std::string_view name = in.until(" \t:,[(");
    if (name.empty() || in.peek() != ':') {
      in.seek(start);
      return false;
    }
    in.take(':');
    if (in_data_) data_.label(name);
    if (!in_text_) return true;
    end_words();
    const bool plain =
        name[0] != '.' && name[0] != 'L' && (name.size() < 2 || name.substr(0, 2) != "BB");
    if (plain && starts_kernel(name)) {
      begin_kernel(name);
      return true;
    }
    pad();
    if (!label_names_[kernel().name].insert(std::string(name)).second)
      report(line_, start + 1, fmt::format("label '{}' is defined twice", name));
    kernel().labels.push_back({std::string(name), kernel().code.size()});
    return true;
  }

  /// At the next address that the alignments in front of it allow.
  void begin_kernel(std::string_view name) {
    uint64_t at = end_of_code();
    for (const Alignment& a : alignments_) at += take_padding(a.gap(at), kMostGaps);
    alignments_.clear();
    branched_to_.clear();
    listing_.kernels.emplace_back();
    listing_.kernels.back().name = std::string(name);
    listing_.kernels.back().base = at;
  }
  uint64_t end_of_code() const {
    if (listing_.kernels.empty()) return 0;
    const Kernel& k = listing_.kernels.back();
    return k.base + (k.code.empty() ? 0 : k.code.back().pc + size_of(k.code.back(), k.gen));
  }
  /// Alignments that the code runs into are instructions of their own.
  void pad() {
    constexpr uint32_t kNop = 0xbf800000;
    for (const Alignment& a : std::exchange(alignments_, {})) {
      const uint64_t gap = take_padding(a.gap(end_of_code()), kMostPadding);
      const auto fill = static_cast<uint32_t>(a.fill * 0x01010101);
      words_.assign(gap / 4, a.fills ? fill : kNop);
      words_line_ = line_;
      end_words();
    }
  }
  uint64_t take_padding(uint64_t bytes, uint64_t most) {
    padding_ += bytes;
    if (padding_ <= most) return bytes;
    report(line_, 1, "too much room between instructions");
    return 0;
  }

  /// The names that directives anywhere in the file declare as functions or kernels.
  void read_symbol_names(std::string_view text) {
    while (!text.empty()) {
      const size_t end = text.find('\n');
      Cursor in(text.substr(0, end));
      text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
      in.skip_blanks();
      const std::string_view directive = in.until(" \t");
      bool declares = false;
      for (const char* d : {".type", ".globl", ".global", ".weak", ".amdhsa_kernel", ".kernel",
                            ".amdgpu_hsa_kernel"})
        declares = declares || directive == d;
      if (!declares) continue;
      in.skip_blanks();
      symbol_names_.emplace(in.until(" \t,"));
    }
  }

  /// A plain name is a function's where a directive says so. Else it is a label like others where
  /// the code before branches to it or runs on into it.
  bool starts_kernel(std::string_view name) const {
    if (listing_.kernels.empty() || symbol_names_.contains(name)) return true;
    if (branched_to_.contains(name)) return false;
    const std::vector<Instruction>& code = listing_.kernels.back().code;
    const auto is = [&](size_t n, const char* text) { return code[n].text.starts_with(text); };
    size_t n = code.size();
    while (n != 0 && (is(n - 1, "s_nop") || is(n - 1, "s_code_end"))) --n;
    if (n == 0) return code.empty();
    if (code[n - 1].text.starts_with(".")) return true;  // a word that is no instruction
    return is(n - 1, "s_endpgm") || is(n - 1, "s_setpc") || is(n - 1, "s_branch");
  }

  /// `.long` between instructions: machine code by its words.
  bool take_words(Cursor& in) {
    if (!in_text_) return false;
    const size_t start = in.at();
    const std::string_view name = in.until(" \t");
    if (name != ".long" && name != ".int") {
      in.seek(start);
      return false;
    }
    try {
      pad();
      do {
        in.skip_blanks();
        const size_t at = in.at();
        const bool minus = in.take('-');
        const uint64_t n = read_integer(in, "a number");
        if (n > 0xffffffff) Cursor::fail_value(at, "number does not fit in 32 bits");
        words_.push_back(static_cast<uint32_t>(minus ? 0 - n : n));
      } while (in.take(','));
      if (!in.done()) in.fail("unexpected text behind the words" + in.found());
    } catch (const SyntaxError& e) {
      report(line_, e.at + 1, e.message);
    }
    if (!words_.empty() && words_line_ == 0) words_line_ = line_;
    return true;
  }
  void end_words() {
    for (size_t n = 0; n < words_.size();) {
      const std::vector<uint32_t> rest(words_.begin() + static_cast<std::ptrdiff_t>(n),
                                       words_.end());
      auto i = decode(rest, listing_.gen);
      if (!i) i = undecoded(rest, listing_.gen);
      n += size_of(*i, listing_.gen) / 4;
      i->text = print(*i, listing_.gen);
      add(std::move(*i), words_line_, 1);
    }
    words_.clear();
    words_line_ = 0;
  }
  void add(Instruction i, uint32_t line, size_t column) {
    Kernel& k = kernel();
    k.gen = listing_.gen;
    i.line = line;
    i.column = static_cast<uint32_t>(column);
    i.pc = k.code.empty() ? 0 : k.code.back().pc + size_of(k.code.back(), k.gen);
    k.code.push_back(std::move(i));
  }

  void directive(Cursor& in) {
    const size_t at = in.at();
    const std::string name(in.until(" \t"));
    if (in_data_ && carried_out(in, name)) return;
    if (name == ".text" || name == ".hsatext") {
      in_text_ = true;
      in_data_ = false;
    } else if (name == ".section" || name == ".data" || name == ".bss" || name == ".rodata") {
      in.skip_blanks();
      const std::string_view section = name == ".section" ? in.rest() : std::string_view(name);
      in_text_ = section.substr(0, 5) == ".text";
      in_data_ = DataSection::holds_data(section);
      mesa_ = mesa_ || section.starts_with(".AMDGPU.config");
    } else if (name == ".set" || name == ".equ" || name == ".equiv") {
      assign(in, ',');
    } else if (changes_lines(name)) {
      report(line_, at + 1, name + " is not supported: what it stands for would be missing");
    } else if (const std::string_view end = end_of_metadata(name); !end.empty()) {
      metadata_end_ = end;
    } else if (name == ".amd_kernel_code_t") {
      code_block_.emplace();
    } else if (name == ".hsa_code_object_version") {
      hsa_ = true;
    } else if (name == ".hsa_code_object_isa") {
      old_target(in);
    } else if (name == ".amdhsa_code_object_version") {
      // Of the metadata, which say themselves what they hold.
    } else if (name == ".amdhsa_kernel") {
      amdhsa_name_ = std::string(in.word());
      amdhsa_[amdhsa_name_];
    } else if (name == ".end_amdhsa_kernel") {
      amdhsa_name_.clear();
    } else if (name.rfind(".amdhsa_", 0) == 0) {
      amdhsa_value(in, name.substr(8), at);
    } else if (name == ".amdgcn_target") {
      target(in, at);
    } else if (in_text_ && is_alignment(name)) {
      align(in, name);
    } else if (name == ".end") {
      ended_ = true;
    } else if (in_text_ && (name == ".quad" || name == ".byte" || name == ".short")) {
      report(line_, at + 1, name + ": data between instructions is not supported yet");
    } else if ((in_text_ || in_data_) && !is_harmless(name)) {
      report(line_, at + 1, "unknown directive " + name + ": what it does would be missing");
    }
  }

  /// `name = value`, another spelling of .set.
  bool take_assignment(Cursor& in) {
    Cursor sign = in;
    sign.skip_blanks();
    const std::string_view name = sign.until(" \t=,");
    if (name.empty() || !sign.take('=') || sign.peek() == '=') return false;
    assign(in, '=');
    return true;
  }
  void assign(Cursor& in, char sign) {
    try {
      symbols_.assign(in, sign);
    } catch (const SyntaxError& e) {
      report(line_, e.at + 1, e.message);
    }
  }

  void align(Cursor& in, const std::string& name) {
    try {
      alignments_.push_back(read_alignment(name, in));
    } catch (const SyntaxError& e) {
      report(line_, e.at + 1, e.message);
    }
  }
  bool carried_out(Cursor& in, const std::string& name) {
    try {
      return data_.directive(name, in);
    } catch (const SyntaxError& e) {
      report(line_, e.at + 1, e.message);
      return true;
    }
  }
  void amdhsa_value(Cursor& in, const std::string& key, size_t at) {
    if (amdhsa_name_.empty()) return report(line_, at + 1, "only possible inside .amdhsa_kernel");
    if (!known_amdhsa(key)) return report(line_, at + 1, "unknown directive .amdhsa_" + key);
    try {
      in.skip_blanks();
      std::string text(in.rest());
      if (symbols_.has_values()) text = symbols_.with_values(text);
      for (const char* next : {".amdgcn.next_free_vgpr", ".amdgcn.next_free_sgpr"})
        for (size_t n = text.find(next); n != std::string::npos; n = text.find(next))
          text.replace(n, std::string_view(next).size(), std::to_string(next_free(next)));
      Cursor value(text);
      const int64_t number = read_constant(value, "a number");
      if (!value.done()) value.fail("unexpected text behind the number" + value.found());
      if (number < 0 || number > 0xffffffff)
        Cursor::fail_value(in.at(), "expected a number of 0 to 0xffffffff");
      amdhsa_[amdhsa_name_][key] = static_cast<uint64_t>(number);
    } catch (const SyntaxError& e) {
      report(line_, e.at + 1, e.message);
    }
  }

  /// The assembler's own symbols: one more than the last register that the code so far names.
  unsigned next_free(std::string_view symbol) const {
    const bool vector = symbol.ends_with("vgpr");
    unsigned next = 0;
    for (const Kernel& k : listing_.kernels)
      for (const Instruction& i : k.code)
        for (const Operand& o : i.operands) {
          const bool is_vector = o.code >= kVgpr0;
          if (o.immediate || is_vector != vector || (!vector && o.code >= kSgprs)) continue;
          next = std::max(next, o.code + o.count - (vector ? kVgpr0 : 0));
        }
    return next;
  }

  void target(Cursor& in, size_t at) {
    const std::string_view text = in.rest();
    const size_t gfx = text.find("gfx");
    const auto gen =
        gfx == std::string_view::npos ? std::nullopt : gen_named(Cursor(text, gfx).word());
    if (!gen)
      report(line_, at + 1, "unknown target, expected gfx600, gfx700 or gfx803");
    else if (!forced_)
      listing_.gen = *gen;
    hsa_ = text.find("amdhsa") != std::string_view::npos;
  }

  /// `8,0,3,"AMD","AMDGPU"`
  void old_target(Cursor& in) {
    hsa_ = true;
    try {
      use(read_constant(in, "the instruction set's version"));
    } catch (const SyntaxError& e) {
      report(line_, e.at + 1, e.message);
    }
  }
  void use(int64_t major) {
    if (!forced_ && major >= 6 && major <= 8) listing_.gen = static_cast<Gen>(major - 6);
  }

  /// A line of .amd_kernel_code_t, which stands between a kernel's label and its code.
  void header_line(Cursor& in) {
    if (in.done()) return;
    if (in.rest().starts_with(".end_amd_kernel_code_t")) {
      use(code_block_->machine());
      amdhsa_[kernel().name] = code_block_->values();
      old_kernels_.insert(kernel().name);
      code_block_.reset();
      return;
    }
    try {
      code_block_->line(in);
    } catch (const SyntaxError& e) {
      report(line_, e.at + 1, e.message);
    }
  }
  /// Mesa tells nothing of arguments; behind them it puts values of the launch.
  static void add_mesa_values(Kernel& k) {
    ir::Param values;
    values.name = guest::kMesaValues;
    values.offset = k.kernarg_bytes;
    k.hidden.push_back(values);
  }

  void instruction(Cursor& in, std::string_view line) {
    const size_t start = in.at();
    std::string text(line.substr(start));
    try {
      if (symbols_.has_values()) text = with_operand_values(text);
    } catch (const SyntaxError& e) {
      return report(line_, start + e.at + 1, e.message);
    }
    Parsed p = parse_instruction(text, listing_.gen);
    if (!p.instruction) return report(line_, start + p.error.column, p.error.message);
    p.instruction->text = squeeze(text);
    if (const Operand* to = p.instruction->operand(Slot::label)) branched_to_.insert(to->label);
    if (std::ranges::any_of(p.instruction->operands, &Operand::cut))
      listing_.diagnostics.push_back({line_, static_cast<uint32_t>(start + 1),
                                      "the literal is the upper half of the double: its lower 32 "
                                      "bits become 0",
                                      true});
    add(std::move(*p.instruction), line_, start + 1);
  }

  /// The mnemonic is no symbol.
  std::string with_operand_values(const std::string& text) const {
    const size_t operands = std::min(text.find_first_of(" \t"), text.size());
    try {
      return text.substr(0, operands) + symbols_.with_values(text.substr(operands));
    } catch (SyntaxError& e) {
      e.at += operands;
      throw;
    }
  }

  /// Code in the order of the file, data behind it.
  void place() {
    for (const Kernel& k : listing_.kernels) {
      symbols_.place(k.name, k.base);
      symbols_.place_labels(k);
    }
    uint64_t at = end_of_code();
    at = (at + 255) & ~uint64_t{255};
    for (const auto& [name, offset] : data_.labels()) symbols_.place(name, at + offset);
    ir::Global image;
    image.name = "assembled code and data";
    image.align = 256;
    image.size = at + data_.bytes().size();
    image.init.resize(at);
    image.init.insert(image.init.end(), data_.bytes().begin(), data_.bytes().end());
    listing_.image = std::move(image);
  }

  /// Code is in memory like anything else: constants may stand in it.
  void write_code(const Kernel& k) {
    if (!listing_.ok()) return;
    std::byte* to = listing_.image->init.data() + k.base;
    for (const Instruction& i : k.code)
      for (const uint32_t word : encode(i, k.gen))
        for (int b = 0; b < 4; ++b) *to++ = static_cast<std::byte>(word >> (8 * b) & 255);
  }

  /// Where some of the code has kernel descriptors the rest is functions.
  void separate_functions() {
    if (amdhsa_.empty()) return;
    const auto is_kernel = [&](const Kernel& k) { return amdhsa_.contains(k.name); };
    if (std::ranges::none_of(listing_.kernels, is_kernel)) return;
    for (Kernel& k : listing_.kernels)
      if (!is_kernel(k)) listing_.functions.push_back(std::move(k));
    std::erase_if(listing_.kernels, [&](const Kernel& k) { return !is_kernel(k); });
  }

  Listing& listing_;
  std::set<std::string, std::less<>> symbol_names_;  ///< what directives declare
  std::set<std::string, std::less<>> branched_to_;   ///< by the kernel in work, so far
  bool forced_;
  bool hsa_ = false, mesa_ = false;  ///< the target's system
  size_t max_errors_, errors_ = 0;
  uint32_t line_ = 0;
  bool in_text_ = true, in_data_ = false, ended_ = false;
  std::string_view metadata_end_;              ///< inside of metadata: what ends them
  std::optional<KernelCodeBlock> code_block_;  ///< inside of .amd_kernel_code_t
  std::set<std::string> old_kernels_;          ///< that have one
  static constexpr uint64_t kMostPadding = uint64_t{1} << 20, kMostGaps = uint64_t{1} << 24;
  std::vector<Alignment> alignments_;  ///< in front of what comes next
  uint64_t padding_ = 0;
  DataSection data_;
  Symbols symbols_;
  std::map<std::string, std::set<std::string>> label_names_;
  std::string amdhsa_name_;
  std::vector<uint32_t> words_;  ///< of .long directives, not yet decoded
  uint32_t words_line_ = 0;
  std::map<std::string, AmdhsaValues> amdhsa_;
  MetadataReader metadata_;
};

}  // namespace

InitialState bare_state() {
  InitialState s;
  s.kernarg_ptr = 0;
  for (int n = 0; n < 3; ++n) s.workgroup_id[n] = 2 + n;
  s.workitem_ids = 3;
  s.bare = true;
  return s;
}

bool Listing::ok() const {
  for (const Diagnostic& d : diagnostics)
    if (!d.warning) return false;
  return true;
}

std::string_view name(Gen gen) {
  return gen == Gen::gfx6 ? "gfx600" : gen == Gen::gfx7 ? "gfx700" : "gfx803";
}
std::optional<Gen> gen_named(std::string_view target) {
  if (target.substr(0, 4) == "gfx6") return Gen::gfx6;
  if (target.substr(0, 4) == "gfx7") return Gen::gfx7;
  if (target.substr(0, 4) == "gfx8") return Gen::gfx8;
  return std::nullopt;
}

Listing parse(std::string_view text, std::optional<Gen> gen, size_t max_errors) {
  Listing listing;
  listing.gen = gen.value_or(Gen::gfx6);
  FileParser(listing, gen.has_value(), max_errors).run(text);
  return listing;
}

}  // namespace lanewise::gcn
