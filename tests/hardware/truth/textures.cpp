// Textures and surfaces: every form of the table on images at random, and the weights of linear
// filtering over sweeps of coordinates, those between levels over sweeps of levels. Lanewise's side
// is the reference engine, which all devices equal.
#include "tests/hardware/truth/textures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <set>

#include "runtime/isa/ptx/lower.hpp"
#include "tests/hardware/device/rows.hpp"

namespace lanewise::truth {
namespace {

using kit::Json;

constexpr uint32_t kLanes = 128, kImages = 12;  ///< of a form

/// How results of one form lie apart.
struct Apart {
  size_t words = 0, differing = 0, linear = 0, beyond = 0;
  double largest = 0;  ///< of filtered values, as a share of the texels' range
  std::string first;
};

double range_of(const Image& i) {
  if (i.fractions) return i.kind == LW_TEXEL_SIGNED ? 2 : 1;
  return i.bits == 32 ? 16 : 4;  // as random_image() makes them
}

std::string words_of(const Image& i) {
  std::string text =
      fmt::format("{} channels of {} bits, kind {}, {}x{}x{}{}, {}{}", i.channels, i.bits, i.kind,
                  i.width, i.height, i.slices(), i.cube ? ", cubes" : "",
                  i.linear ? "linear" : "nearest", i.normalised ? ", normalised" : "");
  if (i.levels > 1)
    text += fmt::format(", {} levels from {} to {}, {} between them, bias {}", i.levels, i.least,
                        i.most, i.mip_linear ? "linear" : "nearest", i.bias);
  return text;
}

void compare(Apart& apart, const ImageForm& f, const ImageJob& job, const ImageResult& card,
             const ImageResult& ours) {
  const Image& i = *job.image;
  const auto differs = [&](const std::string& what) {
    if (apart.differing++ == 0) apart.first = what;
  };
  for (size_t n = 0; n < card.out.size(); ++n) {
    ++apart.words;
    const uint32_t a = card.out[n], b = ours.out[n];
    if (a == b) continue;
    const std::string what = fmt::format(
        "{}, modes {}{}{}: at {}: word {}: card {:08x}, Lanewise {:08x}", words_of(i), i.mode[0],
        i.mode[1], i.mode[2], words_text(std::span(job.in).subspan(n / 4 * 8, 8)), n % 4, a, b);
    differs(what);
    if (!i.blends() || f.halves || f.query) {
      ++apart.beyond;
      continue;
    }
    ++apart.linear;
    const double distance =
        std::fabs(double{std::bit_cast<float>(a)} - double{std::bit_cast<float>(b)}) / range_of(i);
    apart.largest = std::max(apart.largest, distance);
    // docs/textures.md: how hardware rounds is open inside of this.
    if (!(distance <= 0x1p-7)) ++apart.beyond;
  }
  if (card.texels != ours.texels) {
    differs("the texels afterwards");
    ++apart.beyond;
  }
}

class Textures {
 public:
  Textures(Bench& bench, std::string name)
      : bench_(bench), reference_(Device::open("reference")), name_(std::move(name)) {}

  bool form(const ImageForm& f) {
    Json row = new_row(f.form);
    std::mt19937 random(17);
    Apart apart;
    try {
      const std::string text = image_kernel(bench_.card.header(), f.code);
      for (uint32_t n = 0; n < (bench_.small ? 2 : kImages); ++n) {
        const Image image = random_image(f, random);
        const ImageJob job{text, &image, random_places(f, image, kLanes, random)};
        const ImageResult card = image_on_card(bench_.card, job);
        compare(apart, f, job, card, image_on_ours(reference_, job));
      }
      row["state"] = apart.differing == 0 ? "same"
                     : apart.beyond == 0  ? "within bound"
                                          : "different";
      row["words"] = apart.words;
      if (apart.differing != 0) {
        row["differing"] = apart.differing;
        row["beyond"] = apart.beyond;
        row["largest"] = apart.largest;
        row["first"] = apart.first;
      }
    } catch (const Refused& e) {
      if (ours_refuses(reference_, image_kernel(bench_.card.header(), f.code))) return true;
      row["state"] = "refused";
      row["why"] = e.what();
    } catch (const CudaError& e) {
      // An image that CUDA does not make is no fault.
      if (std::string(e.what()).find("CUDA_ERROR_INVALID_VALUE") == std::string::npos) throw;
      row["state"] = "refused";
      row["why"] = e.what();
    } catch (const Error& e) {
      row["state"] = "not run";
      row["why"] = std::string(e.what()).substr(0, 200);
    }
    kit::print_row(row);
    return apart.beyond == 0;
  }

