// Parts of a run to the whole of it: what the run without parts comes to, number for number.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "runtime/cache/parts/part.hpp"

namespace lanewise::cache {

/// A part and the file it is from, for errors.
struct NamedPart {
  std::string name;
  Part part;
};

/// Throws Error(usage) that names the file, unless they are all parts of one run, each once.
void check_parts(std::span<const NamedPart> parts);
/// Of the preset with this number. Throws Error(usage) when the parts do not fit together, or what
/// happened in one set may have hung on others.
Results merge(std::span<const NamedPart> parts, size_t preset);
/// A tracker for each preset that holds what they come to, for reports.
std::vector<std::unique_ptr<Tracker>> merged_trackers(std::span<const NamedPart> parts);

}  // namespace lanewise::cache
