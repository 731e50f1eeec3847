#include "runtime/trace/interchange/input.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <streambuf>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/support/error.hpp"
#include "runtime/support/hash.hpp"

#if defined(LANEWISE_HAS_ZLIB)
#include <zlib.h>
#endif
#if defined(LANEWISE_HAS_LZMA)
#include <lzma.h>
#endif
#if defined(LANEWISE_HAS_ZSTD)
#include <zstd.h>
#endif

namespace lanewise::trace {
namespace {

constexpr size_t kChunk = size_t{1} << 18;

thread_local const ReportProgress::Listener* listener = nullptr;
thread_local HashContent* hasher = nullptr;

/// What a decoder takes and gives; it moves both pointers on.
struct Window {
  const char* in;
  size_t in_left;
  char* out;
  size_t out_left;
};

class Decoder {
 public:
  virtual ~Decoder() = default;
  /// Goes on until one side is used up. `last`: no more input will come. Returns why it cannot go
  /// on, or nothing.
  virtual std::string step(Window& w, bool last) = 0;
  /// Between two compressed members, or behind the only one.
  virtual bool whole() const = 0;
};

#if defined(LANEWISE_HAS_ZLIB)
class Gzip final : public Decoder {
 public:
  Gzip() { inflateInit2(&z_, 15 + 16); }
  ~Gzip() override { inflateEnd(&z_); }
  std::string step(Window& w, bool) override {
    if (whole_ && w.in_left != 0) {
      inflateReset(&z_);
      whole_ = false;
    }
    z_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(w.in));
    z_.avail_in = static_cast<uInt>(w.in_left);
    z_.next_out = reinterpret_cast<Bytef*>(w.out);
    z_.avail_out = static_cast<uInt>(w.out_left);
    const int r = inflate(&z_, Z_NO_FLUSH);
    w = {reinterpret_cast<const char*>(z_.next_in), z_.avail_in,
         reinterpret_cast<char*>(z_.next_out), z_.avail_out};
    whole_ = r == Z_STREAM_END;
    if (r == Z_OK || r == Z_BUF_ERROR || r == Z_STREAM_END) return {};
    return z_.msg != nullptr ? z_.msg : "no gzip data";
  }
  bool whole() const override { return whole_; }

 private:
  z_stream z_{};
  bool whole_ = false;
};
#endif

#if defined(LANEWISE_HAS_LZMA)
class Xz final : public Decoder {
 public:
  Xz() {
    if (lzma_stream_decoder(&z_, uint64_t{1} << 30, LZMA_CONCATENATED) != LZMA_OK)
      throw std::bad_alloc();
  }
  ~Xz() override { lzma_end(&z_); }
  std::string step(Window& w, bool last) override {
    z_.next_in = reinterpret_cast<const uint8_t*>(w.in);
    z_.avail_in = w.in_left;
    z_.next_out = reinterpret_cast<uint8_t*>(w.out);
    z_.avail_out = w.out_left;
    const lzma_ret r = lzma_code(&z_, last ? LZMA_FINISH : LZMA_RUN);
    w = {reinterpret_cast<const char*>(z_.next_in), z_.avail_in,
         reinterpret_cast<char*>(z_.next_out), z_.avail_out};
    whole_ = r == LZMA_STREAM_END;
    if (r == LZMA_OK || r == LZMA_BUF_ERROR || r == LZMA_STREAM_END) return {};
    return r == LZMA_MEMLIMIT_ERROR ? "xz wants more than 1 GiB of memory" : "damaged xz data";
  }
  bool whole() const override { return whole_; }

 private:
  lzma_stream z_ = LZMA_STREAM_INIT;
  bool whole_ = false;
};
#endif

#if defined(LANEWISE_HAS_ZSTD)
class Zstd final : public Decoder {
 public:
  ~Zstd() override { ZSTD_freeDStream(z_); }
  std::string step(Window& w, bool) override {
    ZSTD_inBuffer in{w.in, w.in_left, 0};
    ZSTD_outBuffer out{w.out, w.out_left, 0};
    const size_t r = ZSTD_decompressStream(z_, &out, &in);
    if (ZSTD_isError(r) != 0) return ZSTD_getErrorName(r);
    if (in.pos != 0 || out.pos != 0) whole_ = r == 0;
    w = {w.in + in.pos, w.in_left - in.pos, w.out + out.pos, w.out_left - out.pos};
    return {};
  }
  bool whole() const override { return whole_; }

