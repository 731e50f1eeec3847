// Images of GCN: every instruction, with random descriptors, coordinates and data, against the
// literal model of the descriptors (tests/oracle/gcn_image.hpp). LANEWISE_IMAGES=N: N rounds of
// each instruction and generation in place of one.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <random>
#include <span>

#include "runtime/ir/texture.hpp"
#include "runtime/isa/gcn/gcn.hpp"
#include "tests/oracle/gcn_image.hpp"
#include "tests/unit/run_support.hpp"

using namespace lanewise;
namespace spec = lanewise::oracle::gcn;

namespace {

constexpr uint32_t kLanes = 64, kInWords = 20, kOutWords = 8, kSentinel = 0x5eed5eed;
constexpr const char* kTargets[] = {"gfx600", "gfx700", "gfx803"};

/// What a mnemonic says, read from its letters.
struct Form {
  std::string name;
  bool sample = false, gather = false, load = false, store = false, atomic = false, packed = false,
       extends = false, mip = false, offset = false, bias = false, compare = false,
       gradients = false, clamp = false, level = false, zero = false, lod = false, size = false;

  explicit Form(std::string of) : name(std::move(of)) {
    const auto has = [&](const std::string& part) {
      return (name + "_").find("_" + part + "_") != std::string::npos;
    };
    sample = has("sample");
    gather = has("gather4");
    load = has("load");
    store = has("store");
    atomic = has("atomic");
    lod = name == "image_get_lod";
    size = name == "image_get_resinfo";
    packed = has("pck");
    extends = has("sgn");
    mip = has("mip");
    if (!sample && !gather) return;
    offset = has("o");
    bias = has("b");
    compare = has("c");
    gradients = has("d") || has("cd");
    clamp = has("cl");
    level = has("l");
    zero = has("lz");
  }
  bool samples() const { return sample || gather || lod; }
  /// Enough for every image, as assemblers take it.
  unsigned address_registers() const {
    const unsigned most = 3U + offset + bias + compare + 6 * gradients + (clamp || level);
    return !samples() || most <= 4 ? 4 : most <= 8 ? 8 : 16;
  }
  bool finds_level() const { return samples() && !gradients && !level && !zero; }
};

std::vector<std::string> mnemonics(int generation) {
  std::vector<std::string> out = {"image_get_resinfo"};
  for (const char* mip : {"", "_mip"}) {
    for (const char* packed : {"", "_pck", "_pck_sgn"})
      out.push_back(fmt::format("image_load{}{}", mip, packed));
    for (const char* packed : {"", "_pck"})
      out.push_back(fmt::format("image_store{}{}", mip, packed));
  }
  for (const char* op : {"swap", "cmpswap", "add", "sub", "smin", "umin", "smax", "umax", "and",
                         "or", "xor", "inc", "dec", "rsub", "fcmpswap", "fmin", "fmax"}) {
    const std::string name = op;
    if (name == "rsub" && generation != 0) continue;
    if (name[0] == 'f' && generation == 2) continue;
    out.push_back("image_atomic_" + name);
  }
  for (const char* compare : {"", "_c"})
    for (const char* level :
         {"", "_cl", "_d", "_d_cl", "_l", "_b", "_b_cl", "_lz", "_cd", "_cd_cl"})
      for (const char* offset : {"", "_o"}) {
        out.push_back(fmt::format("image_sample{}{}{}", compare, level, offset));
        if (std::string(level).find('d') == std::string::npos)
          out.push_back(fmt::format("image_gather4{}{}{}", compare, level, offset));
      }
  return out;
}

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(engine_() % n); }
  uint32_t word() { return static_cast<uint32_t>(engine_()); }
  bool one_in(uint32_t n) { return below(n) == 0; }
  template <typename T, size_t N>
  T of(const T (&list)[N]) {
    return list[below(N)];
  }

 private:
  std::mt19937_64 engine_;
};

void put_bits(uint32_t* words, unsigned low, unsigned count, uint32_t v) {
  for (unsigned n = 0; n < count; ++n) {
    uint32_t& w = words[(low + n) / 32];
    w = (w & ~(1U << ((low + n) % 32))) | (v >> n & 1) << ((low + n) % 32);
  }
}

