// RUN: ts-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(ts-verify-structure))'
// TS103: the dependency graph names every resource, and tasks carry its data edges out.

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @absent() warps(1) {
    %a = ts.resource "a" gmem
    %b = ts.resource "b" gmem
    // expected-error @+1 {{[TS103] resource 'c' is in no dependency: say what it is made from ('ts.depends %c on ...') or what is made from it}}
    %c = ts.resource "c" gmem
    ts.depends %b on %a
    // expected-note @+1 {{used by task 't'}}
    ts.task "t" warps(0, 1) reads(%a, %c) writes(%b) {
      ts.consume %a "a" aux {
      }
      ts.consume %c "c" aux {
      }
      ts.produce %b "b" aux {
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @unbacked() warps(2) {
    %a = ts.resource "a" gmem
    %b = ts.resource "b" gmem
    %c = ts.resource "c" gmem
    %d = ts.resource "d" gmem
    ts.depends %b on %a
    ts.depends %d on %c
    // expected-error @+1 {{[TS103] no task reads 'a' and writes 'd', so nobody carries the data of this edge; add the resources to the task that moves it, remove the edge, or mark it 'ordering'}}
    ts.depends %d on %a
    // expected-note @+1 {{task 't' reads 'a'}}
    ts.task "t" warps(0, 1) reads(%a) writes(%b) {
      ts.consume %a "a" aux {
      }
      ts.produce %b "b" aux {
      }
    }
    // expected-note @+1 {{task 'u' writes 'd'}}
    ts.task "u" warps(1, 1) reads(%c) writes(%d) {
      ts.consume %c "c" aux {
      }
      ts.produce %d "d" aux {
      }
    }
  }
}

// -----

gpu.module @m attributes {ts.chip = "sm_90a"} {
  ts.kernel @cycle() warps(2) {
    %a = ts.resource "a" gmem
    %b = ts.resource "b" gmem
    ts.depends %b on %a
    // expected-error @+1 {{[TS103] data edges form a cycle: 'a' -> 'b' -> 'a', so none of them can be filled first; mark the edge that only gives a credit back as 'ordering'}}
    ts.depends %a on %b
    ts.task "t" warps(0, 1) reads(%a, %b) writes(%a, %b) {
      ts.consume %a "a" aux {
      }
      ts.produce %b "b" aux {
      }
    }
  }
}
