// Programs as launches run them, kept for the launches that follow.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "runtime/ir/passes/memory/pointers.hpp"
#include "runtime/reference/decode.hpp"
#include "runtime/reference/decode_order.hpp"

namespace lanewise::reference {

/// `decoded` refers to the other members.
struct Ready {
  ir::Program program;
  ir::PointerParams pointers;
  std::optional<ir::WaveOrder> order;  ///< where lanes run as the tree has them
  OrderSeen order_seen;
  DecodedProgram decoded;

  /// Throws Error(guest) for what is not well formed.
  Ready(const ir::Program& from, Wishes wishes);
  Ready(const Ready&) = delete;
  Ready& operator=(const Ready&) = delete;
};

class ReadyPrograms {
 public:
  /// id: LaunchRequest::program_id; 0 = nothing is kept.
  std::shared_ptr<const Ready> get(const ir::Program& program, uint64_t id, Wishes wishes);

 private:
  std::map<std::pair<uint64_t, Wishes>, std::shared_ptr<const Ready>> kept_;
};

}  // namespace lanewise::reference
