// What the passes make of an instruction, operation by operation, on the reference engine:
// constants in all places, in some, one register twice.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "runtime/ir/passes/pipeline.hpp"
#include "runtime/ir/signature.hpp"
#include "tests/unit/reference/support.hpp"

using namespace lanewise;
using namespace lanewise::test;

namespace {

constexpr uint64_t kInput = guest::kArenaBase, kOutput = guest::kArenaBase + (1 << 16);
constexpr size_t kArena = 1 << 20;

struct Form {
  Op op;
  Type type;
  uint8_t mode = 0;
  ir::Cond cond = ir::Cond::eq;
};

std::vector<Form> forms() {
  std::vector<Form> list;
  const Type integers[] = {Type::u32, Type::s32, Type::u64, Type::s64};
  for (int n = static_cast<int>(Op::mov); n <= static_cast<int>(Op::icmp); ++n) {
    const Op op = static_cast<Op>(n);
    if (op == Op::sreg) continue;
    const std::string_view signature = ir::info(op).signature;
    const bool typed = signature.find('T') != std::string_view::npos || op == Op::mulwide;
    const bool logic = op == Op::and_ || op == Op::or_ || op == Op::xor_ || op == Op::not_;
    if (logic || op == Op::mov || op == Op::select) list.push_back({op, Type::pred});
    for (const Type type : integers) {
      if (!typed && type != Type::u32) continue;
      if (op == Op::mulwide && ir::width_of(type) == Width::b64) continue;
      if (op == Op::icmp) {
        for (int c = 0; c <= static_cast<int>(ir::Cond::ge); ++c)
          list.push_back({op, type, 0, static_cast<ir::Cond>(c)});
      } else if (op == Op::lop3) {
        for (const uint8_t table : {0x00, 0xff, 0xf0, 0xcc, 0xaa, 0x80, 0x96, 0xe8, 0x1b})
          list.push_back({op, type, table});
      } else if (op == Op::shf_l || op == Op::shf_r) {
        for (const uint8_t mode : {0, 1}) list.push_back({op, type, mode});
      } else if (op == Op::prmt) {
        for (uint8_t mode = 0; mode <= static_cast<uint8_t>(ir::PrmtMode::rc16); ++mode)
          list.push_back({op, type, mode});
      } else {
        list.push_back({op, type});
      }
    }
  }
  return list;
}

/// Stores the results of one form for many operands. Registers hold what was loaded, so that no
/// pass knows it; the numbers in them are those of `values`.
class FormKernel {
 public:
  explicit FormKernel(const Form& form) : form_(form) { b_.add_block(); }

  void all_operands() {
    const std::string_view letters = ir::signature(form_.op).src;
    std::mt19937 random(static_cast<uint32_t>(form_.op) * 977 + static_cast<uint32_t>(form_.type));
    constexpr int kTuples = 60;
    for (int n = 0; n < kTuples; ++n) {
      std::vector<uint64_t> bits;
      for (const char c : letters) bits.push_back(value(c, random));
      for (uint32_t known = 0; known < 1U << letters.size(); ++known) once(letters, bits, known);
      if (letters.size() >= 2 && letters[0] == letters[1]) twice(letters, bits);
    }
    b_.exit();
  }

  std::vector<std::byte> run(const ir::Program& program) const {
    const auto engine = reference::make_engine();
    engine->reserve(kArena);
    engine->write(kInput, std::as_bytes(std::span(inputs_)));
    LaunchRequest request;
    request.program = &program;
    request.grid = request.block = {1, 1, 1};
    REQUIRE(engine->launch(request).fault_count == 0);
    std::vector<std::byte> out(8 * stored_);
    engine->read(kOutput, out);
    return out;
  }

  ir::Program program;

