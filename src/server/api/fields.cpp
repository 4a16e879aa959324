#include "server/api/fields.hpp"

#include <boost/json.hpp>

#include "server/api/run_request.hpp"

namespace muster::server::api {

Result<Fields> Fields::Of(const Call& call) {
  if (call.request().body.empty()) return Fields({});
  auto body = call.Body();
  if (!body) return muster::Fail(body.error());
  return Fields(std::move(*body));
}

std::optional<boost::json::value> Fields::Take(const std::string& name) {
  asked_ += (asked_.empty() ? "" : ", ") + name;
  const auto found = body_.find(name);
  if (found == body_.end()) return std::nullopt;
  boost::json::value value = std::move(found->value());
  body_.erase(found);
  if (value.is_null() || !problem_) return std::nullopt;
  return value;
}

void Fields::Complain(const std::string& name, const char* expected) {
  problem_ = muster::Fail(ErrorCode::kInvalid, "{}: expected {}", name, expected);
}

Fields& Fields::Text(const std::string& name, std::string& value) {
  if (const auto field = Take(name)) {
    if (field->is_string())
      value = field->as_string();
    else
      Complain(name, "a string");
  }
  return *this;
}

Fields& Fields::Reason(const std::string& name, std::string& value) {
  Text(name, value);
  if (auto fits = CheckReason(value); problem_ && !fits) problem_ = fits;
  return *this;
}

Fields& Fields::Bool(const std::string& name, bool& value) {
  if (const auto field = Take(name)) {
    if (field->is_bool())
      value = field->as_bool();
    else
      Complain(name, "true or false");
  }
  return *this;
}

Fields& Fields::Number(const std::string& name, std::optional<std::uint32_t>& value,
                       std::uint32_t least, std::uint32_t most) {
  if (const auto field = Take(name)) {
    boost::system::error_code problem;
    const auto number = field->is_number() ? field->to_number<std::int64_t>(problem) : -1;
    if (!field->is_number() || problem || number < least || number > most)
      problem_ = muster::Fail(ErrorCode::kInvalid, "{}: expected a whole number from {} to {}",
                              name, least, most);
    else
      value = static_cast<std::uint32_t>(number);
  }
  return *this;
}

Result<> Fields::Rest() const {
  if (!problem_ || body_.empty()) return problem_;
  return muster::Fail(ErrorCode::kInvalid, "unknown field '{}'; expected {}",
                      std::string(body_.begin()->key()), asked_.empty() ? "none" : asked_);
}

}  // namespace muster::server::api
