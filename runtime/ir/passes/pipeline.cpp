#include "runtime/ir/passes/pipeline.hpp"

#include <string>

#include "runtime/ir/passes/memory/expand_formats.hpp"
#include "runtime/ir/passes/passes.hpp"
#include "runtime/ir/passes/values/values.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::ir {
namespace {

bool descriptors(Program& program, const PassOptions&) {
  const bool addresses = expand_descriptors(program);
  return expand_formats(program) || addresses;
}

constexpr Pass kPasses[] = {
    {"guards", drop_guards},  // what is only read where its guard holds is computed anyway
    {"constants", propagate_constants},  // what is known stands where it is used, and is computed
    {"identities", apply_identities},    // x + 0, x * 8, select p, a, a
    {"pairs", join_pairs},               // words of a 64-bit value that are joined again
    {"descriptors", descriptors},        // buffer accesses with known descriptor fields
    {"copies", propagate_copies},        // what a move copied is used directly
    {"common", merge_common},            // what was computed before is copied
    {"products", join_products},         // 32-bit products that were made of 16-bit ones
    {"addresses", fold_addresses},       // sums with constants join, at last in Mem::offset
    {"dead", remove_dead},               // what nobody reads
    {"fences", drop_fences},             // those that barriers stand for
    {"blocks", join_blocks},             // decided branches, empty blocks, blocks in a row
};
constexpr int kMaxRounds = 4;

#ifdef NDEBUG
constexpr bool kVerify = false;
#else
constexpr bool kVerify = true;
#endif

void check(const Pass& pass, const Program& program) {
  const std::vector<std::string> defects = verify(program);
  if (defects.empty()) return;
  throw Error(ErrorKind::guest,
              std::string("internal: after pass ") + pass.name + ": " + defects.front());
}

}  // namespace

std::span<const Pass> passes() {
  return kPasses;
}

void run_passes(std::span<const Pass> list, Program& program, const PassOptions& options,
                const std::function<void(const Pass&, const Program&)>& after) {
  bool changed = true;
  for (int round = 0; round < kMaxRounds && changed; ++round) {
    changed = false;
    for (const Pass& pass : list) {
      changed = pass.run(program, options) || changed;
      if (kVerify) check(pass, program);
      if (after) after(pass, program);
    }
  }
}

void optimise(Program& program, const PassOptions& options,
              const std::function<void(const Pass&, const Program&)>& after) {
  run_passes(kPasses, program, options, after);
}

}  // namespace lanewise::ir
