#include "runtime/cache/parts/part.hpp"

#include <fmt/format.h>

#include <bit>
#include <nlohmann/json.hpp>

#include "runtime/cache/presets/preset_text.hpp"
#include "runtime/support/hash.hpp"
#include "runtime/support/json_document.hpp"
#include "runtime/trace/fields.hpp"

namespace lanewise::cache {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "lanewise cache part";
constexpr uint64_t kVersion = 1;

// The data, in the numbers and items of the trace format. Each function below takes a part to bytes
// (with trace::FieldsOut) and back (with trace::FieldsIn).

template <class Io, class... Numbers>
void numbers(Io& io, Numbers&... all) {
  (io.u(all), ...);
}

template <class Io>
void texts(Io& io, std::vector<std::string>& all) {
  io.list(all, [&](std::string& t) { io.text(t); });
}

/// Numbers that hardly ever become smaller.
template <class Io>
void rising(Io& io, std::vector<uint64_t>& all) {
  uint64_t last = 0;
  io.list(all, [&](uint64_t& v) {
    uint64_t step = v - last;
    io.u(step);
    v = last += step;
  });
}

template <class Io, class T>
void counters(Io& io, T& c) {
  auto list = std::bit_cast<std::array<uint64_t, sizeof(T) / sizeof(uint64_t)>>(c);
  for (uint64_t& n : list) io.u(n);
  c = std::bit_cast<T>(list);
}

template <class Io>
void moment(Io& io, Moment& m) {
  numbers(io, m.clock, m.place);
}
template <class Io>
void moment(Io& io, std::optional<Moment>& m) {
  bool there = m.has_value();
  io.u(there);
  if (!there) return;
  if (!m) m.emplace();
  moment(io, *m);
}

template <class Io>
void context(Io& io, Context& c) {
  numbers(io, c.site, c.group, c.wave, c.sm);
}

template <class Io>
void finding(Io& io, Finding& f) {
  numbers(io, f.rule, f.severity, f.count, f.site, f.other_site, f.context, f.other_context);
  context(io, f.where);
  context(io, f.other_where);
  numbers(io, f.address, f.bytes, f.version, f.newest);
  io.text(f.message);
  texts(io, f.line_history);
  io.text(f.fix);
  moment(io, f.seen);
  moment(io, f.observed);
  moment(io, f.read);
  io.text(f.read_history);
}

template <class Io>
void shared_sector(Io& io, SharedSector& s) {
  numbers(io, s.since, s.sector, s.count, s.sms, s.bytes, s.context, s.other);
  context(io, s.where);
  context(io, s.other_where);
}

template <class Io>
void run(Io& io, PartRun& r) {
  io.text(r.preset);
  numbers(io, r.records, r.tracker_bytes, r.clock);
  for (LevelCounters& n : r.counters) counters(io, n);
  for (Engine::Dirty& n : r.dirty) counters(io, n);
  io.list(r.sites, [&](SiteCounters& n) { counters(io, n); });
  io.list(r.findings, [&](Finding& f) { finding(io, f); });
  rising(io, r.early.left);
  io.list(r.early.missed, [&](EarlyLog::Missed& m) {
    finding(io, m.finding);
    rising(io, m.lines);
  });
  io.list(r.sharing, [&](SharingLog& log) {
    io.u(log.clock);
    rising(io, log.since);
    io.list(log.often, [&](SharedSector& s) { shared_sector(io, s); });
  });
  numbers(io, r.most_watched, r.most_persisting);
}

template <class Io>
void whole(Io& io, Part& p) {
  numbers(io, p.index, p.count, p.read.content, p.read.events, p.read.complete);
  io.text(p.read.note);
  texts(io, p.read.warnings);
  io.list(p.policies, [&](std::pair<std::string, std::string>& policy) {
    io.text(policy.first);
    io.text(policy.second);
  });
  io.list(p.kernels, [&](trace::Kernel& k) { io.item(k); });
  io.list(p.sites, [&](trace::Site& s) { io.item(s); });
  io.list(p.buffers, [&](trace::Buffer& b) { io.item(b); });
  io.list(p.runs, [&](PartRun& r) { run(io, r); });
}

std::string hex_of(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(2 * bytes.size());
  for (const char c : bytes) {
    out += kDigits[static_cast<uint8_t>(c) >> 4];
    out += kDigits[static_cast<uint8_t>(c) & 15];
  }
  return out;
}
/// Empty for what is no hex.
std::string bytes_of(std::string_view hex) {
  const auto digit = [](char c) -> unsigned {
    return c >= '0' && c <= '9'   ? static_cast<unsigned>(c - '0')
           : c >= 'a' && c <= 'f' ? static_cast<unsigned>(c - 'a') + 10
                                  : 16;
  };
  if (hex.size() % 2 != 0) return {};
  std::string out;
  out.reserve(hex.size() / 2);
  for (size_t i = 0; i < hex.size(); i += 2) {
    const unsigned high = digit(hex[i]), low = digit(hex[i + 1]);
    if (high > 15 || low > 15) return {};
    out.push_back(static_cast<char>(high << 4 | low));
  }
  return out;
}

[[noreturn]] void fail(const std::string& name, const std::string& why) {
  throw Error(ErrorKind::usage, fmt::format("{}: {}", name, why));
}

}  // namespace

