#include "runtime/events/derive/groups.hpp"

#include <algorithm>

#include "runtime/events/derive/places.hpp"
#include "runtime/guest/ended.hpp"
#include "runtime/layout/addresses.hpp"

namespace lanewise::events {
namespace {

constexpr size_t kGroupX = static_cast<size_t>(Coordinate::ctaid_x);

struct Range {
  int64_t low = 0, high = 0;
};

/// Of an exact form, over a box of places.
Range range(const Form& form, const Place& first, const Place& last) {
  const auto at_first = static_cast<int64_t>(form.at(first));
  Range r{at_first, at_first};
  for (size_t i = 0; i < kGroupX; ++i) {
    const int64_t more = form.factor[i] * (last[i] - first[i]);
    (more < 0 ? r.low : r.high) += more;
  }
  return r;
}

}  // namespace

PathGroups::PathGroups(Collector& c, const LaunchRequest& request, const Paths& paths)
    : c_(c), emitter_(c), paths_(paths), extents_(extents_of(request)) {
  lay_out(request);
  cursors_.resize(waves_.size());
  for (const Path& path : paths.paths) {
    steps_.push_back(steps_of(path));
    checks_.push_back(std::ranges::any_of(
        path, [&](const PathEvent& e) { return !e.mapped && c.plan().point(e.point).address; }));
  }
  placed_.resize(paths.paths.size());
}

std::vector<PathGroups::Step> PathGroups::steps_of(const Path& path) const {
  std::vector<Step> steps;
  for (const PathEvent& e : path) {
    const Point& p = c_.plan_.point(e.point);
    Step& step = steps.emplace_back();
    step.whole = p;
    if (e.components != 0) step.whole.bytes = c_.plan_.sites[p.whole_site].bytes;
    step.site = c_.first_site_ + (e.components != 0 ? p.whole_site : p.site);
    step.stride = e.address.factor[0];
    for (const Wave& w : waves_)
      step.in_wave.push_back(e.address.at(lanes_[w.lane]) - e.address.constant);
    step.certain = is_certain(e, step);
  }
  return steps;
}

bool PathGroups::is_certain(const PathEvent& e, const Step& step) const {
  const Point& p = step.whole;
  if (!e.mapped || !p.address || p.scalar || p.barrier) return false;
  if (!std::ranges::all_of(waves_, &Wave::in_line)) return false;
  const auto reach = extents_.bounded(e.address);
  return reach && c_.touches_between(p, static_cast<uint64_t>(reach->low),
                                     static_cast<uint64_t>(reach->high));
}

void PathGroups::lay_out(const LaunchRequest& request) {
  const Dim3& block = request.block;
  const auto row = static_cast<uint32_t>(extents_.count(Coordinate::x));
  for (uint32_t z = 0; z < block.z; ++z)
    for (uint32_t y = 0; y < block.y; ++y)
      for (uint32_t x = 0; x < block.x; ++x) lanes_.push_back({x % row, y, z, x / row, 0, 0, 0});
  const auto box = [this](size_t lane, size_t lanes) {
    Wave w{lanes_[lane], lanes_[lane], static_cast<uint32_t>(lane), static_cast<uint32_t>(lanes),
           false};
    for (size_t i = lane; i < lane + lanes; ++i)
      for (size_t k = 0; k < kGroupX; ++k) {
        w.first[k] = std::min(w.first[k], lanes_[i][k]);
        w.last[k] = std::max(w.last[k], lanes_[i][k]);
      }
    w.in_line = std::equal(w.first.begin() + 1, w.first.begin() + kGroupX, w.last.begin() + 1);
    return w;
  };
  for (size_t lane = 0; lane < lanes_.size(); lane += c_.wave_lanes_)
    waves_.push_back(box(lane, std::min<size_t>(c_.wave_lanes_, lanes_.size() - lane)));
}

Place PathGroups::lane_place(uint32_t lane) const {
  Place p = lanes_[lane];
  std::copy(group_.begin() + kGroupX, group_.end(), p.begin() + kGroupX);
  return p;
}

/// Nothing where lanes of the wave disagree.
std::optional<bool> PathGroups::answer(const Test& test, const Wave& w) const {
  Place first = w.first;
  std::copy(group_.begin() + kGroupX, group_.end(), first.begin() + kGroupX);
  const Range r = range(test.form, first, w.last);
  if (test.is_zero) {
    if (r.low > 0 || r.high < 0) return false;
    if (r.low == 0 && r.high == 0) return true;
  } else {
    if (r.high < 0) return true;
    if (r.low >= 0) return false;
  }
  const bool one = test.at(lane_place(w.lane));
  for (uint32_t i = 1; i < w.lanes; ++i)
    if (test.at(lane_place(w.lane + i)) != one) return std::nullopt;
  return one;
}

std::optional<uint32_t> PathGroups::path_of(const Wave& w) const {
  uint32_t n = 0;
  while (!paths_.nodes[n].ends) {
    const auto yes = answer(paths_.nodes[n].test, w);
    if (!yes) return std::nullopt;
    n = *yes ? paths_.nodes[n].yes : paths_.nodes[n].no;
  }
  return paths_.nodes[n].path;
}

/// Does a lane write words for it? Those that surely fault do not.
bool PathGroups::says(const PathEvent& e, uint64_t address) const {
  const Point& p = c_.plan_.point(e.point);
  if (e.mapped || !p.address || !p.access) return true;
  if (address - guest::kArenaBase < c_.arena_size_) return true;
  const uint64_t window = address >> 24;
  return p.space == ir::Space::generic &&
         (window == guest::kSharedWindow >> 24 || window == guest::kLocalWindow >> 24);
}

bool PathGroups::all_say(const Wave& w, const Path& path) const {
  return std::ranges::all_of(path, [&](const PathEvent& e) {
    if (e.mapped) return true;
    for (uint32_t i = 0; i < w.lanes; ++i)
      if (!says(e, e.address.at(lane_place(w.lane + i)))) return false;
    return true;
  });
}

/// False: some wave has lanes that part.
bool PathGroups::choose_paths() {
  const bool one = paths_.paths.size() == 1;
  for (size_t i = 0; i < waves_.size(); ++i) {
    const auto path = one ? std::optional<uint32_t>(0) : path_of(waves_[i]);
    if (!path || (checks_[*path] && !all_say(waves_[i], paths_.paths[*path]))) return false;
    cursors_[i] = {*path, 0, false};
    if (!placed_[*path]) place(*path);
  }
  return true;
}

void PathGroups::place(uint32_t path) {
  const Path& events = paths_.paths[path];
  for (size_t i = 0; i < events.size(); ++i)
    steps_[path][i].in_group = events[i].address.at(group_);
  placed_[path] = true;
}

void PathGroups::group(uint64_t linear, const std::array<uint32_t, 3>& at) {
  std::copy(at.begin(), at.end(), group_.begin() + kGroupX);
  std::fill(placed_.begin(), placed_.end(), false);
  if (!choose_paths()) {
    emitter_.flush();
    return lane_by_lane(linear);
  }
  emitter_.group(linear);
  in_rounds();
}

/// Round-robin, one record of each wave, as in GroupAssembly.
void PathGroups::in_rounds() {
  for (;;) {
    bool moved = false;
    for (size_t i = 0; i < waves_.size(); ++i) moved = step(static_cast<uint16_t>(i)) || moved;
    if (!moved && !open_barrier()) return;
  }
}

bool PathGroups::step(uint16_t wave) {
  Cursor& at = cursors_[wave];
  const Path& path = paths_.paths[at.path];
  if (at.waits || at.next == path.size()) return false;
  const Step& step = steps_[at.path][at.next];
  if (step.whole.barrier) {
    at.waits = true;
    return false;
  }
  if (step.certain) {
    emitter_.all(wave, step.site, waves_[wave].lanes, step.in_group + step.in_wave[wave],
                 step.stride);
  } else {
    emit(wave, path[at.next], step);
  }
  ++at.next;
  return true;
}

bool PathGroups::open_barrier() {
  bool any = false;
  for (Cursor& at : cursors_) {
    if (!at.waits) continue;
    at.waits = false;
    ++at.next;
    any = true;
  }
  return any;
}

void PathGroups::emit(uint16_t wave, const PathEvent& e, const Step& step) {
  const Wave& w = waves_[wave];
  const uint64_t first = step.in_group + step.in_wave[wave];
  if (w.in_line) return emitter_.strided(wave, step.whole, step.site, w.lanes, first, step.stride);
  emitter_.each(wave, step.whole, step.site, w.lanes,
                [&](uint32_t i) { return e.address.at(lane_place(w.lane + i)); });
}

void PathGroups::put(std::vector<uint32_t>& words, const PathEvent& e, const Place& place) const {
  const uint32_t escape = c_.plan_.escape();
  uint64_t address = e.address.at(place);
  for (uint32_t i = 0; i <= e.components; ++i) {
    const uint32_t number = e.point + i;
    const Point& p = c_.plan_.point(number);
    if (!p.address) {
      words.push_back(number);
    } else if (says(e, address)) {
      words.push_back(number << c_.plan_.code_bits | escape);
      words.push_back(static_cast<uint32_t>(address));
      words.push_back(static_cast<uint32_t>(address >> 32));
    }
    address += p.bytes;
  }
}

void PathGroups::lane_by_lane(uint64_t linear) {
  words_.resize(lanes_.size());
  std::vector<LaneWords> lanes;
  for (uint32_t i = 0; i < lanes_.size(); ++i) {
    words_[i].clear();
    const Place place = lane_place(i);
    for (const PathEvent& e : paths_.paths[paths_.of(place)]) put(words_[i], e, place);
    lanes.push_back({words_[i].data(), 1, static_cast<uint32_t>(words_[i].size())});
  }
  c_.group(linear, lanes);
}

std::shared_ptr<const Paths> Collector::paths_of(const LaunchRequest& request,
                                                 uint64_t arena_size) const {
  if (!derives_ || exact_ != nullptr || checks_written(request)) return nullptr;
  return find_paths(request, plan_, arena_size);
}

void Collector::groups(const LaunchRequest& request, const Paths& paths,
                       const std::atomic<bool>& stop) {
  PathGroups groups(*this, request, paths);
  const auto ended = [&] { return stop || guest::is_cancelled(request); };
  uint64_t linear = 0;
  for (uint32_t z = 0; z < request.grid.z; ++z)
    for (uint32_t y = 0; y < request.grid.y; ++y)
      for (uint32_t x = 0; x < request.grid.x && !ended(); ++x) groups.group(linear++, {x, y, z});
  groups.flush();
}

}  // namespace lanewise::events
