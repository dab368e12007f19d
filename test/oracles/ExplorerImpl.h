// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The explorer's state layout and tables, shared by the part that prepares a program
// (ExplorerCode.cpp) and the search (Explorer.cpp); nobody else includes it.
#ifndef TS_TEST_ORACLES_EXPLORERIMPL_H
#define TS_TEST_ORACLES_EXPLORERIMPL_H

#include "Program.h"

#include <map>
#include <vector>

namespace ts::oracle {

using Word = int16_t;

/// What an agent does between two visible operations.
struct Segment {
  std::vector<const Micro *> ops;
  std::vector<std::vector<int>> heldBefore; ///< per op: own asynchronous accesses still open there
  std::vector<int> open; ///< thread, held and group accesses that others meet while it lasts
};

struct AgentCode {
  std::vector<const Micro *> visible;
  std::vector<Segment> segments;            ///< one more than visible
  std::vector<int> left;                    ///< held and group accesses that never end
  std::vector<const Micro *> channelOps[2]; ///< Umma, CpAsync in order of issue
  std::vector<int> channelBefore[2];        ///< number issued once segment k has run
};

/// An asynchronous completion: a copy's bytes (two pieces) or a commit's arrival.
struct Item {
  int agent = 0;
  const Micro *op = nullptr;
  const Target *target = nullptr;
  int channel = -1; ///< commits: which accesses it ends, and how many of them
  int prefix = 0;
  Word piece = 0;
};

inline bool isVisible(OpKind kind) {
  return kind == OpKind::Wait || kind == OpKind::Try || kind == OpKind::Arrive ||
         kind == OpKind::PdlWait || kind == OpKind::PdlLaunch;
}

inline int channelOf(OpKind kind) {
  return kind == OpKind::Umma || kind == OpKind::UmmaCommit ? 0 : 1;
}

inline bool overlaps(const AccessInfo &a, const AccessInfo &b) {
  return a.cta == b.cta && a.space == b.space && a.begin < b.end && b.begin < a.end &&
         (a.write || b.write) &&
         !(a.task == b.task && a.agent != b.agent && a.part >= 0 && a.part == b.part);
}

class Explorer {
public:
  Explorer(const Program &program, size_t maxStates, bool pastBytes)
      : p(program), maxStates(maxStates), pastBytes(pastBytes) {}
  Verdict run();

private:
  struct Step {
    int agent = -1, item = -1;
    bool outcome = false;
  };

  void compile();
  void compileAgent(int index);
  bool checkBytes();
  void search();
  bool apply(const Word *from, Step step);
  bool enabled(const Word *s, int agent) const;
  void enter(int agent);
  void exitOf(int cta);
  bool opens(int agent, int access, const std::vector<int> &held, bool viaUmma);
  void arrive(int barrier, int64_t gen, int64_t count, const std::string &who);
  void bytes(int barrier, int64_t gen, Word amount, const std::string &who);
  void complete(int barrier);
  bool finished(const Word *s, int agent) const {
    return size_t(s[agent]) == code[size_t(agent)].visible.size();
  }
  bool exited(int cta) const {
    for (size_t a = 0; a < p.agents.size(); ++a)
      if (p.agents[a].cta == cta && !finished(cur.data(), int(a)))
        return false;
    return true;
  }
  void fault(Kind kind, const std::string &what);
  std::string trace() const;
  std::string describe(const Micro &op) const;
  std::string place(int barrier, int64_t gen) const {
    return p.barriers[size_t(barrier)].name + " generation " + std::to_string(gen);
  }

  // Layout of a state.
  size_t hints() const { return p.agents.size(); }
  size_t barrier(int b) const { return 2 * p.agents.size() + 3 * size_t(b); }
  size_t itemAt(int i) const { return barrier(int(p.barriers.size())) + size_t(i); }
  size_t channel(int agent, int c) const {
    return itemAt(int(items.size())) + 2 * size_t(agent) + size_t(c);
  }
  size_t pdl(int cta) const { return channel(int(p.agents.size()), 0) + size_t(cta); }

  int find(const std::vector<Word> &state);

  const Program &p;
  size_t maxStates;
  bool pastBytes;
  Verdict verdict;
  std::vector<AgentCode> code;
  std::vector<Item> items;
  std::map<std::pair<const Micro *, size_t>, int> itemOf;
  struct Waiter {
    int agent, at;
    int64_t gen;
  };
  std::vector<std::vector<Waiter>> waiters; ///< per barrier
  int64_t unit = 1;
  bool anyPdlWait = false;
  size_t width = 0;

  std::vector<Word> arena;
  std::vector<int> parent;
  std::vector<Step> how;
  std::vector<int> table;
  std::vector<Word> cur;
  int expanding = -1;
  Step taken;
  bool stop = false;
  int ownIssued[2] = {}; ///< channel work begun so far by the agent in enter()
};

} // namespace ts::oracle

#endif // TS_TEST_ORACLES_EXPLORERIMPL_H
