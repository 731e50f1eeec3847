// Random instructions of every row against LLVM's assembler, where one is installed: our text must
// assemble to our bytes. On gfx803 its disassembler must also write our text for them.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "runtime/isa/gcn/encoding/lane_form.hpp"
#include "runtime/isa/gcn/gcn.hpp"
#include "runtime/isa/gcn/rules/modifier_rules.hpp"

using namespace lanewise;
using gcn::Gen;
using gcn::Slot;

namespace {

std::string llvm_mc() {
  for (const char* name : {"llvm-mc", "llvm-mc-14", "llvm-mc-19"}) {
    const std::string test = fmt::format("command -v {} > /dev/null 2>&1", name);
    if (std::system(test.c_str()) == 0) return name;
  }
  return "";
}

class Maker {
 public:
  Maker(Gen gen, uint32_t seed) : gen_(gen), random_(seed) {}

  /// An instruction of this row with random operands; nullopt where none came about.
  std::optional<gcn::Instruction> make(const gcn::Row& row, gcn::Form form) {
    for (int tries = 0; tries < 60; ++tries) {
      gcn::Instruction i;
      i.row = &row;
      for (const gcn::SlotSpec& s : row.operands) i.operands.push_back(operand(s, row));
      modifiers(i);
      if (form != gcn::Form::plain) lane_form(i, form);
      if (!agrees(i)) continue;
      const auto back = gcn::decode(gcn::encode(i, gen_), gen_);
      if (back && back->row == &row) return back;
    }
    return std::nullopt;
  }

 private:
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  bool seldom() { return below(4) == 0; }

