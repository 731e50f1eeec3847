// How well an instruction form is supported: what `lanewise coverage` prints for every table.
#pragma once

#include <cstdint>
#include <string>

namespace lanewise::isa {

enum class FormState : uint8_t { exact, approximate, unsupported };

/// What a row of an instruction table says of itself. The tests hold it to that (tests/values): a
/// row with a claim has its proof, and coverage says "exact" or "approximate" of no other.
enum class Claim : uint8_t {
  none,         ///< nothing shows what it does
  exact,        ///< a value case, bit for bit
  approximate,  ///< a value case with a bound
  effect,       ///< memory, control, order: streams, litmus tests and the like, named one by one
};

struct Coverage {
  std::string form;  ///< as the ISA's assembler spells it: "ld.global.v4.f32", "IADD.X"
  FormState state = FormState::unsupported;
  std::string note;  ///< how approximate (the error bound), or why not
};

}  // namespace lanewise::isa
