// Lines of `cuobjdump -sass` beside those of the code: which target it is for, which function
// follows, and what file it came out of.
#pragma once

#include <string_view>
#include <vector>

namespace lanewise::sass {

struct DumpLine {
  enum class Kind : unsigned char {
    code,      ///< none of the following: instructions, directives
    target,    ///< "code for sm_50": `text` is "50"
    function,  ///< "Function : saxpy": `text` is its name
    header,    ///< of a fat binary: more lines about it follow, up to its "code for"
    rule,      ///< a line of dots
  };
  Kind kind = Kind::code;
  std::string_view text;
};
DumpLine dump_line(std::string_view line);

/// The targets of a text's "code for" lines, in their order; none = it is no such listing.
std::vector<std::string_view> dumped_targets(std::string_view text);

}  // namespace lanewise::sass
