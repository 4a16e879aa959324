#include <CLI/CLI.hpp>

#include "cli/completion/completion.hpp"
#include "cli/completion/completion_values.hpp"
#include "cli/context.hpp"

namespace muster::cli {
namespace {

constexpr const char* kCompletionExamples = R"(Examples:
  source <(muster completion bash)                             for this shell; put it into ~/.bashrc
  muster completion zsh > ~/.zfunc/_muster                     with ~/.zfunc in fpath
  muster completion fish > ~/.config/fish/completions/muster.fish

Hosts, labels, groups, runs, jobs, triggers, channels and secrets are asked of the server by what
you typed so far, for at most a second.)";

// The shells differ in how they tell the line and take the answer; everything else is in
// `muster __complete`, which prints a value and what it is, by a tab, on each line.
constexpr const char* kBash = R"(# bash completion for muster
_muster() {
  local answer value about
  COMPREPLY=()
  answer=$("${1/#\~/$HOME}" __complete --line "${COMP_LINE:0:COMP_POINT}" \
    --breaks "$COMP_WORDBREAKS" 2>/dev/null) || return 0
  if [[ $answer == :files ]]; then
    compopt -o default
    return 0
  fi
  while IFS=$'\t' read -r value about; do
    [[ -n $value ]] || continue
    COMPREPLY+=("$value")
    [[ $value == *[=:] ]] && compopt -o nospace
  done <<<"$answer"
  return 0
}
complete -F _muster muster
)";

constexpr const char* kZsh = R"(#compdef muster
# zsh completion for muster
_muster() {
  local line value
  local -a lines whole begun whole_shown begun_shown
  lines=("${(@f)$("${(Q)words[1]}" __complete -- "${(@Q)words[1,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
  if [[ ${lines[1]} == :files ]]; then
    _files
    return
  fi
  for line in "${lines[@]}"; do
    value=${line%%$'\t'*}
    [[ -n $value ]] || continue
    if [[ $value == *[=:] ]]; then
      begun+=("$value")
      begun_shown+=("${line//$'\t'/  -- }")
    else
      whole+=("$value")
      whole_shown+=("${line//$'\t'/  -- }")
    fi
  done
  (( ${#begun} )) && compadd -Q -S '' -l -d begun_shown -a begun
  (( ${#whole} )) && compadd -Q -l -d whole_shown -a whole
  (( ${#begun} + ${#whole} ))
}
if [[ ${funcstack[1]} == _muster ]]; then
  _muster "$@"
else
  compdef _muster muster
fi
)";

constexpr const char* kFish = R"(# fish completion for muster
function __muster_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    set -l lines ($before[1] __complete -- $before "$current" 2>/dev/null)
    if test "$lines[1]" = :files
        __fish_complete_path "$current"
        return
    end
    test (count $lines) -gt 0; and printf '%s\n' $lines
end
complete -c muster -f -a '(__muster_complete)'
)";

struct CompleteFlags {
  std::string line;
  std::string breaks;
};

// Bash takes a word to begin after each break character, unless it is quoted, and wants only the
// part from there on.
std::size_t ShownFrom(const TypedLine& typed, std::string_view breaks) {
  if (typed.quoted) return 0;
  const auto last = typed.words.back().find_last_of(breaks);
  return last == std::string::npos ? 0 : last + 1;
}

Result<int> Complete(Context& context, const CLI::App& root, const CompleteFlags& flags) {
  TypedLine typed;
  if (flags.line.empty())
    typed.words = context.words;
  else
    typed = SplitTyped(flags.line);
  if (typed.words.size() < 2) return 0;
  const auto wanted = WantedAt(root, typed.words);
  if (wanted.kind == ValueKind::kFiles) {
    Write(stdout, ":files\n");
    return 0;
  }
  const auto from = flags.breaks.empty() ? 0 : ShownFrom(typed, flags.breaks);
  std::string text;
  for (const auto& candidate : CandidatesFor(context, wanted)) {
    const auto whole = wanted.head + candidate.value;
    text += fmt::format("{}\t{}\n", whole.substr(std::min(from, whole.size())), candidate.about);
  }
  Write(stdout, text);
  return 0;
}

Result<int> Print(const std::string& shell) {
  Write(stdout, shell == "bash" ? kBash : shell == "zsh" ? kZsh : kFish);
  return 0;
}

}  // namespace

void AddCompletion(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("completion", "Print a completion script for a shell");
  const auto shell = std::make_shared<std::string>();
  command->footer(kCompletionExamples);
  command->add_option("shell", *shell, "Which shell")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->required();
  command->callback([&context, shell] { context.action = [shell] { return Print(*shell); }; });

  auto* complete = app.add_subcommand("__complete", "Say what could be typed next");
  const auto flags = std::make_shared<CompleteFlags>();
  complete->group("");
  complete->add_option("--line", flags->line, "The line up to the cursor");
  complete->add_option("--breaks", flags->breaks, "Characters the shell begins a word after");
  complete->callback([&app, &context, flags] {
    context.takes_words = true;
    context.action = [&app, &context, flags] { return Complete(context, app, *flags); };
  });
}

}  // namespace muster::cli
