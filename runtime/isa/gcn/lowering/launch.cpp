// The registers that describe the launch: addresses of the dispatch packet and the queue, the
// scratch descriptor and where in it the wave's part begins.
#include "runtime/isa/gcn/lowering/analysis/wave_step.hpp"
#include "runtime/isa/gcn/lowering/semantics.hpp"
#include "runtime/layout/launch_block.hpp"

namespace lanewise::gcn {

namespace {

class LaunchState {
 public:
  LaunchState(LowerContext& c, const std::function<bool(int)>& is_read) : c_(c), read_(is_read) {}

  void run() {
    const InitialState& s = c_.kernel().state;
    c_.program().needs.scratch_bytes = wants_scratch(s) ? c_.kernel().private_bytes : 0;
    scratch_descriptor(s.private_segment_buffer);
    address(s.dispatch_ptr, guest::kPacketAt);
    address(s.queue_ptr, guest::kQueueAt);
    from_block(s.dispatch_id, guest::kDispatchIdAt, 2);
    from_block(s.flat_scratch, guest::kFlatScratchAt, 2);
    if (read_(s.private_segment_size))
      write(s.private_segment_size,
            c_.open(ir::Choice::stack_lane, Type::u32, scratch_lane_bytes()));
    if (read_(s.workgroup_info)) write(s.workgroup_info, group_info());
    if (read_(s.private_segment_offset)) write(s.private_segment_offset, wave_offset());
    for (const ir::Param& h : c_.kernel().hidden)
      if (h.name == "hidden_queue_ptr") want_block();
    private_aperture();
    if (wants_whole_waves(c_.kernel())) place_lanes();
  }

 private:
  bool wants_scratch(const InitialState& s) const {
    for (int n = 0; n < 4; ++n)
      if (s.private_segment_buffer >= 0 && read_(s.private_segment_buffer + n)) return true;
    return read_(s.private_segment_offset);
  }
  uint32_t scratch_lane_bytes() const { return c_.kernel().private_bytes; }
  Reg combine(Op op, ir::Operand x, ir::Operand y) { return c_.make(op, Type::u32, {x, y}); }
  void write(int at, ir::Operand value) { c_.write32(static_cast<unsigned>(at), value); }

  uint32_t want_block() {
    ir::Program& p = c_.program();
    if (p.needs.block_offset == 0)
      p.needs.block_offset = std::max((p.param_bytes + guest::kLaunchBlockAlign - 1) /
                                          guest::kLaunchBlockAlign * guest::kLaunchBlockAlign,
                                      guest::kLaunchBlockAlign);
    return p.needs.block_offset;
  }

  bool any_read(int at, int count) const {
    for (int n = 0; at >= 0 && n < count; ++n)
      if (read_(at + n)) return true;
    return false;
  }

  void address(int at, uint32_t offset) {
    if (!any_read(at, 2)) return;
    const Reg base = c_.special(SReg::param_base, Type::u64);
    const uint64_t distance = uint64_t{want_block()} + offset;
    c_.write64(static_cast<unsigned>(at), c_.make(Op::add, Type::u64, {base, imm(distance)}));
  }

  void from_block(int at, uint32_t offset, uint8_t count) {
    if (!any_read(at, count)) return;
    std::vector<Reg> regs;
    for (unsigned n = 0; n < count; ++n) regs.push_back(c_.sgpr(static_cast<unsigned>(at) + n));
    const uint32_t block = want_block();
    ir::Inst& load =
        c_.emit(Op::load, Type::u32, std::move(regs), {c_.special(SReg::param_base, Type::u64)});
    load.mem.emplace();
    load.mem->count = count;
    load.mem->align_bytes = 4;
    load.mem->offset = block + offset;
    c_.refresh_masks(static_cast<unsigned>(at), count);
  }

  /// Only the base is the launch's; the other fields are known here (expand_descriptors).
  void scratch_descriptor(int at) {
    if (!any_read(at, 4)) return;
    const auto first = static_cast<unsigned>(at);
    from_block(at, guest::kScratchAt, 2);
    const Reg top = combine(Op::and_, c_.sgpr(first + 1), imm(guest::kScratchAddressHigh));
    write(at + 1, combine(Op::or_, top, imm(guest::kScratchWord1)));
    write(at + 2, imm(guest::kScratchRecords));
    write(at + 3, imm(guest::kScratchWord3));
  }

