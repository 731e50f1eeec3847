// Dinero IV's text formats ("din" and extended din), in and out.
#include <memory>

#include "runtime/trace/formats.hpp"
#include "runtime/trace/interchange/text_file.hpp"
#include "runtime/trace/record.hpp"

namespace lanewise::trace {
namespace {

struct DinKind {
  char letter;
  const char* text;
  OpKind kind;
  ControlOp control = ControlOp::prefetch_l1;
};
// "m" is Dinero's miscellaneous reference, counted as a read.
constexpr DinKind kKinds[] = {
    {'r', "din.read", OpKind::load},
    {'w', "din.write", OpKind::store},
    {'i', "din.fetch", OpKind::fetch},
    {'m', "din.misc", OpKind::load},
    {'c', "din.copy_back", OpKind::control, ControlOp::write_back},
    {'v', "din.invalidate", OpKind::control, ControlOp::reset},
};

class DineroIn {
 public:
  DineroIn(const std::string& path, Sink& sink) : file_(path), sink_(sink) {
    Kernel k;
    k.name = "din";
    k.dialect = Dialect::sass;
    k.wave_lanes = 1;
    sink_.kernel(k);
    plain(EventKind::kernel_begin);
  }
  ReadResult read() {
    while (file_.next()) {
      if (file_.cut()) break;  // this may be a part of a line
      if (!file_.line().empty()) reference();
    }
    if (file_.cut()) {
      result_.complete = false;
      result_.note = fmt::format("{}: the compressed data end too early", file_.path());
    }
    plain(EventKind::kernel_end);
    sink_.finish();
    return result_;
  }

 private:
  void plain(EventKind kind) {
    Event e;
    e.kind = kind;
    ++result_.events;
    sink_.event(e);
  }
  void reference() {
    Words words(file_, file_.line());
    const std::string_view label = words.word("a label");
    const char letter = label == "0" ? 'r' : label == "1" ? 'w' : label == "2" ? 'i' : label[0];
    const uint64_t address = words.hex("an address");
    const bool extended = label[0] >= 'a';
    const uint64_t size = words.done() ? 4 : extended ? words.decimal("a size") : 4;
    if (label.size() != 1) unknown(label);
    for (size_t k = 0; k < std::size(kKinds); ++k)
      if (kKinds[k].letter == letter) return emit(k, address, size);
    unknown(label);
  }
  [[noreturn]] void unknown(std::string_view label) {
    file_.fail(fmt::format("label '{}' is not known, expected 0, 1, 2 or r, w, i, m, c, v", label));
  }
  void emit(size_t kind, uint64_t address, uint64_t size) {
    if (size == 0 || size > 64) file_.fail(fmt::format("size {} is not from 1 to 64", size));
    Event e;
    e.wave.site = site(kind, static_cast<uint16_t>(size));
    e.wave.mask = 1;
    e.wave.sm = 0;
    pack(e.wave, std::span(&address, 1));
    ++result_.events;
    sink_.event(e);
  }
  uint32_t site(size_t kind, uint16_t size) {
    uint32_t& index = sites_[kind][size];
    if (index != 0) return index - 1;
    Site s;
    s.dialect = Dialect::sass;
    s.text = fmt::format("{}.{}", kKinds[kind].text, size);
    s.pc = count_;
    s.kind = kKinds[kind].kind;
    s.space = s.kind == OpKind::fetch ? Space::instruction : Space::global;
    s.bytes = size;
    s.control = kKinds[kind].control;
    sink_.site(s);
    index = ++count_;
    return index - 1;
  }

  TextFile file_;
  Sink& sink_;
  ReadResult result_;
  uint32_t sites_[std::size(kKinds)][65] = {};
  uint32_t count_ = 0;
};

class DineroOut final : public Sink {
 public:
  explicit DineroOut(const std::string& path) : out_(path) {}
  void kernel(const Kernel&) override {}
  void site(const Site& s) override { sites_.push_back(s); }
  void buffer(const Buffer&) override {}
  void event(const Event& e) override {
    if (e.kind != EventKind::wave) return;
    const Site& s = sites_.at(e.wave.site);
    if (s.space == Space::shared) return;
    unpack(e.wave, lanes_);
    for (unsigned i = 0; i < lanes_.count; ++i) {
      if (s.kind == OpKind::load || s.kind == OpKind::atomic) line('r', i, s.bytes);
      if (s.kind == OpKind::store || s.kind == OpKind::atomic) line('w', i, s.bytes);
      if (s.kind == OpKind::fetch) line('i', i, s.bytes);
      if (s.kind != OpKind::control) continue;
      if (s.control == ControlOp::write_back) line('c', i, s.bytes);
      if (s.control == ControlOp::reset) line('v', i, s.bytes);
    }
  }
  void finish() override { out_.commit(); }

 private:
  void line(char letter, unsigned lane, unsigned bytes) {
    out_.write(fmt::format("{} {:x} {}\n", letter, lanes_.address[lane], bytes));
  }
  OutputFile out_;
  std::vector<Site> sites_;
  Lanes lanes_;
};

}  // namespace

ReadResult import_dinero(const std::string& path, Sink& sink) {
  return DineroIn(path, sink).read();
}
std::unique_ptr<Sink> export_dinero(const std::string& path) {
  return std::make_unique<DineroOut>(path);
}

}  // namespace lanewise::trace
