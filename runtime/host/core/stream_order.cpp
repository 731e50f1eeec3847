#include "runtime/host/core/stream_order.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>

#include "runtime/host/core/operation.hpp"
#include "runtime/host/core/status.hpp"
#include "runtime/host/core/stream.hpp"

namespace lanewise::core {
namespace {

constexpr unsigned kNonBlocking = 1;
constexpr size_t kMostTouches = size_t{1} << 22;  // 56 bytes each
constexpr uint64_t kMostRows = 4096;              // of a copy; more of them are one range

findings::Place place_at(const char* source, uint32_t line, const char* text) {
  findings::Place place;
  const std::string_view whole = source;
  const size_t colon = whole.rfind(':');
  if (colon != std::string_view::npos) {
    place.file = whole.substr(0, colon);
    std::from_chars(whole.data() + colon + 1, whole.data() + whole.size(), place.line);
  }
  place.text = text;
  if (place.file.empty() && line != 0) place.text += " (line " + std::to_string(line) + ")";
  return place;
}

void add_rows(Footprint& out, const Region& r, uint64_t width, uint64_t height, uint64_t depth,
              bool writes) {
  const bool whole = height * depth == 1 || (r.pitch == width && depth == 1);
  if (whole || height * depth > kMostRows) {
    const uint64_t all =
        whole ? width * height : (depth - 1) * r.layer + (height - 1) * r.pitch + width;
    return out.add(r.address, all, writes);
  }
  for (uint64_t z = 0; z < depth; ++z)
    for (uint64_t y = 0; y < height; ++y)
      out.add(r.address + z * r.layer + y * r.pitch, width, writes);
}

void sort(Footprint& footprint) {
  std::ranges::sort(footprint.touches, {}, &Touch::address);
}

}  // namespace

void Reached::join(const Reached& other) {
  for (const auto& [stream, count] : other.counts_) {
    uint64_t& mine = counts_[stream];
    mine = std::max(mine, count);
  }
}

bool Stamp::comes_before(const Stamp& later) const {
  if (launch != 0 && launch == later.launch) return node == later.node || later.needs[node];
  return later.before.covers(stream, count);
}

void Footprint::add(uint64_t address, uint64_t bytes, bool writes) {
  if (bytes == 0) return;
  Touch touch;
  touch.address = address;
  touch.bytes = bytes;
  (writes ? touch.store : touch.load) = 1;
  if (places.empty()) places.emplace_back();
  touches.push_back(touch);
}

Footprint footprint_of(lw_result* result, uint64_t ranges) {
  Footprint out;
  std::map<std::pair<const char*, const char*>, uint32_t> numbers;  // the texts stay where they are
  const auto number = [&](const char* text, const char* source, uint32_t line) {
    if (*text == '\0') return uint32_t{0};
    const auto [at, fresh] =
        numbers.try_emplace({text, source}, static_cast<uint32_t>(numbers.size() + 1));
    if (fresh) out.places.push_back(place_at(source, line, text));
    return at->second;
  };
  out.touches.reserve(ranges);
  for (uint64_t i = 0; i < ranges; ++i) {
    lw_touched r{};
    r.struct_size = sizeof r;
    check(lw_result_touched(result, i, &r));
    Touch touch;
    touch.address = r.address;
    touch.bytes = r.bytes;
    touch.load = number(r.load_text, r.load_source, r.load_line);
    touch.store = number(r.store_text, r.store_source, r.store_line);
    touch.strong_load = r.load_strong != 0;
    touch.strong_store = r.store_strong != 0;
    touch.same_value = r.same_value != 0;
    out.touches.push_back(touch);
  }
  return out;
}

Footprint footprint_of(const Copy& copy) {
  Footprint out;
  if (copy.width * copy.height * copy.depth == 0) return out;
  add_rows(out, copy.from, copy.width, copy.height, copy.depth, false);
  add_rows(out, copy.to, copy.width, copy.height, copy.depth, true);
  sort(out);
  return out;
}

Footprint footprint_of(const Fill& f) {
  Footprint out;
  if (f.width * f.height * f.depth == 0) return out;
  add_rows(out, {f.address, f.on_device, f.pitch, f.layer}, f.width * f.size, f.height, f.depth,
           true);
  sort(out);
  return out;
}

/// The default stream waits for all blocking ones of its device, and they for it.
StreamOrder::State& StreamOrder::advance(const Stream& stream) {
  State& mine = states_[stream.id];
  mine.device = stream.device;
  mine.legacy = stream.legacy;
  mine.blocking = (stream.flags & kNonBlocking) == 0;
  mine.reached.join(host_);
  if (!mine.blocking) return mine;
  for (const auto& [id, other] : states_)
    if (id != stream.id && other.device == mine.device && other.blocking &&
        (mine.legacy || other.legacy))
      mine.reached.join(other.reached);
  return mine;
}

StampPtr StreamOrder::stamp(const Stream& stream, const std::string& what,
                            const std::string& kernel) {
  const std::lock_guard lock(mutex_);
  State& state = advance(stream);
  auto made = std::make_shared<Stamp>();
  made->stream = stream.id;
  made->count = ++state.count;
  state.reached.add(stream.id, state.count);
  made->before = state.reached;
  made->host = host_;
  made->where = stream.legacy ? "the default stream" : "stream " + std::to_string(stream.id);
  made->what = what;
  made->kernel = kernel;
  return made;
}

StampPtr StreamOrder::stamp_graph(const Stream& stream) {
  auto made = std::make_shared<Stamp>(*stamp(stream, "graph"));
  const std::lock_guard lock(mutex_);
  made->launch = ++launches_;
  return made;
}

StampPtr StreamOrder::stamp_node(const Stamp& graph, size_t node, std::vector<bool> needs,
                                 const std::string& what, const std::string& kernel) {
  auto made = std::make_shared<Stamp>(graph);
  made->node = node;
  made->needs = std::move(needs);
  made->what = what;
  made->kernel = kernel;
  made->where = "node " + std::to_string(node) + " of a graph in " + graph.where;
  return made;
}

Reached StreamOrder::record(const Stream& stream) {
  const std::lock_guard lock(mutex_);
  return advance(stream).reached;
}

void StreamOrder::wait(const Stream& stream, const Reached& event) {
  const std::lock_guard lock(mutex_);
  advance(stream).reached.join(event);
}

void StreamOrder::host_waits(const Stream& stream) {
  const std::lock_guard lock(mutex_);
  host_.join(stream.legacy ? advance(stream).reached : states_[stream.id].reached);
}

void StreamOrder::host_waits(const Reached& event) {
  const std::lock_guard lock(mutex_);
  host_.join(event);
}

void StreamOrder::host_waits_for_device(int device) {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, state] : states_)
    if (state.device == device) host_.join(state.reached);
}

