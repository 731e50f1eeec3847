#include "runtime/isa/sass/rules/cache_control.hpp"

namespace lanewise::sass {

std::string cache_control_rule(std::string_view text) {
  const std::string_view name = text.substr(0, text.find_first_of(" \t["));
  const std::string_view mnemonic = name.substr(0, name.find('.'));
  if (mnemonic != "CCTL" && mnemonic != "CCTLL") return {};
  const std::string modifiers = std::string(name.substr(mnemonic.size())) + ".";
  const auto has = [&](const char* m) { return modifiers.find(m) != std::string::npos; };
  const bool write_all = has(".WBALL."), crs = has(".CRS.");
  if ((write_all || crs) && !(mnemonic == "CCTLL" && write_all && crs))
    return ".CRS and .WBALL are only valid in CCTLL.CRS.WBALL";
  if (has(".QRY1.")) return std::string(kQueryIsIllegal);
  const bool typed = has(".C.") || has(".I.") || has(".U.") || has(".D.");
  if (mnemonic == "CCTLL" && typed) return "CCTLL has no cache type: its lines are local";
  if (name == mnemonic)
    return std::string(mnemonic) +
           std::string(" needs an operation: .PF1, .PF2, .WB, .IV, .IVALL or .RS");
  if (mnemonic == "CCTLL" && has(".E.")) return "CCTLL has no .E: its addresses are local";
  if ((has(".IVALL.") || write_all) && text.find('[') != std::string_view::npos)
    return ".IVALL and .WBALL take no address";
  return {};
}

}  // namespace lanewise::sass
