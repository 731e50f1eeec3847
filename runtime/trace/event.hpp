// Memory events: what an instrumented kernel (or an imported trace) reports to the cache tracker.
//
// A trace is a stream of definitions (kernels, sites, buffers) and events. A wave record is one
// memory instruction executed by one wave: the site says what the instruction is, the record says
// which lanes took part and where they went. Nothing here names a GPU, so a record may come from a
// shader's trace buffer, from the reference engine or from a file alike.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/ir/types.hpp"

namespace lanewise::trace {

/// The instruction set whose rules apply; the same numbering as ir::Isa.
enum class Dialect : uint8_t { ptx, sass, gcn };

enum class OpKind : uint8_t { none, load, store, atomic, control, fence, fetch };

/// The address space an access names. `generic` is resolved per lane by the windows of the kernel.
enum class Space : uint8_t { generic, global, local, shared, constant, instruction, crs };

/// The cache a control operation names.
enum class Target : uint8_t { data, deprecated_u, constant, instruction, crs, scalar, texture };

enum class ControlOp : uint8_t {
  prefetch_l1,
  prefetch_l15,
  prefetch_l2,
  prefetch_l2_evict_last,
  prefetch_l2_evict_normal,
  write_back,
  write_back_all,
  invalidate,
  invalidate_all,
  reset,
  demote_normal,
  discard,
  query
};

/// What our translator made of the access; rule H18 compares it with what the guest asked.
enum class Emitted : uint8_t { unknown, plain, volatile_, coherent, atomic };

/// The buffer descriptor as far as GCN coalescing depends on it.
struct BufferShape {
  bool present = false;
  bool swizzle = false;
  uint32_t stride = 0;
  uint32_t element_size = 0;  ///< bytes; of the descriptor when swizzled
  uint32_t index_stride = 0;  ///< records per swizzle group; of the descriptor when swizzled
};

/// How a control instruction was encoded; legality rules look at nothing else.
struct Encoding {
  bool register_address = false;   ///< Ra is given and is not RZ
  bool nonzero_immediate = false;  ///< the immediate offset is not 0
  bool extended = false;           ///< .E
  bool read_scoreboard = false;    ///< &rd
  uint8_t wait = 15;               ///< ?sched: WAITn; 15 = at least WAIT5
};

/// In place of a policy word that the instruction takes from a register whose value is not known
/// before the run.
inline constexpr uint64_t kPolicyAtRunTime = ~uint64_t{0};

/// One instruction of one kernel.
struct Site {
  Dialect dialect = Dialect::ptx;
  uint32_t kernel = 0;
  uint64_t pc = 0;
  uint32_t line = 0;
  std::string text;
  std::string file;

  OpKind kind = OpKind::none;
  Space space = Space::global;
  uint16_t bytes = 4;  ///< per lane
  ir::Order order = ir::Order::weak;
  ir::Scope scope = ir::Scope::none;
  ir::CacheOp op = ir::CacheOp::none;
  ir::EvictPriority l1 = ir::EvictPriority::none;
  ir::EvictPriority l2 = ir::EvictPriority::none;
  uint16_t prefetch_bytes = 0;
  bool glc = false, slc = false;
  bool scalar = false;          ///< GCN scalar memory
  bool volatile_lines = false;  ///< GCN _VOL: MTYPE/ATC volatile lines only
  bool system_lines = false;    ///< GCN _SC: system-coherent lines only
  bool uncached = false;        ///< GCN MTYPE UC
  bool invalidates = false;     ///< fence: MEMBAR.*.IVALLD and the like
  bool hinted = false;          ///< .L2::cache_hint, the word is `policy`
  uint64_t policy = 0;          ///< kPolicyAtRunTime: not known