 private:
  Width width(char c) const {
    ir::Inst i;
    i.type = form_.type;
    return *ir::letter_width(i, c);
  }
  uint64_t value(char c, std::mt19937& random) const {
    static constexpr uint64_t kEdges[] = {0,
                                          0,
                                          1,
                                          1,
                                          2,
                                          3,
                                          4,
                                          7,
                                          8,
                                          16,
                                          31,
                                          32,
                                          33,
                                          63,
                                          64,
                                          0xff,
                                          0x7fff,
                                          0x10000,
                                          0x7fffffff,
                                          0x80000000,
                                          0xfffffffe,
                                          0xffffffff,
                                          0xffffffff,
                                          0x100000000,
                                          0x7fffffffffffffff,
                                          0x8000000000000000,
                                          ~uint64_t{0},
                                          ~uint64_t{0}};
    uint64_t v = kEdges[random() % std::size(kEdges)];
    if (random() % 4 == 0) v = uint64_t{random()} << 32 | random();
    switch (width(c)) {
      case Width::pred:
        return v & 1;
      case Width::b32:
        return v & 0xffffffff;
      default:
        return v;
    }
  }

  Operand loaded(char c, uint64_t bits) {
    const Width w = width(c);
    const bool wide = w == Width::b64;
    const Reg r = b_.reg(wide ? Width::b64 : Width::b32);
    b_.emit(Op::load, Type::none, {r}, {imm(kInput + 8 * inputs_.size())}).mem =
        TestKernel::mem(wide ? Type::u64 : Type::u32);
    inputs_.push_back(bits);
    if (w != Width::pred) return r;
    const Reg p = b_.reg(Width::pred);
    b_.emit(Op::icmp, Type::u32, {p}, {r, imm(0)}).cond = ir::Cond::ne;
    return p;
  }

  void once(std::string_view letters, const std::vector<uint64_t>& bits, uint32_t known) {
    std::vector<Operand> sources;
    for (size_t s = 0; s < letters.size(); ++s)
      sources.push_back((known >> s & 1) != 0 ? imm(bits[s]) : loaded(letters[s], bits[s]));
    emit(std::move(sources));
  }
  void twice(std::string_view letters, const std::vector<uint64_t>& bits) {
    std::vector<Operand> sources = {loaded(letters[0], bits[0])};
    sources.push_back(sources[0]);
    for (size_t s = 2; s < letters.size(); ++s) sources.push_back(imm(bits[s]));
    emit(std::move(sources));
  }

  void emit(std::vector<Operand> sources) {
    std::vector<Reg> dst;
    for (const char c : ir::signature(form_.op).dst) dst.push_back(b_.reg(width(c)));
    ir::Inst& i = b_.emit(form_.op, form_.type, dst, std::move(sources));
    i.mode = form_.mode;
    i.cond = form_.cond;
    for (const Reg r : dst) {
      Operand word = r;
      const Width w = program.regs[r.id].width;
      if (w == Width::pred) word = b_.make(Op::select, Type::u32, {r, imm(1), imm(0)});
      b_.emit(Op::store, Type::none, {}, {imm(kOutput + 8 * stored_++), word}).mem =
          TestKernel::mem(w == Width::b64 ? Type::u64 : Type::u32);
    }
  }

  Form form_;
  ir::Builder b_{program};
  std::vector<uint64_t> inputs_;
  size_t stored_ = 0;
};

size_t count(const ir::Program& p, Op op) {
  size_t n = 0;
  for (const ir::Block& b : p.blocks)
    for (const ir::Inst& i : b.insts) n += i.op == op;
  return n;
}

}  // namespace

TEST_CASE("the passes compute what the reference engine does") {
  for (const Form& form : forms()) {
    FormKernel k(form);
    k.all_operands();
    REQUIRE(ir::verify(k.program).empty());
    ir::Program after = k.program;
    ir::optimise(after);
    CAPTURE(ir::info(form.op).name);
    CAPTURE(ir::name(form.type));
    CAPTURE(int{form.mode});
    CAPTURE(ir::name(form.cond));
    REQUIRE(ir::verify(after).empty());
    // Those with constants alone are gone at least.
    CHECK(count(after, form.op) < count(k.program, form.op));
    const std::vector<std::byte> x = k.run(k.program), y = k.run(after);
    REQUIRE(x.size() == y.size());
    size_t wrong = 0;
    for (size_t n = 0; n < x.size(); ++n) wrong += x[n] != y[n];
    CHECK(wrong == 0);
  }
}