/// One launch: an instruction with its flags, descriptors and lanes.
struct Trial {
  int generation = 0;
  Form form{"image_load"};
  unsigned dmask = 15;
  bool unorm = false, da = false, r128 = false, tfe = false, d16 = false, glc = false,
       noise = false;
  std::array<uint32_t, 8> t{};
  std::array<uint32_t, 4> s{};
  uint32_t texel_bytes = 0;  ///< of the whole image
  std::vector<uint32_t> in = std::vector<uint32_t>(kLanes * kInWords);
  std::vector<spec::SampleRequest> requests;
  struct Texel {
    uint32_t x = 0, y = 0, z = 0, slice = 0, mip = 0;
  };
  std::vector<Texel> places;

  unsigned data_count() const {
    const auto components = static_cast<unsigned>(std::popcount(dmask));
    return (form.gather ? 4 : std::max(components, 1U)) + (tfe ? 1 : 0);
  }
  static std::string range(unsigned first, unsigned count) {
    return count == 1 ? fmt::format("v{}", first)
                      : fmt::format("v[{}:{}]", first, first + count - 1);
  }
  std::string instruction(unsigned address_count) const {
    std::string text = fmt::format("{} {}, {}, s[8:15]", form.name, range(20, data_count()),
                                   range(4, address_count));
    if (form.samples()) text += ", s[16:19]";
    text += fmt::format(" dmask:{:#x}", dmask);
    if (unorm) text += " unorm";
    if (glc) text += " glc";
    if (noise) text += " slc";
    if (r128) text += " r128";
    if (tfe) text += " tfe";
    if (noise) text += " lwe";
    if (da) text += " da";
    if (d16) text += " d16";
    return text;
  }
  /// Arguments: the address of T#, S#, and two V#; lane n has its own part of both buffers.
  std::string text() const {
    const unsigned unit = generation == 2 ? 4 : 1;
    const auto at = [&](unsigned dword) { return fmt::format("{:#x}", dword * unit); };
    std::string out =
        fmt::format("s_load_dwordx2 s[2:3], s[0:1], {}\ns_waitcnt lgkmcnt(0)\n", at(0));
    out += fmt::format("s_load_dwordx8 s[8:15], s[2:3], {}\n", at(0));
    for (const auto& [to, dword] : {std::pair(16, 8), {20, 12}, {24, 16}})
      out += fmt::format("s_load_dwordx4 s[{}:{}], s[2:3], {}\n", to, to + 3, at(dword));
    out += "s_waitcnt lgkmcnt(0)\n";
    for (unsigned n = 0; n < 5; ++n)
      out += fmt::format("buffer_load_dwordx4 v[{}:{}], v0, s[20:23], 0 idxen offset:{}\n",
                         4 + 4 * n, 7 + 4 * n, 16 * n);
    out += "s_waitcnt vmcnt(0)\n";
    out += instruction(form.address_registers());
    out +=
        "\ns_waitcnt vmcnt(0)\n"
        "buffer_store_dwordx4 v[20:23], v0, s[24:27], 0 idxen\n"
        "buffer_store_dwordx4 v[24:27], v0, s[24:27], 0 idxen offset:16\n"
        "s_endpgm\n";
    return out;
  }
};

float edge_coordinate(Random& r, float size) {
  switch (r.below(12)) {
    case 0:
      return r.of({0.0F, -0.0F, 1.0F, NAN, INFINITY, -INFINITY, 1e30F, -1e30F, 1e-40F});
    case 1:
    case 2:  // at the border of two texels, in the middle of one, beside them
      return (static_cast<float>(r.below(16)) / 2 + r.of({0.0F, 0.001F, -0.001F, 1 / 256.0F})) /
             size;
    default:
      return (static_cast<float>(r.below(1 << 20)) / (1 << 20) * (size * 3 + 6) - size - 3) / size;
  }
}

class Maker {
 public:
  Maker(uint64_t seed, int generation, const std::string& name) : r_(seed) {
    x_.generation = generation;
    x_.form = Form(name);
  }
  Trial make(uint64_t base) {
    descriptor(base);
    if (x_.form.samples()) sampler();
    flags();
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      x_.form.samples() ? sample_lane(lane) : texel_lane(lane);
    return x_;
  }

 private:
  void put(unsigned low, unsigned count, uint32_t v) { put_bits(x_.t.data(), low, count, v); }

