// Every kind of argument a kernel can have; what check_manifest.py expects stands there.
!map = !ts.tensor_map<?x?xbf16, box = 8x64, swizzle = 128>
!strided = !ts.tensor_map<?x?xf32, box = 8x8, element_strides = 2x1, fill = nan, l2 = 128>
gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @everything(%A: !map, %S: !strided, %X: memref<?x16xf32>, %Y: memref<?x?xf16, strided<[?, 1]>>,
                        %Z: memref<4xi32>,
                        %tiles_m: index = ceildiv(dim(%A, 0), 8) min 1, %tiles_n: index = ceildiv(dim(%A, 1), 64),
                        %alpha: f32, %seed: i32) warps(3) {
    %c0 = arith.constant 0 : index
    %src = ts.resource "src" gmem
    %dst = ts.resource "dst" gmem
    %r = ts.resource "ring" smem(x: memref<8x64xbf16, #ts.smem<128>>) pipeline(tma_async, stages = 2)
    %q = ts.work_queue "tiles" static over(%tiles_m, %tiles_n)
    %pdl = ts.pdl "previous"
    ts.depends %r on %src
    ts.depends %dst on %r
    ts.task "load" warps(0, 1) reads(%src, %q, %pdl) writes(%r) {
      ts.griddep_wait %pdl
      ts.tile_loop %q (%m, %n) {
        ts.consume %src "coords" {
        }
        ts.acquire %r
        ts.produce %r "load" (%x) {
          ts.tma_load %A[%m, %n] to %x : !map, memref<8x64xbf16, #ts.smem<128>>
        }
        ts.commit %r
        ts.next_tile %q
      }
    }
    ts.task "use" warps(1, 1) reads(%r, %q) writes(%dst) {
      %t = ts.info thread : index
      ts.tile_loop %q (%m, %n) {
        ts.wait %r
        ts.consume %r "use" (%x) {
          ts.tma_prefetch %S : !strided
        }
        ts.produce %dst "store" {
          %h = memref.load %Y[%m, %t] : memref<?x?xf16, strided<[?, 1]>>
          memref.store %h, %Y[%m, %c0] : memref<?x?xf16, strided<[?, 1]>>
          memref.store %alpha, %X[%m, %c0] {alignment = 8} : memref<?x16xf32>
          memref.store %seed, %Z[%c0] : memref<4xi32>
        }
        ts.release %r
        ts.next_tile %q
      }
    }
    %s = ts.resource "scratch" smem(x: memref<128xi32>)
    ts.depends %s on %src
    ts.task "copy" warps(2, 1) reads(%src) writes(%s) {
      ts.consume %src "values" {
      }
      %t = ts.info thread : index
      ts.produce %s "copy" (%x) {
        %four = arith.constant 4 : index
        %at = arith.muli %t, %four : index
        ts.cp_async %Z[%c0] to %x[%at], 16 : memref<4xi32>, memref<128xi32, #ts.smem>
        ts.cp_async_commit
        ts.cp_async_wait 0
      }
    }
  }

  // Without a queue one CTA; a grid by hand is printed as it stands.
  ts.kernel @plain(%n: index) warps(1) grid(%n, 2) {
    ts.task "t" warps(0, 1) {
    }
  }
  ts.kernel @single() warps(1) {
    ts.task "t" warps(0, 1) {
    }
  }
}
