// The records of a launch whose paths are known, group by group.
#pragma once

#include <vector>

#include "runtime/events/derive/paths.hpp"
#include "runtime/events/emitter.hpp"

namespace lanewise::events {

/// Reports to the sink what Collector::group() would report of the words of these lanes. Groups
/// whose waves stay together take the short path: a record is a sum or two. Of others the words are
/// made, and GroupAssembly orders them.
class PathGroups {
 public:
  PathGroups(Collector& c, const LaunchRequest& request, const Paths& paths);
  /// The group with these coordinates.
  void group(uint64_t linear, const std::array<uint32_t, 3>& at);
  void flush() { emitter_.flush(); }

 private:
  /// The lanes of a wave; the same in every group.
  struct Wave {
    Place first{}, last{};  ///< least and greatest coordinates of its lanes
    uint32_t lane = 0, lanes = 0;
    bool in_line = false;  ///< they differ in x alone
  };
  /// Where a wave is in its path.
  struct Cursor {
    uint32_t path = 0;
    size_t next = 0;
    bool waits = false;
  };

  /// What a path's event is in every wave of the launch.
  struct Step {
    Point whole;  ///< with the bytes of its components, where they are one access
    uint32_t site = 0;
    bool certain = false;           ///< a strided record of all lanes, whichever group and wave
    int64_t stride = 0;             ///< from lane to lane
    uint64_t in_group = 0;          ///< address of the current group for the lane at the origin
    std::vector<uint64_t> in_wave;  ///< [wave]: what the first lane adds to that
  };

  void lay_out(const LaunchRequest& request);
  std::vector<Step> steps_of(const Path& path) const;
  bool is_certain(const PathEvent& e, const Step& step) const;
  std::optional<bool> answer(const Test& test, const Wave& w) const;
  std::optional<uint32_t> path_of(const Wave& w) const;
  bool says(const PathEvent& e, uint64_t address) const;
  bool all_say(const Wave& w, const Path& path) const;
  bool choose_paths();
  void place(uint32_t path);
  void in_rounds();
  bool step(uint16_t wave);
  bool open_barrier();
  void emit(uint16_t wave, const PathEvent& e, const Step& step);
  void lane_by_lane(uint64_t linear);
  void put(std::vector<uint32_t>& words, const PathEvent& e, const Place& place) const;
  Place lane_place(uint32_t lane) const;

  Collector& c_;
  Emitter emitter_;
  const Paths& paths_;
  Extents extents_;
  std::vector<Place> lanes_;  ///< of a group, ctaid 0
  std::vector<Wave> waves_;
  std::vector<Cursor> cursors_;
  Place group_{};                         ///< the coordinates of the current group
  std::vector<std::vector<Step>> steps_;  ///< [path][event]
  std::vector<bool> checks_;              ///< [path]: some event is not mapped for sure
  std::vector<bool> placed_;              ///< [path]: Step::in_group is of the current group
  std::vector<std::vector<uint32_t>> words_;
};

}  // namespace lanewise::events
