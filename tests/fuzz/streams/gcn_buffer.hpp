// What all GCN buffer instructions share: operands, descriptors with a taste for edges.
#pragma once

#include "tests/fuzz/streams/model.hpp"
#include "tests/oracle/gcn_buffer.hpp"

namespace lanewise::fuzz {

/// How SOFFSET is given; the inline constants have values of their own.
struct ScalarOffset {
  enum Kind : uint8_t { scalar, m0, constant } kind = scalar;
  const char* text = "";
  uint32_t value = 0;
};

struct BufferForm {
  oracle::gcn::Instruction address;
  ScalarOffset soffset;
  bool glc = false, slc = false;
};
BufferForm random_buffer_form(Random& random, oracle::gcn::Generation gen, bool format);

/// Values: the descriptor, SOFFSET, EXEC (low, high), two address registers, four data registers.
class BufferInstruction : public Instruction {
 public:
  explicit BufferInstruction(const BufferForm& form) : b_(form) {}

  std::string text(unsigned place) const override;
  std::vector<Value> in(unsigned place) const override;
  unsigned outputs() const override { return 4; }
  void draw(Random& random, const Region& region, std::span<Lane> wave) const override;
  void redraw(Random& random, const Region& region, std::span<Lane> wave,
              size_t lane) const override;
  void disable(std::span<Lane> wave, size_t lane) const override;
  void move(Lane& lane, int64_t delta) const override;
  std::vector<InstructionPtr> simpler() const override;

 protected:
  enum At : size_t { kDescriptor = 0, kSoffset = 4, kExec = 5, kAddress = 7, kData = 9 };
  virtual std::string mnemonic() const = 0;
  virtual unsigned data_registers() const = 0;
  /// What stands in front of SOFFSET ("dfmt:4, nfmt:7, ").
  virtual std::string format_text() const { return {}; }
  /// Bytes that lie together, for aiming.
  virtual unsigned reach() const = 0;
  virtual std::shared_ptr<BufferInstruction> with(const BufferForm& form) const = 0;
  /// The last words of a descriptor, and data registers.
  virtual void draw_format(Random& random, oracle::gcn::Words& words) const = 0;
  virtual uint64_t draw_data(Random& random) const { return random.next() & 0xffffffff; }

  static bool enabled(const Lane& lane);
  static oracle::gcn::Words words(const Lane& lane);
  oracle::gcn::Operands operands(const Lane& lane) const;
  oracle::gcn::Place place(const Lane& lane, uint64_t element, uint64_t size) const;
  BufferForm b_;

 private:
  struct Edges;
  void draw_address(Random& random, const Edges& e, Lane& lane) const;
  void aim(Random& random, const Region& region, std::span<Lane> wave) const;
};

}  // namespace lanewise::fuzz
