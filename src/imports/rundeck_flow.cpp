#include <algorithm>
#include <map>
#include <set>

#include "documents/values.hpp"
#include "imports/rundeck_parts.hpp"
#include "imports/yaml_text.hpp"

namespace muster::imports {
namespace {

struct Step {
  StageText stage;
  std::optional<StageText> handler;
  bool handler_goes_on = false;  // the steps after it follow when it succeeded
};

struct Dispatch {
  std::int64_t threads = 1;
  bool keepgoing = false;
};

std::string Indented(const StageText& stage, std::size_t indent) {
  const std::string space(indent, ' ');
  std::string text = fmt::format("{}- name: {}\n", space, stage.name);
  for (const auto& line : stage.lines)
    text += line.empty() ? "\n" : fmt::format("{}  {}\n", space, line);
  return text;
}

class FlowWriter {
 public:
  FlowWriter(const Node& job, const StepContext& context) : job_(job), context_(context) {}

  std::string Write() {
    ReadDispatch();
    ReadSequence();
    if (steps_.empty()) {
      context_.notes.Lost(job_.at, "the job has no steps");
      return "stages:\n  - name: nothing\n    script: 'true'\n";
    }
    context_.notes.Over(sequence_at_, "{} step{}", steps_.size(), steps_.size() == 1 ? "" : "s");
    const bool nodes_first = strategy_.empty() || strategy_ == "node-first";
    if (nodes_first && steps_.size() > 1 && FitsOneRoll()) return Roll();
    if (nodes_first && steps_.size() > 1)
      context_.notes.Changed(sequence_at_,
                             "every host does a step before any does the next "
                             "(node-first became step-first)");
    return Flat();
  }