  void descriptor(uint64_t base) {
    const Form& f = x_.form;
    type_ = r_.of({8U, 9U, 9U, 10U, 11U, 12U, 13U});
    x_.r128 = type_ <= 9 && r_.one_in(4);
    const bool exact_levels = f.finds_level() || f.gradients;
    const auto size = [&] { return exact_levels ? 1U << r_.below(4) : 1 + r_.below(9); };
    width_ = size();
    height_ = type_ == 11 ? width_ : size();
    if (type_ == 8 || type_ == 12) height_ = 1;
    depth_ = type_ == 10 ? (exact_levels ? 1U << r_.below(3) : 1 + r_.below(4)) : 1;
    const unsigned layers = type_ == 11 ? 6 : type_ >= 12 ? 1 + r_.below(4) : 1;
    first_layer_ = type_ >= 12 ? r_.below(3) : 0;
    last_layer_ = first_layer_ + layers - 1;
    const unsigned longest = std::max({width_, height_, depth_});
    const auto most = static_cast<unsigned>(std::bit_width(longest)) - 1;
    last_level_ = x_.r128 ? 0 : r_.below(most + 1);
    base_level_ = exact_levels || r_.below(3) != 0 ? 0 : r_.below(last_level_ + 1);
    choose_format();
    const unsigned bytes = spec::layout(dfmt_).bytes;
    const unsigned pitch = width_ + r_.below(4);
    put(0, 32, static_cast<uint32_t>(base >> 8));
    put(32, 8, static_cast<uint32_t>(base >> 40));
    put(40, 12, r_.one_in(4) ? r_.below(400) : 0);
    put(52, 6, dfmt_);
    put(58, 4, nfmt_);
    put(64, 14, width_ - 1);
    put(78, 14, height_ - 1);
    const bool swizzled = r_.one_in(3);
    for (unsigned n = 0; n < 4; ++n)
      put(96 + 3 * n, 3, swizzled && !f.atomic ? r_.of({0U, 1U, 4U, 5U, 6U, 7U}) : 4 + n);
    put(108, 4, base_level_);
    put(112, 4, last_level_);
    put(116, 5, 8);
    put(121, 1, r_.below(2));
    put(124, 4, type_);
    put(128, 13, depth_ - 1);
    put(141, 14, pitch - 1);
    put(160, 13, first_layer_);
    put(173, 13, last_layer_);
    const auto image = spec::ImageResource::of(x_.t.data(), x_.r128);
    const spec::ImageLevel last = spec::level_of(image, last_level_);
    x_.texel_bytes = static_cast<uint32_t>(last.start + last.slice * last.depth * 2 + bytes);
  }

  void choose_format() {
    const Form& f = x_.form;
    if (f.atomic) {
      const bool wide = wide_ = r_.one_in(2);
      dfmt_ = wide ? 11 : 4;
      nfmt_ = f.name.find("atomic_f") != std::string::npos ? 7 : r_.of({4U, 5U});
      return;
    }
    for (;;) {
      dfmt_ = 1 + r_.below(14);
      nfmt_ = r_.below(10);
      if (f.compare && r_.below(4) != 0) std::tie(dfmt_, nfmt_) = std::pair(4U, 7U);
      if (nfmt_ == 8) continue;
      const bool vi = x_.generation == 2;
      if (nfmt_ == 9 ? !f.store && (dfmt_ == 1 || dfmt_ == 3 || dfmt_ == 10)
                     : spec::legal(dfmt_, nfmt_, f.store, vi))
        return;
    }
  }

  void sampler() {
    uint32_t* s = x_.s.data();
    for (unsigned n = 0; n < 3; ++n) put_bits(s, 3 * n, 3, r_.below(8));
    put_bits(s, 12, 3, r_.below(8));
    unnormalised_ = !x_.form.finds_level() && !x_.form.gradients && r_.one_in(3);
    put_bits(s, 15, 1, unnormalised_ && r_.one_in(2) ? 1 : 0);
    x_.unorm = unnormalised_ && spec::bits_of(s, 15, 1) == 0;
    put_bits(s, 32, 12, r_.one_in(3) ? r_.below(500) : 0);
    put_bits(s, 44, 12, r_.one_in(3) ? r_.below(900) : 0xfff);
    put_bits(s, 64, 14, r_.one_in(3) ? r_.below(0x4000) : 0);
    put_bits(s, 84, 2, r_.below(4));
    put_bits(s, 86, 2, r_.below(4));
    put_bits(s, 90, 2, r_.below(3));
    put_bits(s, 126, 2, r_.below(3));
    resource_ = spec::SamplerResource::of(s);
    resource_.unnormalised = unnormalised_;
  }

