#include "cli/follow/top_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace top_view_test {

using testing::HasSubstr;

story::Standing standing(std::string name, std::string state) {
  story::Standing out;
  out.name = std::move(name);
  out.state = std::move(state);
  return out;
}

story::PodFacts pod(std::string name) {
  story::PodFacts facts;
  facts.name = std::move(name);
  facts.status = "Running";
  facts.ready = true;
  return facts;
}

class TopViewTest : public testing::Test {
 protected:
  TopViewTest() {
    view_.set_job_set(standing("a", "Running"), "default");
    view_.set_job_set(standing("b", "Failed"), "default");
    view_.set_pod("default/b-0", pod("b-0"), "default/b");
    view_.set_pod("default/b-1", pod("b-1"), "default/b");
  }
  std::string shown(std::size_t height = 10) const {
    std::string out;
    for (const std::string& line : view_.lines(Time{}, 60, height, false)) out += line + "\n";
    return out;
  }
  TopView view_;
};

TEST_F(TopViewTest, GoesFromSetsToPodsToTheLogAndBack) {
  EXPECT_THAT(shown(), HasSubstr("2 JobSets"));
  view_.press(Key(Special::kDown));
  EXPECT_EQ(view_.selected_job_set(), "default/b");
  view_.press(Key(Special::kEnter));
  EXPECT_EQ(view_.level(), TopView::Level::kPods);
  EXPECT_THAT(shown(), HasSubstr("b-1"));
  view_.press(Key('j'));
  EXPECT_EQ(view_.selected_pod(), "default/b-1");
  view_.press(Key(Special::kRight));
  view_.add_log_line("step 1");
  EXPECT_THAT(shown(), HasSubstr("step 1"));
  view_.press(Key(Special::kLeft));
  view_.press(Key(Special::kLeft));
  EXPECT_EQ(view_.level(), TopView::Level::kJobSets);
  EXPECT_FALSE(view_.press(Key('q')));
}

TEST_F(TopViewTest, StaysWithinTheTerminal) {
  for (int i = 0; i < 50; ++i)
    view_.set_job_set(standing("set-" + std::to_string(i), "Running"), "default");
  for (int i = 0; i < 30; ++i) view_.press(Key(Special::kDown));
  const auto lines = view_.lines(Time{}, 30, 8, false);
  EXPECT_EQ(lines.size(), 8u);
  for (const std::string& line : lines) EXPECT_LE(line.size(), 30u);
  const std::string selected = view_.selected_job_set();
  EXPECT_THAT(shown(8), HasSubstr(selected.substr(selected.find('/') + 1)));
}

TEST_F(TopViewTest, SurvivesThatThingsGo) {
  view_.press(Key(Special::kDown));
  view_.press(Key(Special::kEnter));
  view_.remove_pod("default/b-0");
  view_.remove_pod("default/b-1");
  EXPECT_EQ(view_.selected_pod(), "");
  view_.press(Key(Special::kEnter));
  EXPECT_EQ(view_.level(), TopView::Level::kPods) << "there is no log to look at";
  view_.remove_job_set("default", "a");
  view_.remove_job_set("default", "b");
  view_.press(Key(Special::kEscape));
  EXPECT_THAT(shown(), HasSubstr("nothing here yet"));
}

}  // namespace top_view_test
}  // namespace muster::cli
