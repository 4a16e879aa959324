#include "cli/completion/completion.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include <CLI/CLI.hpp>

#include "base/text.hpp"
#include "documents/kinds.hpp"

namespace muster::cli {
namespace {

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

bool IsHidden(const CLI::App& app) { return app.get_group().empty(); }

bool TakesValue(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

// An option of the command or, as they are understood there too, of those above it.
const CLI::Option* FindOption(const CLI::App& app, const std::string& name) {
  for (const auto* at = &app; at != nullptr; at = at->get_parent())
    if (const auto* option = at->get_option_no_throw(name)) return option;
  return nullptr;
}

const CLI::App* FindCommand(const CLI::App& app, const std::string& name) {
  for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (command->check_name(name)) return command;
  return nullptr;
}

const CLI::Option* Positional(const CLI::App& app, std::size_t index) {
  const auto options =
      app.get_options([](const CLI::Option* option) { return option->get_positional(); });
  if (index < options.size()) return options[index];
  // The last one may take many words.
  const bool many = !options.empty() && options.back()->get_expected_max() > 1;
  return many ? options.back() : nullptr;
}

std::vector<Candidate> WordsOf(std::string_view set) {
  std::vector<Candidate> words;
  for (const auto word : Split(set, ',')) words.push_back({std::string(word), {}});
  return words;
}

std::string InCapitals(std::string_view word) {
  std::string capitals(word);
  for (char& c : capitals) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return capitals;
}

// Sets what a value of `option` can be.
void WantValue(const CLI::Option& option, Wanted& wanted) {
  constexpr std::array<std::pair<std::string_view, ValueKind>, 10> kKinds{
      {{"FILE", ValueKind::kFiles},
       {"DIR", ValueKind::kFiles},
       {"EXPR", ValueKind::kTargets},
       {"HOST", ValueKind::kHosts},
       {"RUN", ValueKind::kRuns},
       {"CONTEXT", ValueKind::kContexts},
       {"JOB", ValueKind::kJobs},
       {"SECRET", ValueKind::kSecrets},
       {"TOKEN", ValueKind::kTokens},
       {"DOCUMENT", ValueKind::kDocuments}}};
  const auto type = option.get_type_name();
  if (type == "KIND") {
    wanted.kind = ValueKind::kWords;
    for (const auto& row : documents::Kinds())
      wanted.words.push_back({std::string(row.name), std::string(row.about)});
    return;
  }
  const auto open = type.find('{');
  const auto close = type.find('}');
  if (open != std::string::npos && close != std::string::npos && open < close) {
    wanted.kind = ValueKind::kWords;
    wanted.words = WordsOf(std::string_view(type).substr(open + 1, close - open - 1));
    return;
  }
  for (const auto& [name, kind] : kKinds)
    if (type == name) wanted.kind = kind;
  if (wanted.kind != ValueKind::kNothing) return;
  // TRIGGER is a document of kind trigger.
  for (const auto& row : documents::Kinds())
    if (type == InCapitals(row.name)) {
      wanted.kind = ValueKind::kDocuments;
      wanted.before = row.name;
    }
}

void WantOptions(const CLI::App& app, Wanted& wanted) {
  wanted.kind = ValueKind::kWords;
  for (const auto* at = &app; at != nullptr; at = at->get_parent())
    for (const auto* option : at->get_options([](const CLI::Option*) { return true; })) {
      if (option->get_positional() || option->get_group().empty()) continue;
      const auto& names = option->get_lnames();
      if (names.empty()) continue;
      const std::string name = "--" + names.front();
      const bool known =
          std::ranges::find(wanted.words, name, &Candidate::value) != wanted.words.end();
      if (!known) wanted.words.push_back({name, FirstLine(option->get_description())});
    }
}

void WantCommands(const CLI::App& app, Wanted& wanted) {
  wanted.kind = ValueKind::kWords;
  for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!IsHidden(*command))
      wanted.words.push_back({command->get_name(), FirstLine(command->get_description())});
}

void Remember(const CLI::Option& option, const std::string& value, ConnectionOptions& flags) {
  const auto& names = option.get_lnames();
  const auto& name = names.empty() ? std::string() : names.front();
  if (name == "server") flags.server = value;
  if (name == "context") flags.context = value;
  if (name == "token") flags.token = value;
  if (name == "token-file") flags.token_file = value;
  if (name == "ca") flags.ca_file = value;
}

// An option word: "--host", "--host=web1", "-t", "-tweb1".
struct OptionWord {
  const CLI::Option* option = nullptr;
  std::string head;  // up to the value, when that is in the same word
  bool attached = false;
};

OptionWord ReadOption(const CLI::App& app, const std::string& word) {
  OptionWord read;
  if (word.starts_with("--")) {
    const auto equals = word.find('=');
    read.attached = equals != std::string::npos;
    read.head = read.attached ? word.substr(0, equals + 1) : word;
    read.option = FindOption(app, word.substr(0, equals));
  } else {
    read.head = word.substr(0, 2);
    read.option = FindOption(app, read.head);
    read.attached = word.size() > 2 && read.option != nullptr && TakesValue(*read.option);
  }
  return read;
}

}  // namespace

TypedLine SplitTyped(std::string_view line) {
  TypedLine typed;
  std::string word;
  bool begun = false;
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0 && c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
      begun = true;
    } else if (c == '\\' && quote != '\'' && i + 1 < line.size()) {
      word += line[++i];
      begun = true;
    } else if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      if (begun) typed.words.push_back(std::exchange(word, ""));
      begun = false;
    } else {
      word += c;
      begun = true;
    }
  }
  typed.words.push_back(word);
  typed.quoted = quote != 0;
  return typed;
}

std::size_t TermBegin(std::string_view expression) {
  const auto last = expression.find_last_of(" ,(!");
  return last == std::string_view::npos ? 0 : last + 1;
}

Wanted WantedAt(const CLI::App& root, const std::vector<std::string>& words) {
  Wanted wanted;
  if (words.size() < 2) return wanted;
  const CLI::App* app = &root;
  const CLI::Option* pending = nullptr;  // an option whose value comes next
  std::size_t positionals = 0;
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    const auto& word = words[i];
    if (word == "--") {
      wanted.kind = ValueKind::kFiles;
      wanted.text = words.back();
      return wanted;
    }
    if (pending != nullptr) {
      Remember(*pending, word, wanted.flags);
      pending = nullptr;
    } else if (word.size() > 1 && word.front() == '-') {
      const auto read = ReadOption(*app, word);
      if (read.option == nullptr || !TakesValue(*read.option)) continue;
      if (read.attached)
        Remember(*read.option, word.substr(read.head.size()), wanted.flags);
      else
        pending = read.option;
    } else if (const auto* command = positionals == 0 ? FindCommand(*app, word) : nullptr) {
      app = command;
    } else {
      ++positionals;
      wanted.before = word;
    }
  }
  wanted.text = words.back();
  if (pending != nullptr) {
    WantValue(*pending, wanted);
  } else if (wanted.text.starts_with('-')) {
    const auto read = ReadOption(*app, wanted.text);
    if (read.attached && read.option != nullptr) {
      wanted.text.erase(0, read.head.size());
      wanted.head = read.head;
      WantValue(*read.option, wanted);
    } else {
      WantOptions(*app, wanted);
    }
  } else if (const auto* positional = Positional(*app, positionals)) {
    WantValue(*positional, wanted);
  } else if (positionals == 0) {
    WantCommands(*app, wanted);
  }
  return wanted;
}

}  // namespace muster::cli
