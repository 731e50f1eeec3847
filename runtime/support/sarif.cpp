#include "runtime/support/sarif.hpp"
#include "runtime/support/json_document.hpp"

namespace lanewise::sarif {

Json document(Json rules, Json results) {
  const Json tool = {
      {"driver",
       {{"name", "lanewise"}, {"version", program_version()}, {"rules", std::move(rules)}}}};
  const Json run = {{"tool", tool}, {"results", std::move(results)}};
  return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
          {"version", "2.1.0"},
          {"runs", Json::array({run})}};
}

std::string text_of(const Json& j) {
  return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace lanewise::sarif
