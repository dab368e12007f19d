// Maximum cycle ratio by Howard's policy iteration, and the earliest times of an event graph.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ts/Analysis/Reports/EventGraph.h"

#include <algorithm>
#include <deque>
#include <optional>

namespace ts::reports {
namespace {

constexpr double tolerance = 1e-6;
constexpr int maxRounds = 2000;

using Adjacency = std::vector<std::vector<int>>; // edges by node

Adjacency outgoing(const EventGraph &graph) {
  Adjacency out(size_t(graph.nodes));
  for (size_t e = 0; e < graph.edges.size(); ++e)
    out[size_t(graph.edges[e].from)].push_back(int(e));
  return out;
}

CycleMean withCycle(const EventGraph &graph, CycleMean::Kind kind, std::vector<int> cycle) {
  CycleMean result;
  result.kind = kind;
  for (int e : cycle) {
    result.weight += graph.edges[size_t(e)].weight;
    result.tokens += graph.edges[size_t(e)].tokens;
  }
  result.cycle = std::move(cycle);
  return result;
}

/// The cycle that following `next` (an edge by node, -1 for none) from `start` runs into.
/// `backward`: the edges lead from a node to its predecessor.
std::vector<int> followToCycle(const EventGraph &graph, const std::vector<int> &next, int start,
                               bool backward) {
  std::vector<int> position(size_t(graph.nodes), -1), walked;
  int node = start;
  while (position[size_t(node)] < 0 && next[size_t(node)] >= 0) {
    position[size_t(node)] = int(walked.size());
    int e = next[size_t(node)];
    walked.push_back(e);
    node = backward ? graph.edges[size_t(e)].from : graph.edges[size_t(e)].to;
  }
  if (position[size_t(node)] < 0)
    return {};
  std::vector<int> cycle(walked.begin() + position[size_t(node)], walked.end());
  if (backward)
    std::reverse(cycle.begin(), cycle.end());
  return cycle;
}

/// Shifts of the nodes' occurrences after which no edge has negative tokens, and an order of the
/// nodes along the edges that are left without tokens.
struct Order {
  std::vector<int64_t> shift;
  std::vector<int> nodes;
};

std::optional<Order> orderOf(const EventGraph &graph, const Adjacency &out, CycleMean &dead) {
  size_t count = size_t(graph.nodes);
  Order order;
  order.shift.assign(count, 0);
  std::vector<int> rounds(count, 0), into(count, -1);
  std::vector<char> queued(count, 1);
  std::deque<int> queue;
  for (int v = 0; v < graph.nodes; ++v)
    queue.push_back(v);
  while (!queue.empty()) {
    int v = queue.front();
    queue.pop_front();
    queued[size_t(v)] = 0;
    for (int e : out[size_t(v)]) {
      const EventEdge &edge = graph.edges[size_t(e)];
      int64_t shift = order.shift[size_t(v)] + edge.tokens;
      if (shift >= order.shift[size_t(edge.to)])
        continue;
      order.shift[size_t(edge.to)] = shift;
      into[size_t(edge.to)] = e;
      if (++rounds[size_t(edge.to)] > graph.nodes) {
        dead = withCycle(graph, CycleMean::Kind::Deadlock,
                         followToCycle(graph, into, edge.to, /*backward=*/true));
        return std::nullopt;
      }
      if (!queued[size_t(edge.to)]) {
        queued[size_t(edge.to)] = 1;
        queue.push_back(edge.to);
      }
    }
  }
  auto isOrder = [&](const EventEdge &edge) {
    return edge.tokens + order.shift[size_t(edge.from)] - order.shift[size_t(edge.to)] == 0;
  };
  std::vector<int> pending(count, 0);
  for (const EventEdge &edge : graph.edges)
    pending[size_t(edge.to)] += isOrder(edge);
  for (int v = 0; v < graph.nodes; ++v)
    if (!pending[size_t(v)])
      order.nodes.push_back(v);
  for (size_t i = 0; i < order.nodes.size(); ++i)
    for (int e : out[size_t(order.nodes[i])])
      if (const EventEdge &edge = graph.edges[size_t(e)]; isOrder(edge))
        if (--pending[size_t(edge.to)] == 0)
          order.nodes.push_back(edge.to);
  if (order.nodes.size() == count)
    return order;
  // Every node that is left has a predecessor that is left.
  std::vector<int> previous(count, -1);
  int start = -1;
  for (size_t e = 0; e < graph.edges.size(); ++e)
    if (const EventEdge &edge = graph.edges[e];
        isOrder(edge) && pending[size_t(edge.from)] > 0 && pending[size_t(edge.to)] > 0) {
      previous[size_t(edge.to)] = int(e);
      start = edge.to;
    }
  dead = withCycle(graph, CycleMean::Kind::Deadlock,
                   followToCycle(graph, previous, start, /*backward=*/true));
  return std::nullopt;
}

/// Strongly connected component of each node (Tarjan, without recursion).
std::vector<int> components(const EventGraph &graph, const Adjacency &out, int &number) {
  size_t count = size_t(graph.nodes);
  std::vector<int> component(count, -1), index(count, -1), low(count, 0), stack;
  std::vector<std::pair<int, size_t>> walk;
  int next = 0;
  number = 0;
  for (int root = 0; root < graph.nodes; ++root) {
    if (index[size_t(root)] >= 0)
      continue;
    auto enter = [&](int v) {
      index[size_t(v)] = low[size_t(v)] = next++;
      stack.push_back(v);
      walk.push_back({v, 0});
    };
    enter(root);
    while (!walk.empty()) {
      int v = walk.back().first;
      if (walk.back().second < out[size_t(v)].size()) {
        int to = graph.edges[size_t(out[size_t(v)][walk.back().second++])].to;
        if (index[size_t(to)] < 0)
          enter(to);
        else if (component[size_t(to)] < 0)
          low[size_t(v)] = std::min(low[size_t(v)], index[size_t(to)]);
        continue;
      }
      walk.pop_back();
      if (!walk.empty()) {
        int &parent = low[size_t(walk.back().first)];
        parent = std::min(parent, low[size_t(v)]);
      }
      if (low[size_t(v)] != index[size_t(v)])
        continue;
      for (int member = -1; member != v;) {
        member = stack.back();
        stack.pop_back();
        component[size_t(member)] = number;
      }
      ++number;
    }
  }
  return component;
}

/// Howard's iteration on one component: each node has a chosen edge; the best cycle of the choice
/// gives a ratio, the ratio gives values, and an edge with a better value changes the choice.
class Howard {
public:
  Howard(const EventGraph &graph, std::vector<int> nodes, std::vector<int> edges)
      : graph(graph), nodes(std::move(nodes)), edges(std::move(edges)),
        chosen(size_t(graph.nodes), -1), value(size_t(graph.nodes), 0), into(size_t(graph.nodes)) {}

