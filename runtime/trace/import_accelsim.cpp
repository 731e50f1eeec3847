// Accel-Sim's traces: header lines "-name = value", then per thread block the warps with their
// instructions:
//   [line] PC mask ndst [Rn...] OPCODE nsrc [Rn...] width [mode addresses]
// with addresses as a list (0), base and stride (1), or base and deltas (2). Traces of tracer
// versions before 3 start each instruction with the block and warp.
#include <filesystem>
#include <map>

#include "runtime/trace/formats.hpp"
#include "runtime/trace/record.hpp"
#include "runtime/trace/site_text.hpp"
#include "runtime/trace/text_file.hpp"

namespace lanewise::trace {
namespace {

struct Importer {
  Sink& sink;
  ReadResult result;
  uint32_t kernels = 0, sites = 0;
};

class KernelFile {
 public:
  KernelFile(const std::string& path, Importer& to) : path_(path), file_(path), to_(to) {}

  void read() {
    while (file_.next()) {
      const std::string& line = file_.line();
      if (line.empty()) continue;
      if (line[0] == '-')
        header(line);
      else if (line[0] == '#')
        mark(line);
      else
        body(line);
    }
    if (!started_) file_.fail("the trace has no thread block");
    if (in_block_) {
      to_.result.complete = false;
      to_.result.note = path_ + ": the trace ends inside a thread block";
    }
    event(EventKind::kernel_end);
  }

 private:
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
    if (line.rfind("#BEGIN_TB", 0) == 0) {
      if (in_block_) file_.fail("#BEGIN_TB inside a thread block");
      if (!started_) start();
      in_block_ = true;
    } else if (line.rfind("#END_TB", 0) == 0) {
      if (!in_block_) file_.fail("#END_TB without #BEGIN_TB");
      in_block_ = false;
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

  void body(const std::string& line) {
    if (!in_block_) file_.fail("an instruction outside #BEGIN_TB ... #END_TB");
    if (line.rfind("thread block", 0) == 0) {
      std::array<uint32_t, 3> b{};
      dimensions(line.substr(line.find('=') + 1), b);
      event_.wave.group = b[0] + kernel_.grid[0] * (b[1] + kernel_.grid[1] * b[2]);
    } else if (line.rfind("warp", 0) == 0) {
      event_.wave.wave = static_cast<uint16_t>(after_equal(line));
    } else if (line.rfind("insts", 0) != 0) {
      instruction(line);
    }
  }
  uint64_t after_equal(const std::string& line) {
    Words words(file_, std::string_view(line).substr(line.find('=') + 1));
    return words.decimal("a number after '='");
  }

  void instruction(const std::string& line) {
    Words words(file_, line);
    if (version_ < 3)
      for (int i = 0; i < 4; ++i) words.decimal("block and warp");
    const uint64_t source_line = line_info_ ? words.decimal("a source line") : 0;
    const uint64_t pc = words.hex("a PC");
    WaveRecord& r = event_.wave;
    r.mask = words.hex("an active mask");
    for (uint64_t n = words.decimal("a register count"); n > 0; --n) words.word("a register");
    const std::string opcode(words.word("an opcode"));
    for (uint64_t n = words.decimal("a register count"); n > 0; --n) words.word("a register");
    const uint64_t width = words.decimal("a memory width");
    Site site = site_of(opcode);
    if (site.kind == OpKind::none) return;
    addresses(words, width, r);
    r.site = site_index(site, pc, source_line);
    ++to_.result.events;
    to_.sink.event(event_);
  }
  Site site_of(const std::string& opcode) {
    try {
      return sass_site(opcode);
    } catch (const Error& e) {
      file_.fail(e.what());
    }
  }
  uint32_t site_index(Site& site, uint64_t pc, uint64_t line) {
    const auto [it, fresh] = site_at_.try_emplace({pc, site.text}, to_.sites);
    if (!fresh) return it->second;
    site.kernel = index_;
    site.pc = pc;
    site.line = static_cast<uint32_t>(line);
    // The text is all there is: an address was given where the record has one.
    to_.sink.site(site);
    return to_.sites++;
  }

  void addresses(Words& words, uint64_t width, WaveRecord& r) {
    std::vector<uint64_t> at;
    const unsigned count = active_lanes(r);
    if (width != 0 && count != 0) {
      const uint64_t mode = words.decimal("an address mode");
      if (mode > 2) file_.fail(fmt::format("address mode {} is not known", mode));
      at.push_back(words.hex("an address"));
      const int64_t stride = mode == 1 ? words.signed_decimal("a stride") : 0;
      for (unsigned i = 1; i < count; ++i)
        at.push_back(mode == 0
                         ? words.hex("an address of every active lane")
                         : at.back() + static_cast<uint64_t>(
                                           mode == 1 ? stride : words.signed_decimal("a delta")));
    }
    pack(r, at);
  }

  std::string path_;
  TextFile file_;
  Importer& to_;
  Kernel kernel_;
  Event event_;
  uint32_t index_ = 0;
  uint64_t version_ = 0;
  bool line_info_ = false, started_ = false, in_block_ = false;
  std::map<std::pair<uint64_t, std::string>, uint32_t> site_at_;
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

ReadResult import_accelsim(const std::string& path, Sink& sink) {
  Importer to{sink, {}, 0, 0};
  const std::filesystem::path file(path);
  if (file.filename().string().rfind("kernelslist", 0) == 0) {
    TextFile list(path);
    while (list.next()) {
      const std::string& line = list.line();
      if (line.rfind("MemcpyHtoD", 0) == 0)
        copy_to_device(list, to);
      else if (line.rfind("kernel", 0) == 0)
        KernelFile((file.parent_path() / line).string(), to).read();
      else if (!line.empty() && line.rfind("Memcpy", 0) != 0)
        list.fail("expected a kernel's trace file or a Memcpy line");
    }
  } else {
    KernelFile(path, to).read();
  }
  sink.finish();
  return to.result;
}

}  // namespace lanewise::trace