  unsigned scalar(unsigned count) {
    const unsigned align = count == 1 ? 1 : count == 2 ? 2 : 4;
    if (count <= 2 && below(8) == 0) return gcn::kVccLo;
    return below((100 - count) / align) * align;
  }
  unsigned condition() { return gcn::kVccz + below(3); }
  gcn::Operand source(const gcn::SlotSpec& s, bool vector, bool literal) {
    gcn::Operand o;
    o.count = s.count;
    const uint32_t kind = below(8);
    if (below(16) == 0) {
      o.code = condition();
    } else if (vector && kind < 4) {
      o.code = gcn::kVgpr0 + below(257 - s.count);
    } else if (kind == 4 || (kind == 5 && !literal)) {
      o.code = below(2) == 0 ? gcn::kZero + below(65) : 193 + below(16);
    } else if (kind == 5) {
      o.code = gcn::kLiteral;
      o.value = 0x10000 + below(0x7fff0000);
    } else if (kind == 6) {
      o.code = 240 + below(8);
    } else {
      o.code = scalar(s.count);
    }
    return o;
  }
  /// Constants of 16 bits: of integers LLVM takes a float's text for a literal.
  gcn::Operand narrowed(gcn::Operand o, const gcn::SlotSpec& s) {
    if (ir::size_of(s.type) != 2) return o;
    if (s.type == ir::Type::u16 && o.code >= 240 && o.code <= 248) o.code = gcn::kZero + 1;
    const bool constant = o.code >= gcn::kZero && o.code < gcn::kVgpr0;
    if (constant && gen_ != Gen::gfx8) o.code = gcn::kVgpr0;
    if (o.code == gcn::kLiteral) o.value = 0x1000 + (o.value & 0xfff);
    return o;
  }
  static gcn::Operand narrowed_literal(gcn::Operand o, const gcn::Row& row) {
    if (row.name.find("16") != std::string::npos) o.value = 0x1000 + (o.value & 0xfff);
    return o;
  }
  gcn::Operand operand(const gcn::SlotSpec& s, const gcn::Row& row) {
    gcn::Operand o;
    o.count = s.count;
    const bool is_long = row.encoding == gcn::Encoding::vop3;
    const bool scalar_row = row.encoding == gcn::Encoding::sop1 ||
                            row.encoding == gcn::Encoding::sop2 ||
                            row.encoding == gcn::Encoding::sopc;
    switch (s.slot) {
      case Slot::src0:
        if (row.meaning.moves_source || row.has(Slot::sdst)) {
          o.code = gcn::kVgpr0 + below(256);
          return o;
        }
        [[fallthrough]];
      case Slot::src1:
      case Slot::src2:
        // Wide sums of differences take registers alone.
        if (s.count == 4) {
          o.code = gcn::kVgpr0 + 100 + below(150);
          return o;
        }
        return narrowed(source(s, true, !is_long), s);
      case Slot::ssrc0:
      case Slot::ssrc1:
        if (row.meaning.moves_source || row.kind == gcn::Kind::jump ||
            row.kind == gcn::Kind::call || row.kind == gcn::Kind::absent) {
          o.code = scalar(s.count);
          return o;
        }
        return source(s, false, scalar_row);
      case Slot::vcc:
        o.code = gcn::kVccLo;
        return o;
      case Slot::sdst:
      case Slot::ksrc:
      case Slot::sdata:
      case Slot::mask_dst:
        o.code = scalar(s.count);
        return o;
      case Slot::mask_src:
        o.code = below(16) == 0 ? condition() : scalar(s.count);
        return o;
      case Slot::sbase:
        o.code = below(90 / s.count) / 2 * 2 * (s.count == 4 ? 2 : 1);
        o.code -= o.code % s.count;
        return o;
      case Slot::srsrc:
        o.code = 4 * below(25);
        return o;
      case Slot::soffset:
        o.code = below(3) == 0 ? gcn::kZero + below(65) : below(16) == 0 ? condition() : below(100);
        return o;
      case Slot::simm16:
      case Slot::label:
      case Slot::waitcnt:
        o.immediate = true;
        o.value = below(below(2) == 0 ? 0x10000 : 100);
        if (s.slot == Slot::waitcnt) o.value &= 0xf7f;
        return o;
      case Slot::hwreg:
        o.immediate = true;
        o.value = (1 + below(7)) | below(32) << 6 | below(32) << 11;
        return o;
      case Slot::message:
        o.immediate = true;
        o.value = 1;
        return o;
      case Slot::gpr_idx:
      case Slot::probe:
        o.immediate = true;
        o.value = below(s.slot == Slot::probe ? 128 : 16);
        return o;
      case Slot::literal:
        o.immediate = true;
        o.value = 0x10000 + below(0x7fff0000);
        return narrowed_literal(o, row);
      case Slot::soff:
        o.immediate = seldom() ? false : true;
        if (o.immediate)
          o.value = below(gen_ == Gen::gfx8 ? 0xfffff : 256);
        else
          o.code = below(100);
        return o;
      case Slot::irsrc:
      case Slot::isamp:
        o.code = 4 * below(23);
        return o;
      case Slot::target:
        o.immediate = true;
        o.value = below(3) == 0 ? 12 + below(4) : below(2) == 0 ? 32 + below(32) : below(10);
        return o;
      case Slot::esrc:
        o.count = below(2) == 0 ? 1 : 0;
        o.code = gcn::kVgpr0 + (o.count != 0 ? below(256) : 0);
        return o;
      case Slot::attr:
        o.immediate = true;
        o.value = below(256);
        if (row.meaning.type == ir::Type::f16 && seldom()) o.value |= 256;
        return o;
      case Slot::ipoint:
        o.immediate = true;
        o.value = below(3);
        return o;
      case Slot::iaddr:
        o.count = row.least_address;
        o.code = gcn::kVgpr0 + below(250);
        return o;
      case Slot::idata:
        o.code = gcn::kVgpr0 + below(250);
        return o;
      case Slot::vaddr:
        o.count = 1;
        o.code = gcn::kVgpr0 + below(254);
        return o;
      default:
        // Away from the sources, where the instruction asks for that.
        o.code = gcn::kVgpr0 + (s.count == 4 ? below(90) : below(257 - s.count));
        return o;
    }
  }

