// GCN's untyped buffer loads, stores and atomics, as tests/oracle/gcn_buffer.hpp has them.
#include <fmt/format.h>

#include "tests/fuzz/streams/gcn_buffer.hpp"

namespace lanewise::fuzz {
namespace {

namespace spec = oracle::gcn;

struct Operation {
  const char* name;
  unsigned bytes;  ///< of a component
  unsigned components;
  bool extends = false;
};
constexpr Operation kLoadOps[] = {{"ubyte", 1, 1},        {"sbyte", 1, 1, true}, {"ushort", 2, 1},
                                  {"sshort", 2, 1, true}, {"dword", 4, 1},       {"dwordx2", 4, 2},
                                  {"dwordx3", 4, 3},      {"dwordx4", 4, 4}};
constexpr Operation kStoreOps[] = {{"byte", 1, 1},    {"short", 2, 1},   {"dword", 4, 1},
                                   {"dwordx2", 4, 2}, {"dwordx3", 4, 3}, {"dwordx4", 4, 4}};
constexpr const char* kAtomics[] = {"swap", "cmpswap", "add", "sub", "rsub", "smin", "umin",
                                    "smax", "umax",    "and", "or",  "xor",  "inc",  "dec"};

uint64_t little(const Bytes& bytes, unsigned count) {
  uint64_t v = 0;
  for (size_t n = count; n-- > 0;) v = v << 8 | bytes[n];
  return v;
}
Bytes bytes_of(uint64_t v) {
  Bytes b{};
  for (unsigned n = 0; n < 8; ++n) b[n] = static_cast<uint8_t>(v >> (8 * n));
  return b;
}

class Untyped : public BufferInstruction {
 public:
  Untyped(const BufferForm& form, bool store, const Operation& op)
      : BufferInstruction(form), store_(store), op_(op) {}
  bool writes() const override { return store_; }
  void run(const Lane& lane, Memory& memory, std::vector<uint64_t>& out) const override {
    if (!enabled(lane)) return;
    for (unsigned n = 0; n < op_.components; ++n) {
      const spec::Place p = place(lane, 4 * n, op_.bytes);
      const uint64_t at = spec::aligned(p.address, op_.bytes);
      if (store_) {
        if (p.in_range) memory.store(at, bytes_of(out[n]), op_.bytes);
        continue;
      }
      uint64_t v = 0;
      if (p.in_range) v = little(memory.load(at, op_.bytes), op_.bytes);
      const bool negative = op_.extends && v >> (8 * op_.bytes - 1) != 0;
      out[n] = negative ? v | (0xffffffff - ((uint64_t{1} << 8 * op_.bytes) - 1)) : v;
    }
  }

 protected:
  std::string mnemonic() const override {
    return fmt::format("buffer_{}_{}", store_ ? "store" : "load", op_.name);
  }
  unsigned data_registers() const override { return op_.components; }
  unsigned reach() const override { return op_.bytes * op_.components; }
  std::shared_ptr<BufferInstruction> with(const BufferForm& form) const override {
    return std::make_shared<Untyped>(form, store_, op_);
  }
  void draw_format(Random&, spec::Words&) const override {}

 private:
  bool store_;
  Operation op_;
};

class Atomic : public BufferInstruction {
 public:
  Atomic(const BufferForm& form, unsigned op, bool wide)
      : BufferInstruction(form), op_(op), wide_(wide) {}
  bool writes() const override { return true; }
  void run(const Lane& lane, Memory& memory, std::vector<uint64_t>& out) const override {
    if (!enabled(lane)) return;
    const spec::Place p = place(lane, 0, size());
    const uint64_t at = p.address / size() * size();
    uint64_t old = 0;
    if (p.in_range) {
      old = little(memory.load(at, size()), size());
      memory.store(at, bytes_of(changed(old, out)), size());
    }
    if (!b_.glc) return;
    out[0] = old & 0xffffffff;
    if (wide_) out[1] = old >> 32;
  }

 protected:
  std::string mnemonic() const override {
    return fmt::format("buffer_atomic_{}{}", kAtomics[op_], wide_ ? "_x2" : "");
  }
  unsigned data_registers() const override { return (wide_ ? 2 : 1) * (op_ == 1 ? 2 : 1); }
  unsigned reach() const override { return size(); }
  std::shared_ptr<BufferInstruction> with(const BufferForm& form) const override {
    return std::make_shared<Atomic>(form, op_, wide_);
  }
  void draw_format(Random&, spec::Words&) const override {}
  uint64_t draw_data(Random& random) const override {
    return random.chance(2) ? random.pick<uint64_t>({0, 1, 0x7fffffff, 0x80000000, 0xffffffff})
                            : random.next() & 0xffffffff;
  }

 private:
  unsigned size() const { return wide_ ? 8 : 4; }
  uint64_t changed(uint64_t old, const std::vector<uint64_t>& data) const {
    if (wide_)
      return spec::atomic<uint64_t, int64_t>(op_, old, data[0] | data[1] << 32,
                                             data[2] | data[3] << 32);
    return spec::atomic<uint32_t, int32_t>(op_, static_cast<uint32_t>(old),
                                           static_cast<uint32_t>(data[0]),
                                           static_cast<uint32_t>(data[1]));
  }
  unsigned op_;
  bool wide_;
};

constexpr const char* kTargets[] = {"gfx600", "gfx700", "gfx803"};

}  // namespace

Setting gcn_setting(Random& random) {
  return {"gcn", kTargets[random.below(3)], {}, 64};
}

InstructionPtr make_gcn(Random& random, const Setting& setting) {
  unsigned gen = 0;
  while (setting.target != kTargets[gen]) ++gen;
  const BufferForm form = random_buffer_form(random, static_cast<spec::Generation>(gen), false);
  const unsigned kind = static_cast<unsigned>(random.below(5));
  if (kind < 2)
    return std::make_shared<Untyped>(form, false, kLoadOps[random.below(std::size(kLoadOps))]);
  if (kind < 4)
    return std::make_shared<Untyped>(form, true, kStoreOps[random.below(std::size(kStoreOps))]);
  unsigned op = static_cast<unsigned>(random.below(std::size(kAtomics)));
  if (op == 4 && gen != 0) op = 3;  // rsub is GCN1's
  return std::make_shared<Atomic>(form, op, random.chance(3));
}

}  // namespace lanewise::fuzz
