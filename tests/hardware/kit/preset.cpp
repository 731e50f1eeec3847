// From the rows of the table `chase` to a preset of the card.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "tests/hardware/kit/results.hpp"

namespace lanewise::kit {
namespace {

constexpr const char* kFrom = "pointer chase on the card";

std::string lower_words(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    return letter ? c : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : '-';
  });
  return text;
}

/// `slices` of the preset that the file extends: the chase sees only the sets of all of them.
Json geometry(const Json& found, uint64_t slices) {
  Json g = Json::object();
  for (const char* key : {"line", "ways"})
    if (found.value(key, 0) != 0) g[key] = found[key];
  const uint64_t sets = found.value("sets", uint64_t{0});
  if (sets != 0) {
    const bool whole = slices != 0 && sets % slices == 0;
    g["slices"] = whole ? slices : 1;
    g["sets"] = whole ? sets / slices : sets;
  }
  const Json& policies = found.value("replacement", Json::array());
  if (!policies.empty()) g["replacement"] = policies[0];
  return g;
}

std::string source(const Json& found, const std::string& where) {
  std::string text = fmt::format("{}, {}: {} bytes, {} ways, {} sets of all slices, index {}",
                                 kFrom, where, text_of(found, "bytes"), text_of(found, "ways"),
                                 text_of(found, "sets"), text_of(found, "index"));
  for (const Json& note : found.value("notes", Json::array()))
    text += "; " + note.get<std::string>();
  return text + " (high)";
}

}  // namespace

std::string preset_file(const std::vector<Json>& rows) {
  const std::map<std::string, Json> named = by_name(rows);
  const auto global = named.find("truth chase/global"), card = named.find("fact card");
  if (global == named.end() || card == named.end())
    throw std::runtime_error("the results have no table `chase` of a card");
  std::string date;
  for (const Json& row : rows)
    if (text_of(row, "kind") == "run") date = text_of(row, "date");
  const std::string name = text_of(card->second, "card");
  const std::string where = fmt::format("{}, {}, CUDA driver {}", name, date.substr(0, 10),
                                        text_of(card->second, "cuda_driver"));
  const Json& row = global->second;
  Json file = {{"name", lower_words(name)},
               {"title", name},
               {"extends", text_of(row, "preset")},
               {"sms", card->second.value("multiprocessors", 1)}};
  Json sources = {{"sms", fmt::format("CUDA's driver, {} (high)", where)}};
  const auto put = [&](const char* cache, const Json& found, uint64_t slices) {
    const Json g = geometry(found, slices);
    if (g.empty()) return;
    file[cache] = g;
    sources[fmt::format("{}.line,ways,sets", cache)] = source(found, where);
  };
  const Json& found = row.at("found");
  put("l1", found.at("l1"), row.value("l1_slices", uint64_t{1}));
  put("l2", found.at("l2"), row.value("l2_slices", uint64_t{1}));
  if (const auto c = named.find("truth chase/constant"); c != named.end())
    put("constant", c->second.at("found").at("l1"), 1);
  file["sources"] = sources;
  return file.dump(2) + "\n";
}

}  // namespace lanewise::kit