  void image_modifiers(gcn::Instruction& i) {
    const gcn::Meaning& m = i.row->meaning;
    gcn::Graphics& g = i.graphics;
    const bool atomic = m.op == ir::Op::atom, gathers = m.op == ir::Op::select;
    i.tfe = seldom();
    g.dmask = static_cast<uint8_t>(below(16));
    if (gathers) g.dmask = static_cast<uint8_t>(1 << below(4));
    if (atomic) {
      const bool exchange = m.atom == ir::AtomOp::cas, wide = below(2) == 0;
      g.dmask = exchange ? (wide ? 15 : 3) : (wide ? 3 : 1);
      i.tfe = i.tfe && g.dmask == 1;
    }
    const int components = gathers ? 4 : std::max(std::popcount(g.dmask), 1);
    i.operands[0].count = static_cast<uint8_t>(components + (i.tfe ? 1 : 0));
    i.glc = seldom();
    i.slc = seldom();
    g.unorm = seldom();
    g.da = seldom();
    g.r128 = seldom();
    g.lwe = seldom();
    g.d16 = m.d16 && gen_ == Gen::gfx8 && seldom();
  }
  void export_modifiers(gcn::Instruction& i) {
    i.graphics.done = seldom();
    i.graphics.vm = seldom();
    i.graphics.compr = seldom();
    if (!i.graphics.compr) return;
    i.operands[2] = i.operands[1];
    i.operands[4] = i.operands[3];
  }
  void interpolation_modifiers(gcn::Instruction& i) {
    for (size_t n = 0; n < i.operands.size(); ++n) {
      const Slot s = i.row->operands[n].slot;
      if (s != Slot::ivsrc && s != Slot::ivsrc2) continue;
      i.operands[n].neg = seldom();
      i.operands[n].abs = seldom();
    }
    i.clamp = seldom();
    i.omod = static_cast<uint8_t>(i.row->meaning.count != 0 && seldom() ? below(4) : 0);
  }

  /// Lanes or parts of registers in place of the plain form.
  void lane_form(gcn::Instruction& i, gcn::Form form) {
    const gcn::Row& row = *i.row;
    const bool compares = row.encoding == gcn::Encoding::vopc;
    i.form = form;
    bool second = false;
    for (size_t n = 0; n < i.operands.size(); ++n) {
      const Slot s = row.operands[n].slot;
      if (s == Slot::src0) i.operands[n].code = gcn::kVgpr0 + below(256);
      second = second || s == Slot::vsrc1;
      if ((s == Slot::src0 || s == Slot::vsrc1) && is_sum_of_floats(row)) {
        i.operands[n].neg = seldom();
        i.operands[n].abs = seldom();
      }
    }
    if (i.form == gcn::Form::dpp) {
      static constexpr uint16_t kFirst[] = {0,     0x101, 0x111, 0x121, 0x130,
                                            0x134, 0x138, 0x13c, 0x140, 0x142};
      static constexpr uint16_t kCount[] = {256, 15, 15, 15, 1, 1, 1, 1, 2, 2};
      const uint32_t kind = below(std::size(kFirst));
      i.dpp.ctrl = static_cast<uint16_t>(kFirst[kind] + below(kCount[kind]));
      i.dpp.row_mask = static_cast<uint8_t>(below(16));
      i.dpp.bank_mask = static_cast<uint8_t>(below(16));
      i.dpp.bound_ctrl = below(2) == 0;
      return;
    }
    i.sdwa.dst_sel = static_cast<uint8_t>(compares ? 0 : below(7));
    if (row.does(gcn::kReadsDst)) i.sdwa.dst_sel = gcn::kSelDword;
    i.sdwa.dst_unused = static_cast<uint8_t>(compares ? 0 : below(3));
    i.sdwa.src0_sel = static_cast<uint8_t>(below(7));
    i.sdwa.src1_sel = static_cast<uint8_t>(second ? below(7) : 0);
    i.clamp = !compares && is_sum_of_floats(row) && seldom();
  }
  static bool is_sum_of_floats(const gcn::Row& row) {
    const ir::Op op = row.meaning.op;
    return ir::is_float(row.meaning.type) && row.runs() && row.encoding == gcn::Encoding::vop2 &&
           (op == ir::Op::fadd || op == ir::Op::fmul || op == ir::Op::fsub) &&
           row.name.find("ldexp") == std::string::npos;
  }

