#pragma once

#include <utility>

#include "documents/shape.hpp"

// The words the table of keys is written in. Each kind's keys stand in its file in kinds/, those of
// a job in job/. A key that is added there is known to the check, the schema and the reference; the
// builders take its value.
namespace muster::documents::table {

inline Type One(Value value) { return {.value = std::move(value)}; }
inline Type Text(Form form) { return One({.form = form}); }
inline Type Template(Place place, Form form = Form::kTemplate) {
  return One({.form = form, .place = place});
}
inline Type Integer(std::int64_t least, std::int64_t most) {
  return One({.form = Form::kInteger, .place = Place::kNowhere, .least = least, .most = most});
}
inline Type Share(std::int64_t least) {
  return One({.form = Form::kShare, .place = Place::kNowhere, .least = least});
}
inline Type Flag() { return Text(Form::kFlag); }
inline Type Time() { return Text(Form::kDuration); }
// A timeout of nothing would end everything before it began.
inline Type TimeAboveZero() {
  return One({.form = Form::kDuration, .place = Place::kNowhere, .least = 1});
}
inline Type Choice(std::vector<std::string_view> choices) {
  Value value{.form = Form::kChoice};
  value.choices = std::move(choices);
  return One(std::move(value));
}
inline Type ListOf(Type item) {
  return {.item = std::make_shared<const Type>(std::move(item)), .must_hold_something = true};
}
inline Type PossiblyEmpty(Type list) {
  list.must_hold_something = false;
  return list;
}
inline Type MapOf(const Shape& shape) { return {.map = &shape}; }
inline Type Pairs(Form name, Type item) {
  return {.pairs = std::make_shared<const Type>(std::move(item)),
          .pair_name = Value{.form = name},
          .must_hold_something = true};
}
inline Type OrNothing(Type type) {
  type.nothing = true;
  return type;
}
// `type`, also as a single value.
inline Type OrOne(Type type, const Type& single) {
  type.value = single.value;
  return type;
}
inline Type OrMap(Type type, const Shape& shape) {
  type.map = &shape;
  return type;
}
inline Type OneOrList(const Type& type) {
  Type both = ListOf(type);
  both.value = type.value;
  both.map = type.map;
  return both;
}

inline constexpr std::int64_t kManyHosts = 1'000'000;

// What every document begins with.
std::vector<Key> HeadKeys(std::string_view kind, Form name, std::string_view name_help);
void Append(std::vector<Key>& keys, std::vector<Key> more);

const Shape& ParamShape();
const Shape& ApproveShape();
const Shape& LimitShape();
const Shape& ResourcesShape();
Type Script();
Type RetryCount();
std::vector<Key> ActionKeys();  // one for each action but `stages`

}  // namespace muster::documents::table