void check_quota(const Tracker& tracker) {
  const Preset& p = tracker.preset();
  const Share& share = tracker.engine().share();
  if (share.whole() || p.knobs.persisting_percent == 100 || p.l2.infinite) return;
  const uint32_t most = tracker.engine().l2().most_persisting();
  const uint64_t limit =
      uint64_t{p.l2.slices} * p.l2.sets * p.l2.ways * p.knobs.persisting_percent / 100;
  if (share.sampled() ? most == 0 : most <= limit) return;
  throw Error(ErrorKind::usage,
              fmt::format("preset {} cannot be {} with this trace: persisting_percent {}: "
                          "evict_last lines of all sets share a quota, which they reach{}",
                          p.name, share.sampled() ? "sampled" : "run in parts",
                          p.knobs.persisting_percent, share.sampled() ? " or not" : ""));
}

PartRun part_run(const Tracker& t) {
  check_quota(t);
  PartRun r;
  r.preset = preset_json(t.preset());
  r.records = t.records();
  r.tracker_bytes = t.memory_bytes();
  r.clock = t.engine().moment().clock;
  for (size_t i = 0; i < kCaches; ++i) {
    r.counters[i] = t.counters(static_cast<Cache>(i));
    r.dirty[i] = t.dirty(static_cast<Cache>(i));
  }
  r.sites = t.site_counters();
  for (const auto& [key, f] : t.hazards().all_findings()) r.findings.push_back(f);
  r.early = t.hazards().early_log();
  r.sharing = t.hazards().sharing_logs();
  r.most_watched = t.hazards().most_watched();
  r.most_persisting = t.engine().l2().most_persisting();
  return r;
}

Part part_of(std::span<const Tracker* const> runs, const trace::ReadResult& read) {
  const Tracker& first = *runs.front();
  Part p;
  p.index = first.options().part;
  p.count = first.options().parts;
  p.read = read;
  p.policies = first.options().policies;
  p.kernels = first.kernels();
  p.sites = first.sites();
  p.buffers = first.buffers();
  for (const Tracker* t : runs) p.runs.push_back(part_run(*t));
  return p;
}

std::string to_text(const Part& part) {
  std::string data;
  trace::Put put(data);
  trace::FieldsOut out(put);
  whole(out, const_cast<Part&>(part));  // read alone
  Json presets = Json::array();
  for (const PartRun& r : part.runs) presets.push_back(Json::parse(r.preset)["name"]);
  const Json json = {{"format", kFormat},
                     {"version", kVersion},
                     {"part", part.index},
                     {"parts", part.count},
                     {"trace", fmt::format("{:016x}", part.read.content)},
                     {"events", part.read.events},
                     {"presets", std::move(presets)},
                     {"checksum", fmt::format("{:016x}", hash_text(data))},
                     {"data", hex_of(data)}};
  return json_document(json);
}

Part parse_part(const std::string& text, const std::string& name) {
  const Json json = Json::parse(text, nullptr, false);
  const auto word = [&](const char* key) {
    const auto it = json.find(key);
    return it != json.end() && it->is_string() ? it->get<std::string>() : std::string();
  };
  if (!json.is_object() || word("format") != kFormat)
    fail(name, "not a part that `lanewise cache --shard` wrote");
  if (const auto version = json.find("version"); version == json.end() || *version != kVersion)
    fail(name, fmt::format("{} of the format; this program reads version {}",
                           version == json.end() ? "no version" : "version " + version->dump(),
                           kVersion));
  const std::string data = bytes_of(word("data"));
  if (data.empty() || word("checksum") != fmt::format("{:016x}", hash_text(data)))
    fail(name, "is damaged: the checksum does not fit");
  Part part;
  try {
    trace::Take take(data);
    trace::FieldsIn in(take);
    whole(in, part);
    if (!take.done()) trace::Take::fail("is followed by something else");
    bool sound = part.index < part.count && part.count <= 1U << 20 && !part.runs.empty();
    for (const PartRun& r : part.runs) sound = sound && r.sites.size() == part.sites.size();
    if (!sound) trace::Take::fail("contradicts itself");
  } catch (const Error& e) {
    fail(name, fmt::format("is damaged: {}", e.what()));
  }
  return part;
}

}  // namespace lanewise::cache
