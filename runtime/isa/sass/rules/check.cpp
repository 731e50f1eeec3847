// Rules for single instructions beyond what has an encoding: those of the document, and those that
// execution needs. docs/sass.md lists them with what the vendor's disassembler does.
#include <fmt/format.h>

#include "runtime/isa/sass/lowering/semantics.hpp"
#include "runtime/isa/sass/rules/cache_control.hpp"

namespace lanewise::sass {
namespace {

enum CacheCode : uint64_t { kData = 0, kUniform = 1, kConstant = 2, kInstruction = 3, kCrs = 4 };
enum OpCode : uint64_t {
  kQuery = 0,
  kPf15 = 2,
  kIvall = 6,
  kWball = 8,
  kRslb = 9,
  kFirstInvalid = 10
};

class Checker {
 public:
  explicit Checker(const Instruction& i) : i_(i) {}

  std::vector<Diagnostic> run() {
    const std::string& name = i_.form->mnemonic;
    const bool texture = i_.form->is(kTextureLines);
    const bool controls_cache = i_.form->is(kControlsCache) && !texture;
    if (controls_cache) cache_control(i_.form->is(kLocalLines));
    if (texture) error("CCTLT is not supported: texture headers do not exist here");
    if (!controls_cache) check_codes();  // CCTL has rules of its own for each
    check_write_scoreboard(name);
    return std::move(out_);
  }

 private:
  void report(std::string message, bool warning) {
    out_.push_back({i_.line, i_.column, std::move(message), warning});
  }
  void error(std::string message) { report(std::move(message), false); }
  void warn(std::string message) { report(std::move(message), true); }

  /// Codes that the vendor's disassembler has no name for.
  void check_codes() {
    for (const Mod& m : i_.form->mods)
      for (const Code& c : m.codes) {
        const bool invalid = c.text.starts_with("INVALID") || c.text.starts_with("???");
        if (c.value != m.get(i_.word) || !invalid) continue;
        if (c.text.starts_with("INVALIDSIZE"))
          error(fmt::format("size code {} is no size for this access", c.value));
        else
          error(fmt::format("{} is no instruction: code {} does not exist", c.text, c.value));
      }
  }

  void check_write_scoreboard(const std::string& name) {
    if (i_.form->is(kNoResult) && i_.control.write_sb() != 7)
      warn(name + " writes no register: the document gives it no &wr");
  }

  void cache_control(bool local) {
    const uint64_t op = i_.mod(ModId::op), cache = i_.mod(ModId::cache);
    if (op == kQuery) return error(std::string(kQueryIsIllegal));
    if (op == kPf15 || op == kRslb)
      return error("PF1.5 and RSLB are not supported: what they do is not documented");
    if (op >= kFirstInvalid) return error(fmt::format("cache operation {} does not exist", op));
    if (local)
      local_rules(op, cache);
    else
      global_rules(op, cache);
  }

  void local_rules(uint64_t op, uint64_t cache) {
    if (cache == 1 && op != kWball) return error(".CRS is only valid in CCTLL.CRS.WBALL");
    if (op == kWball && cache != 1) return error(".WBALL is only valid in CCTLL.CRS.WBALL");
    if (cache > 1) return error(fmt::format("local cache type {} does not exist", cache));
    if (op == kWball) check_wait("CCTLL.CRS.WBALL");
  }

  void global_rules(uint64_t op, uint64_t cache) {
    if (cache == kCrs) return error(".CRS is only valid in CCTLL.CRS.WBALL");
    if (cache > kCrs) return error(fmt::format("cache type {} does not exist", cache));
    if (op == kIvall) {
      if (i_.mod(ModId::ext) != 0) return error(".IVALL takes no address, so it cannot have .E");
      if (cache == kConstant || cache == kInstruction)
        check_wait(cache == kConstant ? "CCTL.C.IVALL" : "CCTL.I.IVALL");
      return;
    }
    if (cache == kConstant || cache == kInstruction)
      warn(fmt::format("the document gives the {} cache only .IVALL: this does nothing",
                       cache == kConstant ? "constant" : "instruction"));
  }

  /// Text without annotations says nothing about the schedule.
  void check_wait(const char* name) {
    const unsigned stall = i_.control.sched() & 0xf;
    if (i_.has_control && stall < 5)
      warn(fmt::format("{} needs a schedule of at least ?WAIT5, found {}", name, stall));
  }

  const Instruction& i_;
  std::vector<Diagnostic> out_;
};

}  // namespace

std::vector<Diagnostic> check(const Instruction& i) {
  return Checker(i).run();
}

std::vector<Diagnostic> check(const Listing& listing) {
  std::vector<Diagnostic> out;
  for (const Kernel& k : listing.kernels)
    for (const Instruction& i : k.code)
      for (Diagnostic& d : check(i)) out.push_back(std::move(d));
  return out;
}

}  // namespace lanewise::sass