 private:
  void ReadDispatch() {
    const Node* filters = job_.Find("nodefilters");
    const Node* dispatch = filters == nullptr ? nullptr : filters->Find("dispatch");
    if (dispatch == nullptr) return;
    const auto at = filters->FindKey("dispatch")->at;
    const auto text = TextIn(*dispatch, "threadcount");
    const auto threads = documents::ParseInteger(text);
    if (threads && *threads >= 1 && *threads <= 100'000)
      dispatch_.threads = *threads;
    else if (!text.empty())
      context_.notes.Lost(at,
                          "threadcount '{}' is no number: hosts go one by one; change "
                          "'concurrency'",
                          text);
    dispatch_.keepgoing = FlagIn(*dispatch, "keepgoing", false);
    context_.notes.Over(at, "{} at a time, {} when a host fails", dispatch_.threads,
                        dispatch_.keepgoing ? "going on" : "stopping");
    for (const auto& key : dispatch->keys)
      if (key.text == "rankAttribute" || key.text == "rankOrder")
        context_.notes.Lost(key.at, "'{}': hosts are taken in the order of their names", key.text);
      else if (key.text != "threadcount" && key.text != "keepgoing" &&
               key.text != "excludePrecedence")
        context_.notes.Lost(key.at,
                            "'{}' has no counterpart: a start that matches no host is "
                            "refused",
                            key.text);
  }

  void ReadSequence() {
    const Node* sequence = job_.Find("sequence");
    if (sequence == nullptr) return;
    sequence_at_ = job_.FindKey("sequence")->at;
    keepgoing_ = FlagIn(*sequence, "keepgoing", false);
    strategy_ = TextIn(*sequence, "strategy");
    if (strategy_ == "sequential") strategy_ = "step-first";
    if (!strategy_.empty() && strategy_ != "node-first" && strategy_ != "step-first" &&
        strategy_ != "parallel") {
      context_.notes.Lost(sequence_at_,
                          "strategy '{}' has no counterpart: steps follow one another", strategy_);
      strategy_ = "step-first";
    }
    for (const auto& key : sequence->keys)
      if (key.text == "pluginConfig")
        context_.notes.Lost(key.at, "'pluginConfig' (log filters, rules) has no counterpart");
    const Node* commands = sequence->IsList() ? sequence : sequence->Find("commands");
    if (commands == nullptr) return;
    for (const auto& command : commands->items) AddStep(command);
  }

  std::string NameFor(const Node& command) {
    auto name = Slug(TextIn(command, "description"), "_-", '-', 40);
    // Other stages name it without quotes, so it must not be a word that YAML takes for a value.
    if (name.empty() || name.front() < 'a' || name == "end" || YamlText(name, 0) != name)
      name = fmt::format("step-{}", steps_.size() + 1);
    const auto base = name;
    for (int& next = next_number_.try_emplace(base, 2).first->second; !names_.insert(name).second;)
      name = fmt::format("{}-{}", base, next++);
    return name;
  }

  void AddStep(const Node& command) {
    if (!command.IsMap()) {
      context_.notes.Lost(command.at, "this is no step: {}", Found(command));
      return;
    }
    const auto name = NameFor(command);
    Step step{StageOf(command, name, context_), {}, false};
    if (const Node* handler = command.Find("errorhandler");
        handler != nullptr && handler->IsMap()) {
      const auto handler_name = name + "-handler";
      names_.insert(handler_name);
      step.handler = StageOf(*handler, handler_name, context_);
      step.handler_goes_on = keepgoing_ || FlagIn(*handler, "keepgoingOnSuccess", false);
      context_.notes.Changed(handler->at,
                             "the error handler is branch '{}', on the hosts that "
                             "failed, after all hosts of the step",
                             handler_name);
    }
    steps_.push_back(std::move(step));
  }

  // A roll takes each batch through all steps; it has no branches inside.
  bool FitsOneRoll() const {
    return !keepgoing_ && std::ranges::none_of(steps_, [](const Step& step) {
      return step.handler.has_value() || step.stage.is_job;
    });
  }

  std::string Roll() {
    context_.notes.Changed(sequence_at_,
                           "node-first: {} host{} at a time go through all steps; the "
                           "next ones begin when all of those are done",
                           dispatch_.threads, dispatch_.threads == 1 ? "" : "s");
    auto name = std::string("steps");
    while (!names_.insert(name).second) name += "-all";
    std::string text = fmt::format(
        "stages:\n  - name: {}\n    batches: [{}]\n    max_failures: {}\n    on_limit: fail\n"
        "    stages:\n",
        name, dispatch_.threads, dispatch_.keepgoing ? "100%" : "0");
    for (const auto& step : steps_) text += Indented(step.stage, 6);
    return text;
  }

  std::string Flat() {
    std::string stages = "stages:\n";
    std::string branches;
    bool returns = false;  // hosts come back from a handler
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      auto& step = steps_[i];
      const auto next = i + 1 < steps_.size() ? steps_[i + 1].stage.name : "";
      Common(step.stage, returns);
      if (strategy_ == "parallel") step.stage.lines.emplace_back("needs: []");
      const auto follows = step.handler ? step.handler->name : keepgoing_ ? next : "";
      if (!follows.empty() && !(strategy_ == "parallel" && !step.handler))
        step.stage.lines.push_back(fmt::format("switch: {{failed: {0}, timed_out: {0}}}", follows));
      stages += Indented(step.stage, 2);
      if (!step.handler) continue;
      branches += Branch(step, strategy_ == "parallel" ? "" : next);
      returns = returns || step.handler_goes_on;
    }
    if (keepgoing_)
      context_.notes.Changed(sequence_at_,
                             "keepgoing: every step is done on all hosts, whatever "
                             "failed before; the run then ends failed");
    return stages + (branches.empty() ? "" : "branches:\n" + branches);
  }

  void Common(StageText& stage, bool returns) const {
    const bool batched = std::ranges::find(stage.lines, "batches: [1]") != stage.lines.end();
    if (!stage.is_job) stage.lines.push_back(fmt::format("concurrency: {}", dispatch_.threads));
    if (dispatch_.keepgoing || keepgoing_) stage.lines.emplace_back("max_failures: 100%");
    if (batched) stage.lines.emplace_back("on_limit: fail");
    if (keepgoing_ || returns) stage.lines.emplace_back("hosts: all");
  }

  std::string Branch(Step& step, const std::string& next) const {
    StageText& handler = *step.handler;
    if (!handler.is_job) handler.lines.push_back(fmt::format("concurrency: {}", dispatch_.threads));
    handler.lines.emplace_back("hosts: failed");
    if (step.handler_goes_on && !keepgoing_) handler.lines.emplace_back("recovers: true");
    if (step.handler_goes_on && !next.empty())
      handler.lines.push_back(fmt::format("switch: {{succeeded: {}}}", next));
    return Indented(handler, 2);
  }

  const Node& job_;
  const StepContext& context_;
  Dispatch dispatch_;
  Position sequence_at_;
  std::string strategy_;
  bool keepgoing_ = false;
  std::set<std::string> names_;
  std::map<std::string, int> next_number_;  // of steps with one description
  std::vector<Step> steps_;
};

}  // namespace

std::string StagesOf(const Node& job, const StepContext& context) {
  return FlowWriter(job, context).Write();
}

}  // namespace muster::imports
