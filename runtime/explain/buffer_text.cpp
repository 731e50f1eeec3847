// GCN buffer accesses: the descriptor by its fields, the address formula with numbers, the range.
#include <fmt/format.h>

#include <bit>

#include "runtime/explain/formula.hpp"
#include "runtime/explain/report.hpp"
#include "runtime/isa/gcn/text/operands/format_text.hpp"
#include "runtime/reference/memory/buffer_address.hpp"
#include "runtime/reference/memory/buffer_format.hpp"

namespace lanewise::explain {
namespace {

using ir::BufferAccess;

uint32_t bits(uint32_t word, unsigned low, unsigned count) {
  return word >> low & ((uint32_t{1} << count) - 1);
}

gcn::Gen generation(BufferAccess::Gen gen) {
  return static_cast<gcn::Gen>(gen);
}

std::string formats(uint32_t word, gcn::Gen gen) {
  static constexpr const char* kSelect[] = {"0", "1", "-", "-", "R", "G", "B", "A"};
  return fmt::format("DATA_FORMAT {}, NUM_FORMAT {}, DST_SEL {},{},{},{}",
                     gcn::data_format_name(bits(word, 15, 4)),
                     gcn::number_format_name(bits(word, 12, 3), gen), kSelect[bits(word, 0, 3)],
                     kSelect[bits(word, 3, 3)], kSelect[bits(word, 6, 3)],
                     kSelect[bits(word, 9, 3)]);
}

/// One access, its operands as numbers.
class Buffer {
 public:
  Buffer(const Formula& formula, const Executed& step, size_t k, uint32_t lane)
      : formula_(formula), step_(step), access_(*step.inst->buffer), k_(k), lane_(lane) {
    for (size_t n = 0; n < 4; ++n) words_[n] = static_cast<uint32_t>(step.sources[n]);
    d_ = reference::decode_descriptor(words_);
    soffset_ = static_cast<uint32_t>(step.sources[6]);
  }

  BufferText text() {
    out_.in_range = step_.after.size() > 1 && step_.after[1] != 0;
    descriptor();
    if (access_.addr64)
      addr64();
    else
      offsets();
    return std::move(out_);
  }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    out_.lines.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  void descriptor() {
    line("descriptor {:08x} {:08x} {:08x} {:08x}: BASE 0x{:x}, STRIDE {}, NUM_RECORDS {}{}{}",
         words_[0], words_[1], words_[2], words_[3], d_.base, d_.stride, d_.num_records,
         d_.swizzle ? fmt::format(", swizzled with ELEMENT_SIZE {} and INDEX_STRIDE {}",
                                  d_.element_size, d_.index_stride)
                    : "",
         d_.add_tid ? ", ADD_TID" : "");
    if (access_.format_op && access_.payload_bytes == 0)
      line("format: {}", formats(words_[3], generation(access_.gen)));
    if (d_.type != 0) line("TYPE is {}, not 0: every access is out of range", d_.type);
  }

  void addr64() {
    const uint64_t vector = (step_.sources[5] & 0xffffffff) << 32 | (step_.sources[4] & 0xffffffff);
    const uint64_t sum = d_.base + vector + access_.inst_offset + soffset_ + access_.element_offset;
    out_.address = sum & ((uint64_t{1} << 48) - 1);
    line("ADDR64: BASE 0x{:x} + vector address {} + offset {} + SOFFSET {}{} = 0x{:x}, low 48 bits",
         d_.base, number(vector), access_.inst_offset, number(soffset_), element(), out_.address);
    out_.verdict = out_.in_range ? "in range: ADDR64 is not checked" : "out of range: TYPE";
  }

  std::string element() const {
    return access_.element_offset != 0 ? fmt::format(" + element at {}", access_.element_offset)
                                       : "";
  }

  void offsets() {
    stride_ = d_.stride;
    if (access_.gen == BufferAccess::Gen::gfx8 && d_.add_tid && !access_.format_op) {
      stride_ |= d_.data_format << 14;
      line("stride: STRIDE {} with bits 14 to 17 from DATA_FORMAT {} = {}", d_.stride,
           d_.data_format, stride_);
    }
    index_ =
        (access_.idxen ? static_cast<uint32_t>(step_.sources[4]) : 0) + (d_.add_tid ? lane_ : 0);
    if (access_.idxen || d_.add_tid)
      line("index = {}{}{} = {}", access_.idxen ? formula_.operand(k_, 4) : "",
           access_.idxen && d_.add_tid ? " + " : "",
           d_.add_tid ? fmt::format("lane {}", lane_) : "", index_);
    else
      line("index = 0");
    offset_ = (access_.offen ? static_cast<uint32_t>(step_.sources[5]) : 0) + access_.inst_offset;
    if (access_.offen)
      line("offset = {} + {} = {}", formula_.operand(k_, 5), access_.inst_offset, offset_);
    else
      line("offset = {}", offset_);
    const bool early = access_.soffset_swizzled && d_.swizzle;
    if (early) {
      offset_ += soffset_;
      line("policy gcn.soffset: offset + SOFFSET {} = {}", formula_.operand(k_, 6), offset_);
    }
    inside();
    if (access_.offset32) {
      inside_ &= 0xffffffff;
      line("policy gcn.index_mul: cut to 32 bits = {}", inside_);
    }
    out_.address = d_.base + (early ? 0 : soffset_) + inside_;
    if (early)
      line("address = BASE 0x{:x} + {} = 0x{:x}", d_.base, inside_, out_.address);
    else
      line("address = BASE 0x{:x} + SOFFSET {} + {} = 0x{:x}", d_.base, formula_.operand(k_, 6),
           inside_, out_.address);
    range();
  }