void StreamOrder::host_waits_for_all() {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, state] : states_) host_.join(state.reached);
}

void StreamOrder::done(const StampPtr& stamp, Footprint footprint) {
  if (footprint.touches.empty()) return;
  const std::lock_guard lock(mutex_);
  // Whatever is put in from now on comes behind what the host had waited for.
  const auto drop = [&](const auto& is) {
    std::erase_if(kept_, [&](const Kept& k) {
      if (!is(k)) return false;
      touches_ -= k.footprint.touches.size();
      return true;
    });
  };
  drop([&](const Kept& k) { return stamp->host.covers(k.stamp->stream, k.stamp->count); });
  Kept mine{stamp, std::move(footprint)};
  for (const Kept& k : kept_)
    if (!k.stamp->comes_before(*stamp)) compare(k, mine);
  // What meets the earlier of two operations of one stream meets the later one, too.
  drop([&](const Kept& k) {
    return k.stamp->stream == stamp->stream && k.stamp->comes_before(*stamp) &&
           k.stamp->what == stamp->what && k.footprint.touches == mine.footprint.touches;
  });
  touches_ += mine.footprint.touches.size();
  kept_.push_back(std::move(mine));
  bound();
}

void StreamOrder::bound() {
  if (touches_ <= kMostTouches) return;
  if (!forgets_)
    report_line(
        "the check of races between streams forgets the operations of longest ago: more "
        "than " +
        std::to_string(kMostTouches) + " ranges of memory are under way");
  forgets_ = true;
  while (touches_ > kMostTouches) {
    touches_ -= kept_.front().footprint.touches.size();
    kept_.erase(kept_.begin());
  }
}