  void flags() {
    const Form& f = x_.form;
    x_.da = type_ >= 11 || r_.one_in(8);
    x_.noise = r_.one_in(2);
    x_.glc = r_.one_in(2);
    x_.dmask = r_.one_in(8) ? 0 : 1 + r_.below(15);
    if (f.gather) x_.dmask = 1U << r_.below(4);
    if (f.atomic) {
      const bool compares = f.name.find("cmpswap") != std::string::npos;
      x_.dmask = compares ? (wide_ ? 15 : 3) : (wide_ ? 3 : 1);
    }
    x_.tfe = (f.load || f.samples()) && r_.one_in(4);
    x_.d16 = x_.generation == 2 && !f.packed && !f.atomic && !f.size && !f.lod && r_.one_in(4);
  }

  void lane_word(uint32_t lane, unsigned n, uint32_t v) { x_.in[lane * kInWords + n] = v; }
  void lane_word(uint32_t lane, unsigned n, float v) {
    lane_word(lane, n, std::bit_cast<uint32_t>(v));
  }
  unsigned dimensions() const {
    return type_ == 8 || type_ == 12 ? 1 : type_ == 9 || type_ == 13 ? 2 : 3;
  }
  bool has_slice() const { return x_.da && dimensions() < 3; }

  void data_words(uint32_t lane) {
    for (unsigned n = 16; n < kInWords; ++n) {
      uint32_t v = r_.word();
      // Near what formats can hold, and for exchanges what is there.
      if (r_.one_in(2)) v = std::bit_cast<uint32_t>(static_cast<float>(r_.below(4000)) / 1000 - 2);
      if (x_.form.atomic && r_.one_in(3)) v = r_.below(4);
      lane_word(lane, n, v);
    }
  }

  void texel_lane(uint32_t lane) {
    data_words(lane);
    Trial::Texel p;
    const auto near = [&](uint32_t size) {
      return r_.one_in(8) ? r_.word() : r_.below(size + 2) - 1;
    };
    p.x = near(width_);
    p.y = near(height_);
    p.z = near(depth_);
    p.slice = near(type_ == 11 || type_ >= 12 ? last_layer_ - first_layer_ + 1 : 1);
    p.mip = r_.one_in(8) ? r_.word() : r_.below(last_level_ - base_level_ + 2);
    if (x_.form.store || x_.form.atomic) unique(lane, p);
    unsigned at = 0;
    if (x_.form.size) {
      lane_word(lane, at, p.mip);
      return x_.places.push_back(p);
    }
    lane_word(lane, at++, p.x);
    if (dimensions() > 1) lane_word(lane, at++, p.y);
    if (type_ == 10) lane_word(lane, at++, p.z);
    if (type_ == 11 || has_slice())
      lane_word(lane, at++, p.slice);
    else
      p.slice = 0;
    if (x_.form.mip)
      lane_word(lane, at++, p.mip);
    else
      p.mip = 0;
    x_.places.push_back(p);
  }
  /// No two lanes write one texel.
  void unique(uint32_t lane, Trial::Texel& p) const {
    if (x_.form.mip) p.mip = 0;
    const uint32_t columns = std::max(width_ >> base_level_, 1U),
                   rows = std::max(height_ >> base_level_, 1U);
    p.x = lane % (columns + 1);
    p.y = dimensions() > 1 ? lane / (columns + 1) % (rows + 1) : 0;
    const uint32_t rest = lane / (columns + 1) / (dimensions() > 1 ? rows + 1 : 1);
    p.z = p.slice = rest;
    if (dimensions() < 3 && !has_slice() && rest != 0) p.x = 1000;
  }

  /// A gradient of 2^k texels by one axis, as the level k; the other axes change less.
  float exact_gradient(std::array<float, 6>& g) {
    const int k = static_cast<int>(r_.below(6)) - 2;
    const unsigned screen = r_.below(2), axis = r_.below(type_ == 11 ? 2 : dimensions());
    const float size = static_cast<float>(axis == 0 ? width_ : axis == 1 ? height_ : depth_);
    g[3 * screen + axis] = std::ldexp(r_.one_in(2) ? -1.0F : 1.0F, k) / size;
    return static_cast<float>(k);
  }

