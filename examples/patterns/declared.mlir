// Structure first: a schedule whose work is only declared, with what it reads and writes, by which
// engine, and how many bytes come. It is verified and proven as it stands; the lowering refuses it and
// lists the bodies that are missing. With --fill-bodies, work gets bodies that perform just the
// declared accesses and check what arrives, so that the schedule runs before a line of it is written.
//
//   ts-compile examples/patterns/declared.mlir --verify-only
//   ts-compile examples/patterns/declared.mlir --arch=sm_90a --fill-bodies -o d.ptx
!tile = memref<64x64xbf16, #ts.smem<128>>

gpu.module @patterns attributes {ts.chip = "sm_90a"} {
  ts.kernel @declared(%tiles_k: index) warps(8) {
    %c0 = arith.constant 0 : index

    %src = ts.resource "gmem_ab" gmem
    %ab = ts.resource "smem_ab" smem(a: !tile, b: !tile) pipeline(tma_async, stages = 3)
    %out = ts.resource "smem_d" smem(d: memref<64x64xf32>) pipeline(async_async, stages = 1)
    %dst = ts.resource "gmem_d" gmem
    ts.depends %ab on %src
    ts.depends %out on %ab
    ts.depends %dst on %out

    ts.task "load" warps(4, 1) reads(%src) writes(%ab) {
      ts.for %k = %c0 to %tiles_k {
        %row, %col = ts.consume %src "coords" -> index, index declared
        ts.acquire %ab
        ts.produce %ab "load" uses(%row, %col : index, index) declared bytes(16384) effects [#ts.effect<write "a", engine = tma>, #ts.effect<write "b", engine = tma>]
        ts.commit %ab
      }
    }

    ts.task "multiply" warps(0, 4) reads(%ab) writes(%out) {
      ts.for %k = %c0 to %tiles_k {
        ts.wait %ab
        ts.consume %ab "products" declared effects [#ts.effect<read "a", engine = wgmma>, #ts.effect<read "b", engine = wgmma>]
        ts.release %ab
      }
      ts.acquire %out
      ts.produce %out "result" declared effects [#ts.effect<write "d">]
      ts.commit %out
    }

    ts.task "store" warps(5, 1) reads(%out) writes(%dst) {
      ts.wait %out
      ts.consume %out "tile" declared effects [#ts.effect<read "d">]
      ts.produce %dst "store" declared
      ts.release %out
    }
  }
}
