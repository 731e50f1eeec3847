// The caches of a GPU, literally: every byte of a line is a flag, every set is a list of lines from
// the next to go to the latest used, every copy that a write makes old is looked for in all caches.
// Written from docs/cache.md; it reads the preset files itself and shares nothing with runtime/.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <list>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/oracle/gpu_cache.hpp"

namespace oracle {

class Gpu {
 public:
  /// A preset's file, and which of its variants; `store` stands for the file's l1_store where it is
  /// not empty.
  Gpu(const std::string& preset_file, bool gcn, const std::string& variant = {},
      const std::string& store = {})
      : gcn_(gcn) {
    nlohmann::json j = file(preset_file);
    if (!variant.empty()) j.merge_patch(j.at("variants").at(variant));
    if (!store.empty()) j["knobs"]["l1_store"] = store;
    const nlohmann::json knobs = j.value("knobs", nlohmann::json::object());
    sms = j["sms"];
    for (const char* name : {"l1", "l2", "constant", "constant15", "scalar"}) {
      Shape& s = shapes_[name];
      if (!j.contains(name)) continue;
      const nlohmann::json& g = j[name];
      s = {true,
           g.value("infinite", false),
           g.value("hash", "linear") == "ipoly",
           g.value("set_hash", "linear") == "ipoly",
           g.value("slices", 1u),
           g.value("sets", 1u),
           g.value("ways", 1u),
           g.value("line", 128u),
           std::min(g.value("line", 128u), g.value("sector", 32u)),
           g.value("shared_by", 1u)};
    }
    global_in_l1_ = gcn || knobs.value("global_in_l1", true);
    local_in_l1_ = knobs.value("local_in_l1", true);
    nc_in_l1_ = knobs.value("nc_in_l1", true);
    allocate_ = knobs.value("l1_store", "evict") == "allocate";
    update_ = allocate_ || knobs.value("l1_store", "evict") == "update";
    cg_ = knobs.value("cg_on_l1_line", "leave");
    glc_ = knobs.value("glc_on_l1_line", "evict");
    l2_at_end_ = knobs.value("l2_written_back_at_kernel_end", false);
    request_lanes_ = knobs.value("request_lanes", 32u);
    l2_.emplace_back(shapes_["l2"], knobs.value("persisting_percent", 100u), 0);
  }

  /// A file that extends another one beside it says what is different.
  static nlohmann::json file(const std::filesystem::path& path) {
    nlohmann::json own, base;
    std::ifstream(path) >> own;
    if (!own.contains("extends")) return own;
    base = file(path.parent_path() / (own["extends"].get<std::string>() + ".json"));
    own.erase("extends");
    base.merge_patch(own);
    return base;
  }

  unsigned sms = 1;
  std::map<std::string, Counts> caches;  ///< "L1", "L2", "constant", "constant L1.5", "scalar"
  std::map<unsigned, Counts> sites;
  const Shape& shape(const char* name) { return shapes_[name]; }
  Cache& l2() { return l2_.front(); }

  void system_pages(uint64_t from, uint64_t bytes) {
    for (uint64_t page = from >> 16; page <= (from + bytes - 1) >> 16; ++page) system_.insert(page);
  }

  void kernel_begin() {
    for (const char* name : {"L1", "constant", "constant L1.5", "scalar"})
      for (auto& [owner, c] : levels_[name])
        for (CacheLine* x : c.all()) invalidate(name, c, x);
  }
  void kernel_end() {
    for (auto& [owner, c] : levels_["L1"])
      for (CacheLine* x : c.all()) {
        if (x->local)
          c.remove(x);
        else
          write_back("L1", c, *x);
      }
    if (!l2_at_end_) return;
    for (CacheLine* x : l2().all()) write_back("L2", l2(), *x);
  }
  void host_write(uint64_t from, uint64_t bytes) {
    const Bytes written = range(from, bytes);
    for (auto& [name, all] : levels_)
      for (auto& [owner, c] : all)
        if (c.shape().line <= 128)
          for (CacheLine* x : c.all())
            if (!x->local) join(x->stale, both(written, x->valid));
    for (CacheLine* x : l2().all()) {
      if (both(written, range(x->address, l2().shape().line)).empty()) continue;
      if (system(x->address))
        join(x->stale, both(written, x->valid));
      else
        drop(l2(), x, written);
    }
  }

