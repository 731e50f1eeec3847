// What NVBit's example tool mem_trace prints, among whatever the traced program prints itself:
//   MEMTRACE: CTX 0x... - LAUNCH - Kernel pc 0x... - Kernel name NAME - grid launch id N - grid
//   size
//     x,y,z - block size x,y,z - ...
//   MEMTRACE: CTX 0x... - grid_launch_id N - CTA x,y,z - warp w - OPCODE - 0x... (32 addresses)
// An address of 0 is a lane that took no part. Lines come as the warps ran.
#include <map>
#include <optional>

#include "runtime/trace/formats.hpp"
#include "runtime/trace/interchange/text_file.hpp"
#include "runtime/trace/interchange/warnings.hpp"
#include "runtime/trace/record.hpp"
#include "runtime/trace/site_text.hpp"

namespace lanewise::trace {
namespace {

constexpr std::string_view kStart = "MEMTRACE: CTX ";
constexpr unsigned kLanes = 32;

class MemTrace {
 public:
  MemTrace(const std::string& path, Sink& sink) : file_(path), sink_(sink) {
    event_.kind = EventKind::wave;
  }
  ReadResult read() {
    while (file_.next()) {
      const size_t at = file_.line().find(kStart);
      if (at == std::string::npos) continue;
      const std::string_view line = std::string_view(file_.line()).substr(at + kStart.size());
      if (line.find(" - LAUNCH - ") != std::string_view::npos) {
        launch(line);
      } else if (line.find(" - grid_launch_id ") != std::string_view::npos) {
        if (!access(line)) break;
      }
    }
    if (kernel_) end_kernel();
    if (file_.cut()) cut("the compressed data end too early");
    if (result_.events == 0 && result_.complete) file_.fail("no access stands in this file");
    sink_.finish();
    result_.warnings = warnings_.text();
    return result_;
  }

 private:
  struct Launch {
    uint64_t id;
    Kernel kernel;
  };
  void cut(const char* why) {
    if (!result_.complete) return;
    result_.complete = false;
    result_.note = fmt::format("{}: {}; read up to its last whole line", file_.path(), why);
  }
  /// The value behind this name, up to the next " - ".
  std::string_view chunk(std::string_view line, std::string_view name) {
    const size_t at = line.find(name);
    if (at == std::string_view::npos) return {};
    line.remove_prefix(at + name.size());
    return line.substr(0, line.find(" - "));
  }
  uint64_t number(std::string_view text, const char* what) {
    Words words(file_, text);
    return words.decimal(what);
  }
  std::array<uint32_t, 3> triple(std::string_view text) {
    std::string spaced(text);
    for (char& c : spaced)
      if (c == ',') c = ' ';
    Words words(file_, spaced);
    std::array<uint32_t, 3> v{};
    for (uint32_t& x : v) x = static_cast<uint32_t>(words.decimal("three numbers"));
    return v;
  }

  void launch(std::string_view line) {
    Launch l;
    l.id = number(chunk(line, "grid launch id "), "a launch id");
    l.kernel.name = chunk(line, "Kernel name ");
    if (const auto grid = chunk(line, "grid size "); !grid.empty()) {
      l.kernel.grid = triple(grid);
      l.kernel.block = triple(chunk(line, "block size "));
    }
    launches_.push_back(std::move(l));
  }

