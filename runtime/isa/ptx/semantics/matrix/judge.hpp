// Operands of matrix instructions: which shapes belong to which types, and how many registers a
// part takes.
#pragma once

namespace lanewise::ptx {

namespace legal {
class Context;
}

void judge_mma(legal::Context& c);
void judge_wmma_load(legal::Context& c);
void judge_wmma_store(legal::Context& c);
void judge_wmma_multiply(legal::Context& c);
void judge_ldmatrix(legal::Context& c);
void judge_stmatrix(legal::Context& c);

}  // namespace lanewise::ptx
