#include "adapters/system/log_lines.hpp"

#include <memory>
#include <string_view>

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>

#include "base/visible.hpp"

namespace muster {
namespace {

class VisibleMessage final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& out) override {
    const auto text = VisibleLine({message.payload.data(), message.payload.size()});
    out.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<VisibleMessage>();
  }
};

}  // namespace

void FormatLines(spdlog::logger& logger) {
  auto formatter = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
  formatter->add_flag<VisibleMessage>('*').set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %*");
  logger.set_formatter(std::move(formatter));
}

}  // namespace muster
