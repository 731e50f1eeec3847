// A whole listing as text: what `lanewise disasm` prints and parse() reads back.
#include <fmt/format.h>

#include <map>

#include "runtime/isa/sass/sass.hpp"

namespace lanewise::sass {
namespace {

std::optional<uint64_t> target_of(const Instruction& i) {
  const OperandSpec* o = i.operand(Role::target);
  if (o == nullptr || o->kind != OperandSpec::Kind::target) return std::nullopt;
  const unsigned unused = 64U - o->field.len;
  const int64_t rel = static_cast<int64_t>(o->field.get(i.word) << unused) >> unused;
  return i.pc + 8 + static_cast<uint64_t>(rel);
}

class KernelPrinter {
 public:
  explicit KernelPrinter(const Kernel& kernel) : kernel_(kernel) {
    for (size_t n = 0; n < kernel.code.size(); ++n) index_[kernel.code[n].pc] = n;
    for (const Label& l : kernel.labels) labels_[l.index] = l.name;
    for (const Instruction& i : kernel.code) {
      const auto target = target_of(i);
      if (!target) continue;
      if (const auto n = labelled(*target)) labels_.emplace(*n, fmt::format(".L_{:x}", *target));
    }
  }

  std::string run() {
    std::string out;
    if (kernel_.registers != 0)
      out += fmt::format("\t.sectioninfo\t@\"SHI_REGISTERS={}\"\n", kernel_.registers);
    out += kernel_.name + ":\n";
    for (size_t n = 0; n < kernel_.code.size(); ++n) {
      if (const auto l = labels_.find(n); l != labels_.end()) out += l->second + ":\n";
      out += line(kernel_.code[n]);
    }
    return out;
  }

 private:
  /// The instruction a label at this address would stand for. The first of a bundle is only known
  /// by the address of its control word.
  std::optional<size_t> labelled(uint64_t target) const {
    if (target % 32 == 8) return std::nullopt;
    const auto found = index_.find(target % 32 == 0 ? target + 8 : target);
    return found == index_.end() ? std::nullopt : std::optional(found->second);
  }

  std::string line(Instruction i) const {
    i.label.clear();
    if (const auto target = target_of(i))
      if (const auto n = labelled(*target)) i.label = labels_.at(*n);
    std::string text = fmt::format("        /*{:04x}*/  {} ;", i.pc, print(i, Style::annotated));
    for (const Relocation& r : kernel_.relocations)
      if (r.pc == i.pc) text += fmt::format("  // 32@{}({})", r.high ? "hi" : "lo", r.symbol);
    return text.append("\n");
  }

  const Kernel& kernel_;
  std::map<uint64_t, size_t> index_;
  std::map<size_t, std::string> labels_;
};

}  // namespace

std::string print(const Listing& listing) {
  std::string out = fmt::format("\t.target\tsm_{}\n", listing.arch);
  for (const Kernel& k : listing.kernels) out.append("\n").append(KernelPrinter(k).run());
  return out;
}

}  // namespace lanewise::sass