  void modifiers(gcn::Instruction& i) {
    const gcn::Row& row = *i.row;
    if (row.encoding == gcn::Encoding::mimg) return image_modifiers(i);
    if (row.encoding == gcn::Encoding::exp) return export_modifiers(i);
    if (row.has(Slot::attr) && row.encoding == gcn::Encoding::vop3)
      return interpolation_modifiers(i);
    // Signs and the clamp where an operand is certain to be a float.
    const ir::Op op = row.meaning.op;
    const bool real = ir::is_float(row.meaning.type) &&
                      (op == ir::Op::fadd || op == ir::Op::fmul || op == ir::Op::ffma ||
                       op == ir::Op::fmin || op == ir::Op::fmax || op == ir::Op::fsub);
    if (row.encoding == gcn::Encoding::vop3 && real && row.runs()) {
      size_t seen = 0;
      for (size_t n = 0; n < i.operands.size(); ++n) {
        const Slot s = row.operands[n].slot;
        const bool source = s == Slot::src0 || s == Slot::src1 || s == Slot::src2;
        // Of v_ldexp the second one is an integer.
        const bool sure = source && (seen++ == 0 || op == ir::Op::ffma || op == ir::Op::fadd);
        i.operands[n].neg = sure && seldom();
        i.operands[n].abs = sure && seldom();
      }
      i.clamp = seldom();
    }
    if (row.encoding == gcn::Encoding::vop3 && row.gives_float() && row.runs())
      i.omod = static_cast<uint8_t>(seldom() ? below(4) : 0);
    if (row.encoding == gcn::Encoding::ds)  // semaphores are in the global data share only
      i.gds = gcn::is_of_global_share(row);
    if (row.encoding == gcn::Encoding::ds && row.kind != gcn::Kind::nothing)
      i.offset = static_cast<uint16_t>(row.meaning.swizzle ? below(0x8000) : below(0x10000));
    if (gcn::is_buffer(row.encoding) && row.has(Slot::vaddr)) {
      i.offset = static_cast<uint16_t>(below(4096));
      i.idxen = below(2) == 0;
      i.offen = !i.idxen;
      i.glc = seldom();
      i.slc = seldom();
      i.dfmt = static_cast<uint8_t>(1 + below(14));
      i.nfmt = static_cast<uint8_t>(below(6));
    }
    if (row.encoding == gcn::Encoding::flat) {
      i.glc = row.meaning.op == ir::Op::atom ? row.meaning.returns : seldom();
      i.slc = seldom();
    }
    i.lds = row.encoding == gcn::Encoding::mubuf && !row.has(Slot::vaddr) && row.has(Slot::srsrc);
  }

  /// One scalar register or literal a vector instruction; one literal a scalar one.
  bool agrees(const gcn::Instruction& i) const {
    std::set<unsigned> scalars;
    size_t literals = 0;
    const bool moves = i.row->name.find("qsad") != std::string::npos;
    for (size_t n = 1; n < i.operands.size() && moves; ++n)
      if (i.operands[n].code < i.operands[0].code + 4 &&
          i.operands[0].code < i.operands[n].code + 4)
        return false;
    const bool is_scalar = i.row->encoding <= gcn::Encoding::smrd;
    for (size_t n = 0; n < i.operands.size(); ++n) {
      const gcn::Operand& o = i.operands[n];
      const Slot s = i.row->operands[n].slot;
      if (s == Slot::literal) ++literals;
      if (o.immediate) continue;
      if (o.code == gcn::kLiteral) ++literals;
      const bool reads = s == Slot::src0 || s == Slot::src1 || s == Slot::src2 ||
                         s == Slot::ssrc0 || s == Slot::ssrc1;
      const bool condition = o.code >= gcn::kVccz && o.code <= gcn::kScc;
      if (reads && (o.code < gcn::kZero || condition)) scalars.insert(8 * o.code + o.count);
    }
    if (is_scalar) return literals <= 1;
    // VCC, masks and M0 come the same way.
    const bool other =
        i.row->does(gcn::kReadsVcc) || i.row->does(gcn::kReadsM0) || i.row->has(Slot::mask_src);
    if (other) return scalars.empty() && literals == 0;
    return scalars.size() + literals <= 1;
  }