  /// Flat accesses to scratch begin at the descriptor's base.
  void private_aperture() {
    bool flat = false;
    for (const Instruction& i : c_.kernel().code) flat = flat || i.row->encoding == Encoding::flat;
    if (!flat || !c_.apertures() || c_.kernel().private_bytes == 0) return;
    c_.program().needs.scratch_bytes = scratch_lane_bytes();
    const Reg words = c_.reg(Width::b32), high = c_.reg(Width::b32);
    const uint32_t block = want_block();
    ir::Inst& load =
        c_.emit(Op::load, Type::u32, {words, high}, {c_.special(SReg::param_base, Type::u64)});
    load.mem.emplace();
    load.mem->count = 2;
    load.mem->align_bytes = 4;
    load.mem->offset = block + guest::kScratchAt;
    const Reg top = combine(Op::and_, high, imm(0xffff));
    c_.emit(Op::pack64, Type::u64, {c_.scratch_base()}, {words, top});
  }

  /// The group is whole waves in a row: where the lanes stand in the group that was asked for, and
  /// which of them belong to it.
  void place_lanes() {
    ir::Param kind;
    kind.name = guest::kWholeWaves;
    c_.program().needs.hidden.push_back(std::move(kind));
    const Reg xy = c_.reg(Width::b32), z = c_.reg(Width::b32);
    ir::Inst& load =
        c_.emit(Op::load, Type::u32, {xy, z}, {c_.special(SReg::param_base, Type::u64)});
    load.mem.emplace();
    load.mem->count = 2;
    load.mem->align_bytes = 4;
    load.mem->offset = want_block() + guest::kPacketAt + 4;
    const Reg line = c_.special(SReg::tid_x);
    const Reg sizes[] = {combine(Op::and_, xy, imm(0xffff)), combine(Op::shr, xy, imm(16)),
                         combine(Op::and_, z, imm(0xffff))};
    const Reg all = combine(Op::mul, combine(Op::mul, sizes[0], sizes[1]), sizes[2]);
    c_.emit(Op::icmp, Type::u32, {c_.exec()}, {line, all}).cond = Cond::lt;
    Reg rest = line;
    for (unsigned n = 0; n < std::min(c_.kernel().state.workitem_ids, 3U); ++n) {
      c_.emit(Op::rem, Type::u32, {c_.vgpr(kVgpr0 + n)}, {rest, sizes[n]});
      rest = combine(Op::div, rest, sizes[n]);
    }
  }

  /// The number of waves in the group, and bit 31 in the first of them.
  Reg group_info() {
    const Reg first = c_.compare(Cond::eq, Type::u32, c_.special(SReg::warpid), imm(0));
    const Reg flag = c_.make(Op::select, Type::u32, {first, imm(uint64_t{1} << 31), imm(0)});
    return combine(Op::or_, c_.special(SReg::nwarpid), flag);
  }

  /// Waves are numbered through all groups, x fastest; each has its own part of scratch.
  Reg wave_offset() {
    const Reg rows = combine(Op::mul, c_.special(SReg::ctaid_z), c_.special(SReg::nctaid_y));
    const Reg row = combine(Op::add, rows, c_.special(SReg::ctaid_y));
    const Reg groups = combine(Op::mul, row, c_.special(SReg::nctaid_x));
    const Reg group = combine(Op::add, groups, c_.special(SReg::ctaid_x));
    const Reg waves = combine(Op::mul, group, c_.special(SReg::nwarpid));
    const Reg wave = combine(Op::add, waves, c_.special(SReg::warpid));
    return combine(Op::mul, wave,
                   c_.open(ir::Choice::stack_wave, Type::u32,
                           guest::scratch_per_wave(scratch_lane_bytes(), c_.program().wave_lanes)));
  }

  LowerContext& c_;
  const std::function<bool(int)>& read_;
};

}  // namespace

void lower_launch_state(LowerContext& c, const std::function<bool(int)>& is_read) {
  LaunchState(c, is_read).run();
}

}  // namespace lanewise::gcn