  CycleMean run() {
    for (int e : edges) {
      into[size_t(edge(e).to)].push_back(e);
      int &choice = chosen[size_t(edge(e).from)];
      if (choice < 0 || edge(e).weight > edge(choice).weight)
        choice = e;
    }
    for (int round = 0; round < maxRounds; ++round) {
      CycleMean best = bestCycle();
      evaluate(best);
      if (!improve(best.ratio()))
        return best;
    }
    CycleMean cut;
    cut.kind = CycleMean::Kind::Cut;
    return cut;
  }

private:
  const EventEdge &edge(int e) const { return graph.edges[size_t(e)]; }

  CycleMean bestCycle() const {
    CycleMean best;
    std::vector<int> seen(size_t(graph.nodes), -1);
    for (int start : nodes) {
      int node = start;
      while (seen[size_t(node)] < 0) {
        seen[size_t(node)] = start;
        node = edge(chosen[size_t(node)]).to;
      }
      if (seen[size_t(node)] != start) // runs into an earlier walk
        continue;
      std::vector<int> cycle;
      int at = node;
      do {
        cycle.push_back(chosen[size_t(at)]);
        at = edge(chosen[size_t(at)]).to;
      } while (at != node);
      CycleMean found = withCycle(graph, CycleMean::Kind::Cyclic, std::move(cycle));
      if (best.kind != CycleMean::Kind::Cyclic ||
          __int128(found.weight) * best.tokens > __int128(best.weight) * found.tokens)
        best = std::move(found);
    }
    return best;
  }

