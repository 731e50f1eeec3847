// What CCTL, CCTLL and MEMBAR say to the cache tracker beside what their operations have.
#include "runtime/isa/sass/lowering/semantics.hpp"

namespace lanewise::sass {
namespace {

using Facts = ir::CacheFacts;

constexpr Field kBase{8, 8};  ///< register of an address

Facts::Cache cache_of(const Instruction& i) {
  if (i.form->is(kTextureLines)) return Facts::Cache::texture;
  if (i.form->mod(ModId::cache) == nullptr) return Facts::Cache::data;
  const uint64_t cache = i.mod(ModId::cache);
  if (i.form->is(kLocalLines)) return cache == 1 ? Facts::Cache::crs : Facts::Cache::data;
  static constexpr Facts::Cache kCaches[] = {Facts::Cache::data, Facts::Cache::deprecated_u,
                                             Facts::Cache::constant, Facts::Cache::instruction,
                                             Facts::Cache::crs};
  return cache < std::size(kCaches) ? kCaches[cache] : Facts::Cache::data;
}

/// Rules of the encoding look at the scheduling that was written beside the instruction, not at
/// what a compiler put into control words.
void schedule(const Instruction& i, Facts& f) {
  if (!i.has_control || i.text.find_first_of("&?") == std::string::npos) return;
  const unsigned sched = i.control.sched();
  f.read_scoreboard = i.control.read_sb() != 7;
  if ((sched & 0x10) != 0 && !i.control.dual()) f.wait = static_cast<uint8_t>(sched & 0xf);
}

}  // namespace

Facts cache_facts(const Instruction& i) {
  Facts f;
  if (i.form->mod(ModId::invalidate) != nullptr) {  // MEMBAR
    f.kind = Facts::Kind::fence;
    f.invalidates = i.mod(ModId::invalidate) != 0;
  }
  if (!i.form->is(kControlsCache)) return f;
  f.kind = Facts::Kind::control;
  f.cache = cache_of(i);
  f.extended = i.form->mod(ModId::ext) != nullptr && i.mod(ModId::ext) != 0;
  if (const OperandSpec* a = i.operand(Role::addr); a != nullptr) {
    f.register_address = kBase.get(i.word) != kRZ;
    f.nonzero_immediate = a->field.get(i.word) != 0;
  }
  schedule(i, f);
  return f;
}

}  // namespace lanewise::sass
