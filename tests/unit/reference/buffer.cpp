#include <doctest/doctest.h>

#include "runtime/reference/memory/buffer_address.hpp"
#include "tests/unit/reference/support.hpp"

using namespace lanewise;
using namespace lanewise::test;
using ir::BufferAccess;
using reference::buffer_address;
using reference::BufferOperands;
using Gen = ir::BufferAccess::Gen;
using Words = std::array<uint32_t, 4>;

namespace {

constexpr uint64_t kBase = 0x10000000;

struct Descriptor {
  uint32_t stride = 0, records = 0;
  uint32_t element_code = 0, index_code = 0, data_format = 0, type = 0;
  bool swizzle = false, add_tid = false;
  Words words() const {
    return {static_cast<uint32_t>(kBase), stride << 16 | uint32_t{swizzle} << 31, records,
            data_format << 15 | element_code << 19 | index_code << 21 | uint32_t{add_tid} << 23 |
                type << 30};
  }
};

BufferAccess access(Gen gen, bool idxen, bool offen, uint16_t inst_offset = 0) {
  BufferAccess a;
  a.gen = gen;
  a.idxen = idxen;
  a.offen = offen;
  a.inst_offset = inst_offset;
  return a;
}

}  // namespace

TEST_CASE("swizzled addresses: the witnesses of the scratch descriptor") {
  // Element 4 bytes, 64 records a stripe, the lane added: base + (offset / 4) * 256 + lane * 4.
  Descriptor scratch;
  scratch.records = 0xffffffff;
  scratch.element_code = 1;
  scratch.index_code = 3;
  scratch.swizzle = scratch.add_tid = true;
  for (const Gen gen : {Gen::gfx6, Gen::gfx7, Gen::gfx8}) {
    const auto r = buffer_address(access(gen, false, true), scratch.words(), {0, 12, 0, 5});
    CHECK(r.address == kBase + 788);
    CHECK(r.in_range);
    for (uint32_t lane = 0; lane < 64; lane += 9) {
      for (uint32_t offset = 0; offset < 40; offset += 3) {
        const uint64_t want = kBase + 16 + offset / 4 * 256 + lane * 4 + offset % 4;
        CHECK(buffer_address(access(gen, false, true), scratch.words(), {0, offset, 16, lane})
                  .address == want);
      }
    }
  }
  Descriptor d;
  d.records = 1000;
  d.stride = 32;
  d.element_code = 2;  // 8 bytes
  d.index_code = 1;    // 16 records
  d.swizzle = true;
  CHECK(buffer_address(access(Gen::gfx6, true, true), d.words(), {35, 20, 0, 0}).address ==
        kBase + 1308);
}

TEST_CASE("linear addresses add index, stride, offsets and the scalar offset") {
  Descriptor d;
  d.stride = 48;
  d.records = 100;
  const auto at = [&](bool idxen, bool offen, BufferOperands o) {
    return buffer_address(access(Gen::gfx6, idxen, offen, 8), d.words(), o).address - kBase;
  };
  CHECK(at(true, true, {7, 4, 1000, 9}) == 7 * 48 + 4 + 8 + 1000);
  CHECK(at(true, false, {7, 4, 0, 9}) == 7 * 48 + 8);
  CHECK(at(false, true, {7, 4, 0, 9}) == 12);
  CHECK(at(false, false, {7, 4, 0, 9}) == 8);
  d.add_tid = true;
  CHECK(at(true, false, {7, 4, 0, 9}) == 16 * 48 + 8);
  // The vector offset and the instruction's wrap at 32 bits, the product does not.
  d.add_tid = false;
  CHECK(at(false, true, {0, 0xfffffffc, 0, 0}) == 4);
  CHECK(at(true, false, {0x10000000, 0, 0, 0}) == uint64_t{0x10000000} * 48 + 8);
}

TEST_CASE("raw buffers are bounded in bytes, less the scalar offset") {
  Descriptor d;
  d.records = 64;
  for (const Gen gen : {Gen::gfx6, Gen::gfx8}) {
    const auto in = [&](uint32_t offset, uint32_t soffset, uint8_t payload = 4,
                        uint8_t element = 0) {
      BufferAccess a = access(gen, false, true);
      a.payload_bytes = payload;
      a.element_offset = element;
      return buffer_address(a, d.words(), {0, offset, soffset, 0}).in_range;
    };
    CHECK(in(60, 0));
    CHECK_FALSE(in(61, 0));
    CHECK_FALSE(in(64, 0));
    CHECK(in(63, 0, 1));
    CHECK(in(48, 0, 4, 12));
    CHECK_FALSE(in(52, 0, 4, 12));
    CHECK_FALSE(in(60, 0, 8));
    CHECK(in(44, 16));
    CHECK_FALSE(in(48, 16));
    CHECK_FALSE(in(0, 100));  // the limit saturates at 0
    CHECK_FALSE(in(0xfffffffc, 0));
    CHECK_FALSE(in(0xfffffffc, 0, 4, 8));  // must not wrap to the start
  }
}

