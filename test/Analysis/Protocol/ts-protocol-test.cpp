// Test driver of the protocol component: reads pipelines, tasks and groups as lines of words and
// prints counts, actions or findings. Not a user tool: real programs are MLIR.
//
//   cluster 2 1 1 [v=2] [layout=2,1,1,1]
//   pipeline NAME TYPE [stages=4] [bytes=N] [producers=N] [consumers=N] [producer=SIGNAL]
//            [consumer=SIGNAL] [consumer_wait=SIGNAL] [advance_on_acquire] [advance_on_wait]
//            [interleave=1,1,2,2] [async_load] [mcast=1,0] [bytes_per_warp_per_cta=N]
//            [layout=..] [stage_bytes=N] [space=none|smem|tmem|smem+tmem]
//            [producer_writes=E+E] [producer_reads=E] [consumer_reads=E] [consumer_writes=E]
//   group NAME merge|fork|fused_merge MEMBER...
//   task OP RESOURCE NAME [warps=4] [cta=0] [start=0] [step=2] [arming=N] [own=N] [along_n=N]
//   [along_m=N] print counts|actions|findings|slots
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ts/Analysis/Protocol/Protocol.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

using namespace ts::protocol;

namespace {

[[noreturn]] void fail(const std::string &message) {
  std::cerr << "error: " << message << "\n";
  std::exit(1);
}

int64_t number(const std::string &text) {
  char *end = nullptr;
  int64_t value = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end)
    fail("not a number: '" + text + "'");
  return value;
}

std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);)
    parts.push_back(part);
  return parts;
}

template <size_t N> std::array<int64_t, N> numbers(const std::string &text) {
  auto parts = split(text, ',');
  if (parts.size() != N)
    fail("expected " + std::to_string(N) + " numbers: '" + text + "'");
  std::array<int64_t, N> result;
  for (size_t i = 0; i < N; ++i)
    result[i] = number(parts[i]);
  return result;
}

template <typename E> E named(const std::string &text, unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    if (text == name(E(i)))
      return E(i);
  fail("unknown name: '" + text + "'");
}

template <typename F>
unsigned bits(const std::string &text, char separator, unsigned top, F print) {
  unsigned set = 0;
  for (const std::string &word : split(text, separator)) {
    unsigned bit = 1;
    while (bit <= top && print(bit) != word)
      bit <<= 1;
    if (bit > top)
      fail("unknown name: '" + word + "'");
    set |= bit;
  }
  return set;
}
SignalSet signals(const std::string &text) { return SignalSet(bits(text, '|', 4, signalName)); }
EngineSet engines(const std::string &text) { return EngineSet(bits(text, '+', 256, engineNames)); }

struct Words {
  std::vector<std::string> plain;
  std::map<std::string, std::string> keys;

  explicit Words(const std::string &line) {
    std::stringstream stream(line);
    for (std::string word; stream >> word;) {
      size_t equals = word.find('=');
      if (equals == std::string::npos)
        plain.push_back(word);
      else
        keys[word.substr(0, equals)] = word.substr(equals + 1);
    }
  }
  std::optional<std::string> take(const std::string &key) {
    auto it = keys.find(key);
    if (it == keys.end())
      return std::nullopt;
    std::string value = it->second;
    keys.erase(it);
    return value;
  }
  std::optional<int64_t> takeNumber(const std::string &key) {
    auto text = take(key);
    return text ? std::optional(number(*text)) : std::nullopt;
  }
  bool flag(const std::string &word) {
    for (auto it = plain.begin(); it != plain.end(); ++it)
      if (*it == word)
        return plain.erase(it), true;
    return false;
  }
};

struct Program {
  ClusterSpec cluster;
  std::vector<GroupMember> pipelines; ///< in order; grouped ones too
  std::map<std::string, std::string> groupOf;
  std::vector<GroupSpec> groups;