 private:
  ZSTD_DStream* z_ = ZSTD_createDStream();
  bool whole_ = false;
};
#endif

template <class D>
std::unique_ptr<Decoder> make() {
  return std::make_unique<D>();
}

struct Packing {
  std::string_view magic, ending, name;
  std::unique_ptr<Decoder> (*decoder)();  ///< null: this build has none
};
constexpr Packing kPackings[] = {
#if defined(LANEWISE_HAS_ZLIB)
    {"\x1f\x8b", ".gz", "gzip", make<Gzip>},
#else
    {"\x1f\x8b", ".gz", "gzip", nullptr},
#endif
#if defined(LANEWISE_HAS_LZMA)
    {std::string_view("\xfd"
                      "7zXZ\0",
                      6),
     ".xz", "xz", make<Xz>},
#else
    {std::string_view("\xfd"
                      "7zXZ\0",
                      6),
     ".xz", "xz", nullptr},
#endif
#if defined(LANEWISE_HAS_ZSTD)
    {"\x28\xb5\x2f\xfd", ".zst", "zstd", make<Zstd>},
#else
    {"\x28\xb5\x2f\xfd", ".zst", "zstd", nullptr},
#endif
};

}  // namespace

class Input::Buffer final : public std::streambuf {
 public:
  explicit Buffer(const std::string& path) : path_(path), file_(path, std::ios::binary) {
    std::error_code no_file;  // of a pipe nobody knows the size
    whole_ = std::filesystem::is_regular_file(path, no_file)
                 ? std::filesystem::file_size(path, no_file)
                 : 0;
    if (!file_)
      throw Error(ErrorKind::usage, fmt::format("cannot read {}: {}", path, std::strerror(errno)));
    fill();
    const std::string_view start(raw_.data(), raw_left_);
    for (const Packing& k : kPackings) {
      if (!start.starts_with(k.magic)) continue;
      if (k.decoder == nullptr)
        throw Error(ErrorKind::usage,
                    fmt::format("{}: this build of Lanewise reads no {} files", path, k.name));
      decoder_ = k.decoder();
    }
  }
  bool cut() const { return cut_; }

 protected:
  int_type underflow() override {
    const size_t got = decoder_ ? decoded() : plain();
    if (got == 0) return traits_type::eof();
    setg(out_.data(), out_.data(), out_.data() + got);
    return traits_type::to_int_type(*gptr());
  }

 private:
  void fill() {
    file_.read(raw_.data(), static_cast<std::streamsize>(raw_.size()));
    raw_at_ = 0;
    raw_left_ = static_cast<size_t>(file_.gcount());
    read_ += raw_left_;
    if (hasher != nullptr) add_to(*hasher);
    if (listener != nullptr && *listener && whole_ != 0) (*listener)(read_, whole_);
    if (file_.bad() || (raw_left_ == 0 && !file_.eof()))
      throw Error(ErrorKind::usage, fmt::format("cannot read {}: {}", path_, std::strerror(errno)));
  }
  void add_to(HashContent& h) const { h.value_ = hash_bytes(raw_.data(), raw_left_, h.value_); }
  size_t plain() {
    if (raw_left_ == 0) fill();
    out_.swap(raw_);
    return std::exchange(raw_left_, 0);
  }
  size_t decoded() {
    Window w{nullptr, 0, out_.data(), out_.size()};
    while (w.out_left == out_.size()) {
      if (raw_left_ == 0 && !ended_) {
        fill();
        ended_ = raw_left_ == 0;
      }
      w.in = raw_.data() + raw_at_;
      w.in_left = raw_left_;
      if (ended_ && decoder_->whole()) break;
      const std::string why = decoder_->step(w, ended_);
      if (!why.empty()) throw Error(ErrorKind::usage, fmt::format("{}: {}", path_, why));
      const bool stuck = w.in_left == raw_left_ && w.out_left == out_.size();
      raw_at_ += raw_left_ - w.in_left;
      raw_left_ = w.in_left;
      if (!ended_ || !stuck) continue;
      cut_ = !decoder_->whole();
      break;
    }
    return out_.size() - w.out_left;
  }

  std::string path_;
  std::ifstream file_;
  std::vector<char> raw_ = std::vector<char>(kChunk), out_ = std::vector<char>(kChunk);
  size_t raw_at_ = 0, raw_left_ = 0;
  bool ended_ = false, cut_ = false;
  uint64_t read_ = 0, whole_ = 0;  ///< bytes of the file; 0 = not known
  std::unique_ptr<Decoder> decoder_;
};

ReportProgress::ReportProgress(const Listener& given) : before_(std::exchange(listener, &given)) {}
ReportProgress::~ReportProgress() {
  listener = before_;
}

HashContent::HashContent() : before_(std::exchange(hasher, this)), value_(kHashSeed) {}
HashContent::~HashContent() {
  hasher = before_;
}

Input::Input(const std::string& path)
    : buffer_(std::make_unique<Buffer>(path)),
      stream_(std::make_unique<std::istream>(buffer_.get())) {
  stream_->exceptions(std::ios::badbit);  // an Error of the buffer goes on as it is
}
Input::~Input() = default;

bool Input::cut() const {
  return buffer_->cut();
}

std::string without_compression(const std::string& name) {
  for (const Packing& k : kPackings)
    if (name.size() > k.ending.size() && name.ends_with(k.ending))
      return name.substr(0, name.size() - k.ending.size());
  return name;
}

}  // namespace lanewise::trace
