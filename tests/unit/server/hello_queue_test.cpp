#include "server/gateway/hello_queue.hpp"

#include <gtest/gtest.h>

namespace muster::server {
namespace {

engine::NodeHello HelloOn(std::uint64_t link, const std::string& key = "k") {
  engine::NodeHello hello;
  hello.link = LinkId(link);
  hello.key = key;
  return hello;
}

TEST(HelloQueue, OneOfAKeyIsLookedUpAtATime) {
  HelloQueue queue;
  EXPECT_FALSE(queue.Put(HelloOn(1)));
  EXPECT_EQ(queue.Next("k")->link, LinkId(1));
  EXPECT_FALSE(queue.Put(HelloOn(2)));
  EXPECT_FALSE(queue.Next("k"));
  EXPECT_FALSE(queue.Put(HelloOn(3, "other")));
  EXPECT_EQ(queue.Next("other")->link, LinkId(3));
  queue.Done("k");
  EXPECT_EQ(queue.Next("k")->link, LinkId(2));
}

TEST(HelloQueue, TheNewestWaits) {
  HelloQueue queue;
  queue.Put(HelloOn(1));
  queue.Next("k");
  EXPECT_FALSE(queue.Put(HelloOn(2)));
  EXPECT_EQ(queue.Put(HelloOn(3)), LinkId(2));
  EXPECT_FALSE(queue.Put(HelloOn(3))) << "a link's own gives way in silence";
  queue.Done("k");
  EXPECT_EQ(queue.Next("k")->link, LinkId(3));
}

TEST(HelloQueue, WhatALinkThatIsGoneSaidIsDropped) {
  HelloQueue queue;
  queue.Put(HelloOn(1));
  queue.Next("k");
  queue.Put(HelloOn(2));
  queue.Drop(LinkId(1), "k");
  queue.Drop(LinkId(2), "k");
  queue.Done("k");
  EXPECT_FALSE(queue.Next("k"));
}

}  // namespace
}  // namespace muster::server