  Gen gen_;
  std::mt19937 random_;
};

std::string hex(const std::vector<uint32_t>& words) {
  std::string out;
  for (uint32_t w : words)
    for (int b = 0; b < 4; ++b, w >>= 8) out += fmt::format("{:02x}", w & 255);
  return out;
}

struct Row {
  std::string text, bytes;
};

/// The instruction in front of its encoding.
std::string text_of(const std::string& line, size_t encoding) {
  const size_t first = line.find_first_not_of(" \t");
  return line.substr(first, line.find_last_not_of(" \t", encoding - 1) - first + 1);
}

/// What the assembler makes of each line, and how it writes it itself; empty bytes where it refuses
/// one.
std::vector<Row> assembled(const std::string& tool, const std::string& target,
                           const std::vector<Row>& rows, std::map<std::string, std::string>& why) {
  const auto folder = std::filesystem::temp_directory_path() /
                      fmt::format("lanewise_gcn_assembler_{}_{}", target, std::rand());
  std::filesystem::create_directories(folder);
  const std::string in = folder / "in.s", out = folder / "out.txt", err = folder / "err.txt";
  {
    std::ofstream file(in);
    for (const Row& r : rows) file << r.text << '\n';
  }
  const std::string command = fmt::format("{} -arch=amdgcn -mcpu={} --show-encoding {} > {} 2> {}",
                                          tool, target, in, out, err);
  const int status = std::system(command.c_str());
  (void)status;  // refused lines make it fail; they are counted
  std::set<size_t> refused;
  std::ifstream errors(err);
  for (std::string line; std::getline(errors, line);) {
    const size_t at = line.find(": error: ");
    if (at == std::string::npos) continue;
    const size_t colon = line.find(':', in.size());
    const size_t number = std::strtoul(line.c_str() + colon + 1, nullptr, 10);
    if (refused.insert(number).second && number >= 1 && number <= rows.size())
      why[rows[number - 1].text] = line.substr(at + 9);
  }
  std::vector<Row> result(rows.size());
  std::ifstream lines(out);
  size_t n = 0;
  for (std::string line; std::getline(lines, line);) {
    const size_t at = line.find("; encoding: [");
    if (at == std::string::npos) continue;
    while (n < rows.size() && refused.contains(n + 1)) ++n;
    if (n >= rows.size()) break;
    result[n].text = text_of(line, at);
    std::string& bytes = result[n++].bytes;
    for (size_t k = at + 13; k + 3 < line.size() && line[k] == '0'; k += 5)
      bytes += line.substr(k + 2, 2);
  }
  std::filesystem::remove_all(folder);
  return result;
}

/// What the disassembler makes of the bytes; empty text where it knows no instruction.
std::vector<std::string> disassembled(const std::string& tool, const std::string& target,
                                      const std::vector<Row>& rows) {
  const auto folder = std::filesystem::temp_directory_path() /
                      fmt::format("lanewise_gcn_disassembler_{}_{}", target, std::rand());
  std::filesystem::create_directories(folder);
  const std::string in = folder / "in.txt", out = folder / "out.txt";
  {
    std::ofstream file(in);
    for (const Row& r : rows) {
      file << '[';
      for (size_t k = 0; k < r.bytes.size(); k += 2)
        file << (k == 0 ? "0x" : ",0x") << r.bytes.substr(k, 2);
      file << "]\n";
    }
  }
  const int status =
      std::system(fmt::format("{} -arch=amdgcn -mcpu={} --disassemble --show-encoding {} > {} 2> "
                              "/dev/null",
                              tool, target, in, out)
                      .c_str());
  (void)status;
  std::vector<std::string> texts(rows.size());
  std::ifstream lines(out);
  size_t n = 0;
  for (std::string line; std::getline(lines, line);) {
    const size_t at = line.find("; encoding: [");
    if (at == std::string::npos) continue;
    std::string bytes;
    for (size_t k = at + 13; k + 3 < line.size() && line[k] == '0'; k += 5)
      bytes += line.substr(k + 2, 2);
    const size_t before = n;
    while (n < rows.size() && rows[n].bytes != bytes) ++n;
    if (n == rows.size()) {  // encoded otherwise: this one has no text
      n = before + 1;
      continue;
    }
    texts[n++] = text_of(line, at);
  }
  std::filesystem::remove_all(folder);
  return texts;
}

/// LLVM's text for some encodings stands for another one; ours never does.
bool is_ambiguous(const std::string& text, const Row& row, Gen gen) {
  const auto again = gcn::parse_instruction(text, gen).instruction;
  return again && hex(gcn::encode(*again, gen)) != row.bytes;
}

/// LANEWISE_GCN_RANDOM: how many of each row and form; LANEWISE_GCN_SEED; LANEWISE_GCN_ROWS: only
/// of rows whose names begin so.
size_t number_in(const char* variable, size_t otherwise) {
  const char* n = std::getenv(variable);
  return n != nullptr ? std::strtoul(n, nullptr, 10) : otherwise;
}

/// LLVM has no DPP for compares.
std::vector<gcn::Form> forms_of(const gcn::Row& row, Gen gen) {
  if (gen != Gen::gfx8 || !gcn::takes_lane_form(row)) return {gcn::Form::plain};
  if (row.encoding == gcn::Encoding::vopc) return {gcn::Form::plain, gcn::Form::sdwa};
  return {gcn::Form::plain, gcn::Form::dpp, gcn::Form::sdwa};
}

}  // namespace

