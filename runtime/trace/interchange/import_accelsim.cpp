// Accel-Sim's traces: header lines "-name = value", then instructions:
//   [line] PC mask ndst [Rn...] OPCODE nsrc [Rn...] width [mode addresses] [more]
// with addresses as a list (0), base and stride (1), or base and deltas (2).
//
// .traceg has them thread block by thread block, warp after warp. Raw .trace, as the tracer writes
// it, has them as they were executed; each starts with its thread block and warp (x y z warp), in
// old versions with the SM and the warp's slot there, in new ones with seven numbers of the
// cluster. Traces of tracer versions before 3 start with block and warp in .traceg, too.
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <optional>
#include <unordered_map>

#include "runtime/support/error.hpp"
#include "runtime/trace/formats.hpp"
#include "runtime/trace/interchange/input.hpp"
#include "runtime/trace/interchange/interleave.hpp"
#include "runtime/trace/interchange/text_file.hpp"
#include "runtime/trace/interchange/warnings.hpp"
#include "runtime/trace/record.hpp"
#include "runtime/trace/site_text.hpp"

namespace lanewise::trace {
namespace {

struct Importer {
  Sink& sink;
  ReadOptions options;
  ReadResult result;
  Warnings warnings;
  uint32_t kernels = 0, sites = 0;
};

/// What an opcode's text says, once for all its instructions.
struct Opcode {
  Site site;
  std::vector<std::string> unknown;
  bool sized = false;  ///< the text says how wide it is
  bool barrier = false, ldgsts = false;
};

bool is_hex(std::string_view text, size_t least, size_t most) {
  return text.size() >= least && text.size() <= most &&
         text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

class KernelFile {
 public:
  KernelFile(const std::string& path, Importer& to)
      : file_(path), to_(to), order_(to.options, [this](const WaveRecord& r) { emit(r); }) {}

  void read() {
    while (file_.next()) {
      if (file_.line().empty()) continue;
      try {
        take(file_.line());
      } catch (const Error& e) {
        // Only what the end of the file may have cut off can be a part of a line.
        if (!file_.unfinished_line() || !started_) throw;
        cut("the trace ends inside a line");
        break;
      }
    }
    if (!started_) file_.fail("the trace has no thread block");
    if (in_block_) cut("the trace ends inside a thread block");
    if (file_.cut()) cut("the compressed data end too early");
    order_.finish();
    event(EventKind::kernel_end);
  }

 private:
  void take(const std::string& line) {
    if (line[0] == '-')
      header(line);
    else if (line[0] == '#')
      mark(line);
    else
      body(line);
  }
  void cut(const std::string& why) {
    if (!to_.result.complete) return;
    to_.result.complete = false;
    to_.result.note = fmt::format(
        "{}: {}; {}", file_.path(), why,
        raw_ ? "read up to its last whole instruction" : "read up to its last whole thread block");
  }
  void header(const std::string& line) {
    const size_t equal = line.find('=');
    if (equal == std::string::npos) file_.fail("expected '-name = value'");
    const std::string name = line.substr(1, line.find_last_not_of(' ', equal - 1));
    const size_t start = line.find_first_not_of(' ', equal + 1);
    const std::string value = start == std::string::npos ? "" : line.substr(start);
    if (name == "kernel name") kernel_.name = value;
    if (name == "grid dim") dimensions(value, kernel_.grid);
    if (name == "block dim") dimensions(value, kernel_.block);
    if (name == "accelsim tracer version") version_ = number(value, 10);
    if (name == "enable lineinfo") line_info_ = number(value, 10) != 0;
    if (name == "shmem base_addr") kernel_.shared_base = number(value, 16);
    if (name == "local mem base_addr") kernel_.local_base = number(value, 16);
  }
  uint64_t number(std::string_view text, int base) {
    if (text.substr(0, 2) == "0x") text.remove_prefix(2);
    uint64_t v = 0;
    const auto r = std::from_chars(text.data(), text.data() + text.size(), v, base);
    if (r.ec != std::errc{}) file_.fail(fmt::format("expected a number, found '{}'", text));
    return v;
  }
  void dimensions(std::string text, std::array<uint32_t, 3>& out) {
    for (char& c : text)
      if (c == '(' || c == ')' || c == ',') c = ' ';
    Words words(file_, text);
    for (uint32_t& v : out) v = static_cast<uint32_t>(words.decimal("three sizes"));
  }

  void mark(const std::string& line) {
    if (line.starts_with("#traces format")) {
      // Old raw traces say where a warp ran.
      has_sm_ = line.find(" sm_id ") != std::string::npos;
    } else if (line.starts_with("#BEGIN_TB")) {
      if (raw_) file_.fail("#BEGIN_TB behind instructions that stand in no thread block");
      if (in_block_) file_.fail("#BEGIN_TB inside a thread block");
      if (!started_) start();
      in_block_ = true;
    } else if (line.starts_with("#END_TB")) {
      if (!in_block_) file_.fail("#END_TB without #BEGIN_TB");
      in_block_ = false;
      order_.add(std::move(block_));
      block_.clear();
    }
  }
  void start() {
    started_ = true;
    kernel_.dialect = Dialect::sass;
    // The tracer gives bases only; the windows of the hardware are 16 MiB.
    kernel_.shared_size = kernel_.shared_base != 0 ? uint64_t{1} << 24 : 0;
    kernel_.local_size = kernel_.local_base != 0 ? uint64_t{1} << 24 : 0;
    index_ = to_.kernels++;
    to_.sink.kernel(kernel_);
    event(EventKind::kernel_begin);
  }
  void event(EventKind kind) {
    Event e;
    e.kind = kind;
    e.kernel = index_;
    ++to_.result.events;
    to_.sink.event(e);
  }
  void emit(const WaveRecord& r) {
    KernelSite& s = sites_[r.site];
    if (!s.number) {
      to_.sink.site(s.site);
      s.number = to_.sites++;
    }
    event_.wave = r;
    event_.wave.site = *s.number;
    ++to_.result.events;
    to_.sink.event(event_);
  }

  void body(const std::string& line) {
    if (in_block_)
      in_block(line);
    else
      raw(line);
  }
  void in_block(const std::string& line) {
    if (line.starts_with("thread block")) {
      std::array<uint32_t, 3> b{};
      dimensions(line.substr(line.find('=') + 1), b);
      set_group(b);
    } else if (line.starts_with("warp")) {
      wave_.wave = static_cast<uint16_t>(after_equal(line));
      block_.emplace_back();
    } else if (!line.starts_with("insts") && !line.starts_with("cluster")) {
      if (block_.empty()) file_.fail("an instruction before 'warp = ...'");
      Words words(file_, line);
      if (version_ < 3)
        for (int i = 0; i < 4; ++i) words.decimal("block and warp");
      WarpStep step;
      if (instruction(words, step)) block_.back().push_back(std::move(step));
    }
  }
  uint64_t after_equal(const std::string& line) {
    Words words(file_, std::string_view(line).substr(line.find('=') + 1));
    return words.decimal("a number after '='");
  }
  void set_group(const std::array<uint32_t, 3>& b) {
    wave_.group = b[0] + kernel_.grid[0] * (b[1] + kernel_.grid[1] * b[2]);
  }

  /// As it was executed.
  void raw(const std::string& line) {
    if (started_ && !raw_) file_.fail("an instruction outside #BEGIN_TB ... #END_TB");
    if (file_.unfinished_line()) file_.fail("the line does not end");
    Words words(file_, line);
    std::array<uint32_t, 3> b{};
    for (uint32_t& v : b) v = static_cast<uint32_t>(words.decimal("a thread block"));
    const uint64_t warp = words.decimal("a warp");
    if (!extra_) extra_ = extra_numbers(line);
    uint64_t sm = kAnySm;
    for (size_t i = 0; i < *extra_; ++i) {
      const uint64_t n = words.decimal("a number before the PC");
      if (i == 0 && has_sm_) sm = n;
    }
    if (!started_) start();
    raw_ = true;
    set_group(b);
    wave_.wave = static_cast<uint16_t>(warp);
    wave_.sm = static_cast<uint16_t>(std::min<uint64_t>(sm, kAnySm));
    WarpStep step;
    if (!instruction(words, step) || step.barrier) return;
    emit(step.record);
  }
  /// Numbers between the warp and [line] PC mask, of which the mask has eight digits.
  size_t extra_numbers(const std::string& line) {
    Words words(file_, line);
    std::vector<std::string_view> all;
    while (!words.done() && all.size() < 24) all.push_back(words.word("a word"));
    const size_t lines = line_info_ ? 1 : 0;
    for (size_t extra : {size_t{0}, size_t{2}, size_t{7}, size_t{9}}) {
      const size_t pc = 4 + extra + lines;
      if (pc + 1 < all.size() && is_hex(all[pc], 4, 16) && is_hex(all[pc + 1], 8, 8)) return extra;
    }
    file_.fail("expected x y z warp ... PC mask, with a mask of eight hexadecimal digits");
  }

  /// False when it has no effect on memory.
  bool instruction(Words& words, WarpStep& step) {
    const uint64_t source_line = line_info_ ? words.decimal("a source line") : 0;
    const uint64_t pc = words.hex("a PC");
    WaveRecord& r = step.record;
    r.group = wave_.group;
    r.wave = wave_.wave;
    r.sm = wave_.sm;
    r.mask = words.hex("an active mask");
    for (uint64_t n = words.decimal("a register count"); n > 0; --n) words.word("a register");
    const std::string_view text = words.word("an opcode");
    for (uint64_t n = words.decimal("a register count"); n > 0; --n) words.word("a register");
    const uint64_t width = words.decimal("a memory width");
    const Opcode& o = opcode(text);
    step.barrier = o.barrier;
    if (o.barrier) return true;
    if (o.site.kind == OpKind::none) {
      if (width != 0)
        to_.warnings.count(fmt::format("{} has addresses, but is not known", text),
                           "times it is left out");
      return false;
    }
    // The tracer writes an LDGSTS twice, for its address in shared memory and then for the global
    // one; .traceg keeps the second.
    if (raw_ && o.ldgsts && (ldgsts_[{r.group, r.wave}] ^= true)) return false;
    for (const std::string& u : o.unknown)
      to_.warnings.count(fmt::format("suffix {} of {} is not known", u, text),
                         "times the access counts without it");
    addresses(words, width, r);
    r.site = site_index(o, pc, source_line, width);
    return true;
  }
  const Opcode& opcode(std::string_view text) {
    const auto [it, fresh] = opcodes_.try_emplace(std::string(text));
    Opcode& o = it->second;
    if (!fresh) return o;
    o.site = sass_site(text, o.unknown);
    o.barrier = text == "BAR" || (text.starts_with("BAR.") && !text.starts_with("BAR.ARV"));
    o.ldgsts = text.starts_with("LDGSTS");
    // What a control operation or a fence does stands in its suffixes alone.
    if (!o.unknown.empty() && (o.site.kind == OpKind::control || o.site.kind == OpKind::fence)) {
      o.site.kind = OpKind::none;
      to_.warnings.count(fmt::format("{}: suffix {} is not known", text, o.unknown[0]),
                         "such instruction of a kernel is left out");
    }
    return o;
  }
  uint32_t site_index(const Opcode& o, uint64_t pc, uint64_t line, uint64_t width) {
    const auto [it, fresh] = site_at_.try_emplace({pc, &o}, static_cast<uint32_t>(sites_.size()));
    if (!fresh) return it->second;
    Site site = o.site;
    site.kernel = index_;
    site.pc = pc;
    site.line = static_cast<uint32_t>(line);
    // An unknown suffix may have been its size.
    if (!o.unknown.empty() && width >= 1 && width <= 64) site.bytes = static_cast<uint16_t>(width);
    // The text is all there is: an address was given where the record has one.
    sites_.push_back({std::move(site), {}});
    return it->second;
  }

  void addresses(Words& words, uint64_t width, WaveRecord& r) {
    at_.clear();
    const unsigned count = active_lanes(r);
    if (width != 0 && count != 0) {
      const uint64_t mode = words.decimal("an address mode");
      if (mode > 2) file_.fail(fmt::format("address mode {} is not known", mode));
      at_.push_back(words.hex("an address"));
      const int64_t stride = mode == 1 ? words.signed_decimal("a stride") : 0;
      for (unsigned i = 1; i < count; ++i)
        at_.push_back(mode == 0
                          ? words.hex("an address of every active lane")
                          : at_.back() + static_cast<uint64_t>(
                                             mode == 1 ? stride : words.signed_decimal("a delta")));
    }
    pack(r, at_);
  }

  TextFile file_;
  Importer& to_;
  Interleaver order_;
  Kernel kernel_;
  Event event_;
  WaveRecord wave_;  ///< group, wave and SM of what comes
  GroupSteps block_;
  std::vector<uint64_t> at_;
  uint32_t index_ = 0;
  uint64_t version_ = 0;
  bool line_info_ = false, started_ = false, in_block_ = false;
  bool raw_ = false, has_sm_ = false;
  std::optional<size_t> extra_;
  std::map<std::pair<uint32_t, uint32_t>, bool> ldgsts_;  ///< by group and warp: one has come
  std::unordered_map<std::string, Opcode> opcodes_;
  /// The sink is notified of it when it is first executed.
  struct KernelSite {
    Site site;
    std::optional<uint32_t> number;
  };
  std::vector<KernelSite> sites_;
  std::map<std::pair<uint64_t, const Opcode*>, uint32_t> site_at_;
};

void copy_to_device(TextFile& list, Importer& to) {
  std::string line = list.line();
  for (char& c : line)
    if (c == ',') c = ' ';
  Words words(list, line);
  words.word("MemcpyHtoD");
  Event e;
  e.kind = EventKind::host_write;
  e.address = words.hex("an address");
  e.size = words.decimal("a size");
  ++to.result.events;
  to.sink.event(e);
}

}  // namespace

namespace {

void read_kernel(const std::string& path, Importer& to) {
  if (without_compression(path).ends_with(".tracez"))
    throw Error(ErrorKind::usage,
                fmt::format("{}: the format of Accel-Sim 2.0's .tracez is not public; expected "
                            ".trace or .traceg",
                            path));
  KernelFile(path, to).read();
}

}  // namespace

ReadResult import_accelsim(const std::string& path, Sink& sink, const ReadOptions& options) {
  Importer to{sink, options, {}, {}, 0, 0};
  const std::filesystem::path file(path);
  if (file.filename().string().starts_with("kernelslist")) {
    TextFile list(path);
    while (list.next()) {
      const std::string& line = list.line();
      if (line.starts_with("MemcpyHtoD"))
        copy_to_device(list, to);
      else if (line.starts_with("kernel"))
        read_kernel((file.parent_path() / line).string(), to);
      else if (line.starts_with("nccl"))
        to.warnings.count(line.substr(0, line.find_first_of(",( ")), "calls are left out");
      else if (!line.empty() && !line.starts_with("Memcpy"))
        list.fail("expected a kernel's trace file or a Memcpy line");
    }
  } else {
    read_kernel(path, to);
  }
  sink.finish();
  to.result.warnings = to.warnings.text();
  return to.result;
}

}  // namespace lanewise::trace
