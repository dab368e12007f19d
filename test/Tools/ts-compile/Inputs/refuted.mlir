// 'fill' brings all of a before all of b, 'drain' takes them in turn: from the third iteration on, two
// stages of a are not enough.
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @late(%n: index) warps(2) {
    %c0 = arith.constant 0 : index
    %src = ts.resource "src" gmem
    %a = ts.resource "a" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    %b = ts.resource "b" smem(x: memref<64xf32>) pipeline(async_async, stages = 2)
    ts.depends %a on %src
    ts.depends %b on %src
    ts.task "fill" warps(0, 1) reads(%src) writes(%a, %b) {
      ts.consume %src "coords" declared
      ts.for %k = %c0 to %n {
        ts.acquire %a
        ts.produce %a "fill" declared
        ts.commit %a
      }
      ts.for %k = %c0 to %n {
        ts.acquire %b
        ts.produce %b "fill" declared
        ts.commit %b
      }
    }
    ts.task "drain" warps(1, 1) reads(%a, %b) {
      ts.for %k = %c0 to %n {
        ts.wait %a
        ts.wait %b
        ts.consume %a "take" declared
        ts.consume %b "take" declared
        ts.release %a
        ts.release %b
      }
    }
  }
}