  void readPipeline(Words &w) {
    GroupMember member;
    PipelineSpec &p = member.spec;
    p.advanceOnAcquire = w.flag("advance_on_acquire");
    p.advanceOnWait = w.flag("advance_on_wait");
    p.asyncLoad = w.flag("async_load");
    if (w.plain.size() != 3)
      fail("expected: pipeline NAME TYPE key=value...");
    p.name = w.plain[1];
    p.type = named<PipelineType>(w.plain[2], numPipelineTypes);
    p.stages = w.takeNumber("stages").value_or(4);
    p.numBytes = w.takeNumber("bytes");
    p.producerCount = w.takeNumber("producers");
    p.consumerCount = w.takeNumber("consumers");
    p.bytesPerWarpPerCta = w.takeNumber("bytes_per_warp_per_cta");
    p.stageBytes = w.takeNumber("stage_bytes");
    if (auto text = w.take("producer"))
      p.producerSignal = signals(*text);
    if (auto text = w.take("consumer"))
      p.consumerSignal = signals(*text);
    if (auto text = w.take("consumer_wait"))
      p.consumerWaitSignal = signals(*text);
    if (auto text = w.take("interleave"))
      p.interleave = numbers<4>(*text);
    if (auto text = w.take("layout"))
      p.ctaLayout = numbers<4>(*text);
    if (auto text = w.take("mcast")) {
      auto pair = numbers<2>(*text);
      p.multicast = {pair[0] != 0, pair[1] != 0};
    }
    if (auto text = w.take("space"))
      p.space = *text == "none"   ? Space::None
                : *text == "smem" ? Space::Smem
                : *text == "tmem" ? Space::Tmem
                                  : Space::SmemAndTmem;
    auto reads = w.take("producer_reads"), writes = w.take("producer_writes");
    if (reads || writes)
      p.producerAccess = SideAccess{reads ? engines(*reads) : EngineSet(0),
                                    writes ? engines(*writes) : EngineSet(0)};
    reads = w.take("consumer_reads"), writes = w.take("consumer_writes");
    if (reads || writes)
      p.consumerAccess = SideAccess{reads ? engines(*reads) : EngineSet(0),
                                    writes ? engines(*writes) : EngineSet(0)};
    pipelines.push_back(std::move(member));
  }

  void readGroup(Words &w) {
    if (w.plain.size() < 3)
      fail("expected: group NAME MODE MEMBER...");
    GroupSpec group;
    group.name = w.plain[1];
    group.mode = named<GroupMode>(w.plain[2], 3);
    for (size_t i = 3; i < w.plain.size(); ++i)
      groupOf[w.plain[i]] = group.name;
    groups.push_back(std::move(group));
  }

  Participants &participants(const std::string &resource) {
    for (GroupMember &member : pipelines)
      if (member.spec.name == resource)
        return member.by;
    for (GroupSpec &group : groups)
      if (group.name == resource)
        return group.by;
    fail("unknown resource: '" + resource + "'");
  }

  void readTask(Words &w) {
    if (w.plain.size() != 4)
      fail("expected: task OP RESOURCE NAME key=value...");
    TaskRole role;
    role.task = w.plain[3];
    role.warps = w.takeNumber("warps").value_or(1);
    role.pinnedCta = w.takeNumber("cta").value_or(-1);
    role.domainStart = w.takeNumber("start");
    role.domainStep = w.takeNumber("step");
    role.armingWarps = w.takeNumber("arming");
    auto own = w.takeNumber("own"), n = w.takeNumber("along_n"), m = w.takeNumber("along_m");
    if (own || n || m)
      role.issued = IssuedBytes{own.value_or(0), n.value_or(0), m.value_or(0)};
    participants(w.plain[2]).of(named<Op>(w.plain[1], 6)).push_back(role);
  }

  std::vector<GroupSpec> completeGroups() const {
    std::vector<GroupSpec> result = groups;
    for (GroupSpec &group : result)
      for (const GroupMember &member : pipelines)
        if (auto it = groupOf.find(member.spec.name);
            it != groupOf.end() && it->second == group.name)
          group.members.push_back(member);
    return result;
  }
};

void printExpected(const std::string &resource, const char *what, const Expected &e) {
  std::cout << resource << " " << what << " ";
  if (e.value)
    std::cout << *e.value;
  else
    std::cout << "?";
  std::cout << " | " << e.derivation << (e.assumed ? " (assumed)" : "");
  if (e.perCta.size() > 1) {
    std::cout << " | per CTA";
    for (int64_t count : e.perCta)
      std::cout << " " << count;
  }
  std::cout << "\n";
}

void printCounts(const std::string &resource, const ExpectedCounts &counts) {
  printExpected(resource, "full", counts.fullArrivals);
  printExpected(resource, "bytes", counts.fullBytes);
  printExpected(resource, "empty", counts.emptyArrivals);
  for (const Expected &e : counts.emptyAlternatives)
    printExpected(resource, "empty-or", e);
}

void printFindings(const std::vector<Finding> &findings) {
  for (const Finding &f : findings) {
    std::cout << "TS" << f.check << " " << f.message << "\n";
    if (!f.derivation.empty())
      std::cout << "  because: " << f.derivation << "\n";
    std::cout << "  hint: " << f.hint << "\n";
  }
}

