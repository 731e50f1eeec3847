#include "runtime/isa/ptx/device_library.hpp"

#include <algorithm>
#include <string_view>

namespace lanewise::ptx {
namespace {

/// No lane ever waits for another: whoever finds a list or the end changed by another tries again.
/// Lists count their changes, so that a head that came back is not taken for the one that was read.
constexpr std::string_view kHeap = R"(.version 6.0
.target sm_60
.address_size 64
.global .align 8 .u64 lanewise_device_heap;

.func (.param .b64 result) lanewise_heap_pop(.param .b64 heap, .param .b32 class)
{
  .reg .b64 %h, %list, %old, %at, %next, %new, %tag, %seen;
  .reg .b32 %c, %offset;
  .reg .pred %p;
  ld.param.b64 %h, [heap];
  ld.param.b32 %c, [class];
  mul.wide.u32 %list, %c, 8;
  add.u64 %list, %list, %h;
again:
  ld.volatile.global.u64 %old, [%list+48];
  and.b64 %at, %old, 0xffffffffff;
  setp.eq.u64 %p, %at, 0;
  @%p bra none;
  shl.b64 %at, %at, 4;
  add.u64 %at, %at, %h;
  ld.volatile.global.u64 %next, [%at+8];
  and.b64 %next, %next, 0xffffffffff;
  shr.u64 %tag, %old, 40;
  add.u64 %tag, %tag, 1;
  shl.b64 %tag, %tag, 40;
  or.b64 %new, %tag, %next;
  atom.global.cas.b64 %seen, [%list+48], %old, %new;
  setp.ne.u64 %p, %seen, %old;
  @%p bra again;
  membar.gl;
  st.param.b64 [result], %at;
  ret;
none:
  st.param.b64 [result], 0;
  ret;
}

.func (.param .b64 result) malloc(.param .b64 bytes)
{
  .reg .b64 %h, %n, %less, %size, %old, %new, %end, %seen, %block, %one;
  .reg .b32 %class, %e, %shift, %quarter, %first;
  .reg .pred %p, %small;
  .param .b64 a0;
  .param .b32 a1;
  .param .b64 r0;
  ld.param.b64 %n, [bytes];
  ld.global.u64 %h, [lanewise_device_heap];
  setp.eq.u64 %p, %n, 0;
  @%p bra none;
  shr.u64 %size, %n, 39;
  setp.ne.u64 %p, %size, 0;
  @%p bra none;
  sub.u64 %less, %n, 1;
  setp.le.u64 %small, %n, 512;
  @%small bra small;
  bfind.u64 %e, %less;
  sub.u32 %shift, %e, 2;
  shr.u64 %size, %less, %shift;
  cvt.u32.u64 %quarter, %size;
  and.b32 %quarter, %quarter, 3;
  sub.u32 %class, %e, 9;
  shl.b32 %class, %class, 2;
  add.u32 %class, %class, %quarter;
  add.u32 %class, %class, 32;
  add.u32 %quarter, %quarter, 5;
  cvt.u64.u32 %size, %quarter;
  shl.b64 %size, %size, %shift;
  bra found;
small:
  shr.u64 %size, %less, 4;
  cvt.u32.u64 %class, %size;
  add.u64 %size, %size, 1;
  shl.b64 %size, %size, 4;
found:
  mov.u32 %first, %class;
search:
  st.param.b64 [a0], %h;
  st.param.b32 [a1], %class;
  call (r0), lanewise_heap_pop, (a0, a1);
  ld.param.b64 %block, [r0];
  setp.ne.u64 %p, %block, 0;
  @%p bra given;
  setp.ne.u32 %p, %class, %first;
  @%p bra next;
  ld.global.u64 %end, [%h];
again:
  ld.volatile.global.u64 %old, [%h+8];
  add.u64 %new, %old, %size;
  add.u64 %new, %new, 16;
  setp.gt.u64 %p, %new, %end;
  @%p bra next;
  atom.global.cas.b64 %seen, [%h+8], %old, %new;
  setp.eq.u64 %p, %seen, %old;
  @%p bra fresh;
  bra again;
next:
  add.u32 %class, %class, 1;
  setp.lt.u32 %p, %class, 156;
  @%p bra search;
  st.volatile.global.u32 [%h+32], 1;
  bra none;
fresh:
  add.u64 %block, %h, %old;
  st.volatile.global.u32 [%block+4], %first;
given:
  st.volatile.global.u64 [%block+8], %n;
  st.volatile.global.u32 [%block], 0xa110c8ed;
  mov.u64 %one, 1;
  atom.global.add.u64 %seen, [%h+16], %one;
  atom.global.add.u64 %seen, [%h+24], %n;
  add.u64 %block, %block, 16;
  st.param.b64 [result], %block;
  ret;
none:
  st.param.b64 [result], 0;
  ret;
}

.func free(.param .b64 pointer)
{
  .reg .b64 %h, %at, %number, %end, %n, %old, %new, %list, %head, %seen, %one;
  .reg .b32 %state, %class;
  .reg .pred %p;
  ld.param.b64 %at, [pointer];
  setp.eq.u64 %p, %at, 0;
  @%p bra done;
  ld.global.u64 %h, [lanewise_device_heap];
  sub.u64 %at, %at, 16;
  sub.u64 %number, %at, %h;
  and.b64 %n, %number, 15;
  setp.ne.u64 %p, %n, 0;
  @%p bra wrong;
  setp.lt.u64 %p, %number, 1296;
  @%p bra wrong;
  ld.volatile.global.u64 %end, [%h+8];
  setp.ge.u64 %p, %number, %end;
  @%p bra wrong;
  ld.volatile.global.u64 %n, [%at+8];
  atom.global.cas.b32 %state, [%at], 0xa110c8ed, 0xf4eeb10c;
  setp.ne.u32 %p, %state, 0xa110c8ed;
  @%p bra wrong;
  mov.u64 %one, -1;
  atom.global.add.u64 %seen, [%h+16], %one;
  neg.s64 %n, %n;
  atom.global.add.u64 %seen, [%h+24], %n;
  ld.volatile.global.u32 %class, [%at+4];
  mul.wide.u32 %list, %class, 8;
  add.u64 %list, %list, %h;
  shr.u64 %number, %number, 4;
again:
  ld.volatile.global.u64 %old, [%list+48];
  and.b64 %head, %old, 0xffffffffff;
  st.volatile.global.u64 [%at+8], %head;
  membar.gl;
  shr.u64 %new, %old, 40;
  add.u64 %new, %new, 1;
  shl.b64 %new, %new, 40;
  or.b64 %new, %new, %number;
  atom.global.cas.b64 %seen, [%list+48], %old, %new;
  setp.ne.u64 %p, %seen, %old;
  @%p bra again;
done:
  ret;
wrong:
  trap;
}
)";

Function* declared(Module& module, std::string_view name) {
  const auto found = std::ranges::find(module.functions, name, &Function::name);
  return found != module.functions.end() && !found->has_body ? &*found : nullptr;
}

}  // namespace

void add_device_library(Module& module) {
  if (declared(module, "malloc") == nullptr && declared(module, "free") == nullptr) return;
  Module library = parse(kHeap).module;
  for (Function& f : library.functions)
    if (Function* there = declared(module, f.name))
      *there = std::move(f);
    else if (!f.visible &&
             std::ranges::find(module.functions, f.name, &Function::name) == module.functions.end())
      module.functions.push_back(std::move(f));
  std::ranges::move(library.variables, std::back_inserter(module.variables));
}

}  // namespace lanewise::ptx