  /// Along one axis, between a texel of 0 and one of 1: the value is the weight.
  void weights(unsigned axis, unsigned axes, uint32_t base, bool normalised) {
    Image image;
    image.linear = true;
    image.normalised = normalised;
    std::array<uint32_t, 3> sizes = {2, axes > 1 ? 2U : 0U, axes > 2 ? 2U : 0U};
    sizes[axis] = base + 2;
    image.width = sizes[0];
    image.height = sizes[1];
    image.depth = sizes[2];
    put_edge(image, axis, base);
    const uint32_t steps = bench_.small ? 512 : 8192;
    Words in;
    for (uint32_t n = 0; n < steps; ++n) {
      std::array<uint32_t, 8> w{};
      for (unsigned k = 0; k < 3; ++k) {
        // Half a texel in, the other axes stand on a texel.
        const double x = k == axis ? base + 0.5 + static_cast<double>(n) / steps : 0.5;
        const double divisor = normalised ? std::max(1U, sizes[k]) : 1;
        w[k] = std::bit_cast<uint32_t>(static_cast<float>(x / divisor));
      }
      in.insert(in.end(), w.begin(), w.end());
    }
    const char* const code[] = {
        "tex.1d.v4.f32.f32 {%r10, %r11, %r12, %r13}, [%rd5, {%f1}];\n",
        "tex.2d.v4.f32.f32 {%r10, %r11, %r12, %r13}, [%rd5, {%f1, %f2}];\n",
        "tex.3d.v4.f32.f32 {%r10, %r11, %r12, %r13}, [%rd5, {%f1, %f2, %f3, "
        "%f3}];\n"};
    const ImageJob job{image_kernel(bench_.card.header(), code[axes - 1]), &image, in};
    sweep(fmt::format("weights/{}d {} from {}{}", axes, "xyz"[axis], base,
                      normalised ? " normalised" : ""),
          job, steps);
  }

  /// Between a level of zeros and one of ones: the value is the second one's weight.
  void levels(bool gradients, bool blended) {
    Image image;
    image.width = image.height = 4;
    image.levels = 2;
    image.most = 1;
    image.normalised = true;
    image.mip_linear = blended;
    std::vector<float> texels(image.count(), 1.0F);
    std::fill_n(texels.begin(), 16, 0.0F);
    image.texels.resize(texels.size() * sizeof(float));
    std::memcpy(image.texels.data(), texels.data(), image.texels.size());
    const uint32_t steps = bench_.small ? 512 : 8192;
    Words in;
    for (uint32_t n = 0; n < steps; ++n) {
      const float lod = static_cast<float>(n) / static_cast<float>(steps);
      std::array<uint32_t, 8> w{};
      w[0] = w[1] = std::bit_cast<uint32_t>(0.5F);
      w[4] = std::bit_cast<uint32_t>(gradients ? std::exp2(lod) / 4 : lod);
      in.insert(in.end(), w.begin(), w.end());
    }
    const std::string code =
        gradients ? "tex.grad.2d.v4.f32.f32 {%r10, %r11, %r12, %r13}, [%rd5, {%f1, %f2}], "
                    "{%f5, %f9}, {%f9, %f9};\n"
                  : "tex.level.2d.v4.f32.f32 {%r10, %r11, %r12, %r13}, [%rd5, {%f1, %f2}], %f5;\n";
    const ImageJob job{image_kernel(bench_.card.header(), code), &image, in};
    sweep(fmt::format("levels/{}{}", gradients ? "gradients" : "level", blended ? " blended" : ""),
          job, steps);
  }

 private:
  /// A row of what a job gives whose lanes go from 0 up to 1.
  void sweep(const std::string& name, const ImageJob& job, uint32_t steps) {
    Json row = new_row(name);
    const Words card = image_on_card(bench_.card, job).out,
                ours = image_on_ours(reference_, job).out;
    size_t differing = 0, first = 0;
    for (size_t n = 0; n < steps; ++n)
      if (card[4 * n] != ours[4 * n] && differing++ == 0) first = n;
    row["state"] = differing == 0 ? "same" : "measured";
    row["places"] = steps;
    row["differing"] = differing;
    if (differing != 0)
      row["first"] =
          fmt::format("{}/{} of a texel: card {}, Lanewise {}", first, steps,
                      std::bit_cast<float>(card[4 * first]), std::bit_cast<float>(ours[4 * first]));
    row["found"] = found(card, steps);
    row["model"] = found(ours, steps);
    kit::print_row(row);
  }