void StreamOrder::forget(uint64_t address, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  for (Kept& k : kept_)
    touches_ -= std::erase_if(k.footprint.touches, [&](const Touch& t) {
      return t.address >= address && t.address + t.bytes <= address + bytes;
    });
}

/// Which of their accesses are in conflict.
std::optional<StreamOrder::Accesses> StreamOrder::conflict(const Touch& a, const Touch& b) const {
  if (a.store != 0 && b.store != 0 && !(a.strong_store && b.strong_store) &&
      (!b.same_value || same_values_))
    return Accesses{true, true};
  if (a.store != 0 && b.load != 0 && !(a.strong_store && b.strong_load))
    return Accesses{true, false};
  if (a.load != 0 && b.store != 0 && !(a.strong_load && b.strong_store))
    return Accesses{false, true};
  return std::nullopt;
}

void StreamOrder::compare(const Kept& first, const Kept& second) {
  const std::vector<Touch>&a = first.footprint.touches, &b = second.footprint.touches;
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    const uint64_t end_a = a[i].address + a[i].bytes, end_b = b[j].address + b[j].bytes;
    if (a[i].address < end_b && b[j].address < end_a)
      if (const auto how = conflict(a[i], b[j])) report(first, a[i], second, b[j], *how);
    (end_a < end_b ? i : j) += 1;
  }
}

namespace {

std::string name_of(uint64_t address) {
  const MemoryPtr memory = Context::current().memory().find(address);
  if (memory == nullptr) return "the memory at " + std::to_string(address);
  return "'" + memory->name + "' (offset " + std::to_string(address - memory->address) + " of " +
         std::to_string(memory->bytes) + " bytes)";
}

std::string who(const Stamp& s) {
  return (s.kernel.empty() ? s.what : "kernel '" + s.kernel + "'") + " in " + s.where;
}

}  // namespace

void StreamOrder::report(const Kept& first, const Touch& a, const Kept& second, const Touch& b,
                         Accesses how) {
  const auto place = [](const Kept& k, const Touch& t, bool stores) {
    findings::Place p = k.footprint.places[(stores ? t.store : t.load) - 1];
    p.what = stores ? "store" : "load";
    p.thread = who(*k.stamp);
    return p;
  };
  const auto text = [](const findings::Place& p) {
    return p.file.empty() ? p.text.empty() ? "" : " [" + p.text + "]" : " [" + p.site() + "]";
  };
  findings::Finding f;
  f.rule = "race-stream";
  f.subject = !second.stamp->kernel.empty()  ? second.stamp->kernel
              : !first.stamp->kernel.empty() ? first.stamp->kernel
                                             : "host program";
  f.places = {place(first, a, how.first_stores), place(second, b, how.second_stores)};
  const std::string one = who(*first.stamp) + text(f.places[0]),
                    other = who(*second.stamp) + text(f.places[1]);
  if (!known_.insert(one + "\n" + other).second) return;
  f.message = other + (how.second_stores ? " writes " : " reads ") +
              name_of(std::max(a.address, b.address)) + ", which " + one +
              (how.first_stores ? " writes" : " reads") +
              ", and nothing orders the two; what would: cudaStreamWaitEvent for an event that is "
              "recorded behind the first, or a wait of the host (cudaStreamSynchronize) between "
              "the two calls";
  f.report = f.message;
  Context::current().add_finding(std::move(f));
}

}  // namespace lanewise::core
