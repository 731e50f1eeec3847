// Short names for the match fields of the dialect tables.
#pragma once

#include "runtime/cache/dialects/dialect.hpp"

namespace lanewise::cache::bits {

template <class... E>
constexpr uint16_t any(E... values) {
  return static_cast<uint16_t>((... | (1u << static_cast<unsigned>(values))));
}

using trace::OpKind;
using trace::Space;
using Op = ir::CacheOp;
using Evict = ir::EvictPriority;
using ir::Order;
using ir::Scope;

inline constexpr uint16_t kWide = any(Scope::gpu, Scope::cluster);
inline constexpr uint16_t kStrong =
    any(Order::relaxed, Order::acquire, Order::release, Order::acq_rel, Order::seq_cst);

}  // namespace lanewise::cache::bits