  /// False when the file ends inside the line.
  bool access(std::string_view line) {
    const size_t last = line.rfind(" - ");
    const std::string_view head = line.substr(0, last);
    const std::string_view opcode = head.substr(std::min(head.rfind(" - ") + 3, head.size()));
    std::string_view list = line.substr(last + 3);
    std::vector<uint64_t> at;
    uint64_t mask = 0;
    Words words(file_, list);
    unsigned lane = 0;
    for (; lane < kLanes && !words.done(); ++lane) {
      const uint64_t address = words.hex("an address");
      if (address == 0) continue;
      mask |= uint64_t{1} << lane;
      at.push_back(address);
    }
    if (lane < kLanes) {
      if (!file_.unfinished_line())
        file_.fail(fmt::format("expected 32 addresses, found {}", lane));
      cut("the trace ends inside a line");
      return false;
    }
    const uint64_t id = number(chunk(line, "grid_launch_id "), "a launch id");
    if (!kernel_ || id != id_) begin_kernel(id);
    WaveRecord& r = event_.wave;
    r.group = group(triple(chunk(line, "CTA ")));
    r.wave = static_cast<uint16_t>(number(chunk(line, "warp "), "a warp"));
    r.mask = mask;
    if (!site(opcode, r)) return true;
    pack(r, at);
    ++result_.events;
    sink_.event(event_);
    return true;
  }
  void plain(EventKind kind) {
    Event e;
    e.kind = kind;
    e.kernel = *kernel_;
    ++result_.events;
    sink_.event(e);
  }
  void end_kernel() { plain(EventKind::kernel_end); }
  void begin_kernel(uint64_t id) {
    if (kernel_) end_kernel();
    id_ = id;
    // Some versions print the id of the next launch.
    if (!offset_ && !launches_.empty()) offset_ = launches_.front().id - id;
    known_ = nullptr;
    for (const Launch& l : launches_)
      if (l.id == id + offset_.value_or(0)) known_ = &l.kernel;
    Kernel k;
    if (known_ != nullptr) k = *known_;
    if (k.name.empty()) k.name = fmt::format("launch {}", id);
    k.dialect = Dialect::sass;
    k.wave_lanes = kLanes;
    sink_.kernel(k);
    grid_ = known_ != nullptr && k.grid != std::array<uint32_t, 3>{1, 1, 1}
                ? k.grid
                : std::array<uint32_t, 3>{};
    kernel_ = kernels_++;
    next_group_ = 0;
    sites_of_kernel_.clear();
    ldgsts_.clear();
    plain(EventKind::kernel_begin);
  }
  /// Where the grid's size is not reported, groups have numbers as they appear.
  uint32_t group(const std::array<uint32_t, 3>& cta) {
    if (grid_[0] != 0) return cta[0] + grid_[0] * (cta[1] + grid_[1] * cta[2]);
    const auto [it, fresh] =
        groups_.try_emplace({*kernel_, cta}, static_cast<uint32_t>(next_group_));
    if (fresh) ++next_group_;
    return it->second;
  }
  /// False for what is left out.
  bool site(std::string_view opcode, WaveRecord& r) {
    std::vector<std::string> unknown;
    const std::string text(opcode);
    // Twice, for its address in shared memory and then for the global one.
    if (text.starts_with("LDGSTS") && (ldgsts_[{r.group, r.wave}] ^= true)) return false;
    Site s = sass_site(text, unknown);
    const bool control = s.kind == OpKind::control || s.kind == OpKind::fence;
    if (s.kind == OpKind::none || (control && !unknown.empty())) {
      warnings_.count(fmt::format("{} is not known", text), "times it is left out");
      return false;
    }
    for (const std::string& u : unknown)
      warnings_.count(fmt::format("suffix {} of {} is not known", u, text),
                      "times the access counts without it");
    const auto [it, fresh] = sites_of_kernel_.try_emplace(text, sites_);
    if (fresh) {
      s.kernel = *kernel_;
      s.pc = sites_of_kernel_.size() - 1;  // the file has none: by first appearance
      sink_.site(s);
      ++sites_;
    }
    r.site = it->second;
    return true;
  }

  TextFile file_;
  Sink& sink_;
  ReadResult result_;
  Warnings warnings_;
  std::vector<Launch> launches_;
  std::optional<uint64_t> offset_;
  std::optional<uint32_t> kernel_;
  const Kernel* known_ = nullptr;
  std::array<uint32_t, 3> grid_{};
  uint64_t id_ = 0, next_group_ = 0;
  uint32_t kernels_ = 0, sites_ = 0;
  std::map<std::pair<uint32_t, std::array<uint32_t, 3>>, uint32_t> groups_;
  std::map<std::string, uint32_t> sites_of_kernel_;
  std::map<std::pair<uint32_t, uint32_t>, bool> ldgsts_;
  Event event_;
};

}  // namespace

ReadResult import_mem_trace(const std::string& path, Sink& sink) {
  return MemTrace(path, sink).read();
}

bool is_mem_trace(const std::string& path) {
  TextFile file(path);
  for (unsigned lines = 0; lines < 1000 && file.next(); ++lines)
    if (file.line().find(kStart) != std::string::npos) return true;
  return false;
}

}  // namespace lanewise::trace
