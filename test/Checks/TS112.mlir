// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-structure))'
// TS112: what a self-edge needs.

gpu.module @m attributes {ts.chip = "sm_100a"} {
  ts.kernel @ping_pong() warps(8) {
    // expected-note @+1 {{declared here}}
    %plain = ts.resource "plain" smem(x: memref<64xf32>)
    // expected-note @+1 {{declared here}}
    %umma = ts.resource "umma" barrier pipeline(tma_umma, stages = 1)
    %credit = ts.resource "credit" barrier pipeline(umma_umma, stages = 1)
    %unused = ts.resource "unused" barrier pipeline(async_async, stages = 1)
    // expected-error @+1 {{[TS112] the self-edge of 'plain' declares a ping-pong, but the resource has no pipeline that would order its two sides; declare one, or mark the edge 'ordering'}}
    ts.depends %plain on %plain
    // expected-error @+1 {{[TS112] the self-edge of 'umma' needs a consumer that is done when it releases, but the pipeline is tma_umma; use async_async, tma_async or umma_async, or mark the edge 'ordering'}}
    ts.depends %umma on %umma
    // A credit is legal with any type.
    ts.depends %credit on %credit ordering
    // expected-error @+1 {{[TS112] the self-edge of 'unused' declares a ping-pong, but no task acquires it; use both sides, or take the edge out}}
    ts.depends %unused on %unused
  }
}