  void sample_lane(uint32_t lane) {
    const Form& f = x_.form;
    for (unsigned n = 16; n < kInWords; ++n) lane_word(lane, n, kSentinel);
    spec::SampleRequest q;
    const auto coordinate = [&](unsigned size) {
      return edge_coordinate(r_, unnormalised_ ? 1.0F : static_cast<float>(size)) *
             (unnormalised_ && r_.one_in(2) ? static_cast<float>(size) : 1.0F);
    };
    q.x = coordinate(width_);
    q.y = coordinate(height_);
    q.z = coordinate(depth_);
    q.slice = r_.one_in(6) ? r_.of({-1.0F, 0.5F, 1.5F, 100.0F, NAN})
                           : static_cast<float>(r_.below(last_layer_ - first_layer_ + 1));
    if (f.finds_level()) {
      // Lanes 0, 1 and 2 of a quad have the gradients.
      if (lane % 4 == 0) {
        quad_ = {};
        quad_level_ = exact_gradient(quad_);
        start_ = {static_cast<float>(r_.below(64)) / 32 - 0.5F,
                  static_cast<float>(r_.below(64)) / 32 - 0.5F,
                  static_cast<float>(r_.below(64)) / 32 - 0.5F};
      }
      std::array<float, 3> at = start_;
      for (unsigned n = 0; n < 3; ++n)
        for (unsigned screen = 0; screen < 2; ++screen)
          if ((lane >> screen & 1) != 0) at[n] += quad_[3 * screen + n];
      q.x = at[0];
      q.y = at[1];
      q.z = at[2];
    }
    if (type_ == 11) {
      q.slice = static_cast<float>(r_.below(6));
      if (!f.finds_level()) q.x = std::clamp(std::isnan(q.x) ? 0 : q.x, 0.0F, 1.0F);
      if (!f.finds_level()) q.y = std::clamp(std::isnan(q.y) ? 0 : q.y, 0.0F, 1.0F);
      q.x += 1;
      q.y += 1;
    }
    unsigned at = 0;
    if (f.offset) {
      uint32_t packed = r_.word() & 0xc0c0c0c0;  // bits that mean nothing
      for (unsigned n = 0; n < 3; ++n) {
        q.offset[n] = static_cast<int>(r_.below(16)) - 8;
        packed |= (static_cast<uint32_t>(q.offset[n]) & 63) << (8 * n);
      }
      lane_word(lane, at++, packed);
      if (dimensions() < 2) q.offset[1] = 0;
      if (type_ != 10) q.offset[2] = 0;
    }
    const float bias = static_cast<float>(static_cast<int>(r_.below(1024)) - 512) / 256;
    if (f.bias) lane_word(lane, at++, bias);
    if (f.compare) {
      q.compare = r_.one_in(8) ? NAN : static_cast<float>(r_.below(3000)) / 1000 - 1;
      lane_word(lane, at++, *q.compare);
    }
    if (f.gradients) {
      std::array<float, 6> g{};
      q.level = exact_gradient(g);
      const unsigned axes = type_ == 11 ? 2 : dimensions();
      for (unsigned screen = 0; screen < 2; ++screen)
        for (unsigned n = 0; n < axes; ++n) lane_word(lane, at++, g[3 * screen + n]);
    }
    if (f.finds_level()) q.level = quad_level_;
    if (f.bias) *q.level += bias;
    lane_word(lane, at++, q.x);
    if (dimensions() > 1) lane_word(lane, at++, q.y);
    if (type_ == 10) lane_word(lane, at++, q.z);
    if (type_ == 11 || has_slice())
      lane_word(lane, at++, q.slice);
    else
      q.slice = 0;
    if (f.level) q.level = static_cast<float>(static_cast<int>(r_.below(1500)) - 300) / 256;
    if (f.level) lane_word(lane, at++, *q.level);
    if (f.clamp) q.least = static_cast<float>(r_.below(600)) / 256;
    if (f.clamp) lane_word(lane, at++, *q.least);
    if (f.gather) q.gather = std::countr_zero(x_.dmask);
    x_.requests.push_back(q);
  }

  Random r_;
  Trial x_;
  unsigned type_ = 9, width_ = 1, height_ = 1, depth_ = 1, first_layer_ = 0, last_layer_ = 0,
           base_level_ = 0, last_level_ = 0, dfmt_ = 4, nfmt_ = 7;
  bool unnormalised_ = false, wide_ = false;
  spec::SamplerResource resource_;
  std::array<float, 6> quad_{};
  std::array<float, 3> start_{};
  float quad_level_ = 0;
};