  /// An instruction of one wave: lanes by their addresses (of local memory: offsets, with the
  /// number of the lane and of the wave in the grid).
  struct Lane {
    unsigned number;
    uint64_t address;
  };
  void execute(unsigned site, const Meaning& m, unsigned sm, uint64_t context,
               const std::vector<Lane>& lanes, uint64_t wave, unsigned wave_lanes,
               uint64_t local_bytes) {
    site_ = &sites[site];
    counts_site_ = true;
    Counts& n = *site_;
    ++n["instructions"];
    n["lanes"] += lanes.size();
    if (m.kind == Kind::fence) {
      if (m.acquires) invalidate_global(sm);
      return;
    }
    const auto place = [&](const Lane& lane, unsigned at) {
      if (!m.local) return lane.address + at;
      const uint64_t offset = lane.address + at;
      return (uint64_t{1} << 60) + (wave * local_bytes + offset / 4 * 4) * wave_lanes +
             uint64_t{lane.number} * 4 + offset % 4;
    };
    if (m.kind == Kind::control) return control(m, sm, context, lanes, place);
    const unsigned component = m.local ? std::min(4u, m.bytes) : m.bytes;
    for (unsigned at = 0; at < m.bytes; at += component) {
      std::vector<uint64_t> starts;
      for (const Lane& lane : lanes) starts.push_back(place(lane, at));
      const std::vector<Bytes> requests = coalesce(starts, component);
      n["requests"] += requests.size();
      n["hardware_requests"] += gcn_ ? contiguous(starts, component) : groups(lanes, component);
      for (const Bytes& bytes : requests) {
        std::set<uint64_t> sectors;
        for (const uint64_t b : bytes) sectors.insert(b / std::min(32u, shapes_["l1"].sector));
        n["sectors"] += sectors.size();
        n["bytes"] += bytes.size();
        if (m.kind == Kind::load) load(m, sm, context, bytes);
        if (m.kind == Kind::store) store(m, sm, context, bytes);
        if (m.kind == Kind::atomic) atomic(m, sm, context, bytes);
      }
    }
  }

 private:
  bool system(uint64_t address) const { return system_.count(address >> 16) != 0; }
  void bump(const char* name, uint64_t by) {
    if (counts_site_) (*site_)[name] += by;
  }

  Cache& level(const std::string& name, unsigned sm) {
    const Shape& s = shapes_[name == "L1" ? "l1" : name == "constant L1.5" ? "constant15" : name];
    const unsigned owner = sm / s.shared_by * s.shared_by;
    auto& all = levels_[name];
    return all.try_emplace(owner, s, 100, owner).first->second;
  }

  /// One request for each 128-byte block, or 64-byte line where lines are shorter, in the order in
  /// which lanes come to them.
  std::vector<Bytes> coalesce(const std::vector<uint64_t>& starts, unsigned bytes) {
    const uint64_t unit = shapes_["l1"].line >= 128 ? 128 : 64;
    std::vector<uint64_t> order;
    std::map<uint64_t, Bytes> all;
    for (const uint64_t start : starts)
      for (uint64_t b = start; b < start + bytes; ++b) {
        Bytes& request = all[b / unit];
        if (request.empty()) order.push_back(b / unit);
        request.push_back(b);
      }
    std::vector<Bytes> requests;
    for (const uint64_t u : order) {
      Bytes& request = all[u];
      std::sort(request.begin(), request.end());
      request.erase(std::unique(request.begin(), request.end()), request.end());
      requests.push_back(std::move(request));
    }
    return requests;
  }
  /// NVIDIA: so many neighbouring lanes share a request; fewer of wide accesses where it is not 32.
  uint64_t groups(const std::vector<Lane>& lanes, unsigned bytes) const {
    unsigned share = request_lanes_;
    if (share < 32) share = std::max(1u, share / std::max(1u, bytes / 4));
    std::set<unsigned> used;
    for (const Lane& l : lanes) used.insert(l.number / share);
    return used.size();
  }
  /// GCN by address: what follows the lane before in its line.
  uint64_t contiguous(const std::vector<uint64_t>& starts, unsigned bytes) {
    const uint64_t line = shapes_["l1"].line;
    uint64_t n = starts.empty() ? 0 : 1;
    for (size_t i = 1; i < starts.size(); ++i)
      if (starts[i] != starts[i - 1] + bytes || starts[i] / line != starts[i - 1] / line) ++n;
    return n;
  }

