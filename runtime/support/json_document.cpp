#include "runtime/support/json_document.hpp"

#include <utility>

#include "project_version.hpp"

namespace lanewise {
namespace {

constexpr const char* kMember = "lanewise";

nlohmann::ordered_json versions() {
  return {{"version", program_version()}, {"format", kJsonFormat}};
}

void stamp(nlohmann::json& object) {
  object[kMember] = versions();
}
void stamp(nlohmann::ordered_json& object) {
  nlohmann::ordered_json out = {{kMember, versions()}};
  out.update(object);
  object = std::move(out);
}

template <class Json>
std::string text_of(Json document, int indent) {
  if (document.is_array()) {
    for (Json& element : document) stamp(element);
  } else {
    stamp(document);
  }
  return document.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

const char* program_version() {
  return kProjectVersion;
}

std::string json_document(nlohmann::json document, int indent) {
  return text_of(std::move(document), indent);
}
std::string json_document(nlohmann::ordered_json document, int indent) {
  return text_of(std::move(document), indent);
}
std::string json_versions() {
  return versions().dump();
}

}  // namespace lanewise
