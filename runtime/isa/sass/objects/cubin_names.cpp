#include "runtime/isa/sass/objects/cubin_names.hpp"

#include <utility>

namespace lanewise::sass {
namespace {

constexpr uint8_t kOwn = 0;                              // binding of a name of this file alone
constexpr uint8_t kInGlobal = 0x20, kInConstant = 0x80;  // of st_other: where a variable lies

/// By the function's symbol: the section has pairs of a symbol and a place among the names.
std::map<uint32_t, std::string> prototypes_in(const elf::File& file) {
  std::map<uint32_t, std::string> out;
  const elf::Section* s = file.section(".nv.prototype");
  if (s == nullptr || s->link >= file.sections.size()) return out;
  const uint32_t names = file.sections[s->link].link;
  if (names >= file.sections.size()) return out;
  for (uint64_t at = 0; at + 8 <= s->data.size(); at += 8) {
    const auto place = elf::read<uint32_t>(s->data, at + 4, "a prototype");
    std::string text = elf::text_at(file.sections[names].data, place);
    if (text.size() > 1 && text[0] == '#')
      out.emplace(elf::read<uint32_t>(s->data, at, "a prototype"), std::move(text));
  }
  return out;
}

}  // namespace

std::map<std::string, isa::LinkedName> linked_names(const elf::File& file) {
  const std::map<uint32_t, std::string> prototypes = prototypes_in(file);
  std::map<std::string, isa::LinkedName> out;
  for (uint32_t n = 0; n < file.symbols.size(); ++n) {
    const elf::Symbol& s = file.symbols[n];
    if (s.binding == kOwn || s.name.empty()) continue;
    isa::LinkedName name;
    if (s.kind == elf::kFunction) {
      name.kind = (s.other & kEntry) != 0 ? ".entry" : ".func";
      if (const auto found = prototypes.find(n); found != prototypes.end())
        name.prototype = found->second;
    } else if (is_variable(s)) {
      name.kind = (s.other & kInGlobal) != 0     ? ".global"
                  : (s.other & kInConstant) != 0 ? ".const"
                                                 : ".shared";
      name.bytes = s.size;
      name.common = is_common(s);
    }
    if (!name.kind.empty()) out.emplace(s.name, std::move(name));
  }
  return out;
}

}  // namespace lanewise::sass