  ControlOp control = ControlOp::prefetch_l1;
  Target target = Target::data;
  Encoding encoding;
  BufferShape buffer;
  Emitted emitted = Emitted::unknown;
};

struct Kernel {
  std::string name;
  Dialect dialect = Dialect::ptx;
  uint32_t wave_lanes = 32;
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  uint64_t shared_base = 0, shared_size = 0;  ///< generic windows; size 0 = none
  uint64_t local_base = 0, local_size = 0;
};

struct Buffer {
  std::string name;
  uint64_t address = 0, size = 0;
  bool system = false;     ///< host memory that the GPU reaches over the bus
  bool undefined = false;  ///< contents are undefined until written (a fresh allocation)
};

enum class AddressMode : uint8_t { none, affine, deltas };
inline constexpr uint16_t kAnySm = 0xffff;

/// One executed memory instruction of one wave. Lane i of the mask (counting only set bits, first
/// = 0) is at base + i * stride when affine (in the order of the set bits, holes are skipped);
/// otherwise deltas[i - 1] is added to the lane before.
struct WaveRecord {
  uint32_t site = 0;
  uint32_t group = 0;    ///< linear work-group index
  uint16_t wave = 0;     ///< in the group
  uint16_t sm = kAnySm;  ///< where it ran, when known; else the scheduling policy decides
  uint64_t mask = 0;
  AddressMode mode = AddressMode::none;
  uint64_t base = 0;
  int64_t stride = 0;
  std::vector<int64_t> deltas;
  std::vector<uint8_t> values;          ///< optional: bytes stored (or loaded), lane after lane
  std::vector<uint32_t> index, offset;  ///< optional: GCN buffer index and offset per active lane
};

/// A wave record of affine addresses without values, index and offset: what most records are, in a
/// form that is copied at no cost.
struct StridedWave {
  uint32_t site = 0, group = 0;
  uint16_t wave = 0, sm = kAnySm;
  uint64_t mask = 0, base = 0;
  int64_t stride = 0;
};
inline void to_record(const StridedWave& w, WaveRecord& r) {
  r.site = w.site;
  r.group = w.group;
  r.wave = w.wave;
  r.sm = w.sm;
  r.mask = w.mask;
  r.mode = AddressMode::affine;
  r.base = w.base;
  r.stride = w.stride;
  r.deltas.clear();
  r.values.clear();
  r.index.clear();
  r.offset.clear();
}

enum class EventKind : uint8_t {
  wave,
  kernel_begin,   ///< kernel
  kernel_end,     ///< kernel
  host_write,     ///< address, size: a copy to the device, or a store to system memory
  host_read,      ///< address, size
  policy_window,  ///< access policy window: address, size, hit share in 1/65536, classes
  end_of_window
};

struct Event {
  EventKind kind = EventKind::wave;
  uint32_t kernel = 0;
  uint64_t address = 0, size = 0;
  uint32_t hit_ratio = 65536;
  ir::EvictPriority hit = ir::EvictPriority::last, miss = ir::EvictPriority::normal;
  WaveRecord wave;
};

/// Takes a trace in chunks. Kernels, sites and buffers are numbered from 0 in the order they
/// arrive, and arrive before the first event that names them.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void kernel(const Kernel& k) = 0;
  virtual void site(const Site& s) = 0;
  virtual void buffer(const Buffer& b) = 0;
  virtual void event(const Event& e) = 0;
  /// Events of kind wave that follow each other.
  virtual void waves(std::span<const StridedWave> waves) {
    Event e;
    for (const StridedWave& w : waves) {
      to_record(w, e.wave);
      event(e);
    }
  }
  virtual void finish() {}
};

/// What became of a read: a damaged tail is not an error, but is always reported.
struct ReadResult {
  bool complete = true;
  std::string note;  ///< why not complete
  uint64_t events = 0;
  uint64_t content = 0;               ///< hash of the files; 0 = not asked for
  std::vector<std::string> warnings;  ///< what counts otherwise than the file says, with its count
};

}  // namespace lanewise::trace
