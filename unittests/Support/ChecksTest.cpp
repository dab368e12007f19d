// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The check registry: look-up, suggestions, and that every entry says something. What the checks do
// is tested in test/Checks.
#include "ts/Support/Checks.h"

#include <cctype>
#include <gtest/gtest.h>
#include <set>

using namespace ts;

TEST(Checks, IdsAreRisingAndTagsMatchTheEnumerator) {
  EXPECT_EQ(checkTag(CheckId::TS101), "TS101");
  EXPECT_EQ(checkPrefix(CheckId::TS301), "[TS301] ");
  unsigned last = 0;
  for (const CheckInfo &info : allChecks()) {
    EXPECT_GT(static_cast<unsigned>(info.id), last);
    last = static_cast<unsigned>(info.id);
    EXPECT_EQ(&checkInfo(info.id), &info);
  }
}

TEST(Checks, EveryLayerIsThere) {
  for (unsigned id = 101; id <= 114; ++id)
    EXPECT_NE(findCheck("TS" + std::to_string(id)), nullptr) << id;
  for (unsigned id = 215; id <= 233; ++id)
    EXPECT_NE(findCheck("TS" + std::to_string(id)), nullptr) << id;
  for (unsigned id = 301; id <= 307; ++id)
    EXPECT_NE(findCheck("TS" + std::to_string(id)), nullptr) << id;
}

TEST(Checks, NamesAreUniqueAndTextsFollowTheStyle) {
  std::set<std::string_view> names;
  for (const CheckInfo &info : allChecks()) {
    std::string tag = checkTag(info.id);
    EXPECT_TRUE(names.insert(info.name).second) << tag;
    for (char c : info.name)
      EXPECT_TRUE(c == '-' || std::islower(static_cast<unsigned char>(c)))
          << tag << ' ' << info.name;
    for (std::string_view text : {info.title, info.why, info.fix}) {
      ASSERT_GE(text.size(), 20u) << tag;
      EXPECT_NE(text.back(), '.') << tag << ' ' << text;
      EXPECT_EQ(text.find("  "), std::string_view::npos)
          << tag << ": two blanks in '" << text << "'";
    }
  }
}

TEST(Checks, FindsByIdInAnySpellingAndByName) {
  const CheckInfo *expected = &checkInfo(CheckId::TS215);
  for (const char *text :
       {"TS215", "ts215", "215", "[TS215]", " ts215 ", "arrival-count", "Arrival-Count"})
    EXPECT_EQ(findCheck(text), expected) << text;
}

TEST(Checks, SuggestsTheNearest) {
  std::string suggestion;
  EXPECT_EQ(findCheck("arival-count", &suggestion), nullptr);
  EXPECT_EQ(suggestion, "arrival-count");
  EXPECT_EQ(findCheck("deadlok", &suggestion), nullptr);
  EXPECT_EQ(suggestion, "deadlock");
  EXPECT_EQ(findCheck("TS1150", &suggestion), nullptr);
  EXPECT_FALSE(suggestion.empty());
  EXPECT_EQ(findCheck("zzzzzzzz", &suggestion), nullptr);
  EXPECT_EQ(suggestion, "");
  EXPECT_EQ(findCheck("", &suggestion), nullptr);
  EXPECT_EQ(findCheck(std::string(100000, 'a'), &suggestion), nullptr);
}

TEST(Checks, ExplainWrapsAndNamesAllParts) {
  std::string text = explainCheck(checkInfo(CheckId::TS301), 60);
  EXPECT_EQ(text.rfind("TS301 (deadlock)\n", 0), 0u);
  EXPECT_NE(text.find("\nWhy\n"), std::string::npos);
  EXPECT_NE(text.find("\nFix\n"), std::string::npos);
  size_t length = 0;
  for (char c : text) {
    length = c == '\n' ? 0 : length + 1;
    EXPECT_LE(length, 60u);
  }
}
