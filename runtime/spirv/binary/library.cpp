#include "runtime/spirv/binary/library.hpp"

#include <algorithm>
#include <spirv/unified1/spirv.hpp>

#include "runtime/spirv/binary/code.hpp"
#include "runtime/spirv/binary/library_index.hpp"
#include "runtime/spirv/binary/merge.hpp"

namespace lanewise::spirv::library {
namespace {

bool is_import(const uint32_t* inst) {
  return (inst[0] & 0xffff) == spv::OpDecorate && inst[2] == spv::DecorationLinkageAttributes &&
         inst[(inst[0] >> 16) - 1] == spv::LinkageTypeImport;
}

std::vector<std::string> imports_of(const std::vector<uint32_t>& body) {
  std::vector<std::string> names;
  for (size_t at = kHeaderWords; at < body.size(); at += std::max(body[at] >> 16, 1U))
    if (is_import(&body[at])) names.emplace_back(reinterpret_cast<const char*>(&body[at + 3]));
  return names;
}

/// A body that imports nothing needs no linker, only its Linkage capability removed.
std::vector<uint32_t> without_linkage(const std::vector<uint32_t>& body) {
  std::vector<uint32_t> out(body.begin(), body.begin() + kHeaderWords);
  for (size_t at = kHeaderWords; at < body.size(); at += std::max(body[at] >> 16, 1U)) {
    const bool linkage = body[at] == (spv::OpCapability | 2U << 16) &&
                         body[at + 1] == static_cast<uint32_t>(spv::CapabilityLinkage);
    const auto first = body.begin() + static_cast<ptrdiff_t>(at);
    if (!linkage) out.insert(out.end(), first, first + (body[at] >> 16));
  }
  return out;
}

}  // namespace

const char* name(Variant variant) {
  constexpr const char* kNames[] = {"T0", "T1", "T1+atomic64", "T1+float64", "T2"};
  return kNames[static_cast<size_t>(variant)];
}

Variant variant_for(const Target& target) {
  if (target.tier() == 0 || !target.storage16) return Variant::t0;
  if (target.float64) return target.int64_atomics ? Variant::t2 : Variant::t1f;
  return target.int64_atomics ? Variant::t1a : Variant::t1;
}

const std::vector<Signature>& functions(Variant variant) {
  return Index::of(variant).signatures();
}

const Signature* find(std::string_view name, Variant variant) {
  const auto& all = functions(variant);
  const auto found =
      std::lower_bound(all.begin(), all.end(), name,
                       [](const Signature& s, std::string_view wanted) { return s.name < wanted; });
  return found != all.end() && found->name == name ? &*found : nullptr;
}

std::vector<uint32_t> trim(const std::vector<std::string>& names, Variant variant) {
  return Index::of(variant).subset(names);
}

std::vector<uint32_t> link(const std::vector<uint32_t>& body, Variant variant) {
  const std::vector<std::string> names = imports_of(body);
  if (names.empty()) return without_linkage(body);
  return merge(body, trim(names, variant));
}

}  // namespace lanewise::spirv::library
