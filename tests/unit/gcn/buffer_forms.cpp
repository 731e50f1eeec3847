// Every buffer form that the coverage table calls exact, with every combination of flags it takes,
// lowers to a well-formed program; and what lowering knows of a descriptor made by s_mov.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "runtime/isa/gcn/gcn.hpp"
#include "runtime/isa/gcn/tables/row.hpp"

using namespace lanewise;

namespace {

ir::Module lowered(const std::string& text, gcn::Gen gen) {
  const gcn::Listing listing = gcn::parse(text, gen);
  for (const Diagnostic& d : listing.diagnostics)
    FAIL_CHECK(gcn::name(gen) << ": " << d.message << " in\n" << text);
  gcn::LowerResult r = gcn::lower(listing);
  for (const Diagnostic& d : r.diagnostics)
    if (!d.warning) FAIL_CHECK(gcn::name(gen) << ": " << d.message << " in\n" << text);
  for (const ir::Program& p : r.module.kernels)
    for (const std::string& defect : ir::verify(p)) FAIL_CHECK(text << defect);
  return std::move(r.module);
}

struct Shape {
  bool vdata = false, vaddr = false, format = false;
  unsigned registers = 0;
};
Shape shape_of(const gcn::Row& row) {
  Shape s;
  for (const gcn::SlotSpec& slot : row.operands) {
    if (slot.slot == gcn::Slot::vdata) {
      s.vdata = true;
      s.registers = slot.count;
    }
    s.vaddr = s.vaddr || slot.slot == gcn::Slot::vaddr;
  }
  s.format = row.encoding == gcn::Encoding::mtbuf;
  return s;
}

std::vector<std::string> texts_of(const gcn::Row& row, gcn::Gen gen) {
  const Shape s = shape_of(row);
  if (!s.vdata) return {row.operands.empty() ? row.name : row.name + " s[8:11], s3 lds"};
  const std::string data =
      s.registers == 1 ? std::string("v4") : fmt::format("v[4:{}]", 3 + s.registers);
  const auto text = [&](const char* address, const char* soffset, const char* flags) {
    return fmt::format("{} {}, {}, s[8:11], {}{} {}", row.name, data, address,
                       s.format ? "dfmt:4, nfmt:7, " : "", soffset, flags);
  };
  std::vector<std::string> out = {text("off", "s3", "offset:4095"), text("v1", "m0", "idxen glc"),
                                  text("v1", "0.5", "offen slc"),
                                  text("v[1:2]", "-16", "idxen offen glc slc")};
  if (gen != gcn::Gen::gfx8) out.push_back(text("v[1:2]", "0", "addr64"));
  const bool returns = row.name.find("load") != std::string::npos;
  const bool atomic = row.name.find("atomic") != std::string::npos;
  if (returns || atomic) out.push_back(text("v1", "0", atomic ? "idxen glc tfe" : "idxen tfe"));
  return out;
}

/// Which words of the descriptor of the last buffer access are constants, as bits.
unsigned constant_words(const std::string& text) {
  const ir::Module m = lowered(text, gcn::Gen::gfx6);
  unsigned found = 0;
  for (const ir::Block& block : m.kernels.at(0).blocks)
    for (const ir::Inst& inst : block.insts) {
      if (inst.op != ir::Op::buffer_address) continue;
      found = 0;
      for (unsigned n = 0; n < 4; ++n) found |= (inst.src[n].is_imm() ? 1U : 0U) << n;
    }
  return found;
}

}  // namespace

TEST_CASE("every buffer form that coverage calls exact lowers, with all its flags") {
  for (const gcn::Gen gen : {gcn::Gen::gfx6, gcn::Gen::gfx7, gcn::Gen::gfx8}) {
    size_t forms = 0;
    for (const gcn::Row& row : gcn::rows()) {
      const bool buffer =
          row.encoding == gcn::Encoding::mubuf || row.encoding == gcn::Encoding::mtbuf;
      if (!buffer || row.opcode[static_cast<int>(gen)] < 0) continue;
      ++forms;
      CHECK(gcn::coverage_of(row.name, gen).state == gcn::FormState::exact);
      std::string kernel;
      for (const std::string& text : texts_of(row, gen)) kernel += text + "\n";
      lowered(kernel + "s_endpgm\n", gen);
    }
    // 14 plain ones, 8 or 16 typed by the descriptor and as many by themselves, the atomics, two
    // invalidations, and the store from LDS.
    const size_t want[] = {14 + 16 + 2 * 17 + 2, 14 + 16 + 2 * 16 + 2, 14 + 32 + 2 * 13 + 2 + 1};
    CHECK(forms == want[static_cast<int>(gen)]);
  }
}

TEST_CASE("descriptor words are constants only where every path to the access makes them so") {
  const std::string all = "s_mov_b64 s[8:9], 0\ns_mov_b32 s10, 0x100\ns_movk_i32 s11, 0x7000\n";
  const std::string use = "buffer_load_dword v1, off, s[8:11], 0\ns_endpgm\n";
  CHECK(constant_words(use) == 0);
  CHECK(constant_words(all + use) == 15);
  CHECK(constant_words(all + "s_mov_b32 s10, s3\n" + use) == 11);
  CHECK(constant_words(all + "s_load_dwordx2 s[8:9], s[0:1], 0\n" + use) == 12);
  CHECK(constant_words(all + "v_cmp_lt_u32 s[10:11], v0, 7\n" + use) == 3);
  CHECK(constant_words(all + "v_readfirstlane_b32 s11, v0\n" + use) == 7);
  CHECK(constant_words(all + "s_add_u32 s8, s8, 4\n" + use) == 14);
  // One way around changes a word, to another constant or to the same.
  const std::string around = "s_cmp_eq_u32 s2, 0\ns_cbranch_scc1 .L1\n";
  CHECK(constant_words(all + around + ".L1:\n" + use) == 15);
  CHECK(constant_words(all + around + "s_mov_b32 s10, 0x200\n.L1:\n" + use) == 11);
  CHECK(constant_words(all + around + "s_mov_b32 s10, 0x100\n.L1:\n" + use) == 15);
  CHECK(constant_words(all + around + "s_mov_b32 s9, s2\n.L1:\n" + use) == 13);
  // The access stands in a loop that changes a word behind it.
  const std::string loop =
      ".L2:\nbuffer_load_dword v1, off, s[8:11], 0\n{}s_cmp_eq_u32 s2, 0\ns_cbranch_scc1 .L2\n"
      "s_endpgm\n";
  CHECK(constant_words(all + fmt::format(fmt::runtime(loop), "")) == 15);
  CHECK(constant_words(all + fmt::format(fmt::runtime(loop), "s_mov_b32 s10, 1\n")) == 11);
}
