#include "runtime/cache/dialects/dialect_bits.hpp"
#include "runtime/cache/dialects/dialect_tables.hpp"

namespace lanewise::cache {
namespace {

using namespace bits;

constexpr Row kGcnRows[] = {
    // Loads.
    {.id = "gcn.ld.lds", .spaces = any(Space::shared), .path = Path::none},
    {.id = "gcn.ld.scalar.glc",
     .glc = 1,
     .scalar = 1,
     .path = Path::scalar,
     .probe = Probe::drop,
     .flags = kReliesOnBypass},
    {.id = "gcn.ld.scalar", .scalar = 1, .path = Path::scalar},
    {.id = "gcn.ld.scratch", .spaces = any(Space::local)},
    {.id = "gcn.ld.uncached",
     .uncached = 1,
     .probe = Probe::drop,
     .flags = kUncached | kReliesOnBypass},
    {.id = "gcn.ld.glc.slc",
     .glc = 1,
     .slc = 1,
     .probe = Probe::glc,
     .flags = kStream | kReliesOnBypass},
    {.id = "gcn.ld.slc", .slc = 1, .probe = Probe::glc, .flags = kStream | kReliesOnBypass},
    {.id = "gcn.ld.glc", .glc = 1, .probe = Probe::glc, .flags = kReliesOnBypass},
    {.id = "gcn.ld"},
    // Stores.
    {.id = "gcn.st.lds", .kind = OpKind::store, .spaces = any(Space::shared), .path = Path::none},
    {.id = "gcn.st.scalar",
     .kind = OpKind::store,
     .scalar = 1,
     .path = Path::scalar,
     .store = StoreRule::write_back},
    {.id = "gcn.st.uncached",
     .kind = OpKind::store,
     .uncached = 1,
     .store = StoreRule::evict,
     .flags = kUncached},
    {.id = "gcn.st.slc",
     .kind = OpKind::store,
     .slc = 1,
     .store = StoreRule::evict,
     .flags = kStream},
    {.id = "gcn.st.glc", .kind = OpKind::store, .glc = 1, .store = StoreRule::evict},
    {.id = "gcn.st", .kind = OpKind::store},
    // Atomics: glc only says that the old value comes back.
    {.id = "gcn.atomic.lds",
     .kind = OpKind::atomic,
     .spaces = any(Space::shared),
     .path = Path::none},
    {.id = "gcn.atomic", .kind = OpKind::atomic},
    {.id = "gcn.fetch", .kind = OpKind::fetch, .path = Path::instruction},
};

}  // namespace

std::span<const Row> gcn_rows() {
  return kGcnRows;
}

}  // namespace lanewise::cache
