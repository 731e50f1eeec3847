// The memory events of a launch, known before it runs.
//
// Many kernels go where the coordinates of their lanes and their arguments lead them, whatever lies
// in memory. Such a program is followed once per launch with the lanes' coordinates left open:
// registers are forms (form.hpp), and where lanes part, each side is followed on its own. What is
// left is a small tree of tests with the list of events of each path. A traced launch of it runs
// the kernel as it is, and nothing is recorded on the device.
#pragma once

#include <memory>
#include <vector>

#include "runtime/events/derive/linear.hpp"
#include "runtime/events/plan.hpp"
#include "runtime/guest/engine.hpp"

namespace lanewise::events {

struct PathEvent {
  uint32_t point = 0;   ///< number of the trace point
  Form address;         ///< 0 for points without one
  bool mapped = false;  ///< all lanes of the launch, on this path or not, find the arena there
  uint32_t components =
      0;  ///< points behind this one that are one access with it (Point::components)
};
using Path = std::vector<PathEvent>;

/// The test of lanes that have come this far, or where the path ends.
struct PathNode {
  bool ends = true;
  Test test;
  uint32_t yes = 0, no = 0;  ///< nodes, when it does not end
  uint32_t path = 0;         ///< when it ends
};

struct Paths {
  std::vector<PathNode> nodes;  ///< nodes[0] is the root
  std::vector<Path> paths;

  uint32_t of(const Place& place) const {
    uint32_t n = 0;
    while (!nodes[n].ends) n = nodes[n].test.at(place) ? nodes[n].yes : nodes[n].no;
    return nodes[n].path;
  }
};

/// Nothing when an address or the path of a lane depends on memory, on other lanes or on the time,
/// is not linear, or when there are too many paths or events. `request.program` carries the numbers
/// of the plan's points.
std::shared_ptr<const Paths> find_paths(const LaunchRequest& request, const Plan& plan,
                                        uint64_t arena_bytes);

}  // namespace lanewise::events
