// A trace as Accel-Sim's .traceg: one kernel, thread block by thread block. What is no SASS is
// given the SASS opcode with the same memory effect, so that its readers know it.
#include <map>

#include "runtime/trace/formats.hpp"
#include "runtime/trace/interchange/text_file.hpp"
#include "runtime/trace/record.hpp"

namespace lanewise::trace {
namespace {

const char* suffix_of_size(unsigned bytes) {
  return bytes == 1 ? ".U8" : bytes == 2 ? ".U16" : bytes == 8 ? ".64" : bytes >= 16 ? ".128" : "";
}

/// The cache operator in SASS; hints that it has no word for are left out.
const char* operator_of(const Site& s) {
  if (s.order != ir::Order::weak || s.glc) return ".STRONG.GPU";
  switch (s.op) {
    case ir::CacheOp::cg:
      return s.kind == OpKind::load ? ".CG" : "";
    case ir::CacheOp::cv:
      return ".CV";
    case ir::CacheOp::nc:
    case ir::CacheOp::ci:
      return ".CI";
    default:
      return "";
  }
}

std::string control_of(const Site& s) {
  switch (s.control) {
    case ControlOp::prefetch_l1:
      return "CCTL.PF1";
    case ControlOp::prefetch_l2:
      return "CCTL.PF2";
    case ControlOp::write_back:
      return "CCTL.WB";
    case ControlOp::invalidate:
      return "CCTL.IV";
    case ControlOp::reset:
      return "CCTL.RS";
    default:
      return "CCTL.IVALL";
  }
}

/// Empty for what the format cannot say (instruction fetches).
std::string opcode_of(const Site& s) {
  if (s.dialect == Dialect::sass) {
    const std::string word = s.text.substr(0, s.text.find(' '));
    if (word.rfind("din.", 0) != 0) return word;
  }
  const char* letter = s.space == Space::local      ? "L"
                       : s.space == Space::shared   ? "S"
                       : s.space == Space::constant ? "C"
                                                    : "G";
  switch (s.kind) {
    case OpKind::load:
      if (s.space == Space::constant) return fmt::format("LDC{}", suffix_of_size(s.bytes));
      return fmt::format("LD{}{}{}{}", letter, *letter == 'G' ? ".E" : "", operator_of(s),
                         suffix_of_size(s.bytes));
    case OpKind::store:
      return fmt::format("ST{}{}{}{}", letter, *letter == 'G' ? ".E" : "", operator_of(s),
                         suffix_of_size(s.bytes));
    case OpKind::atomic:
      return fmt::format("ATOM{}.E.ADD{}", letter, s.bytes == 8 ? ".64" : "");
    case OpKind::control:
      return control_of(s);
    case OpKind::fence:
      return s.scope <= ir::Scope::cta ? "MEMBAR.CTA" : "MEMBAR.GPU";
    default:
      return "";
  }
}

class AccelSimOut final : public Sink {
 public:
  explicit AccelSimOut(const std::string& path) : out_(path) {}
  void kernel(const Kernel& k) override { kernels_.push_back(k); }
  void site(const Site& s) override {
    sites_.push_back(s);
    opcodes_.push_back(opcode_of(s));
  }
  void buffer(const Buffer&) override {}
  void event(const Event& e) override {
    if (e.kind == EventKind::kernel_begin) return begin(e.kernel);
    if (e.kind == EventKind::kernel_end) return end_group();
    if (e.kind == EventKind::wave) wave(e.wave);
  }
  void finish() override {
    end_group();
    out_.commit();
  }

 private:
  void begin(uint32_t index) {
    if (begun_)
      throw Error(ErrorKind::usage,
                  fmt::format("{}: a .traceg file holds one kernel launch, this trace has more",
                              out_.path()));
    begun_ = true;
    const Kernel& k = kernels_.at(index);
    grid_ = k.grid;
    out_.write(fmt::format(
        "-kernel name = {}\n-kernel id = 1\n-grid dim = ({},{},{})\n-block dim = ({},{},{})\n"
        "-shmem = 0\n-nregs = 32\n-binary version = 70\n-cuda stream id = 0\n"
        "-shmem base_addr = {:#018x}\n-local mem base_addr = {:#018x}\n-nvbit version = none\n"
        "-accelsim tracer version = 4\n-enable lineinfo = 1\n\n",
        k.name, k.grid[0], k.grid[1], k.grid[2], k.block[0], k.block[1], k.block[2], k.shared_base,
        k.local_base));
  }
  void wave(const WaveRecord& r) {
    if (!begun_) begin(0);
    if (r.mask >> 32 != 0)
      throw Error(
          ErrorKind::usage,
          fmt::format("{}: waves of 64 lanes do not fit the format, which has 32", out_.path()));
    if (r.group != group_) {
      end_group();
      group_ = r.group;
    }
    if (!opcodes_.at(r.site).empty()) warps_[r.wave].push_back(line(r));
  }
  std::string line(const WaveRecord& r) {
    const Site& s = sites_[r.site];
    unpack(r, lanes_);
    const bool memory = lanes_.count != 0;
    std::string text = fmt::format("{} {:04x} {:08x} 0 {} 0 {}", s.line, s.pc, r.mask,
                                   opcodes_[r.site], memory ? s.bytes : 0);
    if (!memory) return text + '\n';
    if (r.mode != AddressMode::deltas || lanes_.count == 1)
      return text + fmt::format(" 1 {:#018x} {}\n", r.base, lanes_.count == 1 ? 0 : r.stride);
    text += fmt::format(" 2 {:#018x}", r.base);
    for (const int64_t d : r.deltas) text += fmt::format(" {}", d);
    return text + '\n';
  }
  void end_group() {
    if (warps_.empty()) return;
    const uint32_t x = std::max(1U, grid_[0]), y = std::max(1U, grid_[1]);
    out_.write(fmt::format("#BEGIN_TB\n\nthread block = {},{},{}\n", group_ % x, group_ / x % y,
                           group_ / x / y));
    for (const auto& [warp, lines] : warps_) {
      out_.write(fmt::format("\nwarp = {}\ninsts = {}\n", warp, lines.size()));
      for (const std::string& text : lines) out_.write(text);
    }
    out_.write("\n#END_TB\n\n");
    warps_.clear();
  }

  OutputFile out_;
  std::vector<Kernel> kernels_;
  std::vector<Site> sites_;
  std::vector<std::string> opcodes_;
  std::map<uint16_t, std::vector<std::string>> warps_;  ///< of the group under way
  std::array<uint32_t, 3> grid_{1, 1, 1};
  uint32_t group_ = 0;
  bool begun_ = false;
  Lanes lanes_;
};

}  // namespace

std::unique_ptr<Sink> export_accelsim(const std::string& path) {
  return std::make_unique<AccelSimOut>(path);
}

}  // namespace lanewise::trace
