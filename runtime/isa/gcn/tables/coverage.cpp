// What of the ISA can run, read off the table.
#include <fmt/format.h>

#include <set>

#include "runtime/isa/gcn/encoding/lane_form.hpp"
#include "runtime/isa/gcn/gcn.hpp"
#include "runtime/isa/gcn/tables/builder.hpp"

namespace lanewise::gcn {

namespace {

/// Shown by something else than values in registers: by streams of accesses, by order.
bool shows_elsewhere(const Row& r) {
  const bool float_atomic = r.meaning.op == Op::atom && ir::is_float(r.meaning.type);
  switch (r.kind) {
    case Kind::barrier:
    case Kind::nothing:
    case Kind::wait:
    case Kind::end:
    case Kind::cache:
    case Kind::clock:
    case Kind::mode:
    case Kind::trap:
    case Kind::call:
    case Kind::jump:
    case Kind::address:
      return true;
    default:
      return r.encoding == Encoding::mimg || (is_buffer(r.encoding) && !float_atomic);
  }
}

Coverage state_of(const std::string& form, const Row& row, isa::Claim claim) {
  switch (claim) {
    case isa::Claim::none:
      return {
          form, FormState::unsupported,
          row.kind == Kind::absent ? "assembles, is not executed" : "assembles, cannot run yet"};
    case isa::Claim::approximate:
      return {form, FormState::approximate,
              "inside the bound that the value cases state; see docs/gcn.md"};
    default:
      break;
  }
  const ImageForm& image = row.image;
  if (image.samples && !image.gathers)
    return {form, FormState::approximate,
            "texels are exact; how the hardware rounds weights and levels of detail is not "
            "documented, see docs/gcn.md"};
  if (image.extends)
    return {form, FormState::approximate,
            "what is extended of formats with several components is not documented"};
  return {form, FormState::exact, ""};
}

/// `v_add_i32 v0, vcc, v1, v2`: an instruction with its operands, not a name alone.
bool has_operands(std::string_view form) {
  return form.find(' ') != std::string_view::npos;
}

/// Why this instruction cannot be assembled or run; empty when it can.
std::string refusal(std::string_view text, Gen gen) {
  Parsed p = parse_instruction(text, gen);
  if (!p.instruction) return p.error.message;
  if (p.instruction->row->has(Slot::label)) return {};
  Kernel kernel;
  kernel.name = "form";
  kernel.gen = gen;
  p.instruction->line = 1;
  kernel.code.push_back(std::move(*p.instruction));
  Listing listing;
  listing.gen = gen;
  listing.kernels.push_back(std::move(kernel));
  for (const Diagnostic& d : lower(listing).diagnostics)
    if (!d.warning) return d.message;
  return {};
}

}  // namespace

void set_claims(std::vector<Row>& rows) {
  const auto approximates = [](const Meaning& m) {
    switch (m.op) {
      case Op::frcp:
      case Op::fsqrt:
      case Op::frcp_approx:
      case Op::fsqrt_approx:
      case Op::frsqrt_approx:
      case Op::fex2_approx:
      case Op::flg2_approx:
      case Op::fsin_approx:
      case Op::fcos_approx:
        return true;
      default:
        return false;
    }
  };
  for (Row& r : rows)
    r.claim = !r.runs()                 ? isa::Claim::none
              : shows_elsewhere(r)      ? isa::Claim::effect
              : approximates(r.meaning) ? isa::Claim::approximate
                                        : isa::Claim::exact;
}

std::vector<LaneFormClaim> lane_form_claims(const Row& r) {
  if (!takes_lane_form(r)) return {};
  return {{r.name + ".sdwa", r.claim}, {r.name + ".dpp", r.claim}};
}

std::vector<Coverage> coverage(Gen gen) {
  std::vector<Coverage> out;
  std::set<std::string> seen;
  for (const Row& r : rows()) {
    if (r.opcode[static_cast<int>(gen)] < 0) continue;
    if (gen == Gen::gfx8)
      for (const LaneFormClaim& f : lane_form_claims(r))
        if (seen.insert(f.form).second) out.push_back(state_of(f.form, r, f.claim));
    if (seen.insert(r.name).second) out.push_back(state_of(r.name, r, r.claim));
  }
  return out;
}

Coverage coverage_of(std::string_view form, Gen gen) {
  std::string name(form.substr(0, form.find_first_of(" [")));
  const bool old_address = form.find("addr64") != std::string_view::npos && gen == Gen::gfx8;
  if (old_address)
    return {std::string(form), FormState::unsupported, "addr64 does not exist on gfx803"};
  for (std::string_view suffix : {"_e32", "_e64"})
    if (name.size() > 4 && name.substr(name.size() - 4) == suffix) name.resize(name.size() - 4);
  if (name.ends_with("_sdwa") || name.ends_with("_dpp")) name[name.rfind('_')] = '.';
  for (const Coverage& c : coverage(gen)) {
    if (c.form != name) continue;
    if (c.state == FormState::unsupported || !has_operands(form)) return c;
    const std::string why = refusal(form, gen);
    return why.empty() ? c : Coverage{std::string(form), FormState::unsupported, why};
  }
  return {std::string(form), FormState::unsupported,
          fmt::format("no row of the table has this name for {}", gcn::name(gen))};
}

}  // namespace lanewise::gcn