  std::string first_name(const Meaning& m) const {
    return m.first == First::constant ? "constant" : m.first == First::scalar ? "scalar" : "L1";
  }
  bool in_first(const Meaning& m) {
    if (m.first == First::constant) return shapes_["constant"].present;
    if (m.first == First::scalar) return shapes_["scalar"].present;
    if (m.local) return local_in_l1_;
    return m.first == First::read_only ? nc_in_l1_ : global_in_l1_;
  }

  void load(const Meaning& m, unsigned sm, uint64_t context, const Bytes& bytes) {
    const std::string name = first_name(m);
    if (!in_first(m)) {
      read_l2(m, context, bytes);
    } else {
      Cache& c = level(name, sm);
      for (const auto& [line, part] : c.lines(bytes)) {
        if (m.way == Way::fill || m.way == Way::no_fill)
          read(name, c, m, sm, context, line, part);
        else
          pass_by(name, c, m, sm, context, line, part);
      }
    }
    if (m.prefetch != 0) come_along(m, context, bytes);
    if (m.acquires) invalidate_global(sm);
  }

  void read(const std::string& name, Cache& c, const Meaning& m, unsigned sm, uint64_t context,
            uint64_t line, const Bytes& bytes) {
    Counts& n = caches[name];
    if (demand_) ++n["reads"];
    CacheLine* x = c.find(line);
    by_class(n, m.l1, c.sectors(bytes));
    Bytes missing = bytes;
    if (x != nullptr) {
      if (c.shape().line > 128) {
        missing.clear();
      } else {
        if (demand_ && !both(both(bytes, x->stale), x->valid).empty()) bump("stale", 1);
        missing = minus(bytes, x->valid);
      }
    }
    const uint64_t all = c.sectors(bytes), absent = c.sectors(missing);
    if (demand_) {
      if (absent != 0) ++n["read_misses"];
      n["sector_misses"] += absent;
      n["sector_hits"] += all - absent;
      bump("l1_misses", absent);
      bump("l1_hits", all - absent);
    }
    if (absent == 0) {
      c.use(*x, m.l1);
      if (m.last_use) take(x->dirty, bytes);
      return;
    }
    if (m.way == Way::no_fill) return fetch(name, c, m, sm, context, line, c.widen(missing));
    if (x == nullptr)
      x = &allocate(name, c, line, m.l1);
    else
      c.use(*x, m.l1);
    const bool whole = c.shape().line > 128;  // no preset fills more of a shorter line
    const Bytes need = whole ? range(line, c.shape().line) : minus(c.widen(missing), x->valid);
    n["fills"] += c.sectors(need);
    join(x->valid, need);
    if (m.first == First::read_only) x->read_only = true;
    if (m.local) x->local = true;
    fetch(name, c, m, sm, context, line, need);
  }

  void pass_by(const std::string& name, Cache& c, const Meaning& m, unsigned sm, uint64_t context,
               uint64_t line, Bytes bytes) {
    if (CacheLine* x = c.find(line); x != nullptr) {
      const std::string rule = m.way == Way::cg ? cg_ : m.way == Way::glc ? glc_ : "evict";
      if (rule == "hit") {
        Meaning through = m;
        through.way = Way::no_fill;
        return read(name, c, through, sm, context, line, bytes);
      }
      if (rule == "evict") {
        invalidate(name, c, x);
      } else {
        take(bytes, x->dirty);
        if (bytes.empty()) return;
      }
    }
    fetch(name, c, m, sm, context, line, c.widen(bytes));
  }

  void fetch(const std::string& name, Cache&, const Meaning& m, unsigned sm, uint64_t context,
             uint64_t line, const Bytes& bytes) {
    if (name == "constant" && shapes_["constant15"].present) {
      Meaning plain = m;
      plain.l1 = Hint::normal;
      plain.way = Way::fill;
      Cache& next = level("constant L1.5", sm);
      return read("constant L1.5", next, plain, sm, context, next.line_of(line), bytes);
    }
    std::map<uint64_t, Bytes> blocks;
    for (const uint64_t b : bytes) blocks[b / 128].push_back(b);
    for (const auto& [block, part] : blocks) read_l2(m, context, part);
  }

