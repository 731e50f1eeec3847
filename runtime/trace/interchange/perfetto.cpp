// Chrome's trace event format, which Perfetto reads: complete events ("X"), one microsecond each on
// the axis of sequence numbers; kernels as events of process 0. An SM is a process whose tracks are
// slots for resident waves: a wave that is new takes the slot that has been quiet longest, so there
// are never more tracks than slots.
#include <bit>
#include <map>

#include "runtime/support/json_document.hpp"
#include "runtime/trace/formats.hpp"
#include "runtime/trace/interchange/text_file.hpp"
#include "runtime/trace/record.hpp"

namespace lanewise::trace {
namespace {

std::string json_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + '"';
}

class PerfettoOut final : public Sink {
 public:
  explicit PerfettoOut(const std::string& path) : out_(path) {
    out_.write("{\"displayTimeUnit\":\"ns\",\"lanewise\":" + json_versions() +
               ",\"traceEvents\":[\n");
    item(R"({"ph":"M","name":"process_name","pid":0,"args":{"name":"kernels"}})");
  }
  void kernel(const Kernel& k) override { kernels_.push_back(k); }
  void site(const Site& s) override { sites_.push_back(s); }
  void buffer(const Buffer&) override {}
  void event(const Event& e) override {
    ++time_;
    switch (e.kind) {
      case EventKind::wave:
        return wave(e.wave);
      case EventKind::kernel_begin:
      case EventKind::kernel_end:
        return item(fmt::format(R"({{"ph":"{}","name":{},"pid":0,"tid":0,"ts":{}}})",
                                e.kind == EventKind::kernel_begin ? 'B' : 'E',
                                json_text(kernels_.at(e.kernel).name), time_));
      default:
        return item(fmt::format(
            R"({{"ph":"i","s":"g","name":"{}","pid":0,"tid":0,"ts":{},"args":{{"address":"{:#x}","size":{}}}}})",
            e.kind == EventKind::host_write  ? "host write"
            : e.kind == EventKind::host_read ? "host read"
                                             : "policy window",
            time_, e.address, e.size));
    }
  }
  void finish() override {
    out_.write("\n]}\n");
    out_.commit();
  }

 private:
  void wave(const WaveRecord& r) {
    const Site& s = sites_.at(r.site);
    // Process 1 + n = SM n, where the trace says it; else one process for all.
    const unsigned pid = r.sm == kAnySm ? 1 : 1 + r.sm;
    const auto [process, fresh] = processes_.try_emplace(pid);
    if (fresh) {
      item(fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"{}"}}}})", pid,
                       r.sm == kAnySm ? std::string("all SMs") : fmt::format("SM {}", r.sm)));
      item(fmt::format(
          R"({{"ph":"M","name":"process_sort_index","pid":{0},"args":{{"sort_index":{0}}}}})",
          pid));
    }
    item(fmt::format(
        R"({{"ph":"X","name":{},"cat":"{}","pid":{},"tid":{},"ts":{},"dur":1,"args":{{"pc":"{:#x}","group":{},"wave":{},"lanes":{},"address":"{:#x}"}}}})",
        json_text(s.text), kCategory[static_cast<size_t>(s.kind)], pid,
        slot_of(process->second, pid, uint64_t{r.group} << 16 | r.wave), time_, s.pc, r.group,
        r.wave, active_lanes(r), r.base));
  }
  struct Slot {
    uint64_t wave = 0, used = 0;
  };
  /// Track of a wave, from 1.
  size_t slot_of(std::vector<Slot>& slots, unsigned pid, uint64_t wave) {
    size_t oldest = 0;
    for (size_t i = 0; i < slots.size(); ++i) {
      if (slots[i].wave == wave) {
        slots[i].used = time_;
        return i + 1;
      }
      if (slots[i].used < slots[oldest].used) oldest = i;
    }
    if (slots.size() < kSlots) {
      oldest = slots.size();
      slots.emplace_back();
      item(fmt::format(
          R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"wave slot {}"}}}})",
          pid, oldest + 1, oldest));
    }
    slots[oldest] = {wave, time_};
    return oldest + 1;
  }
  void item(const std::string& json) {
    out_.write(first_ ? "" : ",\n");
    out_.write(json);
    first_ = false;
  }

  static constexpr const char* kCategory[] = {"none",    "load",  "store", "atomic",
                                              "control", "fence", "fetch"};
  static constexpr size_t kSlots = 64;  ///< as many waves as an SM holds
  OutputFile out_;
  std::vector<Kernel> kernels_;
  std::vector<Site> sites_;
  std::map<unsigned, std::vector<Slot>> processes_;
  uint64_t time_ = 0;
  bool first_ = true;
};

}  // namespace

std::unique_ptr<Sink> export_perfetto(const std::string& path) {
  return std::make_unique<PerfettoOut>(path);
}

}  // namespace lanewise::trace
