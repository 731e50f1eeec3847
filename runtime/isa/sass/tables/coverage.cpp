// What of the ISA can run, read off the table.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "runtime/isa/sass/lowering/semantics.hpp"

namespace lanewise::sass {
namespace {

/// What decodes but stands for no form: the vendor prints such codes with these words.
bool is_invalid(const Code& c) {
  return c.text.starts_with("INVALID") || c.text.starts_with("???");
}

/// A parameter, and a number of the file, which is known before the launch.
constexpr uint64_t kParameter = 0x140 / 4, kKnown = uint64_t{2} << 14;

/// A word of the form with these modifiers and harmless operands.
Instruction sample(const Form& f, uint64_t modifiers, uint64_t constant) {
  Instruction i;
  i.form = &f;
  i.word = f.match | modifiers;
  i.pc = pc_of(0);
  if (f.has_guard) kGuard.set(i.word, kPT);
  for (const OperandSpec& o : f.operands) {
    if (o.kind == OperandSpec::Kind::sreg) o.field.set(i.word, 0x21);
    if (o.kind == OperandSpec::Kind::cbank) o.field.set(i.word, constant);
    if (o.optional) o.field.set(i.word, o.left_out());
    // The whole register, which has no name, where the type has one.
    if (o.part.present() && o.part_key.len == 0)
      for (uint64_t n = 0;
           n < uint64_t{1} << o.part.len && !o.part_names[o.part.get(i.word)].empty(); ++n)
        o.part.set(i.word, n);
    // XMAD.CSFU is about two upper halves.
    if (i.mod(ModId::acc) == 3 && o.high.present()) o.high.set(i.word, 1);
  }
  return i;
}

bool takes_constant(const Form& f) {
  return std::ranges::any_of(
      f.operands, [](const OperandSpec& o) { return o.kind == OperandSpec::Kind::cbank; });
}

std::string refusal_with(const Form& f, uint64_t bits, uint64_t constant) {
  static const Instruction exit = *parse_instruction("EXIT").instruction;
  Kernel k;
  k.name = "coverage";
  k.code = {sample(f, bits, constant), exit};
  k.banks.push_back({.number = 2, .bytes = std::vector<std::byte>(4), .symbol = "", .size = 4});
  k.code[1].pc = pc_of(1);
  const std::string text = print(k.code[0]) + ": ";
  Listing listing;
  listing.kernels.push_back(std::move(k));
  for (const Diagnostic& d : lower(listing).diagnostics) {
    if (d.warning) continue;
    const size_t at = d.message.find(text);  // the reason stands behind place and text
    return at == std::string::npos ? d.message : d.message.substr(at + text.size());
  }
  return {};
}

}  // namespace

std::string refusal(const Form& f, uint64_t bits) {
  if (f.lower == nullptr)
    return f.is(kTexture) || f.is(kGraphics) ? not_executed(f) : "not supported in this form";
  // Jumps to what the branch stack holds run wherever a push comes first, those through tables
  // where there is one, calls of absolute addresses where a cubin says whose they are.
  if (f.flow == Flow::pop || f.is(kAbsolute) ||
      (f.flow == Flow::indirect && f.claim != isa::Claim::none))
    return {};
  const std::string why = refusal_with(f, bits, kParameter);
  return why.empty() || !takes_constant(f) ? why : refusal_with(f, bits, kKnown);
}

namespace {

Coverage described(const Form& f, std::string name, const std::string& refused) {
  if (!refused.empty()) return {std::move(name), FormState::unsupported, "decodes; " + refused};
  switch (f.claim) {
    case isa::Claim::none:
      return {std::move(name), FormState::unsupported,
              "runs, but no test shows that its values are right"};
    case isa::Claim::approximate:
      return {std::move(name), FormState::approximate,
              "inside the bounds of the PTX instructions that become it, see docs/numerics.md"};
    default:
      break;
  }
  if (f.is(kFilters))
    return {std::move(name), FormState::approximate,
            "texels are exact; how the hardware rounds weights is not documented, see "
            "docs/textures.md"};
  return {std::move(name), FormState::exact, ""};
}

/// "FADD.FTZ R, R, c[]": a name where one kind of operand, or a flag on one, makes the difference.
std::string with_operands(const Form& f, const std::string& name,
                          const OperandSpec* flagged = nullptr, std::string_view flag = {}) {
  std::string s = name;
  for (const OperandSpec& o : f.operands) {
    s += &o == &f.operands[0] ? " " : ", ";
    s += kind_name(o.kind);
    if (&o == flagged) s += flag;
  }
  return s;
}

/// The table's forms one by one. A name stands for all operand kinds that can run; those that
/// cannot are listed with their operands.
class Lister {
 public:
  /// Rows of textures, of whose modifiers there are thousands of combinations, and of a graphics
  /// pipeline are named without them.
  void add(const Form& f) {
    if (!f.is(kTexture) && !f.is(kGraphics)) return expand(f, 0, f.mnemonic, 0);
    if (f.lower == nullptr) return details(only_name(f), "decodes; " + not_executed(f));
    const auto [name, bits] = running(f);
    one(f, name, bits);
  }
  std::vector<Coverage> take() { return std::move(out_); }

