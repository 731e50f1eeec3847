#include "runtime/cli/texture_arg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

namespace lanewise::cli {
namespace {

[[noreturn]] void refuse_texture(const std::string& spec, const std::string& why) {
  throw Error(ErrorKind::usage, fmt::format("--arg {}: {}", spec, why));
}

std::vector<std::string> split_at(const std::string& text, char at) {
  std::vector<std::string> parts;
  size_t from = 0;
  while (true) {
    const size_t end = text.find(at, from);
    parts.push_back(text.substr(from, end - from));
    if (end == std::string::npos) return parts;
    from = end + 1;
  }
}

class TextureKeys {
 public:
  TextureKeys(const std::string& spec, const std::string& text) : spec_(spec) {
    if (text.empty()) return;
    for (const std::string& part : split_at(text, ',')) {
      const size_t equals = part.find('=');
      if (equals == std::string::npos)
        refuse_texture(spec, fmt::format("'{}' is no KEY=VALUE", part));
      if (!values_.emplace(part.substr(0, equals), part.substr(equals + 1)).second)
        refuse_texture(spec, fmt::format("'{}' is there twice", part.substr(0, equals)));
    }
  }
  /// Takes a key away; "" where it is not there.
  std::string take(const std::string& key) {
    const auto it = values_.find(key);
    if (it == values_.end()) return {};
    std::string value = it->second;
    values_.erase(it);
    return value;
  }
  /// The place of the key's value in the list; 0 where the key is not there.
  uint32_t one_of(const std::string& key, const std::vector<std::string>& allowed) {
    const std::string value = take(key);
    return value.empty() ? 0 : place(key, value, allowed);
  }
  uint32_t place(const std::string& key, const std::string& value,
                 const std::vector<std::string>& allowed) const {
    const auto it = std::ranges::find(allowed, value);
    if (it != allowed.end()) return static_cast<uint32_t>(it - allowed.begin());
    std::string list;
    for (const std::string& a : allowed) list += (list.empty() ? "" : ", ") + a;
    refuse_texture(spec_, fmt::format("{}={}: expected one of {}", key, value, list));
  }
  void done() const {
    if (!values_.empty())
      refuse_texture(spec_,
                     fmt::format("unknown key '{}'; there are: address, border, channels, coords, "
                                 "filter, kind, read, to",
                                 values_.begin()->first));
  }

 private:
  const std::string& spec_;
  std::map<std::string, std::string> values_;
};

void set_format(const std::string& spec, TextureOptions& o, const std::string& type) {
  const char kind = type[0];
  o.texel_kind = kind == 'f' ? LW_TEXEL_FLOAT : kind == 'i' ? LW_TEXEL_SIGNED : LW_TEXEL_UNSIGNED;
  o.channel_bits = 8 * npy::element_size(type);
  if (o.channel_bits == 64) refuse_texture(spec, "textures have channels of 8, 16 and 32 bits");
}

/// The sizes, the last one that changes fastest first.
void set_shape(const std::string& spec, TextureOptions& o, std::vector<uint64_t> shape,
               TextureKeys& keys) {
  const std::string channels = keys.take("channels");
  const uint64_t last = shape.empty() ? 0 : shape.back();
  const bool counts = last == 1 || last == 2 || last == 4;
  if (!channels.empty()) {
    o.channels = static_cast<uint32_t>(std::strtoul(channels.c_str(), nullptr, 10));
    if (o.channels != 1 && o.channels != 2 && o.channels != 4)
      refuse_texture(spec, "channels: 1, 2 or 4 are possible");
  } else if (shape.size() > 2 && counts) {
    o.channels = static_cast<uint32_t>(last);
  }
  if (o.channels > 1 || (channels.empty() && shape.size() > 2 && last == 1)) {
    if (last != o.channels)
      refuse_texture(spec, fmt::format("the last dimension is {}, not the channels", last));
    shape.pop_back();
  }
  std::ranges::reverse(shape);
  const std::vector<std::string> kinds = {"1d",       "2d",   "3d",         "1d-array",
                                          "2d-array", "cube", "cube-array", "buffer"};
  const std::string kind = keys.take("kind");
  const size_t wanted =
      kind.empty() ? std::min<size_t>(shape.size(), 3) - 1 : keys.place("kind", kind, kinds);
  constexpr size_t kSizes[] = {1, 2, 3, 2, 3, 3, 3, 1}, kBuffer = 7;
  if (shape.size() != kSizes[wanted])
    refuse_texture(
        spec, fmt::format("a texture of kind {} has {} dimensions beside the channels, the file {}",
                          kinds[wanted], kSizes[wanted], shape.size()));
  o.width = static_cast<uint32_t>(shape[0]);
  if (wanted == 3) {
    o.layers = static_cast<uint32_t>(shape[1]);
  } else if (wanted > 0 && wanted != kBuffer) {
    o.height = static_cast<uint32_t>(shape[1]);
    (wanted == 2 ? o.depth : o.layers) = shape.size() > 2 ? static_cast<uint32_t>(shape[2]) : 0;
  }
  o.cube = wanted == 5 || wanted == 6 ? 1 : 0;
  o.texel_buffer = wanted == kBuffer ? 1 : 0;
}

}  // namespace

TextureSpec parse_texture(const std::string& spec, const npy::Array& array,
                          const std::string& text) {
  TextureKeys keys(spec, text);
  TextureSpec out;
  TextureOptions& o = out.options;
  for (const uint64_t n : array.shape)
    if (n == 0 || n > (1U << 27))
      refuse_texture(spec, fmt::format("{} texels along a dimension", n));
  if (array.shape.empty())
    refuse_texture(spec, "the file holds one number, a texture has dimensions");
  set_format(spec, o, array.type);
  set_shape(spec, o, array.shape, keys);
  // As the file has them, without gaps.
  o.row_pitch = uint64_t{o.width} * o.channels * o.channel_bits / 8;
  o.slice_pitch = o.row_pitch * std::max(o.height, 1U);
  o.filter = keys.one_of("filter", {"nearest", "linear"});
  o.unnormalised = keys.one_of("coords", {"texels", "normalised"}) == 0 ? 1 : 0;
  const uint32_t read = keys.one_of("read", {"element", "fraction", "srgb"});
  o.fractions = read != 0 ? 1 : 0;
  o.srgb = read == 2 ? 1 : 0;
  const std::vector<std::string> modes = {"wrap", "clamp", "mirror", "border"};
  std::string address = keys.take("address");
  if (address.empty()) address = "clamp";
  const std::vector<std::string> axes = split_at(address, '/');
  if (axes.size() > 3)
    refuse_texture(spec, "address: one mode, or one for each of up to three axes");
  for (size_t n = 0; n < 3; ++n)
    o.address_mode[n] = keys.place("address", axes[std::min(n, axes.size() - 1)], modes);
  if (const std::string border = keys.take("border"); !border.empty()) {
    const std::vector<std::string> parts = split_at(border, '/');
    for (size_t n = 0; n < 4 && n < parts.size(); ++n) {
      char* end = nullptr;
      o.border[n] = std::strtof(parts[n].c_str(), &end);
      if (parts[n].empty() || *end != 0)
        refuse_texture(spec, fmt::format("border: '{}' is no number", parts[n]));
    }
  }
  out.write_to = keys.take("to");
  keys.done();
  return out;
}

}  // namespace lanewise::cli
