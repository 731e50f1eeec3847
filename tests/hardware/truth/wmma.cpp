#include "tests/hardware/truth/wmma.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>

namespace lanewise::truth {
namespace {

/// Of A and B in halves a lane has everything twice.
unsigned registers(const Fragment& f, bool factor) {
  return factor && f.type == "f16" ? 8 : f.registers();
}

std::string kernel(const std::string& header, const WmmaForm& f, const std::string& alayout,
                   const std::string& blayout) {
  const std::string shape = fmt::format("m{}n{}k{}", f.m, f.n, f.k);
  const unsigned a_bytes = 4 * kWarp * f.a.words(), b_bytes = 4 * kWarp * f.b.words();
  std::string text = header + fmt::format(R"(.visible .entry k(.param .u64 in, .param .u64 out)
{{
.reg .b64 %a, %b, %c, %d, %w; .reg .b32 %group;
ld.param.u64 %a, [in];
ld.param.u64 %d, [out];
mov.u32 %group, %ctaid.x;
mul.wide.u32 %w, %group, {};
add.u64 %a, %a, %w;
add.u64 %b, %a, {};
add.u64 %c, %b, {};
mul.wide.u32 %w, %group, {};
add.u64 %d, %d, %w;
)",
                                          4 * f.in(), a_bytes, b_bytes, 4 * f.out());
  const auto part = [&](const char* prefix, const Fragment& p, bool factor) {
    const unsigned count = registers(p, factor);
    text += fmt::format(".reg .{} %{}<{}>;\n", p.reg(), prefix, count);
    return register_list(prefix, count);
  };
  const std::string a = part("fa", f.a, true), b = part("fb", f.b, true),
                    c = part("fc", f.c, false), d = part("fd", f.d, false);
  const auto load = [&](char which, const std::string& layout, const std::string& type,
                        const std::string& to, unsigned stride) {
    text += fmt::format("wmma.load.{}.sync.aligned.{}.{}.global.{} {}, [%{}], {};\n", which, layout,
                        shape, type, to, which, stride);
  };
  load('a', alayout, f.a.type, a, alayout == "row" ? f.k : f.m);
  load('b', blayout, f.b.type, b, blayout == "row" ? f.n : f.k);
  load('c', "row", f.c.type, c, f.n);
  text += fmt::format("{} {}, {}, {}, {};\n", f.form, d, a, b, c);
  text += fmt::format("wmma.store.d.sync.aligned.row.{}.global.{} [%d], {}, {};\nret;\n}}\n", shape,
                      f.d.type, d, f.n);
  return text;
}

}  // namespace

unsigned WmmaForm::in() const {
  return kWarp * (a.words() + b.words() + c.words());
}
unsigned WmmaForm::out() const {
  return kWarp * d.words();
}

std::optional<WmmaForm> wmma_form(const std::string& header, const std::string& form) {
  if (!form.starts_with("wmma.mma.")) return {};
  WmmaForm f;
  f.form = form;
  std::vector<std::string> types, layouts;
  for (size_t from = 0; from <= form.size();) {
    const size_t end = std::min(form.find('.', from), form.size());
    const std::string part = form.substr(from, end - from);
    from = end + 1;
    if (part == "row" || part == "col") layouts.push_back(part);
    if (std::sscanf(part.c_str(), "m%un%uk%u", &f.m, &f.n, &f.k) == 3) continue;
    for (const char* type :
         {"f16", "bf16", "tf32", "f32", "f64", "s8", "u8", "s4", "u4", "b1", "s32"})
      if (part == type) types.push_back(part);
  }
  if (types.size() == 2) types.insert(types.begin() + 1, 2, "f16");
  if (f.m == 0 || types.size() != 4 || layouts.size() != 2) return {};
  f.d = {types[0], f.m * f.n / kWarp};
  f.a = {types[1], f.m * f.k / kWarp};
  f.b = {types[2], f.n * f.k / kWarp};
  f.c = {types[3], f.m * f.n / kWarp};
  f.text = kernel(header, f, layouts[0], layouts[1]);
  return f;
}

Job wmma_job(const WmmaForm& f, uint32_t groups) {
  std::mt19937_64 random(13);
  Job job;
  job.text = f.text;
  job.shape.grid[0] = groups;
  job.shape.block[0] = kWarp;
  Words in(size_t{groups} * f.in());
  size_t base = 0;
  for (uint32_t group = 0; group < groups; ++group)
    for (const Fragment* part : {&f.a, &f.b, &f.c}) {
      for (unsigned i = 0; i < kWarp * part->elements; ++i)
        put_element(in, base, part->type, i, matrix_element(part->type, group % 2 == 1, random));
      base += size_t{kWarp} * part->words();
    }
  job.buffers = {std::move(in), Words(size_t{groups} * f.out())};
  return job;
}

}  // namespace lanewise::truth
