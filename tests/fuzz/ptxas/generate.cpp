#include "tests/fuzz/ptxas/generate.hpp"

#include <fmt/format.h>

#include <map>

#include "tests/fuzz/programs/random.hpp"
#include "tests/fuzz/ptxas/forms.hpp"

namespace ptxas {
namespace {

using lanewise::programs::Random;

struct Bank {
  const char* prefix;    ///< of its registers
  const char* load;      ///< type in memory; empty: results are stored in another way
  unsigned size = 0;     ///< bytes
  unsigned place = 0;    ///< number of its parameter that is read; of the written one plus 4
  unsigned count = 0;    ///< registers that hold something
  unsigned results = 0;  ///< names given to results
  unsigned stored = 0;   ///< results in memory
};

class Kernel {
 public:
  Kernel(const std::string& name, Family family, uint64_t seed)
      : name_(name), family_(family), random_(seed) {}

  /// One instruction, three times with other sources.
  std::string single(size_t form) {
    if (form >= forms().size()) return {};
    begin();
    for (unsigned n = 0; n < 3; ++n) instruction(forms()[form]);
    return text(std::move(body_));
  }

  std::string text() {
    begin();
    const unsigned instructions = family_ == Family::approximate ? 6 : 4 + random_.below(9);
    for (unsigned n = 0; n < instructions; ++n) instruction(random_.pick(forms()));
    return text(std::move(body_));
  }

 private:
  std::string text(std::string body) {
    return ".visible .entry " + name_ + "(" + parameters() + ") {\n" + declarations() + body +
           "ret;\n}\n";
  }

  void begin() {
    body_ += "mov.u32 %t, %tid.x;\n";
    for (auto& [key, bank] : banks_) {
      if (bank.size == 0) continue;
      body_ += fmt::format("ld.param.u64 %i{0}, [p{0}];\nmad.wide.u32 %i{0}, %t, {1}, %i{0};\n",
                           bank.place, bank.size * kInputs);
      body_ += fmt::format("ld.param.u64 %o{0}, [p{1}];\nmad.wide.u32 %o{0}, %t, {2}, %o{0};\n",
                           bank.place, bank.place + 4, bank.size * kResults);
      for (unsigned n = 0; n < kInputs; ++n)
        body_ += fmt::format("ld.global.{} {}, [%i{}+{}];\n", bank.load, fresh(bank), bank.place,
                             n * bank.size);
    }
    body_ += fmt::format("setp.lt.s32 {}, %r0, %r1;\n", fresh(banks_.at('P')));
    body_ += fmt::format("cvt.u16.u32 {}, %r2;\n", fresh(banks_.at('H')));
    body_ += fmt::format("cvt.u16.u32 {}, %r3;\n", fresh(banks_.at('H')));
  }

  std::string fresh(Bank& bank) { return fmt::format("{}{}", bank.prefix, bank.count++); }

  const std::vector<std::string>& forms() {
    if (family_ == Family::integer) return integer_forms();
    return family_ == Family::approximate ? approximate_forms() : exact_float_forms();
  }

  /// Results of approximate operations go nowhere: their errors would grow.
  std::string source(const Bank& bank) {
    const unsigned first = family_ == Family::approximate ? kInputs : bank.count;
    return fmt::format("{}{}", bank.prefix, random_.below(std::min(bank.count, first)));
  }

  void instruction(const std::string& form) {
    std::string out;
    kept_.clear();
    for (size_t at = 0; at < form.size(); ++at) {
      const bool hole = form[at] == '{' && at + 2 < form.size() && form[at + 2] == '}';
      if (!hole) {
        out += form[at];
        continue;
      }
      out += operand(form[at + 1]);
      at += 2;
    }
    written_ = false;
    body_ += out + "\n";
    for (const auto& [key, name] : kept_) body_ += store(key, name);
  }

  std::string operand(char key) {
    if (key == 'n') return fmt::format("{}", random_.below(32));
    if (key >= 'a')  // small letters are sources before the one that is written
      return source(banks_.at(static_cast<char>(key - 'a' + 'A')));
    Bank& bank = banks_.at(key);
    if (written_) return source(bank);
    written_ = true;
    kept_.emplace_back(key, fmt::format("{}x{}", bank.prefix, ++bank.results));
    return kept_.back().second;
  }

  /// Stored, and from here on a source of others.
  std::string store(char key, const std::string& name) {
    Bank& bank = banks_.at(key);
    std::string out, from = name;
    const char* as = bank.load;
    if (key == 'P' || key == 'H') {
      from = fmt::format("%w{}", temporaries_++);
      out += key == 'P' ? fmt::format("selp.u32 {}, 1, 0, {};\n", from, name)
                        : fmt::format("cvt.u32.u16 {}, {};\n", from, name);
      as = "b32";
    }
    Bank& target = key == 'P' || key == 'H' ? banks_.at('R') : bank;
    out += fmt::format("st.global.{} [%o{}+{}], {};\n", as, target.place,
                       target.size * (target.stored++ % kResults), from);
    const char* move = key == 'P' ? "pred" : key == 'H' ? "b16" : bank.load;
    return out + fmt::format("mov.{} {}, {};\n", move, fresh(bank), name);
  }

  static std::string parameters() {
    std::string out;
    for (unsigned n = 0; n < 8; ++n) out += fmt::format("{}.param .u64 p{}", n != 0 ? ", " : "", n);
    return out;
  }

  std::string declarations() {
    std::string out = ".reg .u32 %t;\n.reg .b64 %i<4>, %o<4>;\n";
    if (temporaries_ != 0) out += fmt::format(".reg .b32 %w<{}>;\n", temporaries_);
    for (const auto& [key, bank] : banks_) {
      const char* type = key == 'P' ? "pred" : key == 'H' ? "b16" : bank.load;
      out += fmt::format(".reg .{} {}<{}>, {}x<{}>;\n", type, bank.prefix, bank.count + 1,
                         bank.prefix, bank.results + 1);
    }
    return out;
  }

  std::string name_;
  Family family_;
  Random random_;
  std::string body_;
  bool written_ = false;
  unsigned temporaries_ = 0;
  std::vector<std::pair<char, std::string>> kept_;  ///< what the instruction writes
  std::map<char, Bank> banks_ = {
      {'R', {"%r", "b32", 4, 0, 0, 0, 0}}, {'L', {"%l", "b64", 8, 1, 0, 0, 0}},
      {'F', {"%f", "f32", 4, 2, 0, 0, 0}}, {'D', {"%d", "f64", 8, 3, 0, 0, 0}},
      {'P', {"%p", "", 0, 0, 0, 0, 0}},    {'H', {"%h", "", 0, 0, 0, 0, 0}}};
};

}  // namespace

std::string header() {
  return ".version 7.8\n.target sm_50\n.address_size 64\n";
}

std::string kernel(const std::string& name, Family family, uint64_t seed) {
  return Kernel(name, family, seed).text();
}

std::string single(const std::string& name, Family family, size_t form, uint64_t seed) {
  return Kernel(name, family, seed).single(form);
}

}  // namespace ptxas
