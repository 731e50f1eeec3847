// Random words of every opcode, and words that are random throughout, with random control fields:
// what nvdisasm 11.8 prints for the target we print, and what it refuses we refuse. Without it
// (--nvdisasm, or the PATH) there is nothing to compare with: exit status 77, which is a skipped
// test.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <map>
#include <random>
#include <stdexcept>

#include "runtime/isa/sass/sass.hpp"
#include "tests/fuzz/nvdisasm/vendor.hpp"

namespace sass = lanewise::sass;

namespace {

constexpr int kSkipped = 77;
// The vendor's program starts anew for each word that it refuses, so those that we refuse, which it
// should, are asked apart.
constexpr size_t kBatch = 16, kAccepted = 1024;

struct Options {
  size_t words = 400, refused = ~size_t{0};
  uint64_t seed = 1;
  unsigned arch = 50;
  std::vector<std::string> mnemonics;  ///< prefixes; none = every row, and words of no row
  std::string program = "nvdisasm", folder = std::filesystem::temp_directory_path();
};

/// Words with the opcode bits of a row and anything else in the others. Now and then the choices of
/// the row are random, too, or few bits are set; every fifth word is random altogether, so that
/// opcodes are met that no row has.
class Words {
 public:
  explicit Words(const Options& options) : random_(options.seed), all_(options.mnemonics.empty()) {
    for (const sass::Form& f : sass::forms())
      if (!f.decode_only && f.fits(options.arch) && (all_ || named(f, options.mnemonics)))
        rows_.push_back(&f);
    if (rows_.empty()) throw std::runtime_error("no row has such a mnemonic");
  }
  nvdisasm::Word next() {
    if (all_ && random_() % 5 == 0) return any();
    const sass::Form& f = *rows_[random_() % rows_.size()];
    const uint64_t fixed = random_() % 4 == 0 ? f.opcode : f.mask;
    nvdisasm::Word w;
    w.bits = random_();
    if (random_() % 3 == 0) w.bits &= random_();
    w.bits = (w.bits & ~fixed) | (f.match & fixed);
    if (f.has_guard && random_() % 2 == 0) unguarded(w);
    w.control = control();
    return w;
  }

 private:
  static bool named(const sass::Form& f, const std::vector<std::string>& mnemonics) {
    return std::ranges::any_of(mnemonics,
                               [&](const std::string& m) { return f.mnemonic.starts_with(m); });
  }
  nvdisasm::Word any() {
    nvdisasm::Word w;
    w.bits = random_();
    if (random_() % 2 == 0) unguarded(w);
    w.control = control();
    return w;
  }
  static void unguarded(nvdisasm::Word& w) {
    sass::kGuard.set(w.bits, sass::kPT);
    sass::kGuardNegate.set(w.bits, 0);
  }
  /// No scoreboards: most rows allow none. The first of a dual-issue pair prints with braces.
  uint32_t control() {
    return static_cast<uint32_t>(random_() % 2 == 0 ? 0x7e0 | (random_() % 8) << 17
                                                    : random_() & 0x1fffef);
  }

  std::mt19937_64 random_;
  bool all_;
  std::vector<const sass::Form*> rows_;
};

std::optional<std::string> our_text(const nvdisasm::Word& w, uint64_t pc, unsigned arch) {
  std::optional<sass::Instruction> i = sass::decode(w.bits, sass::Control{w.control}, arch);
  if (!i) return std::nullopt;
  i->pc = pc;
  return nvdisasm::squeezed(sass::print(*i));
}

/// What we print, with annotations, is the word again. Targets are labels, which need a listing.
bool reads_back(const nvdisasm::Word& w, unsigned arch) {
  const std::optional<sass::Instruction> i = sass::decode(w.bits, sass::Control{w.control}, arch);
  if (!i || i->operand(sass::Role::target) != nullptr) return true;
  const std::string text = sass::print(*i, sass::Style::annotated);
  const sass::Parsed p = sass::parse_instruction(text, arch);
  if (p.instruction && p.instruction->word == w.bits && p.instruction->control == i->control)
    return true;
  fmt::print("{:016x} {:06x}: {} does not assemble to its word: {}\n", w.bits, w.control, text,
             p.instruction ? fmt::format("{:016x}", p.instruction->word) : p.error.message);
  return false;
}

std::string shown(const std::optional<std::string>& text) {
  return text ? *text : "refused";
}

int compare(const Options& options) {
  const nvdisasm::Vendor vendor(options.program, options.folder, options.arch);
  if (!vendor.usable()) {
    fmt::print("{} is not here or does not know sm_{}: skipped\n", options.program, options.arch);
    return kSkipped;
  }
  Words words(options);
  size_t accepted = 0, different = 0, lost = 0, asked = 0, left = options.refused;
  std::vector<nvdisasm::Word> here, batch;  // those that we accept, and the others
  const auto ask = [&](std::vector<nvdisasm::Word>& words_of_one_kind) {
    const auto theirs = vendor.texts(words_of_one_kind);
    for (size_t n = 0; n < words_of_one_kind.size(); ++n) {
      const nvdisasm::Word& w = words_of_one_kind[n];
      const std::optional<std::string> ours = our_text(w, 32 * n + 8, options.arch);
      accepted += theirs[n] ? 1 : 0;
      lost += reads_back(w, options.arch) ? 0 : 1;
      if (ours == theirs[n]) continue;
      ++different;
      fmt::print("{:016x} {:06x}: {} | ours: {}\n", w.bits, w.control, shown(theirs[n]),
                 shown(ours));
    }
    asked += words_of_one_kind.size();
    words_of_one_kind.clear();
  };
  for (size_t done = 0; done < options.words; ++done) {
    const nvdisasm::Word w = words.next();
    if (our_text(w, 8, options.arch)) {
      here.push_back(w);
      if (here.size() == kAccepted) ask(here);
    } else if (left != 0) {
      --left;
      batch.push_back(w);
      if (batch.size() == kBatch) ask(batch);
    }
  }
  ask(here);
  ask(batch);
  fmt::print("{} words, {} accepted by {}, {} different, {} do not assemble back\n", asked,
             accepted, options.program, different, lost);
  return different + lost == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Random SASS words beside the vendor's disassembler");
  app.add_option("--words", options.words, "how many");
  app.add_option("--mnemonics", options.mnemonics, "only rows that begin so: TEX,TLD,SU")
      ->delimiter(',');
  app.add_option("--refused", options.refused, "ask about so many of the words that we refuse");
  app.add_option("--seed", options.seed, "of the random numbers");
  app.add_option("--arch", options.arch, "the target: 50, 61 ...");
  app.add_option("--nvdisasm", options.program, "the disassembler, release 11.8");
  app.add_option("--folder", options.folder, "for its input and output");
  CLI11_PARSE(app, argc, argv);
  try {
    return compare(options);
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 2;
  }
}
