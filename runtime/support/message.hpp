// Text of the user's in messages.
#pragma once

#include "lanewise/error.hpp"

namespace lanewise {

using detail::cut_long_words;

}  // namespace lanewise
