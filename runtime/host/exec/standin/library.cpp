// libcudart.so.11.0, .12 and .13, and libcuda.so.1: each name of the library is a jump to the
// function of liblanewise_cuda.so, found when it is first called. Compiled once for each library,
// with LANEWISE_NAMES, the list of its names, and LANEWISE_CUDART_MAJOR (0 for the driver's).
#include "runtime/host/exec/takeover/resolve.hpp"

asm(R"(
.set number, 0
.macro entry name
  .text
  .balign 16
  .globl \name
  .type \name, @function
\name:
  jmp *lanewise_slots+8*number(%rip)
1:
  push $number
  jmp lanewise_first_call_code
  .size \name, .-\name
  .data
  .quad 1b
  .set number, number+1
.endm
.data
.balign 8
.globl lanewise_slots
.hidden lanewise_slots
lanewise_slots:
)"
#define NAME(name) "entry " #name "\n"
#include LANEWISE_NAMES
#undef NAME
    ".text\n");

extern "C" void* lanewise_slots[];

namespace {

constexpr auto kMajor = static_cast<lanewise::exec::CudaMajor>(LANEWISE_CUDART_MAJOR);
enum : size_t {
#define NAME(name) slot_##name,
#include LANEWISE_NAMES
#undef NAME
};
lanewise::exec::Entry entries[] = {
#define NAME(name) {#name, &lanewise_slots[slot_##name], kMajor, false},
#include LANEWISE_NAMES
#undef NAME
};

}  // namespace

extern "C" void* lanewise_first_call(uint64_t number) {
  return lanewise::exec::serve_first_call(entries[number]);
}