void printSlots(const PipelineSpec &spec) {
  for (Op op : {Op::Acquire, Op::Wait}) {
    int64_t stride = spec.stride(op);
    // The program is text of any kind; check 21 is for numbers that make no sense.
    constexpr int64_t most = 4096;
    if (std::min(spec.stages, stride) < 1 || std::max(spec.stages, stride) > most) {
      std::cout << spec.name << " " << name(op) << ": not listed\n";
      continue;
    }
    for (int64_t lane = 0; lane < stride; ++lane) {
      std::cout << spec.name << " " << name(op) << " lane " << lane << ":";
      Cursor cursor = Cursor::start(sideOf(op), lane, spec.stages);
      for (int64_t k = 0; k < 2 * spec.stages / stride + 1; ++k) {
        int64_t slot = laneSlot(lane, k, stride);
        bool agrees = cursor.stage == stageOf(slot, spec.stages) &&
                      cursor.parity == waitParity(sideOf(op), generationOf(slot, spec.stages));
        std::cout << " " << cursor.stage << "/" << cursor.parity << (agrees ? "" : "!");
        cursor.advance(spec.stages, stride);
      }
      std::cout << "\n";
    }
  }
}

void print(const Program &program, const std::string &what) {
  std::vector<GroupSpec> groups = program.completeGroups();
  if (what == "findings") {
    std::vector<PipelineSpec> specs;
    for (const GroupMember &member : program.pipelines) {
      specs.push_back(member.spec);
      if (!program.groupOf.count(member.spec.name))
        printFindings(validate(member.spec, program.cluster, member.by));
    }
    for (const GroupSpec &group : groups)
      printFindings(validate(group, program.cluster));
    printFindings(checkClusterLayouts(specs, program.cluster));
  } else if (what == "counts") {
    for (const GroupMember &member : program.pipelines)
      if (!program.groupOf.count(member.spec.name))
        printCounts(member.spec.name, expectedCounts(member.spec, program.cluster, member.by));
    for (const GroupSpec &group : groups) {
      GroupCounts counts = expectedCounts(group, program.cluster);
      for (size_t i = 0; i < group.members.size(); ++i)
        printCounts(group.members[i].spec.name, counts.members[i]);
      if (sharesBarrier(group.mode, Barrier::Full)) {
        printExpected(group.name, "full", counts.shared.fullArrivals);
        printExpected(group.name, "bytes", counts.shared.fullBytes);
      }
      if (sharesBarrier(group.mode, Barrier::Empty))
        printExpected(group.name, "empty", counts.shared.emptyArrivals);
    }
  } else if (what == "actions" || what == "slots") {
    std::vector<PipelineSpec> specs;
    for (const GroupMember &member : program.pipelines)
      specs.push_back(resolveDeclared(member.spec, program.cluster, member.by));
    for (const GroupSpec &group : groups)
      specs.push_back(groupPipeline(group, program.cluster));
    for (const GroupSpec &group : groups)
      for (size_t i = 0; i < group.members.size() && what == "actions"; ++i)
        for (Op op : {Op::Acquire, Op::Commit, Op::Wait, Op::Release})
          std::cout << group.name << "." << group.members[i].spec.name << " " << name(op) << ": "
                    << toString(memberAction(group, program.cluster, i, op,
                                             i + 1 == group.members.size()))
                    << "\n";
    for (const PipelineSpec &spec : specs) {
      if (what == "slots") {
        printSlots(spec);
        continue;
      }
      for (Op op : {Op::TryAcquire, Op::Acquire, Op::Commit, Op::TryWait, Op::Wait, Op::Release})
        std::cout << spec.name << " " << name(op) << ": "
                  << toString(actionFor(spec, program.cluster, op)) << "\n";
      std::cout << spec.name << " drain: " << (needsDrain(spec, program.cluster) ? "yes" : "no")
                << "\n";
    }
  } else {
    fail("unknown thing to print: '" + what + "'");
  }
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2)
    fail("expected one input file, or - for standard input");
  std::ifstream file;
  bool standard = std::string(argv[1]) == "-";
  if (!standard)
    file.open(argv[1]);
  std::istream &input = standard ? std::cin : file;
  if (!input)
    fail(std::string("cannot read '") + argv[1] + "'");
  Program program;
  for (std::string line; std::getline(input, line);) {
    line = line.substr(0, line.find('#'));
    Words w(line);
    if (w.plain.empty() && w.keys.empty())
      continue;
    std::string verb = w.plain.empty() ? "" : w.plain[0];
    if (verb == "cluster" && w.plain.size() == 4) {
      program.cluster = ClusterSpec();
      for (size_t i = 0; i < 3; ++i)
        program.cluster.shape[i] = number(w.plain[i + 1]);
      program.cluster.ctasPerMma = w.takeNumber("v").value_or(1);
      if (auto text = w.take("layout"))
        program.cluster.layout = numbers<4>(*text);
    } else if (verb == "pipeline") {
      program.readPipeline(w);
    } else if (verb == "group") {
      program.readGroup(w);
    } else if (verb == "task") {
      program.readTask(w);
    } else if (verb == "print" && w.plain.size() == 2) {
      print(program, w.plain[1]);
      program = Program(); // each case stands for itself
    } else {
      fail("cannot read line: '" + line + "'");
    }
    if (!w.keys.empty())
      fail("unknown key: '" + w.keys.begin()->first + "'");
  }
  return 0;
}
