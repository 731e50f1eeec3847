// GCN as compilers write it: the parts of the printer.
//
// The lanes that a place of the tree holds together are those of EXEC at the place in the text.
// What a construct leaves in EXEC are the lanes that come to its end; lanes that have left wait in
// the masks of their loop, or are gone.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "tests/fuzz/programs/print.hpp"

namespace lanewise::programs::gcn {

enum class Target : uint8_t { gfx600, gfx700, gfx803 };

/// Fixed registers. Of vector registers those of the program follow, then the temporary ones.
inline constexpr const char* kSelf = "v0";       ///< number of the lane in its group
inline constexpr const char* kOwnOffset = "v1";  ///< byte in the output buffer
inline constexpr const char* kThread = "v2";     ///< number of the lane in the launch
inline constexpr const char* kOwnAddress = "v[4:5]";
inline constexpr uint32_t kFirstRegister = 8, kFirstTemporary = 40, kFirstScalar = 24;
inline constexpr const char* kTable = "s[8:11]";     ///< descriptor, bytes
inline constexpr const char* kOut = "s[12:15]";      ///< descriptor, bytes
inline constexpr const char* kLanes = "s[16:19]";    ///< descriptor, one record a lane
inline constexpr const char* kNowhere = "s[20:23]";  ///< descriptor of base 0 for whole addresses

/// Text, names that are used once, and registers that are free again after their scope.
class Writer {
 public:
  Writer(const Program& program, const Style& style, Target target)
      : program(program),
        style(style),
        random(style.seed),
        odd(style.seed ^ 0x6d61736b73),
        has_odd_masks(odd.chance(2)),
        target(target) {}

  template <typename... Args>
  void line(const std::string& format, const Args&... args) {
    text += "  " + fmt::format(fmt::runtime(format), args...) + "\n";
  }
  void label(const std::string& name) { text += name + ":\n"; }
  std::string new_label(const std::string& what) { return fmt::format(".L{}{}", what, labels_++); }

  std::string vector();  ///< one temporary VGPR
  struct Pair {
    std::string low, high, both;
  };
  Pair vectors();        ///< two in a row
  std::string mask();    ///< a pair of SGPRs
  std::string scalar();  ///< one SGPR
  /// The same, without a number of `random`.
  std::string odd_scalar() { return fmt::format("s{}", next_pair() + odd.below(2)); }

  static std::string reg(uint32_t number) { return fmt::format("v{}", kFirstRegister + number); }
  /// Of the place where a lane ends: behind the registers.
  std::string mark() const { return reg(program.stored()); }
  static std::string number(uint32_t value);
  /// As source 0 of VOP1, VOP2 and VOPC, which may be any number.
  static std::string source(const Operand& o) {
    return o.immediate ? number(o.value) : reg(o.value);
  }
  /// As a source of VOP3, which has no bits for large numbers.
  std::string small(const Operand& o);
  bool before_gcn3() const { return target != Target::gfx803; }
  std::string add() const { return before_gcn3() ? "v_add_i32" : "v_add_u32"; }
  std::string sub() const { return before_gcn3() ? "v_sub_i32" : "v_sub_u32"; }
  /// The SGPR that holds the same as a register does in all lanes here; or a number. Else nothing.
  std::string uniform(const Operand& o) const;

  const Program& program;
  const Style& style;
  Random random;
  Random odd;  ///< for masks.cpp alone: programs without odd masks are what they were before it
  const bool has_odd_masks;
  const Target target;
  bool apart = false;  ///< nothing may ask what other lanes do: so the kernel can run in lane mode
  std::map<uint32_t, std::string> uniforms;  ///< registers that an SGPR has, too
  std::string text;

 private:
  friend class Scope;
  uint32_t next_pair();  ///< its first register

  uint32_t labels_ = 0, vectors_ = kFirstTemporary, scalars_ = kFirstScalar;
};

/// Registers that are taken while it lives are free behind it.
class Scope {
 public:
  explicit Scope(Writer& w) : w_(w), vectors_(w.vectors_), scalars_(w.scalars_) {}
  ~Scope() {
    w_.vectors_ = vectors_;
    w_.scalars_ = scalars_;
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Writer& w_;
  const uint32_t vectors_, scalars_;
};

/// The mask of the lanes of EXEC for which the condition holds: "vcc" or a pair.
std::string test(Writer& w, const Condition& c);
/// The same in a pair.
std::string kept(Writer& w, const Condition& c);
/// The same, but lanes outside EXEC may be in it, too.
std::string loose(Writer& w, const Condition& c);
/// Sets SCC where an SGPR or a number stands for both sides; else writes nothing and returns false.
bool scalar_test(Writer& w, const Condition& c);
/// mask := what is not empty; SCC says so.
void set_scc_if_any(Writer& w, const std::string& mask);

/// Statements without control flow and without a guard.
bool is_plain(const Statement& s);
/// They are done by the lanes of `lanes` (a mask within EXEC), or of EXEC but them with `others`.
void predicated(Writer& w, const Statement& s, const std::string& lanes, bool others);
/// With their guard, if they have one.
void plain(Writer& w, const Alu& s);
void plain(Writer& w, const Select& s);
void plain(Writer& w, const Load& s);
void plain(Writer& w, const Store& s);
void plain(Writer& w, const LoadOwn& s);
void cross(Writer& w, const Cross& s);
void exchange(Writer& w, const Exchange& s);
void combine(Writer& w, const Combine& s);
void pool(Writer& w, const Pool& s);
/// `stay` has the lanes of EXEC that do what `f` writes.
template <typename F>
void narrowed(Writer& w, const std::string& stay, const F& f) {
  const std::string saved = w.mask();
  w.line("s_and_saveexec_b64 {}, {}", saved, stay);
  f();
  if (w.random.chance(2))
    w.line("s_mov_b64 exec, {}", saved);
  else
    w.line("s_or_b64 exec, exec, {}", saved);
}
/// Own words from `word` := so many registers in a row.
void store_words(Writer& w, uint32_t word, uint32_t first, uint32_t count);
/// to = table[index & (kTableWords - 1)].
void load_element(Writer& w, const std::string& to, const std::string& index);

}  // namespace lanewise::programs::gcn
