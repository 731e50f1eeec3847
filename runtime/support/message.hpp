// Text of the user's in messages.
#pragma once

#include <string>
#include <string_view>

namespace lanewise {

/// Words that no name is as long as are cut: a message quotes what it is about, and a file may hold
/// one token of ten megabytes.
std::string cut_long_words(std::string_view text);

}  // namespace lanewise
