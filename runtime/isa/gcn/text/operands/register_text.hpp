// Registers between text and codes.
#pragma once

#include <string>

#include "runtime/isa/gcn/gcn.hpp"
#include "runtime/support/cursor.hpp"

namespace lanewise::gcn {

/// Kind letter (t: ttmp), first index and count of what was read.
struct RegisterText {
  char kind = 0;
  unsigned first = 0, count = 0;
};

/// A range (`s3`, `v[2:3]`, `ttmp4`), or registers one by one: `[s4,s5]`. False when it is none.
bool read_register(Cursor& in, RegisterText& r);
/// Throws where there are no such registers, or not `count` of them, or they begin at a wrong one.
void check_register(size_t at, const RegisterText& r, unsigned count, Gen gen);
Operand register_operand(const RegisterText& r);
/// A special register by its name; the conditions (`scc`) only where the place `reads`.
bool read_named(Cursor& in, unsigned count, bool reads, Gen gen, Operand& o);
/// The name is that of a register of this or another generation, and no symbol's.
bool names_register(std::string_view name);
/// The text here is a register, well written or not.
bool at_register(Cursor in);
/// `s[4:7]`, `v1`, `vcc`: `count` registers from a code on.
std::string register_name(unsigned code, unsigned count, Gen gen);
/// Such registers exist: general ones, trap temporaries, or special ones with a name.
bool is_scalar_register(unsigned code, unsigned count, Gen gen);

}  // namespace lanewise::gcn
