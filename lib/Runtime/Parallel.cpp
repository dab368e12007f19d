// A work-sharing loop over std::thread.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ts/Runtime/Parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

void ts::parallelFor(int64_t count, int64_t grain,
                     const std::function<void(int64_t, int64_t)> &body) {
  if (count <= 0)
    return;
  int64_t threads = std::max<int64_t>(1, std::thread::hardware_concurrency());
  // A few pieces per thread even out pieces of different cost.
  int64_t piece = std::max(grain, (count + threads * 4 - 1) / (threads * 4));
  threads = std::min(threads, (count + piece - 1) / piece);
  if (threads == 1)
    return body(0, count);
  std::atomic<int64_t> next = 0;
  auto work = [&] {
    for (int64_t begin; (begin = next.fetch_add(piece)) < count;)
      body(begin, std::min(begin + piece, count));
  };
  std::vector<std::thread> pool;
  for (int64_t i = 1; i < threads; ++i)
    pool.emplace_back(work);
  work();
  for (std::thread &thread : pool)
    thread.join();
}
