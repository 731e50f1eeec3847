#include "runtime/isa/gcn/text/file/sections.hpp"

namespace lanewise::gcn {

bool Sections::directive(std::string_view name, Cursor& in) {
  Section* const before = current_;
  if (name == ".text" || name == ".hsatext") {
    current_ = nullptr;
  } else if (name == ".data" || name == ".bss" || name == ".rodata") {
    current_ = &named(std::string(name), "a");
  } else if (name == ".section" || name == ".pushsection") {
    read(in);
    if (name == ".pushsection") pushed_.push_back(before);
  } else if (name == ".popsection") {
    if (pushed_.empty()) in.fail(".popsection without .pushsection");
    current_ = pushed_.back();
    pushed_.pop_back();
  } else if (name == ".previous") {
    if (!previous_) in.fail(".previous without another section in front");
    current_ = *previous_;
  } else {
    return false;
  }
  previous_ = before;
  return true;
}

void Sections::read(Cursor& in) {
  in.skip_blanks();
  const bool quoted = in.peek() == '"';
  if (quoted) in.take('"');
  const std::string name(in.until(quoted ? "\"" : " \t,\r"));
  if (quoted) in.expect('"', "behind the section's name");
  if (name.empty()) in.fail("expected the section's name" + in.found());
  std::string flags;
  if (in.take(',') && in.take('"')) flags = in.until("\"");
  const bool code = name.starts_with(".text") || flags.find('x') != std::string::npos;
  current_ = code ? nullptr : &named(name, flags);
  of_mesa_ = of_mesa_ || name.starts_with(".AMDGPU.config");
}

Section& Sections::named(const std::string& name, std::string_view flags) {
  for (const auto& s : all_)
    if (s->name == name) return *s;
  bool loaded = flags.find('a') != std::string_view::npos;
  for (const char* known : {".rodata", ".data", ".bss"}) loaded = loaded || name.starts_with(known);
  all_.push_back(std::make_unique<Section>(Section{name, loaded, all_.size() + 1, DataSection()}));
  return *all_.back();
}

}  // namespace lanewise::gcn
