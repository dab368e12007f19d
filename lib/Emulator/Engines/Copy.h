// What the copy instructions share: async groups of a warp's threads, the issue of an operation
// with its footprint, and completion at an mbarrier or in a group. SPDX-License-Identifier:
// Apache-2.0 WITH LLVM-exception
#ifndef TS_EMULATOR_ENGINES_COPY_H
#define TS_EMULATOR_ENGINES_COPY_H

#include "../Core/Barriers.h"
#include "../Core/Decode.h"
#include "../Core/Engine.h"

#include <set>

namespace ts::emu {

/// Operations committed together. Counts go down as they read their sources and end.
struct AsyncGroup {
  uint32_t reading = 0, running = 0;
  Event last; // of the newest operation
};

/// The groups of one kind (cp.async or bulk) of a warp. Threads that have always committed together
/// share their groups.
struct AsyncGroups {
  /// The open groups of these lanes, made if there are none.
  std::vector<std::shared_ptr<AsyncGroup>> open(uint32_t lanes);
  void commit(uint32_t lanes);
  /// Whether all but the `allowed` newest groups of these lanes are done (or have read their
  /// sources); if so they are forgotten, and `clock` learns their events.
  bool wait(uint32_t lanes, uint64_t allowed, bool reads, Clock &clock);
  uint32_t pending(uint32_t lanes, bool reads) const; // groups, for messages

  // cp.async.mbarrier.arrive waits for all operations before it.
  uint64_t issued = 0;
  std::set<uint64_t> running;
  Event last;

private:
  std::array<std::shared_ptr<AsyncGroup>, warpSize> opened;
  std::array<std::deque<std::shared_ptr<AsyncGroup>>, warpSize> committed;
};

AsyncGroups &cpAsyncGroups(Warp &warp);
AsyncGroups &bulkGroups(Warp &warp);

/// Fills in who issued `op` and gives it an event of the channel.
void prepare(AsyncOp &op, const Exec &x, unsigned lane, ChannelKey channel);
/// Tells the checker that `op` accesses the bytes, from now until its event is known.
void footprint(const Exec &x, const AsyncOp &op, AccessKind kind, Proxy proxy,
               const SharedPlace &place, uint32_t bytes);

/// Copies into shared memory that complete at an mbarrier, in pieces of 16 bytes and more.
class LoadOp : public AsyncOp {
public:
  LoadOp(SharedPlace to, SharedPlace barrier, uint32_t chunks, uint32_t chunkTx, uint32_t site)
      : to(to), barrier(barrier), chunks(chunks), chunkTx(chunkTx), site(site) {}
  unsigned pieces() const final { return chunks > 1 ? 2 : 1; }
  void perform(unsigned piece) final;

protected:
  /// Moves 16-byte chunks [begin, end) of the shared-memory side.
  virtual void move(uint32_t begin, uint32_t end) = 0;
  SharedPlace to, barrier;

private:
  uint32_t chunks, chunkTx, site;
  unsigned done = 0;
};

/// Copies out of shared memory that complete in a bulk group: first they read (two pieces), then
/// they write (two pieces).
class StoreOp : public AsyncOp {
public:
  StoreOp(SharedPlace from, uint32_t bytes) : from(from), data(bytes) {}
  unsigned pieces() const final { return 4; }
  void perform(unsigned piece) final;
  void finish() final;
  void join(std::vector<std::shared_ptr<AsyncGroup>> groups);

protected:
  /// Copies bytes [begin, end) of the shared-memory side into `data`.
  virtual void read(uint32_t begin, uint32_t end) = 0;
  virtual void write(unsigned half) = 0;
  SharedPlace from;
  std::vector<uint8_t> data;

private:
  std::vector<std::shared_ptr<AsyncGroup>> groups;
  unsigned done = 0;
};

/// The channels.
ChannelKey loadChannel(const Warp &warp, const SharedPlace &barrier);
ChannelKey storeChannel(const Warp &warp);

/// Where a copy with .multicast::cluster goes, besides its offsets: `rank` of the destination.
std::vector<unsigned> multicastRanks(const Exec &x, uint64_t mask, const char *what);
SharedPlace sameOffset(const Exec &x, const SharedPlace &place, unsigned rank);

// Reductions of cp.reduce.async.bulk; the tensor form takes its types from the map.
enum class Reduction : uint8_t { Add, Min, Max, Inc, Dec, And, Or, Xor };
inline constexpr const char *reductionNames[] = {"add", "min", "max", "inc",
                                                 "dec", "and", "or",  "xor"};
enum class ReduceType : uint8_t { U32, S32, U64, S64, F16, BF16, F32, F32Ftz, F64, B32, B64 };
unsigned reduceBytes(ReduceType type);
bool reduceAllowed(Reduction op, ReduceType type, bool toShared);
/// `to` = `to` op `from` for `count` elements.
void reduce(Reduction op, ReduceType type, uint8_t *to, const uint8_t *from, size_t count);

inline constexpr const char *im2colNote = "im2col tensor maps are not executed";
std::unique_ptr<Op> decodeTensorCopy(Decode &d);

void registerCpAsync(DecoderTable &table);
void registerBulkCopies(DecoderTable &table);
void registerTensorCopies(DecoderTable &table);
void registerTensorMaps(DecoderTable &table);

} // namespace ts::emu

#endif // TS_EMULATOR_ENGINES_COPY_H