  Hint l2_hint(const Meaning& m, uint64_t line) const {
    if (m.sixteenths < 0) return m.l2;
    const uint64_t h = (line >> 7) * 0x9e3779b97f4a7c15ULL >> 60;
    return h < static_cast<uint64_t>(m.sixteenths) ? m.l2 : Hint::first;
  }
  void by_class(Counts& n, Hint h, uint64_t sectors) {
    static const char* const kNames[] = {"normal", "first", "last", "unchanged"};
    if (demand_) n[std::string("class ") + kNames[static_cast<int>(h)]] += sectors;
  }

  void read_l2(const Meaning& m, uint64_t context, const Bytes& bytes) {
    for (const auto& [line, part] : l2().lines(bytes)) read_l2_line(m, context, line, part);
  }
  void read_l2_line(const Meaning& m, uint64_t, uint64_t line, const Bytes& bytes) {
    Cache& c = l2();
    Counts& n = caches["L2"];
    const Hint hint = l2_hint(m, line);
    const uint64_t all = c.sectors(bytes);
    if (demand_) ++n["reads"];
    by_class(n, hint, all);
    CacheLine* x = c.find(line);
    if (x != nullptr && (m.refetch_system || m.uncached) && system(line)) {
      invalidate("L2", c, x);
      x = nullptr;
    }
    Bytes missing = c.widen(bytes);
    if (x != nullptr) {
      if (demand_ && !both(both(bytes, x->stale), x->valid).empty()) bump("stale", 1);
      missing = c.widen(minus(missing, x->valid));
      c.use(*x, hint);
    }
    const uint64_t absent = c.sectors(missing);
    if (demand_) {
      if (absent != 0) ++n["read_misses"];
      n["sector_hits"] += all - absent;
      n["sector_misses"] += absent;
      bump("l2_hits", all - absent);
      bump("l2_misses", absent);
    } else if (coming_along_) {
      n["over_fetch"] += absent;
    }
    if (absent != 0) {
      if (x == nullptr) x = &allocate("L2", c, line, hint);
      const Bytes need = minus(missing, x->valid);
      n["fills"] += c.sectors(need);
      join(x->valid, need);
      if (m.local) x->local = true;
    }
    if (m.stream) c.rank(*x, Rank::first);
    if (m.uncached) invalidate("L2", c, x);
  }
  /// The rest of the aligned block.
  void come_along(const Meaning& m, uint64_t context, const Bytes& bytes) {
    const uint64_t start = bytes.front() / m.prefetch * m.prefetch;
    demand_ = false;
    coming_along_ = true;
    const uint64_t invalidated = caches["L2"]["invalidated"];
    fetch("", l2(), m, 0, context, start, range(start, m.prefetch));
    caches["L2"]["invalidated"] = invalidated;
    demand_ = true;
    coming_along_ = false;
  }

  CacheLine& allocate(const std::string& name, Cache& c, uint64_t line, Hint hint) {
    if (CacheLine* gone = c.victim(line); gone != nullptr) {
      ++caches[name]["evictions"];
      write_back(name, c, *gone);
      c.remove(gone);
    }
    return c.add(line, hint);
  }

  void store(const Meaning& m, unsigned sm, uint64_t context, const Bytes& bytes) {
    const std::string name = first_name(m);
    if (m.does == Does::write_back && in_first(m)) {
      Cache& c = level(name, sm);
      for (const auto& [line, part] : c.lines(bytes)) {
        CacheLine* x = c.find(line);
        count_write(name, c, part, x != nullptr, true);
        if (x == nullptr)
          x = &allocate(name, c, line, m.l1);
        else
          c.use(*x, m.l1);
        join(x->valid, part);
        join(x->dirty, part);
        take(x->stale, part);
        x->writer = context;
        if (m.local) x->local = true;
      }
      return;
    }
    if (name == "L1") {
      Cache& c = level(name, sm);
      for (const auto& [line, part] : c.lines(bytes)) {
        CacheLine* x = c.find(line);
        if (in_first(m)) count_write(name, c, part, x != nullptr, true);
        const bool there = x != nullptr;
        if (!there) {
          if (m.does != Does::preset || !allocate_ || !in_first(m) || m.way == Way::no_fill)
            continue;
          x = &allocate(name, c, line, m.l1);
        }
        if (m.does == Does::preset && update_) {
          if (there) c.use(*x, m.l1);
          join(x->valid, part);
          take(x->stale, part);
          continue;
        }
        const Bytes sectors = c.widen(part);
        if (!both(x->dirty, sectors).empty()) write_back(name, c, *x);
        ++caches[name]["invalidated"];
        drop(c, x, sectors);
      }
    }
    write_l2(m, sm, context, bytes, m.local, true);
  }

