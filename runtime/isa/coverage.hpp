// How well an instruction form is supported: what `lanewise coverage` prints for every table.
#pragma once

#include <cstdint>
#include <string>

namespace lanewise::isa {

enum class FormState : uint8_t { exact, approximate, unsupported };

struct Coverage {
  std::string form;  ///< as the ISA's assembler spells it: "ld.global.v4.f32", "IADD.X"
  FormState state = FormState::unsupported;
  std::string note;  ///< how approximate (the error bound), or why not
};

}  // namespace lanewise::isa
