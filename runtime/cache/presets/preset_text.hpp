// A preset for people and for programs: what it assumes, and where each figure comes from.
#pragma once

#include <string>

#include "runtime/cache/presets/preset.hpp"

namespace lanewise::cache {

/// Its caches, what sources say of them and how sure that is, and every knob with its meaning.
std::string preset_text(const Preset& preset);
/// The same as one JSON object, every default filled in: a file that `file:PATH` reads.
std::string preset_json(const Preset& preset);

}  // namespace lanewise::cache
