// What the host and the shader library agree on, in one place: included by C++ and by GLSL. What
// the words mean is described in shaders/INTERFACE.md; that they are what the IR's and the guest's
// own numbers say is checked in runtime/spirv/host_shader.cpp.
#ifdef __cplusplus
#pragma once
#include <cstdint>
#define LW_NUMBER(name, value) inline constexpr uint32_t name = value;
namespace lanewise::host_shader {
#else
#define LW_NUMBER(name, value) const uint name = value;
#endif

// The launch block, words. Addresses, sizes and the budget take two.
LW_NUMBER(LAUNCH_ARENA_ADDRESS, 0u)
LW_NUMBER(LAUNCH_ARENA_SIZE, 2u)
LW_NUMBER(LAUNCH_GRID, 4u)
LW_NUMBER(LAUNCH_BLOCK, 7u)
LW_NUMBER(LAUNCH_STEP_BUDGET, 10u)
LW_NUMBER(LAUNCH_DYNAMIC_SHARED, 12u)
LW_NUMBER(LAUNCH_PARAM_ADDRESS, 13u)
LW_NUMBER(LAUNCH_SLOTS, 15u)
LW_NUMBER(LAUNCH_SLOT_BYTES, 16u)
LW_NUMBER(LAUNCH_STATIC_SHARED, 17u)
LW_NUMBER(LAUNCH_ZERO, 18u)  // a zero that no compiler can see
LW_NUMBER(LAUNCH_TRACE_FIRST, 19u)
LW_NUMBER(LAUNCH_TRACE_CAPACITY, 20u)
LW_NUMBER(LAUNCH_TRACE_STRIDE, 21u)
LW_NUMBER(LAUNCH_PARAM_BYTES, 22u)
// Where the launch's record begins in the backing buffer, in words.
LW_NUMBER(LAUNCH_RECORD, 23u)
// With imported memory: what to add to an offset from the arena's start that a pointer
// parameter leads to, for its address on the device.
LW_NUMBER(LAUNCH_POINTER_BASES, 24u)
// Where the device has addresses: that of the list of allocations, and of the backing buffer.
LW_NUMBER(LAUNCH_ALLOCATIONS, 56u)
LW_NUMBER(LAUNCH_BACKING, 58u)
// Guest address of the map of written bytes (--check init), which lies behind the arena.
LW_NUMBER(LAUNCH_WRITTEN, 60u)
// Bytes of the arena that stores may reach, in kernels that have parameters behind them.
LW_NUMBER(LAUNCH_WRITABLE, 62u)
// What each pointer parameter may reach: offset in the arena, bytes that may be read and written.
LW_NUMBER(LAUNCH_POINTERS, 64u)
LW_NUMBER(POINTER_START, 0u)
LW_NUMBER(POINTER_READABLE, 2u)
LW_NUMBER(POINTER_WRITABLE, 4u)
LW_NUMBER(POINTER_WORDS, 6u)
LW_NUMBER(MAX_POINTERS, 16u)
// For each pointer the bytes from where it points on that may be read, and written; 0 = not known.
LW_NUMBER(LAUNCH_BEYOND, 160u)
LW_NUMBER(BEYOND_READABLE, 0u)
LW_NUMBER(BEYOND_WRITABLE, 1u)
LW_NUMBER(BEYOND_WORDS, 2u)
LW_NUMBER(LAUNCH_PARAMS, 192u)  // the parameters from here on

// Of the kind that a lane in serial mode hands over: the operation waits for the lanes of its mask.
LW_NUMBER(RENDEZVOUS_KIND, 0x80000000u)

// The fault buffer: words, then records of two vectors of four words.
LW_NUMBER(FAULT_COUNT, 0u)
LW_NUMBER(FAULT_ABORT, 1u)
LW_NUMBER(FAULT_LOCK, 2u)
LW_NUMBER(FAULT_SPARE, 3u)
LW_NUMBER(FAULT_CUT, 4u)  // the driver has cut a loop
LW_NUMBER(FAULT_RECORDS, 64u)
LW_NUMBER(FAULT_RECORD_WORDS, 8u)
LW_NUMBER(MAX_FAULTS, 64u)

// The list of allocations: a header, then start and end of each.
LW_NUMBER(ALLOCATION_COUNT, 0u)
// Behind the list, at the word that the header says: how many allocations begin at or below the
// first byte of each granule of memory, from the granule of the first allocation to that of the
// last byte.
LW_NUMBER(GRANULE_COUNT, 3u)
LW_NUMBER(FIRST_GRANULE, 4u)
LW_NUMBER(GRANULE_SHIFT, 5u)
LW_NUMBER(GRANULES_START, 6u)  // two words: an address
LW_NUMBER(FIRST_STEP, 8u)      // of the search for those that begin inside a granule; 0 = none does
// Behind those: memory outside the arena.
LW_NUMBER(IMPORTED_COUNT, 1u)
LW_NUMBER(FIRST_IMPORTED, 2u)
LW_NUMBER(IMPORTED_START, 0u)  // as an offset from the arena's start
LW_NUMBER(IMPORTED_SIZE, 2u)
LW_NUMBER(IMPORTED_ADDRESS, 4u)  // on the device
LW_NUMBER(IMPORTED_WORDS, 6u)
LW_NUMBER(FIRST_ENTRY, 12u)
LW_NUMBER(ENTRY_WORDS, 4u)
LW_NUMBER(READ_ONLY_BIT, 0x80000000u)  // of an end's high word

// Flags of a call of a float function: bits 0-2 the direction.
LW_NUMBER(RN, 0u)
LW_NUMBER(RZ, 1u)
LW_NUMBER(RM, 2u)
LW_NUMBER(RP, 3u)
LW_NUMBER(RNA, 4u)
LW_NUMBER(FTZ, 8u)
LW_NUMBER(SAT, 16u)
LW_NUMBER(NAN_WINS, 32u)

// Forms of trace points (bits 0-4 and 8-11 are numbers).
LW_NUMBER(FORM_ARENA, 0x10000u)
LW_NUMBER(FORM_ANYWHERE, 0x20000u)
LW_NUMBER(FORM_WINDOWS, 0x40000u)
LW_NUMBER(FORM_FORCE, 0x80000u)
LW_NUMBER(FORM_NO_ADDRESS, 0x100000u)
LW_NUMBER(FORM_FITS, 0x200000u)
LW_NUMBER(FORM_SHORT, 0x400000u)

// The guest's address space.
LW_NUMBER(ARENA_BASE, 0x10000000u)

#ifdef __cplusplus
}  // namespace lanewise::host_shader
#endif
#undef LW_NUMBER
