// The schedule `lockstep`: waves go through the structured tree in step.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/reference/waves/group.hpp"

namespace lanewise::reference {

/// The tree as one list, each node before what is inside it.
struct TreeItem {
  ir::Node::Kind kind;
  uint32_t body_end = 0, end = 0;  ///< inside: [own + 1, body_end), otherwise: [body_end, end)
  uint32_t first = 0, last = 0;    ///< a block's codes
  Slot cond = ir::kNone;           ///< kNone: always
  bool negate = false;
  Slot reg = 0;
  bool value = false;
  bool counts = true;  ///< a loop's iterations are steps of the budget
  uint32_t site = ir::kNone;
  uint32_t loop = 0;  ///< number of the loop
};
struct TreeList {
  std::vector<TreeItem> items;
  uint32_t loops = 0;
};

/// One wave. Lanes are bits of masks, and which of them are active together follows from the tree
/// alone. Lanes that have to wait leave the masks; a walk goes through the tree once, from its
/// begin, and takes them in again where they stand. So it comes to places in their order, and the
/// lanes that it has left behind are those at lower places.
class WaveWalk {
 public:
  WaveWalk(Group& group, const TreeList& tree, Wave& wave);
  void start();
  bool can_run() const { return wave_.ready() != 0; }
  /// Lets every lane that can go on do so. With `force` the operation at the lowest place is
  /// carried out for the lanes that are there.
  void run(bool force);

 private:
  /// Lanes that leave the innermost construct, or begin its next iteration.
  struct Flow {
    uint64_t breaks = 0, continues = 0;
  };
  // Each returns the lanes of `active` and of those that it takes in which go on behind it.
  uint64_t list(uint32_t from, uint32_t to, uint64_t active, Flow& flow);
  uint64_t node(uint32_t n, uint64_t active, Flow& flow);
  uint64_t block(uint32_t n, uint64_t active);
  uint64_t loop(uint32_t n, uint64_t active);
  uint64_t run_codes(uint32_t from, uint32_t to, uint64_t active);
  uint64_t step(uint32_t n, uint32_t position, uint64_t active, uint64_t waited);
  uint64_t wave_op(uint32_t n, uint64_t lanes);

  uint64_t repeat(const TreeItem& item, uint64_t lanes);
  uint32_t next_iteration(const TreeItem& item, uint64_t lanes) const;
  uint64_t in_iteration(const TreeItem& item, uint64_t lanes, uint32_t iteration) const;
  void wait_before(uint32_t n, uint64_t lanes);
  void leave(uint32_t n, uint64_t lanes);
  uint64_t inside(uint32_t from, uint32_t to) const;
  uint64_t where(const TreeItem& item, uint64_t lanes) const;
  uint32_t& iteration(const TreeItem& item, uint32_t lane) {
    return iterations_[item.loop * kMaxWave + lane];
  }

  Group& group_;
  const TreeList& tree_;
  Wave& wave_;
  std::array<uint32_t, kMaxWave> at_{};  ///< the item at which a lane waits
  std::vector<uint32_t> iterations_;     ///< [loop][lane]: iterations since the lane came to it
  uint64_t pending_ = 0;                 ///< lanes that this walk has not come to yet
  uint64_t behind_ = 0;                  ///< lanes that it has left
  bool force_ = false, gives_way_ = false;
};

struct Lockstep {
  TreeList tree;
  std::vector<WaveWalk> walks;
  Lockstep(Group& group, const DecodedProgram& program, std::vector<Wave>& waves);
};

}  // namespace lanewise::reference
