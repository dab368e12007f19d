// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-allocate))'
// What does not fit or cannot be placed, absurd sizes included.

gpu.module @m attributes {ts.chip = "sm_90a"} {
  // expected-error @+2 {{[TS226] kernel 'k' needs 262208 bytes of dynamic shared memory, but sm_90a gives at most 232448 to one CTA; use fewer stages}}
  // expected-note @+1 {{131072      131072       4        0  ab.b}}
  ts.kernel @k() warps(1) {
    %ab = ts.resource "ab" smem(a: memref<256x64xbf16, #ts.smem<128>>, b: memref<256x64xbf16, #ts.smem<128>>)
            pipeline(tma_async, stages = 4)
  }
}

// -----

// The limits of other chips and of the kernel itself.
gpu.module @m attributes {ts.chip = "sm_120a"} {
  // expected-error @+2 {{but sm_120a gives at most 101376}}
  // expected-note @+1 {{shared memory of @k: 101392 of 101376}}
  ts.kernel @k() warps(1) {
    %a = ts.resource "a" smem(a: memref<101380xi8>)
  }
  // expected-error @+2 {{needs 1040 bytes of dynamic shared memory, but max_smem of the kernel gives at most 1024}}
  // expected-note @+1 {{a.a}}
  ts.kernel @capped() warps(1) max_smem(1024) {
    %a = ts.resource "a" smem(a: memref<1025xi8>)
  }
  // expected-error @+2 {{needs 16 bytes of dynamic shared memory, but max_smem of the kernel gives at most 0}}
  // expected-note @+1 {{a.a}}
  ts.kernel @negative() warps(1) max_smem(-5) {
    %a = ts.resource "a" smem(a: memref<1xi8>)
  }
  // expected-error @+1 {{[TS227] kernel 'no_tmem' has allocations in tensor memory, which sm_120a lacks; compile for sm_100a or sm_103a}}
  ts.kernel @no_tmem() warps(1) {
    %a = ts.resource "a" tmem(a: memref<128x32xf32>)
  }
}

// -----

gpu.module @m {
  // 2^40 elements, 1024 stages, several of them: sums saturate instead of wrapping around.
  // expected-error @+2 {{needs far too many bytes of dynamic shared memory, but the largest chip gives at most 232448}}
  // expected-note @+1 {{huge.a}}
  ts.kernel @huge() warps(1) {
    %a = ts.resource "huge" smem(a: memref<1099511627776xf64>, b: memref<1099511627776x1099511627776xi8>,
                                 c: memref<9223372036854775807xi8>, d: memref<9223372036854775807xi8>)
           pipeline(async_async, stages = 1024)
    %b = ts.resource "more" smem(a: memref<9223372036854775807x9223372036854775807xi8>)
           pipeline(async_async, stages = 1024)
  }
  // expected-error @+2 {{needs far too many bytes}}
  // expected-note @+1 {{far.a  pinned}}
  ts.kernel @far() warps(1) {
    %a = ts.resource "far" smem(a: memref<16xi8> at 9223372036854775792)
    %b = ts.resource "x" smem(a: memref<9223372036854775807xi8>)
  }
  // expected-error @+2 {{needs far too many columns of tensor memory, but there are 512}}
  // expected-note @+1 {{tensor memory of @columns}}
  ts.kernel @columns() warps(1) {
    %a = ts.resource "a" tmem(a: memref<128x9223372036854775807xf64>) pipeline(umma_async, stages = 1024)
    %b = ts.resource "b" tmem(a: memref<128x9223372036854775807xf64>) pipeline(umma_async, stages = 1024)
  }
  // expected-error @+2 {{needs 520 columns of tensor memory, but there are 512}}
  // expected-note @+1 {{520 of 512 columns, 1024 allocated}}
  ts.kernel @tmem() warps(1) {
    %a = ts.resource "a" tmem(a: memref<128x260xf32>) pipeline(umma_async, stages = 2)
  }
  // The barriers alone: 16 bytes for each of 1024 stages of 15 resources.
  // expected-error @+2 {{needs 245760 bytes}}
  // expected-note @+1 {{16384        8192    1024        0  c.full}}
  ts.kernel @barriers() warps(1) {
    %a = ts.resource "a" barrier pipeline(async_async, stages = 1024)
    %b = ts.resource "c" barrier pipeline(async_async, stages = 1024)
    %c = ts.resource "d" barrier pipeline(async_async, stages = 1024)
    %d = ts.resource "e" barrier pipeline(async_async, stages = 1024)
    %e = ts.resource "f" barrier pipeline(async_async, stages = 1024)
    %f = ts.resource "g" barrier pipeline(async_async, stages = 1024)
    %g = ts.resource "h" barrier pipeline(async_async, stages = 1024)
    %h = ts.resource "i" barrier pipeline(async_async, stages = 1024)
    %i = ts.resource "j" barrier pipeline(async_async, stages = 1024)
    %j = ts.resource "k" barrier pipeline(async_async, stages = 1024)
    %k = ts.resource "l" barrier pipeline(async_async, stages = 1024)
    %l = ts.resource "m" barrier pipeline(async_async, stages = 1024)
    %m = ts.resource "n" barrier pipeline(async_async, stages = 1024)
    %n = ts.resource "o" barrier pipeline(async_async, stages = 1024)
    %o = ts.resource "p" barrier pipeline(async_async, stages = 1024)
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @pins() warps(1) {
    // expected-error @+1 {{[TS228] allocation 'a.x' is pinned at 512, which is no multiple of 1024 bytes, the alignment that its swizzle or engine asks for; pin it at 0 or 1024}}
    %a = ts.resource "a" smem(x: memref<8x64xbf16, #ts.smem<128>> at 512)
    // expected-error @+1 {{[TS228] allocation 'b.x' is pinned at 4112, which is no multiple of 32 bytes, the alignment that its 'align' asks for; pin it at 4096 or 4128}}
    %b = ts.resource "b" smem(x: memref<1xf32> align 32 at 4112)
    // expected-error @+1 {{[TS228] allocation 'd.x' asks for alignment 2048, but dynamic shared memory itself starts at a multiple of 1024; ask for at most that}}
    %d = ts.resource "d" smem(x: memref<1xf32> align 2048)
    // expected-error @+1 {{[TS228] allocation 'c.x' is pinned at 3, which is no multiple of 4 columns}}
    %c = ts.resource "c" tmem(x: memref<128x1xf32> at 3)
  }
  // expected-error @+2 {{[TS226] kernel 'outside' needs 232464 bytes}}
  // expected-note @+1 {{a.x  pinned}}
  ts.kernel @outside() warps(1) {
    %a = ts.resource "a" smem(x: memref<1xf32> at 232448)
  }
  // An unpinned member of a group with a pinned start has no other place.
  ts.kernel @onto() warps(1) {
    // expected-note @+1 {{'a.x' is here}}
    %a = ts.resource "a" smem(x: memref<16xf32> at 64)
    %p = ts.resource "p" smem(x: memref<4xf32> at 0)
    // expected-error @+1 {{[TS226] allocation 'q.x' has to lie on 'a.x' from 64, because its alias group starts at a pinned place; move the pinned allocations apart, or pin both if the overlap is wanted}}
    %q = ts.resource "q" smem(x: memref<64xf32>)
    ts.alias_group "g" (%p, %q) phases [1, 1]
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @groups() warps(1) {
    %a = ts.resource "a" smem(x: memref<16xf32>) pipeline(tma_async, stages = 2)
    %b = ts.resource "b" smem(x: memref<16xf32>) pipeline(tma_async, stages = 2)
    %c = ts.resource "c" smem(x: memref<16xf32>) pipeline(tma_async, stages = 2)
    %ab = ts.pipeline_group "ab" merge(%a, %b)
    // expected-error @+1 {{[TS223] the empty barriers of 'b' are shared by pipeline group 'ab' already; a side belongs to one group, so take the resource out of 'bc'}}
    %bc = ts.pipeline_group "bc" merge(%b, %c)
    // expected-error @+1 {{[TS223] pipeline group 'cc' names 'c' twice; name each member once}}
    %cc = ts.pipeline_group "cc" fork(%c, %c)
  }
  ts.kernel @aliases() warps(1) {
    %a = ts.resource "a" smem(x: memref<16xf32>)
    %b = ts.resource "b" smem(x: memref<16xf32>)
    ts.alias_group "ab" (%a, %b) phases [1, 1]
    // expected-error @+1 {{'b' stands in alias groups 'ab' and 'ba'; a resource has one place, so name it in one phase of one group}}
    ts.alias_group "ba" (%b, %b) phases [1, 1]
  }
  ts.kernel @twice() warps(1) {
    %a = ts.resource "a" smem(x: memref<16xf32>)
    // expected-error @+1 {{'a' stands in two places of alias group 'aa'}}
    ts.alias_group "aa" (%a, %a) phases [1, 1]
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @storage() warps(1) {
    %mine = ts.resource "mine" smem(bars: memref<4xi64>, other: memref<16xi64>)
    %ring = ts.resource "ring" smem(bars: memref<64xi64>) pipeline(async_async, stages = 2)
    %cols = ts.resource "cols" tmem(bars: memref<128x64xi32>)
    %pdl = ts.pdl "pdl"
    %t = ts.resource "t" smem(x: memref<64xi64>)
    ts.alias_group "reuse" (%t, %cols) phases [1, 1]
    %fits = ts.resource "fits" barrier pipeline(async_async, stages = 1) barriers(%mine : "bars")
    // expected-error @+1 {{[TS230] barriers 'full.empty' cannot go into 'mine.bars': it has 32 bytes, of which 32 are taken, and they need 16 (8 for each of 2 stages)}}
    %a = ts.resource "full" barrier pipeline(async_async, stages = 2) barriers(%mine : "bars")
    // expected-error @+2 {{[TS230] barriers 'b.full' cannot go into 'mine.bar': 'mine' has no allocation of that name}}
    // expected-error @+1 {{[TS230] barriers 'b.empty' cannot go into 'mine.bar'}}
    %b = ts.resource "b" barrier pipeline(async_async, stages = 2) barriers(%mine : "bar")
    // expected-error @+2 {{[TS230] barriers 'c.full' cannot go into 'ring.bars': it has one copy per stage; declare it 'unstaged'}}
    // expected-error @+1 {{[TS230]}}
    %c = ts.resource "c" barrier pipeline(async_async, stages = 2) barriers(%ring : "bars")
    // expected-error @+2 {{[TS230] barriers 'd.full' cannot go into 'cols.bars': mbarriers live in shared memory, and this is tensor memory}}
    // expected-error @+1 {{[TS230]}}
    %d = ts.resource "d" barrier pipeline(async_async, stages = 2) barriers(%cols : "bars")
    // expected-error @+1 {{[TS230] barriers of 'e' go into an allocation of a ts.resource, but 'pdl' is none}}
    %e = ts.resource "e" barrier pipeline(async_async, stages = 2) barriers(%pdl : "bars")
    // expected-error @+2 {{[TS230] barriers 'f.full' cannot go into 't.x': alias group 'reuse' lets other phases overwrite it}}
    // expected-error @+1 {{[TS230]}}
    %f = ts.resource "f" barrier pipeline(async_async, stages = 2) barriers(%t : "x")
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @ids() warps(1) {
    // expected-note @+1 {{'a' takes 12 ids}}
    %a = ts.baton "a" holders(12)
    // expected-note @+1 {{'b' takes 1 id}}
    %b = ts.named_barrier "b" threads(32) id(1)
    // expected-error @+1 {{[TS229] no named barrier left for 'c': it needs 3, and 2 of the 15 (ids 1 to 15) are free; give barriers that are never used at the same time one id}}
    %c = ts.baton "c" holders(3)
  }
}