uint32_t first_component_bits(unsigned dfmt) {
  return spec::layout(dfmt).field[0].width;
}

/// What the lanes and the memory hold afterwards.
class Expected {
 public:
  Expected(const Trial& trial, spec::TexelMemory& memory)
      : x_(trial), m_(memory), image_(spec::ImageResource::of(trial.t.data(), trial.r128)) {}

  std::vector<uint32_t> run() {
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      std::array<uint32_t, kOutWords> out{};
      for (unsigned n = 0; n < 4; ++n) out[n] = x_.in[lane * kInWords + 16 + n];
      if (x_.form.samples())
        sampled(lane, out);
      else
        accessed(lane, out);
      all_.insert(all_.end(), out.begin(), out.end());
    }
    return all_;
  }

 private:
  using Out = std::array<uint32_t, kOutWords>;

  void deliver(Out& out, const spec::Texel& values) const {
    unsigned to = 0;
    const unsigned mask = x_.form.gather ? 15 : std::max(x_.dmask, 1U);
    for (unsigned n = 0; n < 4; ++n)
      if ((mask >> n & 1) != 0) out[to++] = values[n];
    if (x_.tfe) out[to] = 0;
  }

  void sampled(uint32_t lane, Out& out) const {
    auto s = spec::SamplerResource::of(x_.s.data());
    s.unnormalised = s.unnormalised || x_.unorm;
    spec::Texel v = spec::Sampler(image_, s, m_).sample(x_.requests[lane]);
    const bool integers = image_.nfmt == spec::uint_ || image_.nfmt == spec::sint;
    if (x_.d16)
      for (uint32_t& w : v) w = integers ? w & 0xffff : spec::narrow_small(w, 10, false);
    deliver(out, v);
  }

  void accessed(uint32_t lane, Out& out) {
    const Trial::Texel& t = x_.places[lane];
    if (x_.form.size) return deliver(out, sizes(t.mip));
    const spec::TexelPlace p = spec::texel_place(image_, t.x, t.y, t.z, t.slice, t.mip);
    if (x_.form.atomic) return atomic(p, out);
    if (x_.form.store) return store(p, out);
    if (!x_.form.packed) return deliver(out, spec::read_texel(image_, m_, p, x_.d16));
    spec::Texel raw = bytes_at(p);
    const unsigned n = first_component_bits(image_.dfmt);
    for (uint32_t& w : raw)
      if (x_.form.extends && n < 32 && (n == 8 || n == 16)) {
        const unsigned up = 32 - n;
        w = static_cast<uint32_t>(static_cast<int32_t>(w << up) >> up);
      }
    deliver(out, raw);
  }

  spec::Texel bytes_at(const spec::TexelPlace& p) const {
    spec::Texel raw{};
    for (unsigned n = 0; p.inside && n < image_.bytes(); ++n)
      raw[n / 4] |= uint32_t{m_.bytes.at(p.address - m_.base + n)} << (8 * (n % 4));
    return raw;
  }
  void put_bytes(const spec::TexelPlace& p, const spec::Texel& raw, unsigned bytes) {
    for (unsigned n = 0; p.inside && n < bytes; ++n)
      m_.bytes.at(p.address - m_.base + n) = static_cast<uint8_t>(raw[n / 4] >> (8 * (n % 4)));
  }

  spec::Texel sizes(uint32_t mip) const {
    const uint32_t levels = image_.last_level - image_.base_level;
    if (mip > levels) return {0, 0, 0, levels + 1};
    const auto at = [&](unsigned size) { return std::max(size >> (image_.base_level + mip), 1U); };
    const unsigned layers = image_.last_array - image_.base_array + 1;
    const bool one = image_.dimensions() == 1, deep = image_.type == spec::k3D;
    return {at(image_.width), one ? layers : at(image_.height),
            deep  ? at(image_.depth)
            : one ? 1
                  : layers,
            levels + 1};
  }

  void store(const spec::TexelPlace& p, const Out& data) {
    spec::Texel values{};
    unsigned from = 0;
    for (unsigned n = 0; n < 4; ++n)
      if ((std::max(x_.dmask, 1U) >> n & 1) != 0) values[n] = data[from++];
    if (x_.form.packed) return put_bytes(p, values, image_.bytes());
    spec::Rules rules;
    rules.d16 = x_.d16;
    put_bytes(p, spec::store(values, 4, image_.dfmt, image_.nfmt, image_.select, rules),
              image_.bytes());
  }

  template <typename T, typename F>
  static T applied(const std::string& op, T old, T value, T compare) {
    using S = std::make_signed_t<T>;
    const F f_old = std::bit_cast<F>(old), f_value = std::bit_cast<F>(value);
    if (op == "swap") return value;
    if (op == "cmpswap") return old == compare ? value : old;
    if (op == "add") return old + value;
    if (op == "sub") return old - value;
    if (op == "rsub") return value - old;
    if (op == "smin") return static_cast<T>(std::min(static_cast<S>(old), static_cast<S>(value)));
    if (op == "smax") return static_cast<T>(std::max(static_cast<S>(old), static_cast<S>(value)));
    if (op == "umin") return std::min(old, value);
    if (op == "umax") return std::max(old, value);
    if (op == "and") return old & value;
    if (op == "or") return old | value;
    if (op == "xor") return old ^ value;
    if (op == "inc") return old >= value ? 0 : old + 1;
    if (op == "dec") return old == 0 || old > value ? value : old - 1;
    if (op == "fcmpswap") return f_old == std::bit_cast<F>(compare) ? value : old;
    const bool least = op == "fmin";
    if (std::isnan(f_value)) return old;
    if (std::isnan(f_old)) return value;
    if (f_old == f_value) return least == (old >> (8 * sizeof(T) - 1) != 0) ? old : value;
    return (f_value < f_old) == least ? value : old;
  }
  void atomic(const spec::TexelPlace& p, Out& out) {
    const std::string op = x_.form.name.substr(std::string("image_atomic_").size());
    const bool compares = op.ends_with("cmpswap"), wide = image_.bytes() == 8;
    const spec::Texel old = bytes_at(p);
    const unsigned other = wide ? 2 : 1;
    const auto pair = [](uint32_t low, uint32_t high) { return uint64_t{high} << 32 | low; };
    spec::Texel now{};
    if (wide) {
      const uint64_t v = applied<uint64_t, double>(op, pair(old[0], old[1]), pair(out[0], out[1]),
                                                   compares ? pair(out[other], out[other + 1]) : 0);
      now = {static_cast<uint32_t>(v), static_cast<uint32_t>(v >> 32), 0, 0};
    } else {
      now[0] = applied<uint32_t, float>(op, old[0], out[0], compares ? out[other] : 0);
    }
    put_bytes(p, now, image_.bytes());
    if (!x_.glc) return;
    out[0] = old[0];
    if (wide) out[1] = old[1];
  }

  const Trial& x_;
  spec::TexelMemory& m_;
  spec::ImageResource image_;
  std::vector<uint32_t> all_;
};