  void count_write(const std::string& name, Cache& c, const Bytes& bytes, bool hit, bool asked) {
    Counts& n = caches[name];
    ++n["writes"];
    if (!hit) ++n["write_misses"];
    const uint64_t sectors = c.sectors(bytes);
    n[hit ? "write_sector_hits" : "write_sector_misses"] += sectors;
    if (!asked) return;
    if (name == "L2")
      (*site_)[hit ? "l2_write_hits" : "l2_write_misses"] += sectors;
    else
      (*site_)[hit ? "l1_write_hits" : "l1_write_misses"] += sectors;
  }

  void atomic(const Meaning& m, unsigned sm, uint64_t context, const Bytes& bytes) {
    Cache& c = level("L1", sm);
    for (const auto& [line, part] : c.lines(bytes)) {
      CacheLine* x = c.find(line);
      if (x == nullptr) continue;
      write_back("L1", c, *x);
      drop(c, x, c.widen(part));
    }
    read_l2(m, context, l2().widen(bytes));
    write_l2(m, sm, context, bytes, m.local, true);
    if (m.acquires) invalidate_global(sm);
  }

  void write_l2(const Meaning& m, unsigned sm, uint64_t context, const Bytes& bytes, bool local,
                bool asked) {
    if (!local) make_old(sm, context, bytes);
    Cache& c = l2();
    for (const auto& [line, part] : c.lines(bytes)) {
      const Hint hint = asked ? l2_hint(m, line) : Hint::normal;
      const bool kept_was = demand_;
      demand_ = true;
      by_class(caches["L2"], hint, c.sectors(part));
      demand_ = kept_was;
      CacheLine* x = c.find(line);
      count_write("L2", c, part, x != nullptr, asked);
      const bool uncached = asked && m.uncached;
      if (x == nullptr && uncached) {
        ++caches["L2"]["write_backs"];
        caches["L2"]["write_back_bytes"] += part.size();
        continue;
      }
      if (x == nullptr)
        x = &allocate("L2", c, line, hint);
      else
        c.use(*x, hint);
      join(x->valid, part);
      join(x->dirty, part);
      take(x->stale, part);
      if (asked && m.stream) c.rank(*x, Rank::first);
      if (asked && (m.write_through || m.uncached) && system(line)) write_back("L2", c, *x);
      if (uncached) invalidate("L2", c, x);
    }
  }

  /// Copies elsewhere are old. Lines of more than 128 bytes are not looked after.
  void make_old(unsigned sm, uint64_t context, const Bytes& bytes) {
    for (auto& [name, all] : levels_)
      for (auto& [owner, c] : all) {
        if ((name == "L1" && owner == sm) || c.shape().line > 128) continue;
        for (const auto& [line, part] : c.lines(bytes)) {
          CacheLine* x = c.find(line);
          if (x == nullptr || x->local || (name == "scalar" && x->writer == context)) continue;
          join(x->stale, both(part, x->valid));
        }
      }
  }

  void write_back(const std::string& name, Cache& c, CacheLine& x) {
    if (x.dirty.empty()) return;
    ++caches[name]["write_backs"];
    caches[name]["write_back_bytes"] += x.dirty.size();
    const Bytes dirty = x.dirty;
    x.dirty.clear();
    if (name != "L2") write_l2({}, c.owner, x.writer, dirty, x.local, false);
  }
  void invalidate(const std::string& name, Cache& c, CacheLine* x) {
    write_back(name, c, *x);
    ++caches[name]["invalidated"];
    c.remove(x);
  }
  void drop(Cache& c, CacheLine* x, const Bytes& bytes) {
    take(x->valid, bytes);
    take(x->dirty, bytes);
    take(x->stale, bytes);
    if (x->valid.empty()) c.remove(x);
  }
  template <class Which>
  void invalidate_all(const std::string& name, unsigned sm, Which which) {
    Cache& c = level(name, sm);
    for (CacheLine* x : c.all())
      if (which(*x)) invalidate(name, c, x);
  }
  void invalidate_global(unsigned sm) {
    invalidate_all("L1", sm, [](const CacheLine& x) { return !x.local; });
  }

