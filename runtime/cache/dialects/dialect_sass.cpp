#include "runtime/cache/dialects/dialect_bits.hpp"
#include "runtime/cache/dialects/dialect_tables.hpp"

namespace lanewise::cache {
namespace {

using namespace bits;

constexpr Row kSassRows[] = {
    // Loads.
    {.id = "sass.ld.shared", .spaces = any(Space::shared), .path = Path::none},
    {.id = "sass.ld.const", .spaces = any(Space::constant), .path = Path::constant},
    {.id = "sass.ld.local.lu",
     .spaces = any(Space::local),
     .ops = any(Op::lu),
     .l1_class = Class::first,
     .flags = kLastUse},
    {.id = "sass.ld.local", .spaces = any(Space::local)},
    {.id = "sass.ld.mmio",
     .orders = any(Order::mmio),
     .probe = Probe::drop,
     .flags = kUncached | kReliesOnBypass},
    {.id = "sass.ld.strong.sys",
     .orders = kStrong,
     .scopes = any(Scope::sys),
     .probe = Probe::drop,
     .flags = kRefetchSystem | kReliesOnBypass},
    {.id = "sass.ld.strong.gpu",
     .orders = kStrong,
     .scopes = kWide,
     .probe = Probe::cg,
     .flags = kReliesOnBypass},
    {.id = "sass.ld.cv",
     .ops = any(Op::cv),
     .probe = Probe::drop,
     .flags = kRefetchSystem | kReliesOnBypass},
    {.id = "sass.ld.cg", .ops = any(Op::cg), .probe = Probe::cg, .flags = kReliesOnBypass},
    {.id = "sass.ld.lu", .ops = any(Op::lu), .probe = Probe::cg},  // .LU maps to .CG
    {.id = "sass.ld.ci", .ops = any(Op::ci, Op::nc), .path = Path::read_only},
    {.id = "sass.ld.na", .l1 = any(Evict::no_allocate), .probe = Probe::no_fill},
    {.id = "sass.ld.ef",
     .l1 = any(Evict::first),
     .l1_class = Class::first,
     .l2_class = Class::first},
    {.id = "sass.ld.el", .l1 = any(Evict::last), .l1_class = Class::last},
    {.id = "sass.ld.eu", .l1 = any(Evict::unchanged), .l1_class = Class::unchanged},
    {.id = "sass.ld.cs", .ops = any(Op::cs)},  // .CS maps to .CA
    {.id = "sass.ld.ca", .ops = any(Op::none, Op::ca)},
    // Stores.
    {.id = "sass.st.shared",
     .kind = OpKind::store,
     .spaces = any(Space::shared),
     .path = Path::none},
    {.id = "sass.st.local",
     .kind = OpKind::store,
     .spaces = any(Space::local),
     .store = StoreRule::write_back},
    {.id = "sass.st.crs",
     .kind = OpKind::store,
     .spaces = any(Space::crs),
     .path = Path::call_stack},
    {.id = "sass.st.mmio",
     .kind = OpKind::store,
     .orders = any(Order::mmio),
     .store = StoreRule::evict,
     .flags = kUncached},
    {.id = "sass.st.strong.sys",
     .kind = OpKind::store,
     .orders = kStrong,
     .scopes = any(Scope::sys),
     .store = StoreRule::evict,
     .flags = kWriteThrough},
    {.id = "sass.st.strong.gpu",
     .kind = OpKind::store,
     .orders = kStrong,
     .scopes = kWide,
     .store = StoreRule::evict},
    {.id = "sass.st.cg", .kind = OpKind::store, .ops = any(Op::cg), .store = StoreRule::evict},
    {.id = "sass.st.cs",
     .kind = OpKind::store,
     .ops = any(Op::cs),
     .l1_class = Class::first,
     .l2_class = Class::first},
    {.id = "sass.st.wt", .kind = OpKind::store, .ops = any(Op::wt), .flags = kWriteThrough},
    {.id = "sass.st.na", .kind = OpKind::store, .l1 = any(Evict::no_allocate)},
    {.id = "sass.st.ef",
     .kind = OpKind::store,
     .l1 = any(Evict::first),
     .l1_class = Class::first,
     .l2_class = Class::first},
    {.id = "sass.st.el", .kind = OpKind::store, .l1 = any(Evict::last), .l1_class = Class::last},
    {.id = "sass.st.eu",
     .kind = OpKind::store,
     .l1 = any(Evict::unchanged),
     .l1_class = Class::unchanged,
     .l2_class = Class::unchanged},
    {.id = "sass.st.wb", .kind = OpKind::store, .ops = any(Op::none, Op::wb)},
    // Atomics and instruction fetch.
    {.id = "sass.atom.shared",
     .kind = OpKind::atomic,
     .spaces = any(Space::shared),
     .path = Path::none},
    {.id = "sass.atom", .kind = OpKind::atomic},
    {.id = "sass.fetch", .kind = OpKind::fetch, .path = Path::instruction},
};

}  // namespace

std::span<const Row> sass_rows() {
  return kSassRows;
}

}  // namespace lanewise::cache
