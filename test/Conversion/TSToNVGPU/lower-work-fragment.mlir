// Register tiles: maps, stmatrix and ldmatrix with the swizzle in the address.
// RUN: ts-opt %s --ts-lower-work --canonicalize --cse | FileCheck %s
#wg = #gpu.address_space<workgroup>
!bytes = memref<?xi8, #gpu.address_space<workgroup>>

gpu.module @m {
  // Lane l addresses row l mod 16 and, from lane 16 on, the next 16 bytes; bits 4-6 are XORed with the
  // line number in bits 7-9. Columns 8-31 of the fragment: registers 4 .. 15, the last group alone.
  // CHECK-LABEL: gpu.func @store_16_bit
  // CHECK-SAME: %[[F:[^:]*]]: !llvm.struct<(f32
  // CHECK-DAG: %[[R4:.*]] = llvm.extractvalue %[[F]][4]
  // CHECK-DAG: %[[R5:.*]] = llvm.extractvalue %[[F]][5]
  // CHECK-DAG: %[[R15:.*]] = llvm.extractvalue %[[F]][15]
  // CHECK: %[[LANE:.*]] = nvvm.read.ptx.sreg.laneid
  // CHECK: nvvm.convert.f32x2.to.bf16x2 %[[R5]], %[[R4]] {rnd = #nvvm.fp_rnd_mode<rn>} : vector<2xbf16>
  // CHECK: %[[ROW:.*]] = arith.andi %[[LANE]], %c15_i32
  // CHECK: %[[BYTES:.*]] = arith.muli %[[ROW]], %c128_i32
  // CHECK: %[[START:.*]] = arith.addi {{.*}}, %[[BYTES]]
  // CHECK: %[[HALF:.*]] = arith.andi %[[LANE]], %c16_i32
  // CHECK: %[[PLAIN:.*]] = arith.addi %[[START]], %[[HALF]]
  // CHECK: %[[LINE:.*]] = arith.shrui %[[PLAIN]], %c3_i32
  // CHECK: %[[MASKED:.*]] = arith.andi %[[LINE]], %c112_i32
  // CHECK: %[[ADDRESS:.*]] = arith.xori %[[PLAIN]], %[[MASKED]]
  // CHECK: %[[P:.*]] = llvm.inttoptr %[[ADDRESS]] : i32 to !llvm.ptr<3>
  // CHECK: nvvm.stmatrix %[[P]], %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} {
  // A single group stands alone: two matrices, the row addresses of lanes 0-15.
  // CHECK: arith.addi %[[START]], %c32_i32
  // CHECK: nvvm.stmatrix %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} {
  gpu.func @store_16_bit(%f : !ts.fragment<64x32xf32>) {
    %s = gpu.dynamic_shared_memory : !bytes
    %to = arith.constant 0 : index
    %tv = memref.view %s[%to][] : !bytes to memref<16x64xbf16, #wg>
    %t = memref.memory_space_cast %tv : memref<16x64xbf16, #wg> to memref<16x64xbf16, #ts.smem<128>>
    %d = memref.subview %t[0, 0] [16, 24] [1, 1] : memref<16x64xbf16, #ts.smem<128>> to memref<16x24xbf16, strided<[64, 1]>, #ts.smem<128>>
    ts.fragment_store %f column 8 to %d : !ts.fragment<64x32xf32>, memref<16x24xbf16, strided<[64, 1]>, #ts.smem<128>>
    gpu.return
  }

  // In rows of one whole span the line is that of the row's start, and columns differ by an XOR only.
  // CHECK-LABEL: gpu.func @store_whole_rows
  // CHECK: %[[HALF:.*]] = arith.andi {{.*}}, %c16_i32
  // CHECK: %[[MASKED:.*]] = arith.andi {{.*}}, %c48_i32
  // CHECK: %[[CHUNK:.*]] = arith.xori %[[MASKED]], %[[HALF]]
  // CHECK: arith.addi {{.*}}, %[[CHUNK]]
  // CHECK: nvvm.stmatrix
  // CHECK: arith.xori %[[CHUNK]], %c32_i32
  // CHECK: nvvm.stmatrix
  gpu.func @store_whole_rows(%f : !ts.fragment<64x32xf16>) {
    %s = gpu.dynamic_shared_memory : !bytes
    %do = arith.constant 0 : index
    %dv = memref.view %s[%do][] : !bytes to memref<16x32xf16, #wg>
    %d = memref.memory_space_cast %dv : memref<16x32xf16, #wg> to memref<16x32xf16, #ts.smem<64>>
    ts.fragment_store %f column 0 to %d : !ts.fragment<64x32xf16>, memref<16x32xf16, #ts.smem<64>>
    gpu.return
  }

  // Elements of 32 bits: two neighbours per thread, rows lane/4 and lane/4 + 8, columns 2 (lane mod 4).
  // CHECK-LABEL: gpu.func @store_32_bit
  // CHECK: %[[LANE:.*]] = nvvm.read.ptx.sreg.laneid
  // CHECK: arith.shrui %[[LANE]], %c2_i32
  // CHECK: %[[PAIR:.*]] = arith.andi %[[LANE]], %c3_i32
  // CHECK: arith.shli %[[PAIR]], %c3_i32
  // CHECK-COUNT-4: llvm.store {{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<3>
  // CHECK-NOT: llvm.store
  gpu.func @store_32_bit(%f : !ts.fragment<64x16xf32>) {
    %s = gpu.dynamic_shared_memory : !bytes
    %do = arith.constant 0 : index
    %dv = memref.view %s[%do][] : !bytes to memref<16x16xf32, #wg>
    %d = memref.memory_space_cast %dv : memref<16x16xf32, #wg> to memref<16x16xf32, #ts.smem<64>>
    ts.fragment_store %f column 0 to %d : !ts.fragment<64x16xf32>, memref<16x16xf32, #ts.smem<64>>
    gpu.return
  }

  // Each warp loads its 16 rows; two k steps of four registers from two panels.
  // CHECK-LABEL: gpu.func @load
  // CHECK: %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x
  // CHECK: %[[WARP:.*]] = arith.shrui %[[TID]], %c5_i32
  // CHECK: %[[OF4:.*]] = arith.andi %[[WARP]], %c3_i32
  // CHECK: arith.shli %[[OF4]], %c4_i32
  // CHECK: nvvm.ldmatrix {{.*}}num = 4 : i32, {{.*}} -> !llvm.struct<(i32, i32, i32, i32)>
  // CHECK: arith.addi {{.*}}, %c2048_i32
  // CHECK: nvvm.ldmatrix
  // CHECK-NOT: nvvm.ldmatrix
  gpu.func @load() {
    %s = gpu.dynamic_shared_memory : !bytes
    %qo = arith.constant 0 : index
    %qv = memref.view %s[%qo][] : !bytes to memref<2x64x16xbf16, #wg>
    %q = memref.memory_space_cast %qv : memref<2x64x16xbf16, #wg> to memref<2x64x16xbf16, #ts.smem<32>>
    %bo = arith.constant 8192 : index
    %bv = memref.view %s[%bo][] : !bytes to memref<2x8x16xbf16, #wg>
    %b = memref.memory_space_cast %bv : memref<2x8x16xbf16, #wg> to memref<2x8x16xbf16, #ts.smem<32>>
    %a = ts.fragment_load %q : memref<2x64x16xbf16, #ts.smem<32>> -> !ts.fragment<64x32xbf16>
    %zero = ts.wgmma_zero : !ts.wgmma<64x8xf32>
    %x = ts.wgmma %a, %b, %zero : !ts.fragment<64x32xbf16>, memref<2x8x16xbf16, #ts.smem<32>>, !ts.wgmma<64x8xf32>
    %y:2 = ts.wgmma_wait 0, %x, %a : !ts.wgmma<64x8xf32>, !ts.fragment<64x32xbf16> -> !ts.fragment<64x8xf32>, !ts.fragment<64x32xbf16>
    gpu.return
  }

  // One copy of the body per element; neighbouring roundings become one packed conversion. Results of
  // 16 bits are half as many registers.
  // CHECK-LABEL: gpu.func @map
  // CHECK-SAME: %[[F:.*]]: !llvm.struct<(f32, f32, f32, f32)>, %[[S:.*]]: f32) -> !llvm.struct<(i32, i32)>
  // CHECK-COUNT-4: arith.mulf {{.*}}, %[[S]] : f32
  // CHECK-NOT: arith.mulf
  // CHECK-NOT: arith.truncf
  // CHECK-COUNT-2: nvvm.convert.f32x2.to.bf16x2
  gpu.func @map(%f : !ts.fragment<64x8xf32>, %scale : f32) -> !ts.fragment<64x8xbf16> {
    %g = ts.fragment_map %f (%x) : !ts.fragment<64x8xf32> -> !ts.fragment<64x8xbf16> {
      %y = arith.mulf %x, %scale : f32
      %t = arith.truncf %y : f32 to bf16
      ts.yield %t : bf16
    }
    gpu.return %g : !ts.fragment<64x8xbf16>
  }

  // Row operands by the row of the element, r or r + 8; the place from warp, lane and register.
  // CHECK-LABEL: gpu.func @map_rows
  // CHECK-SAME: %[[F:.*]]: !llvm.struct<(f32, f32, f32, f32)>, %[[ROWS:.*]]: vector<2xf32>)
  // CHECK-DAG: %[[X1:.*]] = llvm.extractvalue %[[F]][1]
  // CHECK-DAG: %[[X2:.*]] = llvm.extractvalue %[[F]][2]
  // CHECK-DAG: %[[R0:.*]] = vector.extract %[[ROWS]][0]
  // CHECK-DAG: %[[R1:.*]] = vector.extract %[[ROWS]][1]
  // CHECK-DAG: %[[WARP:.*]] = arith.shli {{.*}}, %c4_i32
  // CHECK-DAG: %[[OF8:.*]] = arith.shrui {{.*}}, %c2_i32
  // CHECK: %[[ROW:.*]] = arith.ori %[[WARP]], %[[OF8]]
  // CHECK: %[[ROW8:.*]] = arith.addi %[[ROW]], %c8_i32
  // CHECK: %[[COL:.*]] = arith.shli {{.*}}, %c1_i32
  // CHECK: arith.cmpi sle, %[[COL]], %[[ROW]]
  // CHECK: %[[COL1:.*]] = arith.addi %[[COL]], %c1_i32
  // CHECK: arith.cmpi sle, %[[COL1]], %[[ROW]]
  // CHECK: arith.select {{.*}}, %[[X1]], %[[R0]]
  // CHECK: arith.cmpi sle, %[[COL]], %[[ROW8]]
  // CHECK: arith.select {{.*}}, %[[X2]], %[[R1]]
  gpu.func @map_rows(%f : !ts.fragment<64x8xf32>, %rows : vector<2xf32>) -> !ts.fragment<64x8xf32> {
    %g = ts.fragment_map %f, %rows (%x, %y) at (%i, %j) : !ts.fragment<64x8xf32>, vector<2xf32> -> !ts.fragment<64x8xf32> {
      %left = arith.cmpi sle, %j, %i : i32
      %s = arith.select %left, %x, %y : f32
      ts.yield %s : f32
    }
    gpu.return %g : !ts.fragment<64x8xf32>
  }

  // Elements 0, 1, 4, 5, ... are of the first row, 2, 3, 6, 7, ... of the second; then the four lanes.
  // CHECK-LABEL: gpu.func @reduce
  // CHECK-SAME: %[[F:.*]]: !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>)
  // CHECK-DAG: %[[X0:.*]] = llvm.extractvalue %[[F]][0]
  // CHECK-DAG: %[[X4:.*]] = llvm.extractvalue %[[F]][4]
  // CHECK-DAG: %[[X2:.*]] = llvm.extractvalue %[[F]][2]
  // CHECK-DAG: %[[X6:.*]] = llvm.extractvalue %[[F]][6]
  // CHECK: arith.maximumf %[[X0]], %[[X4]]
  // CHECK-NEXT: arith.maximumf
  // CHECK-NEXT: %[[TOP:.*]] = arith.maximumf
  // CHECK: arith.maximumf %[[X2]], %[[X6]]
  // CHECK: nvvm.shfl.sync bfly %{{.*}}, %[[TOP]], %c1_i32
  // CHECK: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %c2_i32
  // CHECK-COUNT-2: nvvm.shfl.sync bfly
  // CHECK-NOT: nvvm.shfl.sync
  gpu.func @reduce(%f : !ts.fragment<64x16xf32>) -> vector<2xf32> {
    %m = ts.fragment_reduce max %f : !ts.fragment<64x16xf32> -> vector<2xf32>
    gpu.return %m : vector<2xf32>
  }

  // In two steps: each thread for itself, then the lanes.
  // CHECK-LABEL: gpu.func @reduce_part
  // CHECK-COUNT-2: arith.addi {{.*}} : i32
  // CHECK-NOT: shfl
  // CHECK: gpu.return
  gpu.func @reduce_part(%f : !ts.fragment<64x8xi32>) -> vector<2xi32> {
    %p = ts.fragment_reduce add %f partial : !ts.fragment<64x8xi32> -> vector<2xi32>
    gpu.return %p : vector<2xi32>
  }
  // CHECK-LABEL: gpu.func @reduce_lanes
  // CHECK-COUNT-4: nvvm.shfl.sync bfly
  gpu.func @reduce_lanes(%p : vector<2xi32>) -> vector<2xi32> {
    %s = ts.fragment_reduce min %p : vector<2xi32> -> vector<2xi32>
    gpu.return %s : vector<2xi32>
  }

  // Packed inputs are taken apart: f16 (low, high), and put together without a conversion.
  // CHECK-LABEL: gpu.func @map_packed
  // CHECK: llvm.bitcast {{.*}} : i32 to vector<2xf16>
  // CHECK: llvm.extractelement
  // CHECK: arith.addf {{.*}} : f16
  // CHECK: vector.from_elements {{.*}} : vector<2xf16>
  // CHECK: llvm.bitcast {{.*}} : vector<2xf16> to i32
  gpu.func @map_packed(%f : !ts.fragment<64x8xf16>, %g : !ts.fragment<64x8xf16>) -> !ts.fragment<64x8xf16> {
    %h = ts.fragment_map %f, %g (%x, %y) : !ts.fragment<64x8xf16>, !ts.fragment<64x8xf16> -> !ts.fragment<64x8xf16> {
      %z = arith.addf %x, %y : f16
      ts.yield %z : f16
    }
    gpu.return %h : !ts.fragment<64x8xf16>
  }

  // CHECK-LABEL: gpu.func @matrices
  // CHECK: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<col>, num = 2 : i32
  // CHECK: nvvm.stmatrix {{.*}}layout = #nvvm.mma_layout<row>
  gpu.func @matrices(%i : index, %j : index) {
    %s = gpu.dynamic_shared_memory : !bytes
    %to = arith.constant 0 : index
    %tv = memref.view %s[%to][] : !bytes to memref<16x64xbf16, #wg>
    %t = memref.memory_space_cast %tv : memref<16x64xbf16, #wg> to memref<16x64xbf16, #ts.smem<128>>
    %r = ts.ldmatrix %t[%i, %j] transpose : memref<16x64xbf16, #ts.smem<128>> -> vector<2xi32>
    ts.stmatrix %r to %t[%j, %i] : vector<2xi32>, memref<16x64xbf16, #ts.smem<128>>
    gpu.return
  }
}
