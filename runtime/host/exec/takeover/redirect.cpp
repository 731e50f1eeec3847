#include "runtime/host/exec/takeover/redirect.hpp"

#include <sys/mman.h>

#include <cstring>

#include "runtime/host/exec/takeover/memory.hpp"
#include "runtime/host/exec/takeover/report.hpp"
#include "runtime/host/exec/takeover/resolve.hpp"

namespace lanewise::exec {
namespace {

constexpr size_t kJump = 5;  // the shortest jump that reaches 2 GiB
/// Of all objects together; each has about 450 names.
constexpr size_t kMostEntries = size_t{1} << 18;

Entry* entries() {
  // Addresses only: pages come when they are used.
  static Entry* const table = [] {
    void* memory = mmap(nullptr, kMostEntries * sizeof(Entry), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<Entry*>(memory);
  }();
  return table;
}
size_t entry_count = 0;

/// One per entry: `jump` through the slot, which first points at `number`.
struct [[gnu::packed]] Stub {
  unsigned char jump[6];     // jmp *slot(%rip)
  unsigned char number[5];   // push $number
  unsigned char onwards[5];  // jmp to the end of the stubs
};
static_assert(sizeof(Stub) == 16);

void put_distance(unsigned char* at, const void* target) {
  const auto distance =
      static_cast<int32_t>(reinterpret_cast<intptr_t>(target) - reinterpret_cast<intptr_t>(at + 4));
  std::memcpy(at, &distance, 4);
}

/// Memory within 2 GiB of all of an object.
char* near_memory(uintptr_t low, uintptr_t high, size_t size) {
  constexpr uintptr_t kReach = (uintptr_t{1} << 31) - (uintptr_t{1} << 24), kStep = 1 << 20;
  const auto attempt = [&](uintptr_t at) {
    return static_cast<char*>(map_at(at, size, PROT_READ | PROT_WRITE));
  };
  // A heap grows behind a program, so what lies below comes first.
  const uintptr_t lowest = high > kReach + kStep ? high - kReach : kStep;
  for (uintptr_t at = (low - size) / kStep * kStep; at >= lowest && at < low; at -= kStep)
    if (char* memory = attempt(at); memory != nullptr) return memory;
  for (uintptr_t at = (high / kStep + 1) * kStep; at + size < low + kReach; at += kStep)
    if (char* memory = attempt(at); memory != nullptr) return memory;
  return nullptr;
}

template <typename Use>
void for_each_entry(const MappedObject& object, const Use& use) {
  for_each_symbol(object, *object.section_of_type(SHT_SYMTAB),
                  [&](const Elf64_Sym& symbol, std::string_view name) {
                    // Functions shorter than a jump are followed by padding up to the next 16.
                    const bool fits = symbol.st_size >= kJump || symbol.st_value % 16 == 0;
                    const char* known = fits ? linked_entry(symbol, name) : nullptr;
                    if (known != nullptr) use(symbol.st_value, known);
                  });
}

/// Where the entry points of an object lie, in memory.
struct Span {
  uintptr_t low = UINTPTR_MAX, high = 0;
  size_t count = 0;
  void add(uintptr_t at) {
    low = at < low ? at : low;
    high = at + kJump > high ? at + kJump : high;
    ++count;
  }
  bool make(int protection) const { return protect(low, high - low, protection); }
};

/// Slots, which are written, in pages before the stubs, which are run.
struct Stubs {
  void** slots;
  Stub* stubs;
  unsigned char* tail;  ///< behind them: a jump to what serves first calls
  size_t bytes;
};

Stubs stubs_near(const Span& span) {
  const auto pages = [](size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; };
  const size_t slots = pages(span.count * sizeof(void*));
  const size_t code = pages(span.count * sizeof(Stub) + 6 + sizeof(void*));
  char* memory = near_memory(span.low, span.high, slots + code);
  if (memory == nullptr) return {};
  auto* stubs = reinterpret_cast<Stub*>(memory + slots);
  auto* tail = reinterpret_cast<unsigned char*>(stubs + span.count);
  constexpr unsigned char kJumpThrough[6] = {0xff, 0x25};  // the address right behind it
  void (*first)() = &lanewise_first_call_code;
  std::memcpy(tail, kJumpThrough, sizeof kJumpThrough);
  std::memcpy(tail + sizeof kJumpThrough, &first, sizeof first);
  return {reinterpret_cast<void**>(memory), stubs, tail, code};
}

void fill(Stub& stub, void** slot, unsigned number, const unsigned char* tail) {
  stub.jump[0] = 0xff;
  stub.jump[1] = 0x25;
  put_distance(stub.jump + 2, slot);
  stub.number[0] = 0x68;
  std::memcpy(stub.number + 1, &number, sizeof number);
  stub.onwards[0] = 0xe9;
  put_distance(stub.onwards + 1, tail);
  *slot = stub.number;
}

}  // namespace

unsigned redirect_runtime(const MappedObject& object, uintptr_t bias, CudaMajor major) {
  Span span;
  for_each_entry(object, [&](uint64_t value, const char*) { span.add(bias + value); });
  if (span.count == 0) return 0;
  Entry* const table = entries();
  if (table == nullptr || entry_count + span.count > kMostEntries)
    refuse("no memory for the entry points of the CUDA runtime");
  const Stubs made = stubs_near(span);
  if (made.stubs == nullptr)
    refuse("no memory within 2 GiB of the program, for its calls of the CUDA runtime");
  if (!span.make(PROT_READ | PROT_WRITE))
    refuse(
        "the system forbids changes of a program's code in memory (mprotect), which taking over "
        "its CUDA runtime needs: build it with nvcc -cudart shared");
  size_t n = 0;
  for_each_entry(object, [&](uint64_t value, const char* name) {
    table[entry_count] = {name, &made.slots[n], major, false};
    fill(made.stubs[n], &made.slots[n], static_cast<unsigned>(entry_count++), made.tail);
    auto* code = static_cast<unsigned char*>(at_address(bias + value));
    code[0] = 0xe9;
    put_distance(code + 1, &made.stubs[n++]);
  });
  span.make(PROT_READ | PROT_EXEC);
  mprotect(made.stubs, made.bytes, PROT_READ | PROT_EXEC);
  return static_cast<unsigned>(span.count);
}

bool redirect_within(const MappedObject& library, uintptr_t bias, std::string_view from,
                     std::string_view to) {
  const Elf64_Shdr* exported = library.section_of_type(SHT_DYNSYM);
  if (exported == nullptr) return false;
  uintptr_t at = 0, target = 0;
  for_each_symbol(library, *exported, [&](const Elf64_Sym& symbol, std::string_view name) {
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_size < kJump) return;
    if (name == from) at = bias + symbol.st_value;
    if (name == to) target = bias + symbol.st_value;
  });
  if (at == 0 || target == 0 || !protect(at, kJump, PROT_READ | PROT_WRITE)) return false;
  auto* code = static_cast<unsigned char*>(at_address(at));
  code[0] = 0xe9;
  put_distance(code + 1, at_address(target));
  return protect(at, kJump, PROT_READ | PROT_EXEC);
}

}  // namespace lanewise::exec

extern "C" void* lanewise_first_call(uint64_t number) {
  return lanewise::exec::serve_first_call(lanewise::exec::entries()[number]);
}
