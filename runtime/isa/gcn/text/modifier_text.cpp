#include "runtime/isa/gcn/text/modifier_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/isa/gcn/encoding/formats.hpp"
#include "runtime/isa/gcn/encoding/lane_form.hpp"
#include "runtime/isa/gcn/rules/modifier_rules.hpp"
#include "runtime/isa/gcn/text/operands/format_text.hpp"
#include "runtime/isa/gcn/text/operands/number_text.hpp"
#include "runtime/isa/gcn/text/operands/swizzle_text.hpp"

namespace lanewise::gcn {
namespace {

constexpr std::string_view kPartNames[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                                           "WORD_0", "WORD_1", "DWORD"};
constexpr std::string_view kRestNames[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"};
constexpr const char* kScales[] = {"", " mul:2", " mul:4", " div:2"};

std::span<const std::string_view> names_of(Says says) {
  return says == Says::part ? std::span<const std::string_view>(kPartNames)
                            : std::span<const std::string_view>(kRestNames);
}

uint32_t read_one_of(Cursor& in, std::span<const std::string_view> names) {
  in.skip_blanks();
  const size_t at = in.at();
  for (uint32_t n = 0; n < names.size(); ++n)
    if (in.take_word(names[n])) return n;
  Cursor::fail_at(at, fmt::format("expected {} or another of its kind{}", names[0], in.found(at)));
}

uint32_t read_number(Cursor& in, Instruction& i, const Modifier& m) {
  in.skip_blanks();
  const size_t at = in.at();
  const int64_t value = read_bits(in, "a number"), most = (int64_t{1} << m.len) - 1;
  // Of masks the assemblers take the lowest bits.
  if (m.says == Says::mask || m.says == Says::hex) {
    i.cut_flag = i.cut_flag || value < 0 || value > most;
    return static_cast<uint32_t>(value & most);
  }
  if (m.len == 0 && value != 0)
    Cursor::fail_value(at, fmt::format("there is no {} before GFX9", m.name));
  if (value < 0 || value > most)
    Cursor::fail_value(at, fmt::format("{} goes from 0 to {}", m.name, most));
  return m.says == Says::on ? 1 : static_cast<uint32_t>(value);  // 0 also means that it is on
}

std::optional<uint32_t> read_scale(Cursor& in) {
  in.skip_blanks();
  const size_t at = in.at();
  const bool mul = in.take_word("mul");
  if (!mul && !in.take_word("div")) return std::nullopt;
  in.expect(':', "after the output modifier");
  const uint64_t n = in.number("1, 2 or 4");
  if (n != 1 && n != 2 && (n != 4 || !mul))
    Cursor::fail_value(at, "expected mul:2, mul:4 or div:2, or mul:1 or div:1 for none");
  return n == 1 ? 0 : !mul ? 3 : n == 2 ? 1 : 2;
}

/// What the text gives the modifier; nothing where it is another one.
std::optional<uint32_t> read_value(Cursor& in, Instruction& i, const Modifier& m, Gen gen) {
  if (m.says == Says::nothing) return std::nullopt;
  if (m.says == Says::lanes) return read_lanes(in);
  if (m.says == Says::scale) return read_scale(in);
  if (!in.take_word(m.name)) {
    const bool off =
        (m.name == "glc" || m.name == "slc") && in.take_word(fmt::format("no{}", m.name));
    return off ? std::optional<uint32_t>(0) : std::nullopt;
  }
  if (m.says == Says::flag) return 1;
  if (m.says == Says::format) {
    read_format(in, i, gen);
    return i.dfmt;
  }
  in.expect(':', "after the modifier's name");
  if (m.says == Says::part || m.says == Says::rest) return read_one_of(in, names_of(m.says));
  if (i.row->meaning.swizzle && in.take_word("swizzle")) return read_swizzle(in);
  return read_number(in, i, m);
}

[[noreturn]] void unexpected(Cursor& in, const Instruction& i, std::span<const Modifier> all,
                             Gen gen) {
  std::string names, last;
  each_modifier(i, all, gen, [&](const Modifier& m) {
    if (m.says == Says::nothing || m.len == 0) return;
    if (!last.empty()) names += (names.empty() ? "" : ", ") + last;
    const bool bare = m.says == Says::flag || m.says == Says::lanes;
    last = fmt::format("{}{}", m.name, bare ? "" : ":N");
  });
  if (i.row->operands.empty())
    in.fail(i.row->name + " takes no flags and no operands" + in.found());
  if (last.empty()) in.fail("unexpected text after the operands" + in.found());
  in.fail("expected " + names + (names.empty() ? "" : " or ") + last + in.found());
}

}  // namespace

void read_modifiers(Cursor& in, Instruction& i, Gen gen) {
  const bool plain = i.form == Form::plain;
  const std::span<const Modifier> all =
      plain ? format_of(i.row->encoding, gen).modifiers : form_modifiers(i.form);
  std::vector<std::string_view> seen;
  const auto has = [&](std::string_view name) {
    return std::ranges::find(seen, name) != seen.end();
  };
  while (!in.done()) {
    if (!i.row->operands.empty()) in.take(',');
    in.skip_blanks();
    const size_t at = in.at();
    bool found = false;
    each_modifier(i, all, gen, [&](const Modifier& m) {
      if (found) return;
      const auto value = read_value(in, i, m, gen);
      if (!value) return;
      found = true;
      if (has(m.name)) Cursor::fail_value(at, fmt::format("{} is there twice", m.name));
      seen.push_back(m.name);
      m.member.set(i, *value);
    });
    if (!found) unexpected(in, i, all, gen);
  }
  // Flags that the name has already can be left out where no others are.
  if (i.row->name == "buffer_store_lds_dword" && seen.empty()) i.lds = true;
  if (is_of_global_share(*i.row) && !has("offset")) i.gds = true;
  if (const std::string problem = modifier_problem(i, gen); !problem.empty())
    Cursor::fail_value(in.at(), problem);
  if (!plain && i.row->does(kReadsDst) && i.sdwa.dst_sel != kSelDword)
    Cursor::fail_value(in.at(), i.row->name + " writes a whole register: dst_sel:DWORD");
  if (i.form == Form::dpp && (all.empty() || !has(all[0].name)))
    in.fail("expected quad_perm:[...], row_shl:N or another choice of lanes");
}

std::string write_modifiers(const Instruction& i, Gen gen) {
  const bool plain = i.form == Form::plain;
  std::string out;
  each_modifier(i, plain ? format_of(i.row->encoding, gen).modifiers : form_modifiers(i.form), gen,
                [&](const Modifier& m) {
                  const uint32_t value = m.member.get(i);
                  switch (m.says) {
                    case Says::nothing:
                      break;
                    case Says::flag:
                      if (value != 0) out += fmt::format(" {}", m.name);
                      break;
                    case Says::number:
                      if (value != 0 && i.row->meaning.swizzle)
                        out += fmt::format(" {}:{}", m.name,
                                           swizzle_text(static_cast<uint16_t>(value)));
                      else if (value != 0)
                        out += fmt::format(" {}:{}", m.name, value);
                      break;
                    case Says::hex:
                    case Says::mask:
                      if (value != 0 || m.says == Says::mask)
                        out += fmt::format(" {}:{:#x}", m.name, value);
                      break;
                    case Says::on:
                      if (value != 0) out += fmt::format(" {}:1", m.name);
                      break;
                    case Says::part:
                    case Says::rest:
                      out += fmt::format(" {}:{}", m.name, names_of(m.says)[value]);
                      break;
                    case Says::lanes:
                      out += " " + lanes_text(value);
                      break;
                    case Says::format:
                      out += write_format(i, gen);
                      break;
                    case Says::scale:
                      out += kScales[value];
                      break;
                  }
                });
  return out;
}

}  // namespace lanewise::gcn
