// IDP, which PTX calls dp4a and dp2a.
#pragma once

namespace lanewise::sass {

class LowerContext;
struct Instruction;

void lower_idp(LowerContext&, const Instruction&);

}  // namespace lanewise::sass
