#include "runtime/support/junit.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace lanewise {
namespace {

using Json = nlohmann::json;

/// As the value of an attribute or as text.
std::string xml(std::string_view text) {
  // Bytes that are not UTF-8 are replaced, as in the other formats.
  const std::string bytes =
      Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace));
  std::string out;
  for (const char c : bytes) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (code < 0x20 && c != '\n' && c != '\t')
      out += '?';  // XML 1.0 has no such characters
    else if (c == '\n')
      out += "&#10;";
    else
      out += c;
  }
  return out;
}

}  // namespace

void JunitReport::add(std::string_view group, std::string_view name, const std::string& inside) {
  ++count_;
  const std::string start =
      fmt::format("    <testcase classname=\"{}\" name=\"{}\"", xml(group), xml(name));
  cases_ += inside.empty() ? start + "/>\n"
                           : fmt::format("{}>\n      {}\n    </testcase>\n", start, inside);
}

void JunitReport::pass(std::string_view group, std::string_view name) {
  add(group, name, "");
}

void JunitReport::fail(std::string_view group, std::string_view name, std::string_view type,
                       std::string_view message, std::string_view text) {
  ++failed_;
  add(group, name,
      fmt::format("<failure type=\"{}\" message=\"{}\">{}</failure>", xml(type), xml(message),
                  xml(text)));
}

void JunitReport::skip(std::string_view group, std::string_view name, std::string_view message) {
  ++skipped_;
  add(group, name, fmt::format("<skipped message=\"{}\"/>", xml(message)));
}

std::string JunitReport::text() const {
  const std::string counts =
      fmt::format("tests=\"{}\" failures=\"{}\" errors=\"0\"", count_, failed_);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n  <testsuite name=\"{1}\" {0} "
      "skipped=\"{2}\">\n{3}  </testsuite>\n</testsuites>\n",
      counts, xml(suite_), skipped_, cases_);
}

}  // namespace lanewise
