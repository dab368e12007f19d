// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ctrl-C during what takes long in C++. Not a way to stop work: that polls `interrupted` itself.
#ifndef TS_PYTHON_INTERRUPTIBLE_H
#define TS_PYTHON_INTERRUPTIBLE_H

#include "Bindings.h"
#include "llvm/Support/thread.h"
#include <atomic>
#include <chrono>
#include <future>

namespace mlir_ts {

/// Runs something long without the interpreter lock, while the calling thread looks after signals:
/// only Python's main thread can, and it may have nothing to do in the work any more.
class Interruptible {
public:
  /// Set once; the work is to come to its end soon then.
  std::atomic<bool> interrupted = false;

  /// Returns when the work has ended, with its exception or that of a signal handler.
  void wait(const std::function<void()> &work) {
    std::packaged_task<void()> task(work);
    std::future<void> done = task.get_future();
    // Of a size of its own: with `ulimit -s unlimited` threads get 2 MiB, too little for LLVM.
    constexpr std::optional<unsigned> stackBytes = 16 << 20;
    llvm::thread thread(stackBytes, [&] { task(); });
    {
      py::gil_scoped_release released;
      while (done.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) {
        py::gil_scoped_acquire held;
        if (!interrupted && PyErr_CheckSignals() != 0)
          interrupted = true;
      }
      thread.join();
    }
    // A signal that came with the end of the work may be why it ended: ptxas gets Ctrl-C as well.
    if (interrupted || PyErr_CheckSignals() != 0)
      throw py::error_already_set(); // KeyboardInterrupt, or what the handler raised
    done.get();
  }
};

} // namespace mlir_ts

#endif // TS_PYTHON_INTERRUPTIBLE_H