TEST_CASE("random instructions of every row are LLVM's") {
  const std::string tool = llvm_mc();
  if (tool.empty()) {
    MESSAGE("skipped: there is no llvm-mc");
    return;
  }
  // Instructions that LLVM does not know.
  const std::set<std::string> ours = {"buffer_atomic_rsub", "buffer_atomic_rsub_x2"};
  const auto twice = [](const gcn::Row& row, Gen gen) {  // GCN3 has one product for both signs
    return gen == Gen::gfx8 && row.name == "v_mul_lo_i32";
  };
  const char* only = std::getenv("LANEWISE_GCN_ROWS");
  for (const Gen gen : {Gen::gfx6, Gen::gfx7, Gen::gfx8}) {
    Maker maker(gen, static_cast<uint32_t>(number_in("LANEWISE_GCN_SEED", 7)));
    std::vector<Row> rows;
    size_t none = 0;
    for (const gcn::Row& row : gcn::rows()) {
      if (row.opcode[static_cast<int>(gen)] < 0 || ours.contains(row.name) || twice(row, gen))
        continue;
      if (only != nullptr && !row.name.starts_with(only)) continue;
      const std::vector<gcn::Form> forms = forms_of(row, gen);
      const size_t each = number_in("LANEWISE_GCN_RANDOM", 2);
      for (size_t n = 0; n < each * forms.size(); ++n) {
        const auto i = maker.make(row, forms[n % forms.size()]);
        if (!i) {
          ++none;
          MESSAGE(gcn::name(gen) << ": nothing made of " << row.name);
          break;
        }
        const std::string text = gcn::print(*i, gen);
        const auto again = gcn::parse_instruction(text, gen);
        CHECK_MESSAGE(again.instruction.has_value(), text << ": " << again.error.message);
        if (again.instruction)
          CHECK_MESSAGE(gcn::encode(*again.instruction, gen) == gcn::encode(*i, gen), text);
        rows.push_back({text, hex(gcn::encode(*i, gen))});
      }
    }
    CHECK(none == 0);
    std::map<std::string, std::string> why;
    const std::vector<Row> theirs = assembled(tool, std::string(gcn::name(gen)), rows, why);
    size_t wrong = 0, refused = 0, rewritten = 0;
    for (size_t n = 0; n < rows.size(); ++n) {
      if (theirs[n].bytes.empty()) {
        if (++refused <= 60)
          MESSAGE(gcn::name(gen) << " refuses " << rows[n].text << ": " << why[rows[n].text]);
      } else if (theirs[n].bytes != rows[n].bytes && ++wrong <= 40) {
        FAIL_CHECK(gcn::name(gen) << ": " << rows[n].text << ": ours " << rows[n].bytes
                                  << ", LLVM's " << theirs[n].bytes);
      } else if (theirs[n].text != rows[n].text && !is_ambiguous(theirs[n].text, rows[n], gen) &&
                 ++rewritten <= 40) {
        FAIL_CHECK(gcn::name(gen) << ": ours " << rows[n].text << ", LLVM's " << theirs[n].text);
      }
    }
    MESSAGE(gcn::name(gen) << ": " << rows.size() << " instructions, " << wrong << " other bytes, "
                           << refused << " refused, " << rewritten << " other texts");
    CHECK(wrong == 0);
    CHECK(refused == 0);
    if (gen != Gen::gfx8) continue;  // LLVM has no disassembler for the others
    const std::vector<std::string> texts = disassembled(tool, "gfx803", rows);
    size_t other = 0, unknown = 0, shared = 0;
    for (size_t n = 0; n < rows.size(); ++n) {
      if (texts[n].empty()) {
        if (++unknown <= 20)
          MESSAGE("LLVM knows no instruction in " << rows[n].bytes << ": " << rows[n].text);
      } else if (texts[n] != rows[n].text) {
        if (is_ambiguous(texts[n], rows[n], gen)) {
          ++shared;
          continue;
        }
        if (++other > 40) continue;
        FAIL_CHECK(rows[n].bytes << ": ours " << rows[n].text << ", LLVM's " << texts[n]);
      }
    }
    MESSAGE("gfx803: " << other << " other texts, " << unknown << " without one, " << shared
                       << " that stand for other bytes");
    CHECK(other == 0);
    CHECK(unknown == 0);
  }
}