 private:
  /// With the modifiers that all words of the row have, and with operands where a predicate makes
  /// the difference.
  static std::string only_name(const Form& f) {
    std::string name = f.mnemonic;
    for (const Mod& m : f.mods)
      if (m.codes.size() == 1) name.append(1, '.').append(m.codes[0].text);
    return f.is(kTexture) && f.operand(Role::p) != nullptr ? with_operands(f, name) : name;
  }
  /// Where the codes 0 do not run together, the first other code that does names the row.
  static std::pair<std::string, uint64_t> running(const Form& f) {
    if (refusal(f, 0).empty()) return {f.mnemonic, 0};
    for (const Mod& m : f.mods)
      for (const Code& c : m.codes) {
        if (c.alias || is_invalid(c) || c.text.empty()) continue;
        uint64_t bits = 0;
        m.set(bits, c.value);
        if (refusal(f, bits).empty()) return {f.mnemonic + "." + std::string(c.text), bits};
      }
    return {f.mnemonic, 0};
  }
  void expand(const Form& f, size_t mod, const std::string& name, uint64_t bits) {
    if (mod == f.mods.size()) return one(f, name, bits);
    for (const Code& c : f.mods[mod].codes) {
      if (c.alias || is_invalid(c)) continue;
      uint64_t word = bits;
      f.mods[mod].set(word, c.value);
      expand(f, mod + 1, c.text.empty() ? name : name + "." + std::string(c.text), word);
    }
  }

  void one(const Form& f, const std::string& name, uint64_t bits) {
    const std::string refused = refusal(f, bits);
    const auto [at, is_new] = names_.try_emplace(name, out_.size());
    if (is_new) {
      out_.push_back(described(f, name, refused));
      kinds_[name] = &f;
    } else if (Coverage& known = out_[at->second];
               known.state == FormState::unsupported && refused.empty()) {
      // The name is for the kinds that run; the earlier one goes to the details.
      details(with_operands(*kinds_[name], name), known.note);
      out_[at->second] = described(f, name, refused);
    } else if (!refused.empty() && known.state != FormState::unsupported) {
      details(with_operands(f, name), "decodes; " + refused);
    }
    if (refused.empty()) flags(f, name, bits);
  }

  /// Signs, halves and .CC of the operands. What the mnemonic refuses anyway is reported once.
  void flags(const Form& f, const std::string& name, uint64_t bits) {
    static constexpr std::pair<Field OperandSpec::*, std::string_view> kFlags[] = {
        {&OperandSpec::neg, " negated"},
        {&OperandSpec::abs, " absolute"},
        {&OperandSpec::inv, " inverted"},
        {&OperandSpec::cc, ".CC"},
        {&OperandSpec::high, ".H1"}};
    for (const OperandSpec& o : f.operands)
      for (const auto& [member, text] : kFlags) {
        const Field field = o.*member;
        if (!field.present()) continue;
        uint64_t word = bits;
        field.set(word, 1);
        const std::string why = refusal(f, word);
        if (!why.empty() && reported_.insert(f.mnemonic + std::string(text) + why).second)
          details(with_operands(f, name, &o, text), "decodes; " + why);
      }
  }

  void details(const std::string& name, const std::string& note) {
    if (names_.try_emplace(name, out_.size()).second)
      out_.push_back({name, FormState::unsupported, note});
  }

  std::vector<Coverage> out_;
  std::map<std::string, size_t> names_;
  std::map<std::string, const Form*> kinds_;
  std::set<std::string> reported_;
};

}  // namespace

namespace {

std::vector<Coverage> listed() {
  Lister list;
  for (const Form& f : forms()) list.add(f);
  return list.take();
}

/// Bits of the modifiers that a form names behind a row's mnemonic, with the phase that stands in
/// the control field; nothing where the row has not all of them.
std::optional<uint64_t> named_modifiers(const Form& f, std::string_view form) {
  if (!form.starts_with(f.mnemonic)) return std::nullopt;
  form.remove_prefix(f.mnemonic.size());
  uint64_t bits = 0;
  while (!form.empty()) {
    if (form[0] != '.') return std::nullopt;
    form.remove_prefix(1);
    const std::string_view name = form.substr(0, form.find('.'));
    size_t length = name.size();
    bool known = f.phased && (name == "P" || name == "T");
    for (const Mod& m : f.mods)
      for (const Code& c : m.codes) {
        // A name may have dots: F32.FTZ.RN.
        if (known || c.text.empty() || !form.starts_with(c.text)) continue;
        const std::string_view rest = form.substr(c.text.size());
        if (!rest.empty() && rest[0] != '.') continue;
        m.set(bits, c.value);
        length = c.text.size();
        known = true;
      }
    if (!known) return std::nullopt;
    form.remove_prefix(length);
  }
  return bits;
}

}  // namespace

const std::vector<Coverage>& coverage() {
  static const std::vector<Coverage> all = listed();
  return all;
}

Coverage coverage_of(std::string_view form) {
  for (const Coverage& c : coverage())
    if (c.form == form) return c;
  std::optional<Coverage> best;
  for (const Form& f : forms()) {
    if (!f.is(kTexture) || f.lower == nullptr) continue;
    const auto bits = named_modifiers(f, form);
    if (!bits) continue;
    Coverage c = described(f, std::string(form), refusal(f, *bits));
    if (c.state != FormState::unsupported) return c;
    if (!best) best = std::move(c);
  }
  if (best) return *best;
  const std::string base(form.substr(0, form.find('.')));
  for (const Form& f : forms())
    if (f.lower == nullptr &&
        (f.is(kTexture) ? f.operand(Role::p) == nullptr && named_modifiers(f, form).has_value()
                        : f.is(kGraphics) && f.mnemonic.substr(0, f.mnemonic.find('.')) == base))
      return {std::string(form), FormState::unsupported, "decodes; " + not_executed(f)};
  return {std::string(form), FormState::unsupported,
          fmt::format("no row of the table has this form of {}", base)};
}

}  // namespace lanewise::sass