  template <class Place>
  void control(const Meaning& m, unsigned sm, uint64_t context, const std::vector<Lane>& lanes,
               Place place) {
    const std::string& what = m.control;
    const auto any = [](const CacheLine&) { return true; };
    if (what == "ivall") return invalidate_global(sm);
    if (what == "ivall local")
      return invalidate_all("L1", sm, [](const CacheLine& x) { return x.local; });
    if (what == "ivall read only")
      return invalidate_all("L1", sm, [](const CacheLine& x) { return x.read_only; });
    if (what == "ivall vector") return invalidate_all("L1", sm, any);
    if (what == "ivall constant") return invalidate_all("constant", sm, any);
    if (what == "scalar inv" || what == "scalar wb") {
      Cache& c = level("scalar", sm);
      for (CacheLine* x : c.all()) {
        if (what == "scalar wb") {
          write_back("scalar", c, *x);
          continue;
        }
        ++caches["scalar"]["invalidated"];
        c.remove(x);
      }
      return;
    }
    std::vector<uint64_t> starts;
    for (const Lane& lane : lanes) starts.push_back(place(lane, 0));
    const bool by_block = what == "demote" || what == "discard";
    for (const uint64_t start : starts)
      if (by_block && start % 128 != 0) return;
    for (const Bytes& bytes : coalesce(starts, 1)) {
      const uint64_t block = bytes.front() / 128 * 128;
      if (what.starts_with("prefetch")) {
        prefetch(m, sm, context, block);
      } else if (what == "demote") {
        for (const auto& [line, part] : l2().lines(bytes))
          if (CacheLine* x = l2().find(line); x != nullptr && x->rank == Rank::last)
            l2().rank(*x, Rank::normal);
      } else if (what == "discard") {
        for (const auto& [line, part] : l2().lines(range(block, 128)))
          if (CacheLine* x = l2().find(line); x != nullptr) x->dirty.clear();
        make_old(sm, context, range(block, 128));
        Cache& c = level("L1", sm);
        for (const auto& [line, part] : c.lines(range(block, 128)))
          if (CacheLine* x = c.find(line); x != nullptr) invalidate("L1", c, x);
      } else {
        Cache& c = level("L1", sm);
        for (const auto& [line, part] : c.lines(bytes)) {
          CacheLine* x = c.find(line);
          if (x == nullptr || x->local != m.local) continue;
          if (what == "wb") write_back("L1", c, *x);
          if (what == "iv") invalidate("L1", c, x);
          if (what != "rs") continue;
          ++caches["L1"]["invalidated"];
          c.remove(x);
        }
      }
    }
  }
  /// The whole block; what it reads is no demand.
  void prefetch(const Meaning& m, unsigned sm, uint64_t context, uint64_t block) {
    Meaning p;
    p.local = m.local;
    const std::string& what = m.control;
    if (what == "prefetch l2 last") p.l2 = Hint::last;
    const bool to_l1 = what == "prefetch l1" && (m.local ? local_in_l1_ : global_in_l1_);
    ++caches[to_l1 ? "L1" : "L2"]["prefetches"];
    demand_ = false;
    counts_site_ = false;
    Cache& c = to_l1 ? level("L1", sm) : l2();
    for (const auto& [line, part] : c.lines(range(block, 128))) {
      if (to_l1)
        read("L1", c, p, sm, context, line, part);
      else
        read_l2_line(p, context, line, part);
      if (what == "prefetch l2 normal") c.rank(*c.find(line), Rank::normal);
    }
    demand_ = true;
    counts_site_ = true;
  }

  bool gcn_;
  std::map<std::string, Shape> shapes_;
  bool global_in_l1_ = true, local_in_l1_ = true, nc_in_l1_ = true, update_ = false,
       allocate_ = false;
  bool l2_at_end_ = false;
  std::string cg_, glc_;
  unsigned request_lanes_ = 32;
  std::map<std::string, std::map<unsigned, Cache>> levels_;  ///< by name, then owner
  std::list<Cache> l2_;
  std::set<uint64_t> system_;
  Counts* site_ = nullptr;
  bool demand_ = true, counts_site_ = true, coming_along_ = false;
};

}  // namespace oracle
