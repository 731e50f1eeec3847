// Which cross-lane operations find the lanes of their member masks in wave mode, where a wave is at
// one place at a time.
#pragma once

#include <memory>
#include <optional>

#include "runtime/ir/passes/waves/uniformity.hpp"

namespace lanewise::spirv {

/// What is known of an operation's member mask.
struct MemberUse {
  bool alike = true;  ///< the same in all lanes that carry the operation out together
  /// A lane of the mask may stand elsewhere, and come to such an operation or a barrier: the
  /// operation would have to wait for it, so the lanes look whether all are there.
  bool asked = false;
  /// Lanes may skip the operation in some iterations of a loop and come to it in others, or its
  /// mask is another one in each iteration, and it is not simply that of all lanes: they are likely
  /// to meet in different iterations, which wave mode cannot do.
  bool mixes = false;
};

class MemberProof {
 public:
  /// `together`: of whom uniformity is asked, a group where waves share subgroups. The program must
  /// outlive this.
  MemberProof(const ir::Program& program, ir::Together together);
  ~MemberProof();
  /// The operation at `index` in the block.
  MemberUse of(uint32_t block, size_t index) const;

 private:
  struct Facts;
  std::unique_ptr<Facts> facts_;  ///< null: no operation has a mask to ask about
};

struct MemberSummary {
  uint32_t asking = 0;              ///< operations that look whether their members are there
  const ir::Inst* mixes = nullptr;  ///< one of MemberUse::mixes
};
MemberSummary member_summary(const ir::Program& program);

}  // namespace lanewise::spirv
