// Completion for bash: a table of words and values, and a function that looks them up.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "runtime/cli/command_text.hpp"

namespace lanewise::cli {
namespace {

/// Bash splits words at = and :, so they are put together again, and what stands in front of the
/// last of them goes from the replies. Of a list (a,b) the last element is completed.
constexpr const char* kLookUp = R"bash(
  local cut=
  [[ $current == *[=:]* ]] && cut=${current%"${current##*[=:]}"}
  if [[ $current == --*=* ]]; then
    previous=${current%%=*} cut=${cut#"$previous="} current=${current#*=}
  fi
  _lanewise_values "$path" "$previous"
  local list=
  [[ $current == *,* ]] && list=${current%,*},
  COMPREPLY=()
  if [ "$kind" != none ]; then
    COMPREPLY=($(compgen -P "$list" -W "$values" -- "${current##*,}"))
    [ "$kind" = open ] && COMPREPLY+=($(compgen -f -- "${current#"$cut"}"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    [[ $current != -* && $COMP_CWORD -gt 1 ]] && COMPREPLY+=($(compgen -f -- "$current"))
  fi
  [ -n "$cut" ] && COMPREPLY=("${COMPREPLY[@]#"$cut"}")
  [[ ${#COMPREPLY[@]} = 1 && ${COMPREPLY[0]} == *[=:] ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -o filenames -F _lanewise lanewise
)bash";

std::string words_case(const CommandRow& row) {
  std::vector<std::string> words = row.commands;
  for (const OptionRow& o : row.options) {
    const auto& more = o.positional ? o.values.words : o.names;
    words.insert(words.end(), more.begin(), more.end());
  }
  return fmt::format("    '{}') words='{}' ;;\n", row.path, fmt::join(words, " "));
}

/// A file may stand there: in place of a value, or behind its beginning.
bool takes_file(const OptionValues& values) {
  return values.words.empty() || std::ranges::any_of(values.words, [](const std::string& word) {
           return word == "file:" || word == "in:";
         });
}

/// Options with the same values share a line.
std::string value_cases(const std::vector<CommandRow>& rows) {
  std::map<std::string, std::string> by_action;
  for (const CommandRow& row : rows)
    for (const OptionRow& o : row.options) {
      if (o.positional || !o.takes_value) continue;
      const std::string action =
          fmt::format("kind={} values='{}'", takes_file(o.values) ? "open" : "closed",
                      fmt::join(o.values.words, " "));
      std::string& cases = by_action[action];
      for (const std::string& name : o.names)
        cases += fmt::format("{}'{} {}'", cases.empty() ? "" : "|", row.path, name);
    }
  std::string out;
  for (const auto& [action, cases] : by_action)
    out += fmt::format("    {}) {} ;;\n", cases, action);
  return out;
}

}  // namespace

std::string bash_completion(const std::vector<CommandRow>& rows) {
  std::string outer, inner, words;
  for (const CommandRow& row : rows) {
    const bool is_inner = row.path.find(' ') != std::string::npos;
    (is_inner ? inner : outer) += fmt::format("{}{}{}{}", is_inner && !inner.empty() ? "|" : "",
                                              is_inner ? "'" : " ", row.path, is_inner ? "'" : "");
    words += words_case(row);
  }
  return fmt::format(
      "# bash completion for lanewise; zsh: autoload -U bashcompinit && bashcompinit\n"
      "_lanewise_values() {{\n  kind=none values=\n  case \"$1 $2\" in\n{}  esac\n}}\n"
      "_lanewise() {{\n"
      "  local kind values words path=${{COMP_WORDS[1]}} at=$COMP_CWORD\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}}\n"
      "  while [ $at -gt 2 ] && [[ ${{COMP_WORDS[at]}} == [=:] || ${{COMP_WORDS[at-1]}} == [=:] "
      "]]; do\n"
      "    at=$((at - 1)) current=${{COMP_WORDS[at]}}$current\n"
      "  done\n"
      "  local previous=${{COMP_WORDS[at-1]}}\n"
      "  [ $at -gt 2 ] && case \"$path ${{COMP_WORDS[2]}}\" in {}) path=\"$path "
      "${{COMP_WORDS[2]}}\" ;; esac\n"
      "  case $path in\n{}  esac\n"
      "  [ $COMP_CWORD -lt 2 ] && path= words='{}'{}",
      value_cases(rows), inner, words, outer.substr(1), kLookUp);
}

}  // namespace lanewise::cli