bool same_word(uint32_t a, uint32_t b) {
  const auto nan = [](uint32_t v) { return (v & 0x7fffffff) > 0x7f800000; };
  return a == b || (nan(a) && nan(b));
}
bool same_half(uint32_t a, uint32_t b) {
  const auto nan = [](uint32_t v) { return v <= 0xffff && (v & 0x7fff) > 0x7c00; };
  return a == b || (nan(a) && nan(b));
}

ir::Program lowered(const std::string& text, int generation) {
  constexpr gcn::Gen kGenerations[] = {gcn::Gen::gfx6, gcn::Gen::gfx7, gcn::Gen::gfx8};
  const gcn::Listing listing = gcn::parse(text, kGenerations[generation]);
  for (const Diagnostic& d : listing.diagnostics) FAIL(d.line << ": " << d.message);
  gcn::LowerResult r = gcn::lower(listing);
  for (const Diagnostic& d : r.diagnostics)
    if (!d.warning) FAIL(d.line << ": " << d.message);
  for (const std::string& defect : ir::verify(r.module.kernels[0])) FAIL_CHECK(defect);
  CHECK(ir::expand_textures(r.module.kernels[0], ir::FilterRule::gcn_1_8) !=
        (text.find("image_get_") != std::string::npos));
  for (const std::string& defect : ir::verify(r.module.kernels[0])) FAIL_CHECK(defect);
  return std::move(r.module.kernels[0]);
}

std::string words_of(std::span<const uint32_t> words) {
  std::string out;
  for (const uint32_t w : words) out += fmt::format("{:08x} ", w);
  return out;
}

