// The parity comes from the caller: nothing can be said about the wait.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @odd(%n: index, %flag: i32) warps(1) {
    %c0 = arith.constant 0 : index
    %own = ts.mbarrier "own" count(32)
    ts.task "a" warps(0, 1) {
      ts.mbarrier_arrive %own
      ts.mbarrier_wait %own parity %flag
    }
  }
}
