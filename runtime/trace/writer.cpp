#include "runtime/support/hash.hpp"
#include "runtime/trace/format.hpp"
#include "runtime/trace/frame.hpp"
#include "runtime/trace/items.hpp"

namespace lanewise::trace {

Writer::Writer(const std::string& path, size_t block_bytes)
    : file_(path), block_bytes_(block_bytes) {
  std::string head(kMagic);
  put_le32(head, kTraceVersion);
  put_le32(head, 0);
  file_.write(head);
}

void Writer::end_item() {
  if (block_.size() >= block_bytes_) flush_block(false);
}

void Writer::kernel(const Kernel& k) {
  Put out(block_);
  put_kernel(out, k);
  end_item();
}
void Writer::site(const Site& s) {
  Put out(block_);
  put_site(out, s);
  end_item();
}
void Writer::buffer(const Buffer& b) {
  Put out(block_);
  put_buffer(out, b);
  end_item();
}
void Writer::event(const Event& e) {
  Put out(block_);
  put_event(out, e, previous_base_);
  ++events_;
  end_item();
}

void Writer::waves(std::span<const StridedWave> waves) {
  Put out(block_);
  for (const StridedWave& w : waves) {
    put_strided(out, w, previous_base_);
    ++events_;
    end_item();
  }
}

void Writer::flush_block(bool last) {
  if (block_.empty() && !last) return;
  std::string head;
  put_le32(head, kBlockMagic);
  put_le32(head, static_cast<uint32_t>(block_.size()));
  put_le64(head, hash_text(block_));
  file_.write(head);
  file_.write(block_);
  block_.clear();
  previous_base_ = 0;
}

void Writer::finish() {
  if (finished_) return;
  finished_ = true;
  Put out(block_);
  out.byte(static_cast<uint8_t>(Item::end));
  out.u(events_);
  flush_block(true);
  file_.commit();
}

}  // namespace lanewise::trace