  /// Values from the best cycle backwards; nodes whose choice leads elsewhere are turned to it.
  void evaluate(const CycleMean &best) {
    double ratio = best.ratio();
    int root = edge(best.cycle.front()).from;
    std::vector<char> done(size_t(graph.nodes), 0);
    std::vector<int> queue{root};
    done[size_t(root)] = 1;
    size_t next = 0;
    auto spread = [&](bool byChoice) {
      for (; next < queue.size(); ++next)
        for (int e : into[size_t(queue[next])]) {
          int from = edge(e).from;
          if (done[size_t(from)] || (byChoice && chosen[size_t(from)] != e))
            continue;
          done[size_t(from)] = 1;
          chosen[size_t(from)] = e;
          value[size_t(from)] =
              double(edge(e).weight) - ratio * double(edge(e).tokens) + value[size_t(queue[next])];
          queue.push_back(from);
        }
    };
    spread(/*byChoice=*/true);
    next = 0;
    spread(/*byChoice=*/false);
  }

  bool improve(double ratio) {
    bool better = false;
    for (int e : edges) {
      double through =
          double(edge(e).weight) - ratio * double(edge(e).tokens) + value[size_t(edge(e).to)];
      double &known = value[size_t(edge(e).from)];
      if (through <= known + tolerance * (1 + ratio))
        continue;
      known = through;
      chosen[size_t(edge(e).from)] = e;
      better = true;
    }
    return better;
  }

  const EventGraph &graph;
  std::vector<int> nodes, edges, chosen;
  std::vector<double> value;
  Adjacency into;
};

} // namespace

CycleMean maximumCycleMean(const EventGraph &graph) {
  CycleMean best;
  Adjacency out = outgoing(graph);
  if (!orderOf(graph, out, best))
    return best;
  int number = 0;
  std::vector<int> component = components(graph, out, number);
  std::vector<std::vector<int>> nodes{size_t(number)}, edges{size_t(number)};
  for (int v = 0; v < graph.nodes; ++v)
    nodes[size_t(component[size_t(v)])].push_back(v);
  for (size_t e = 0; e < graph.edges.size(); ++e) {
    int from = component[size_t(graph.edges[e].from)];
    if (from == component[size_t(graph.edges[e].to)])
      edges[size_t(from)].push_back(int(e));
  }
  for (size_t c = 0; c < size_t(number); ++c) {
    if (edges[c].empty())
      continue;
    CycleMean found = Howard(graph, std::move(nodes[c]), std::move(edges[c])).run();
    if (found.kind == CycleMean::Kind::Cut)
      return found;
    if (best.kind != CycleMean::Kind::Cyclic ||
        __int128(found.weight) * best.tokens > __int128(best.weight) * found.tokens)
      best = std::move(found);
  }
  return best;
}

std::vector<int64_t> earliestTimes(const EventGraph &graph, int count) {
  Adjacency out = outgoing(graph);
  CycleMean dead;
  auto order = orderOf(graph, out, dead);
  if (!order || graph.nodes == 0)
    return {};
  std::vector<int64_t> times(size_t(graph.nodes) * size_t(count), 0);
  auto [low, high] = std::minmax_element(order->shift.begin(), order->shift.end());
  // Occurrence k of v belongs to level k - shift(v): no edge leads to an earlier level, and within
  // one level edges follow the order.
  for (int64_t level = -*high; level < count - *low; ++level)
    for (int v : order->nodes) {
      int64_t k = level + order->shift[size_t(v)];
      if (k < 0 || k >= count)
        continue;
      int64_t time = times[size_t(k) * size_t(graph.nodes) + size_t(v)];
      for (int e : out[size_t(v)]) {
        const EventEdge &edge = graph.edges[size_t(e)];
        int64_t target = k + edge.tokens;
        if (target < 0 || target >= count)
          continue;
        int64_t &known = times[size_t(target) * size_t(graph.nodes) + size_t(edge.to)];
        known = std::max(known, time + edge.weight);
      }
    }
  return times;
}

} // namespace ts::reports