/// Runs a trial; false after the first mismatch, which it reports.
bool passes(const std::string& name, int generation, uint64_t seed) {
  constexpr uint32_t kBytes = 1 << 17;
  test::Bench bench;
  const uint64_t base = bench.put(std::vector<uint8_t>(kBytes));
  const Trial x = Maker(seed, generation, name).make(base);
  REQUIRE(x.texel_bytes <= kBytes);
  spec::TexelMemory memory{base, std::vector<uint8_t>(kBytes)};
  Random r(seed ^ 0xabcdef);
  const bool numbers = spec::bits_of(x.t.data(), 58, 4) == 7 && r.one_in(2);
  for (uint32_t n = 0; n < kBytes; n += 4) {
    uint32_t v = r.word();
    if (numbers) v = std::bit_cast<uint32_t>(static_cast<float>(r.below(4000)) / 1000 - 2);
    if (x.form.atomic && r.one_in(2)) v = r.below(4);
    std::memcpy(&memory.bytes[n], &v, 4);
  }
  bench.write(base, memory.bytes);
  const uint64_t in = bench.put(x.in),
                 out = bench.put(std::vector<uint32_t>(kLanes * kOutWords, kSentinel));
  std::vector<uint32_t> arguments(20);
  std::copy(x.t.begin(), x.t.end(), arguments.begin());
  std::copy(x.s.begin(), x.s.end(), arguments.begin() + 8);
  const auto buffer = [&](unsigned at, uint64_t address, uint32_t words) {
    arguments[at] = static_cast<uint32_t>(address);
    arguments[at + 1] = static_cast<uint32_t>(address >> 32) | words * 4 << 16;
    arguments[at + 2] = 0xffffffff;
    arguments[at + 3] = 0x27fac;
  };
  buffer(12, in, kInWords);
  buffer(16, out, kOutWords);
  CAPTURE(name);
  CAPTURE(generation);
  CAPTURE(seed);
  const std::string text = x.text();
  CAPTURE(text);
  bench.arg(bench.put(arguments));
  CHECK(bench.run(lowered(text, generation), 1, kLanes).fault_count == 0);
  const std::vector<uint32_t> want = Expected(x, memory).run(),
                              got = bench.get<uint32_t>(out, want.size());
  for (uint32_t n = 0; n < want.size(); ++n) {
    if (n % kOutWords >= 5 || (n % kOutWords == 4 && !(x.tfe && x.data_count() == 5))) continue;
    if (x.d16 ? same_half(got[n], want[n]) : same_word(got[n], want[n])) continue;
    CAPTURE(n / kOutWords);
    CAPTURE(n % kOutWords);
    CAPTURE(words_of(x.t));
    CAPTURE(words_of(x.s));
    CAPTURE(words_of(std::span(x.in).subspan(n / kOutWords * kInWords, kInWords)));
    CHECK(fmt::format("{:08x}", got[n]) == fmt::format("{:08x}", want[n]));
    return false;
  }
  const std::vector<uint8_t> left = bench.get<uint8_t>(base, kBytes);
  for (uint32_t n = 0; n < kBytes; ++n) {
    if (left[n] == memory.bytes[n]) continue;
    CAPTURE(n);
    CHECK(left[n] == memory.bytes[n]);
    return false;
  }
  return true;
}

}  // namespace

TEST_CASE("gcn images: every instruction, descriptors and coordinates at random") {
  const char* rounds_text = std::getenv("LANEWISE_IMAGES");
  const char* only = std::getenv("LANEWISE_IMAGE");
  const uint64_t rounds = rounds_text != nullptr ? std::strtoull(rounds_text, nullptr, 10) : 1;
  const char* seed_text = std::getenv("LANEWISE_IMAGE_SEED");
  const uint64_t first = seed_text != nullptr ? std::strtoull(seed_text, nullptr, 10) : 1;
  unsigned failed = 0, turn = 0;
  for (int generation = 0; generation < 3; ++generation)
    for (const std::string& name : mnemonics(generation)) {
      if (only != nullptr && name != only) continue;
      // Without a wish for more, the generations share what they have in common.
      if (rounds_text == nullptr && only == nullptr && turn++ % 3 != 0 && generation != 0) continue;
      for (uint64_t n = 0; n < rounds; ++n) {
        if (passes(name, generation, first + n * 1000 + std::hash<std::string>()(name) % 1000))
          continue;
        if (++failed >= 10) return;
        break;
      }
    }
}