  void inside() {
    const uint64_t at = uint64_t{offset_} + access_.element_offset;
    const uint64_t stride = stride_, index = index_;
    if (!d_.swizzle) {
      inside_ = index * stride + at;
      line("inside = index {} * stride {} + offset {}{} = {}", index, stride, offset_, element(),
           inside_);
      return;
    }
    const uint64_t is = d_.index_stride, es = d_.element_size;
    const uint64_t block = index / is * stride + at / es * es;
    inside_ = block * is + index % is * es + at % es;
    line(
        "inside = ({} / {} * stride {} + {} / {} * {}) * {} + {} % {} * {} + {} % {} = {} * {} + "
        "{} + {} = {}",
        index, is, stride, at, es, es, is, index, is, es, at, es, block, is, index % is * es,
        at % es, inside_);
  }

  void range() {
    const bool gfx8 = access_.gen == BufferAccess::Gen::gfx8;
    if (d_.type != 0) {
      out_.verdict = "out of range: TYPE";
    } else if (stride_ != 0 && (!gfx8 || d_.swizzle)) {
      const bool offset_counts = gfx8 || access_.idxen || d_.add_tid;
      out_.verdict =
          index_ >= d_.num_records
              ? fmt::format("out of range: index {} >= NUM_RECORDS {}", index_, d_.num_records)
          : offset_counts && offset_ >= stride_
              ? fmt::format("out of range: offset {} >= stride {}", offset_, stride_)
              : fmt::format(
                    "in range: index {} < NUM_RECORDS {}{}", index_, d_.num_records,
                    offset_counts ? fmt::format(", offset {} < stride {}", offset_, stride_) : "");
    } else {
      const uint32_t payload = access_.payload_bytes != 0
                                   ? access_.payload_bytes
                                   : std::max(reference::format_bytes(words_[3]), 1U);
      const uint64_t limit = d_.num_records > soffset_ ? d_.num_records - soffset_ : 0;
      const bool inside = inside_ + payload <= limit;
      out_.verdict =
          fmt::format("{} range: {} + {} bytes {} NUM_RECORDS {}{}", inside ? "in" : "out of",
                      inside_, payload, inside ? "<=" : ">", d_.num_records,
                      soffset_ != 0 ? fmt::format(" - SOFFSET {}", soffset_) : "");
    }
    // The engine decides; should its rule ever differ from the words above, no reason is given.
    if (out_.verdict.starts_with("in ") != out_.in_range)
      out_.verdict = out_.in_range ? "in range" : "out of range";
  }

  const Formula& formula_;
  const Executed& step_;
  const BufferAccess& access_;
  const size_t k_;
  const uint32_t lane_;
  std::array<uint32_t, 4> words_{};
  reference::BufferDescriptor d_{};
  uint32_t soffset_ = 0, stride_ = 0, index_ = 0, offset_ = 0;
  uint64_t inside_ = 0;
  BufferText out_;
};

std::string texel(std::span<const uint64_t> values, bool floats) {
  std::string out;
  for (const uint64_t v : values) {
    const auto bits = static_cast<uint32_t>(v);
    out += fmt::format("{}0x{:08x}", out.empty() ? "" : " ", bits);
    if (floats) out += fmt::format(" ({})", std::bit_cast<float>(bits));
  }
  return out;
}

/// Registers hold f32 unless the format is an integer one or they hold 16 bits.
bool holds_floats(uint32_t word, uint8_t mode) {
  constexpr uint32_t kUint = 4, kSint = 5;
  const uint32_t format = bits(word, 12, 3);
  return format != kUint && format != kSint &&
         (mode & static_cast<uint8_t>(ir::FormatMode::d16)) == 0;
}

}  // namespace

BufferText buffer_text(const Formula& formula, const Executed& step, size_t k,
                       uint32_t lane_in_wave) {
  return Buffer(formula, step, k, lane_in_wave).text();
}

std::string format_text(const Executed& step) {
  const bool pack = step.inst->op == ir::Op::fmt_pack;
  const auto mode = step.inst->mode;
  const bool gfx8 = (mode & static_cast<uint8_t>(ir::FormatMode::gfx8)) != 0;
  const auto word = static_cast<uint32_t>(step.sources[4]);
  const std::span<const uint64_t> in(step.sources.data(), 4);
  const uint32_t size = reference::format_bytes(word);
  const bool floats = holds_floats(word, mode);
  const bool zero = !pack && step.sources[5] == 0;
  return fmt::format("{} {} ({} bytes): {} {} -> {} {}{}", pack ? "pack" : "unpack",
                     formats(word, gfx8 ? gcn::Gen::gfx8 : gcn::Gen::gfx6), size,
                     pack ? "x y z w" : "raw words", texel(in, floats && pack),
                     pack ? "raw words" : "x y z w", texel(step.after, floats && !pack),
                     zero ? ", out of range" : "");
}

}  // namespace lanewise::explain