TEST_CASE("structured buffers are bounded in records before GFX8, in bytes on it") {
  Descriptor d;
  d.stride = 16;
  d.records = 10;
  const auto in = [&](Gen gen, bool idxen, uint32_t index, uint32_t offset, uint32_t soffset = 0) {
    return buffer_address(access(gen, idxen, true), d.words(), {index, offset, soffset, 0})
        .in_range;
  };
  CHECK(in(Gen::gfx6, true, 9, 12));
  CHECK(in(Gen::gfx7, true, 9, 12, 5000));  // the scalar offset is not looked at
  CHECK_FALSE(in(Gen::gfx6, true, 10, 0));
  CHECK_FALSE(in(Gen::gfx6, true, 0, 16));
  CHECK(in(Gen::gfx6, false, 99, 16));  // without an index the offset may pass the stride
  CHECK_FALSE(in(Gen::gfx8, true, 1, 0));
  CHECK(in(Gen::gfx8, true, 0, 6));
  CHECK_FALSE(in(Gen::gfx8, true, 0, 7));
  d.swizzle = true;
  CHECK(in(Gen::gfx8, true, 9, 12, 5000));
  CHECK_FALSE(in(Gen::gfx8, true, 10, 0));
  CHECK_FALSE(in(Gen::gfx8, false, 0, 16));
}

TEST_CASE("GFX8 takes stride bits from the format when the lane is added") {
  Descriptor d;
  d.stride = 4;
  d.data_format = 1;
  d.records = 0xffffffff;
  d.add_tid = true;
  BufferAccess a = access(Gen::gfx8, false, false);
  CHECK(buffer_address(a, d.words(), {0, 0, 0, 2}).address == kBase + 2 * (4 + 16384));
  a.format_op = true;
  CHECK(buffer_address(a, d.words(), {0, 0, 0, 2}).address == kBase + 8);
  a.format_op = false;
  a.gen = Gen::gfx7;
  CHECK(buffer_address(a, d.words(), {0, 0, 0, 2}).address == kBase + 8);
}

TEST_CASE("ADDR64 ignores records, stride and lane, and keeps 48 bits") {
  Descriptor d;
  d.stride = 16;
  d.add_tid = true;
  BufferAccess a = access(Gen::gfx6, false, false, 20);
  a.addr64 = true;
  const auto r = buffer_address(a, d.words(), {0x2000, 1, 4, 33});
  CHECK(r.address == kBase + 0x100002000 + 24);
  CHECK(r.in_range);
  CHECK(buffer_address(a, d.words(), {0xf0000000, 0xffff, 0, 0}).address == 20);
}

TEST_CASE("null and invalid descriptors are never in range") {
  CHECK_FALSE(buffer_address(access(Gen::gfx6, false, false), Words{}, {0, 0, 0, 0}).in_range);
  Descriptor d;
  d.records = 64;
  CHECK(buffer_address(access(Gen::gfx6, false, false), d.words(), {0, 0, 0, 0}).in_range);
  d.type = 1;
  CHECK_FALSE(buffer_address(access(Gen::gfx6, false, false), d.words(), {0, 0, 0, 0}).in_range);
}

TEST_CASE("the operation takes its lane from the wave") {
  TestKernel k(64);
  Descriptor d;
  d.stride = 8;
  d.records = 70;
  d.add_tid = true;
  const Words w = d.words();
  const Reg address = k.b.reg(Width::b64), in = k.b.reg(Width::pred);
  k.b.emit(Op::buffer_address, Type::none, {address, in},
           {imm(w[0]), imm(w[1]), imm(w[2]), imm(w[3]), imm(20), imm(4), imm(0)})
      .buffer = access(Gen::gfx6, true, true);
  k.put(0, address, Type::u64);
  k.put_pred(1, in);
  k.b.exit();
  const Run r = run(k, 128);
  CHECK(r.slot(49, 0) == kBase + 69 * 8 + 4);
  CHECK(r.slot(49, 1) == 1);
  CHECK(r.slot(50, 1) == 0);
  CHECK(r.slot(64 + 3, 0) == kBase + 23 * 8 + 4);
}
