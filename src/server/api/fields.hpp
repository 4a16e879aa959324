#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <boost/json/object.hpp>

#include "server/api/call.hpp"

namespace muster::server::api {

// The fields of a small JSON body, taken one by one into variables. Absent ones leave their
// variable as it is. The first problem stands; Rest complains about fields nobody asked for.
class Fields {
 public:
  // The body's; none when the call has no body.
  static Result<Fields> Of(const Call& call);
  explicit Fields(boost::json::object body) : body_(std::move(body)) {}

  Fields& Text(const std::string& name, std::string& value);
  Fields& Reason(const std::string& name, std::string& value);  // as CheckReason allows
  Fields& Bool(const std::string& name, bool& value);
  Fields& Number(const std::string& name, std::optional<std::uint32_t>& value, std::uint32_t least,
                 std::uint32_t most);

  Result<> Done() const { return problem_; }
  Result<> Rest() const;

 private:
  // The field, taken out; nothing when it is absent or a problem stands already.
  std::optional<boost::json::value> Take(const std::string& name);
  void Complain(const std::string& name, const char* expected);

  boost::json::object body_;
  std::string asked_;  // names, for Rest
  Result<> problem_;
};

}  // namespace muster::server::api
