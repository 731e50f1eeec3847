// Textures and surfaces.
#pragma once

#include <memory>

#include "lanewise/buffer.hpp"

namespace lanewise {

/// lw_texture_options with what most textures are: one channel of 32-bit floats, coordinates that
/// wrap, nearest texels.
struct TextureOptions : lw_texture_options {
  TextureOptions() : lw_texture_options{} {
    struct_size = sizeof(lw_texture_options);
    texel_kind = LW_TEXEL_FLOAT;
    channels = 1;
    channel_bits = 32;
    most_level = 16;
  }
};

/// Texels in a buffer, and how kernels read them. An argument for a parameter of 64 bits.
class Texture {
 public:
  uint64_t handle() const {
    uint64_t value = 0;
    detail::call(lw_texture_handle(c_handle(), &value));
    return value;
  }
  operator Arg() const { return Arg(handle()); }  // NOLINT: meant to convert
  /// Where a level lies in the buffer, from the texture's offset on.
  static lw_texture_level layout(const TextureOptions& options, uint32_t level = 0) {
    lw_texture_level out{};
    out.struct_size = sizeof out;
    detail::call(lw_texture_layout(&options, level, &out));
    return out;
  }

  /// For calls of the C API; valid as long as this handle or a copy of it.
  lw_texture* c_handle() const {
    if (state_ != nullptr) return state_.get();
    throw DetailedError(ErrorKind::usage, ErrorDetail::bad_handle,
                        "an empty Texture handle was used: Device::texture makes one");
  }
  /// Takes over a handle of the C API, which it releases.
  static Texture from_c(lw_texture* handle) {
    Texture t;
    t.state_ = std::shared_ptr<lw_texture>(handle, lw_texture_release);
    return t;
  }

 private:
  std::shared_ptr<lw_texture> state_;
};

}  // namespace lanewise