  Json new_row(const std::string& what) const {
    return {{"kind", "truth"}, {"name", fmt::format("{}/{}", name_, what)}, {"table", name_}};
  }

  /// 1 behind texel `base` along the axis, else 0.
  static void put_edge(Image& image, unsigned axis, uint32_t base) {
    std::vector<float> texels;
    for (uint32_t z = 0; z < image.slices(); ++z)
      for (uint32_t y = 0; y < image.rows(); ++y)
        for (uint32_t x = 0; x < image.width; ++x)
          texels.push_back((axis == 0 ? x : axis == 1 ? y : z) > base ? 1.0F : 0.0F);
    image.texels.resize(texels.size() * sizeof(float));
    std::memcpy(image.texels.data(), texels.data(), image.texels.size());
  }

  /// How many weights there are, of which denominator, and where within a step they change.
  static Json found(const Words& out, uint32_t steps) {
    std::set<float> values;
    unsigned bits = 0;
    double from = 1, to = 0;
    for (size_t n = 0; n < steps; ++n) {
      const float w = std::bit_cast<float>(out[4 * n]);
      if (!(w >= 0 && w <= 1)) return {{"beyond 0 to 1", w}};
      values.insert(w);
      while (bits < 24 && std::floor(std::ldexp(w, static_cast<int>(bits))) !=
                              std::ldexp(w, static_cast<int>(bits)))
        ++bits;
      if (n == 0 || w == std::bit_cast<float>(out[4 * (n - 1)])) continue;
      // What part of a step of 1/256 the coordinate has at a change.
      const double place = 256.0 * static_cast<double>(n) / steps, part = place - std::floor(place);
      from = std::min(from, part);
      to = std::max(to, part);
    }
    size_t half = 0;
    while (half < steps && std::bit_cast<float>(out[4 * half]) < 0.5F) ++half;
    return {{"weights", values.size()},
            {"bits", bits},
            {"change from", from},
            {"change to", to},
            {"half at", static_cast<double>(half) / steps}};
  }

  Bench& bench_;
  Device reference_;
  std::string name_;
};

void sweeps(Textures& textures, bool small) {
  for (unsigned axes = 1; axes <= (small ? 1U : 3U); ++axes)
    for (unsigned axis = 0; axis < axes; ++axis)
      for (const uint32_t base : {0U, 100U, 1000U})
        for (const bool normalised : {false, true})
          if (!small || base == 0) textures.weights(axis, axes, base, normalised);
  for (const bool gradients : {false, true})
    for (const bool blended : {false, true}) textures.levels(gradients, blended);
}

}  // namespace

bool texture_table(Bench& bench, const std::string& name) {
  Textures textures(bench, name);
  std::vector<ImageForm> forms;
  std::set<std::string> seen;
  for (const auto& c : ptx::coverage()) {
    if (c.state == ptx::FormState::unsupported) continue;
    const auto f = image_form(c.form);
    if (!f) continue;
    // One of an instruction, and of each way to give a level; integers do not ask for one so.
    const std::string kind =
        fmt::format("{} {}", c.form.substr(0, c.form.find('.')), static_cast<int>(f->detail));
    const bool levelless = f->integers && f->detail == ImageForm::Detail::gradients;
    if (bench.small && (levelless || !seen.insert(kind).second)) continue;
    forms.push_back(*f);
  }
  Resume at = bench.resume;
  if (at.from == 0 && at.faults == 0) sweeps(textures, bench.small);
  for (; at.from < forms.size(); ++at.from) {
    try {
      at.wrong = !textures.form(forms[at.from]) || at.wrong;
    } catch (const CudaError& e) {
      if (at.faults == kMostFaults) throw;
      kit::print_row({{"kind", "truth"},
                      {"name", fmt::format("{}/{}", name, forms[at.from].form)},
                      {"table", name},
                      {"state", "faulted"},
                      {"why", e.what()}});
      start_again(name, {at.from + 1, 0, at.faults + 1, true});
    }
  }
  return !at.wrong;
}

bool asks_textures(const std::string& form) {
  return image_form(form).has_value();
}

}  // namespace lanewise::truth
