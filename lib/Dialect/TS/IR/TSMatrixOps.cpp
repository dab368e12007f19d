// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verifiers of the matrix primitives: UMMA and tensor memory, wgmma, register tiles, ldmatrix and
// stmatrix; and the syntax of ts.fragment_map. Only what holds on every chip that has the
// instruction is checked here.
#include "ts/Dialect/TS/IR/HardwareLimits.h"
#include "ts/Dialect/TS/IR/MatrixTile.h"
#include "ts/Dialect/TS/IR/TS.h"

#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::ts;

//===-- Shared checks ------------------------------------------------------------------------===//

static LogicalResult checkSpace(Operation *op, Type type, StringRef what, bool smem) {
  if (smem ? isSmem(type) : isTmem(type))
    return success();
  return op->emitOpError() << what
                           << (smem ? " lies in shared memory (#ts.smem), found "
                                    : " lies in tensor memory (#ts.tmem), found ")
                           << type;
}

/// A matrix that the tensor core reads through a shared-memory descriptor.
static FailureOr<MatrixTile> checkDescriptorTile(Operation *op, MemRefType type, StringRef what) {
  if (failed(checkSpace(op, type, what, /*smem=*/true)))
    return failure();
  std::optional<MatrixTile> tile = getMatrixTile(type);
  int64_t bits = getElementBits(type.getElementType()) ? getStoredBits(type) : 0;
  if (!tile || bits == 0)
    return op->emitOpError() << what
                             << " is a matrix of static shape, rows x columns or panels x rows x "
                                "columns of numbers, found "
                             << type;
  int64_t span = std::max<int64_t>(getSwizzle(type), kCoreMatrixRowBytes);
  if (tile->inner > span * 8 || tile->inner * bits != span * 8 || tile->rowStride != tile->inner)
    return op->emitError()
           << "[TS228] " << what << " has rows of " << tile->inner << " x " << type.getElementType()
           << " with a stride of " << tile->rowStride << " elements, expected contiguous rows of "
           << span << " bytes (" << (getSwizzle(type) ? "the swizzle span" : "a core matrix row")
           << "; PTX ISA 8.8, matrix descriptor), " << span * 8 / bits
           << " elements; store a wider matrix in panels, as in memref<panels x rows x "
           << span * 8 / bits << " x " << type.getElementType() << ">";
  if (tile->rows % kCoreMatrixRows)
    return op->emitError() << "[TS228] " << what << " has " << tile->rows
                           << " rows, expected a multiple of " << kCoreMatrixRows
                           << ", the rows of a core matrix (PTX ISA 8.8, matrix descriptor)";
  // A descriptor's start must lie on a swizzle atom: 8 rows.
  SmallVector<int64_t> strides;
  int64_t offset;
  int64_t atom = kCoreMatrixRows * tile->inner;
  if (succeeded(type.getStridesAndOffset(strides, offset)) &&
      ((!ShapedType::isDynamic(offset) && offset % atom) || tile->panelStride % atom))
    return op->emitError() << "[TS228] " << what << " starts inside a swizzle atom: offset "
                           << (ShapedType::isDynamic(offset) ? 0 : offset) << " and panel stride "
                           << tile->panelStride << " must be multiples of " << atom
                           << " elements, 8 rows (PTX ISA 8.8, matrix descriptor)";
  return *tile;
}

static LogicalResult checkK(Operation *op, int64_t ka, int64_t kb, int64_t step, StringRef instr) {
  if (ka != kb)
    return op->emitOpError() << "A has K = " << ka << ", B has K = " << kb
                             << "; both must agree (A is M x K, B is N x K)";
  if (step <= 0 || ka % step)
    return op->emitOpError() << "K = " << ka << " is no multiple of " << step
                             << ", what one instruction takes (PTX ISA 8.8, " << instr << ")";
  return success();
}

//===-- UMMA ---------------------------------------------------------------------------------===//

static LogicalResult checkUmmaShape(Operation *op, StringRef kind, int64_t m, int64_t n,
                                    int64_t group) {
  bool scaled = kind.starts_with("mx");
  bool okM = group == 2 ? m == 128 || m == 256 : m == 128 || (m == 64 && !scaled);
  if (!okM)
    return op->emitOpError() << "D has M = " << m << " with cta_group " << group << " and kind "
                             << kind << ", expected "
                             << (group == 2 ? "128 or 256 over both CTAs"
                                 : scaled   ? "128"
                                            : "64 or 128")
                             << " (PTX ISA 8.8, tcgen05.mma)";
  int64_t step = m == 64 || (scaled && group == 1) ? 8 : 16;
  bool okN = n >= step && n <= kMaxMmaN && n % step == 0;
  if (kind == "i8" && n % 16 && n != 8 && n != 24)
    okN = false;
  if (!okN)
    return op->emitOpError() << "D has N = " << n << " with M = " << m
                             << ", expected a multiple of " << step << " from " << step << " to "
                             << kMaxMmaN
                             << (kind == "i8" ? ", for i8 8, 24 or a multiple of 16" : "")
                             << " (PTX ISA 8.8, tcgen05.mma)";
  return success();
}

/// Columns of a view of tensor memory; 0 when it is not rows by elements of static shape.
static int64_t getTmemColumns(MemRefType type) {
  if (type.getRank() != 2 || !type.hasStaticShape())
    return 0;
  int64_t bits = type.getDimSize(1) * getElementBits(type.getElementType());
  return bits % kTmemColumnBits ? 0 : bits / kTmemColumnBits;
}

/// The scales of A (M rows) and of B (N rows, of both CTAs) for all k steps of the tile.
static LogicalResult checkScales(UmmaOp op, StringRef kind, int64_t k) {
  MemRefType d = op.getD().getType();
  for (auto [i, view] : llvm::enumerate(op.getScales())) {
    auto type = cast<MemRefType>(view.getType());
    if (failed(checkSpace(op, type, "a scale view", /*smem=*/false)))
      return failure();
    int64_t steps = k / getUmmaK(kind, op.getA().getType().getElementType());
    int64_t scales = steps * getScalesPerStep(kind, type.getElementType());
    int64_t rows = d.getDimSize(i), columns = getScaleColumns(rows, scales);
    if (type.getElementType() != cast<MemRefType>(op.getScales()[0].getType()).getElementType())
      return op.emitOpError() << "the scales of A and B have one type, found " << type << " behind "
                              << op.getScales()[0].getType();
    if (getTmemColumns(type) == columns && type.getDimSize(0) == kTmemLanes)
      continue;
    return op.emitOpError() << "the scales of " << (i ? "B" : "A") << ", " << scales
                            << " for each of " << rows << " rows, take " << columns
                            << " columns of tensor memory (PTX ISA 8.8, scale factor layouts): "
                               "expected "
                            << MemRefType::get({kTmemLanes, columns * 4}, type.getElementType(),
                                               MemRefLayoutAttrInterface(), type.getMemorySpace())
                            << ", found " << type;
  }
  return success();
}

/// The kind that the operands' types select or that the op names, checked against them.
static FailureOr<StringRef> checkUmmaKind(UmmaOp op) {
  Type a = op.getA().getType().getElementType(), b = op.getB().getType().getElementType();
  Type d = op.getD().getType().getElementType();
  Type scale;
  if (!op.getScales().empty())
    scale = cast<MemRefType>(op.getScales().front().getType()).getElementType();
  SmallVector<StringRef> kinds = getUmmaKinds(a, b, scale);
  if (kinds.empty()) {
    InFlightDiagnostic diag = op.emitOpError() << "no UMMA kind multiplies " << a << " by " << b;
    if (scale)
      diag << " with scales of " << scale;
    return diag
           << "; expected two f16, two bf16, two f32 (tf32), two i8, narrow floats (f8, f6, f4), "
              "or narrow floats with f8E8M0FNU or f8E4M3FN scales (PTX ISA 8.8, tcgen05.mma)";
  }
  if (op.getKind() && !llvm::is_contained(kinds, *op.getKind()))
    return op.emitOpError() << "kind '" << *op.getKind() << "' does not take " << a << " and " << b
                            << "; these types select " << llvm::join(kinds, " or ");
  StringRef kind = getUmmaKind(op);
  bool halfD = (kind == "f16" && a.isF16()) || kind == "f8f6f4";
  bool okD = kind == "i8" ? d.isInteger(32) : d.isF32() || (halfD && d.isF16());
  if (!okD)
    return op.emitOpError() << "D has element type " << d << ", kind " << kind << " accumulates in "
                            << (kind == "i8" ? "i32"
                                : halfD      ? "f32 or f16"
                                             : "f32")
                            << " (PTX ISA 8.8, tcgen05.mma)";
  for (MemRefType type : {op.getA().getType(), op.getB().getType()})
    if (isPadded(type) && !kind.ends_with("f8f6f4"))
      return op->emitOpError() << "kind " << kind << " reads packed elements, found " << type
                               << "; name kind \"mxf8f6f4\", or store the operand packed";
  // Shared memory stores 32-bit and packed 4-bit operands K-major only: the atom for the other
  // order is a different swizzle, or does not exist.
  int64_t bitsA = getElementBits(a), bitsB = getElementBits(b);
  bool flipA = op.getTransposeA() && bitsA != 16 && bitsA != 8;
  if (flipA || (op.getTransposeB() && bitsB != 16 && bitsB != 8))
    return op.emitOpError() << "'" << (flipA ? "transpose_a" : "transpose_b")
                            << "' needs elements of 8 or 16 bits, found " << (flipA ? a : b)
                            << "; store the tile K-major";
  return kind;
}

LogicalResult UmmaOp::verify() {
  MemRefType d = getD().getType(), a = getA().getType(), b = getB().getType();
  int64_t group = getCtaGroup();
  if (group != 1 && group != 2)
    return emitOpError() << "cta_group is 1 or 2 (PTX ISA 8.8, tcgen05.mma), found " << group;
  if (failed(checkSpace(*this, d, "D", /*smem=*/false)))
    return failure();
  if (d.getRank() != 2 || !d.hasStaticShape())
    return emitOpError() << "D is M x N of static shape, found " << d;
  if (!isSmem(a) && !isTmem(a))
    return emitOpError() << "A lies in shared memory (#ts.smem) or tensor memory (#ts.tmem), found "
                         << a;
  FailureOr<StringRef> kind = checkUmmaKind(*this);
  if (failed(kind))
    return failure();
  bool scaled = kind->starts_with("mx");
  if (scaled && getScales().size() != 2)
    return emitOpError() << "kind " << *kind << " takes two scale views, A's and B's, found "
                         << getScales().size();

  MatrixTile tileA;
  if (isTmem(a)) {
    if (getTransposeA())
      return emitOpError("A in tensor memory is M x K, 'transpose_a' does not apply (PTX ISA 8.8, "
                         "tcgen05.mma)");
    if (a.getRank() != 2 || !a.hasStaticShape())
      return emitOpError() << "A in tensor memory is M x K of static shape, found " << a;
    tileA.rows = a.getDimSize(0);
    tileA.inner = a.getDimSize(1);
  } else {
    FailureOr<MatrixTile> tile = checkDescriptorTile(*this, a, "A");
    if (failed(tile))
      return failure();
    tileA = *tile;
  }
  FailureOr<MatrixTile> tileB = checkDescriptorTile(*this, b, "B");
  if (failed(tileB))
    return failure();

  // With two CTAs each holds its half of the rows of A, B and D; N is over both.
  int64_t m = getTransposeA() ? tileA.getCols() : tileA.rows;
  int64_t ka = getTransposeA() ? tileA.rows : tileA.getCols();
  int64_t n = getTransposeB() ? tileB->getCols() : tileB->rows;
  int64_t kb = getTransposeB() ? tileB->rows : tileB->getCols();
  if (m != d.getDimSize(0))
    return emitOpError() << "A has M = " << m << ", D has M = " << d.getDimSize(0)
                         << "; A is M x K and D is M x N";
  if (n != d.getDimSize(1) && n * group != d.getDimSize(1))
    return emitOpError() << "B has N = " << n << (group == 2 ? " per CTA" : "")
                         << ", D has N = " << d.getDimSize(1) << "; B is N x K and D is M x N";
  if (n * group != d.getDimSize(1))
    return emitOpError() << "with cta_group 2 each CTA holds half of B: expected N = "
                         << d.getDimSize(1) / 2 << " in B for N = " << d.getDimSize(1)
                         << " in D, found " << n;
  if (failed(checkK(*this, ka, kb, getUmmaK(*kind, a.getElementType()), "tcgen05.mma")))
    return failure();
  if (m > kTmemLanes)
    return emitOpError() << "D has M = " << m << " in one CTA, but tensor memory has " << kTmemLanes
                         << " lanes (PTX ISA 8.8, tensor memory)";
  if (failed(checkUmmaShape(*this, *kind, m * group, d.getDimSize(1), group)))
    return failure();
  return scaled ? checkScales(*this, *kind, ka) : success();
}

//===-- Tensor memory ------------------------------------------------------------------------===//

LogicalResult TmemCopyOp::verify() {
  struct Shape {
    StringRef name;
    int64_t bytes, columns;
  };
  static const Shape shapes[] = {{"128x256b", 4096, 8},
                                 {"4x256b", 128, 8},
                                 {"128x128b", 2048, 4},
                                 {"64x128b.warpx2::02_13", 1024, 4},
                                 {"64x128b.warpx2::01_23", 1024, 4},
                                 {"32x128b.warpx4", 512, 4}};
  if (failed(checkSpace(*this, getSrc().getType(), "the source", true)) ||
      failed(checkSpace(*this, getDst().getType(), "the destination", false)))
    return failure();
  if (int64_t group = getCtaGroup(); group != 1 && group != 2)
    return emitOpError() << "cta_group is 1 or 2 (PTX ISA 8.8, tcgen05.cp), found " << group;
  const Shape *shape = llvm::find_if(shapes, [&](const Shape &s) { return s.name == getShape(); });
  if (shape == std::end(shapes))
    return emitOpError() << "unknown shape '" << getShape() << "'; expected one of "
                         << llvm::join(llvm::map_range(shapes,
                                                       [](const Shape &s) { return s.name.str(); }),
                                       ", ")
                         << " (PTX ISA 8.8, tcgen05.cp)";
  if (isPadded(getSrc().getType()))
    return emitOpError() << "the source " << getSrc().getType()
                         << " is padded; only ts.umma reads padded elements";
  int64_t bytes = ts::getBytes(getSrc().getType());
  if (bytes == 0 || bytes % shape->bytes)
    return emitOpError() << "one copy of shape " << shape->name << " takes " << shape->bytes
                         << " bytes (PTX ISA 8.8, tcgen05.cp); the source has " << bytes
                         << ", which is no positive multiple";
  int64_t copies = bytes / shape->bytes, found = getTmemColumns(getDst().getType());
  if (found != copies * shape->columns)
    return emitOpError() << copies << (copies == 1 ? " copy" : " copies") << " of shape "
                         << shape->name << " fill " << copies * shape->columns
                         << " columns of tensor memory (PTX ISA 8.8, tcgen05.cp), the destination "
                         << getDst().getType() << " has " << found;
  return success();
}

/// Vector of a tensor-memory access: whole 32-bit columns, a power of two of them.
static LogicalResult checkTmemVector(Operation *op, Type type, MemRefType memory, StringRef instr) {
  if (failed(checkSpace(op, memory, "the accumulator", /*smem=*/false)))
    return failure();
  auto vector = dyn_cast<VectorType>(type);
  if (!vector || vector.getRank() != 1 || vector.isScalable())
    return op->emitOpError() << "expected a vector with one entry per element of a row, found "
                             << type;
  if (vector.getElementType() != memory.getElementType())
    return op->emitOpError() << "the vector has element type " << vector.getElementType()
                             << ", the memory " << memory.getElementType()
                             << "; tensor memory does not convert";
  int64_t bits = getElementBits(vector.getElementType());
  int64_t size = vector.getDimSize(0);
  bool fits = bits > 0 && bits <= kTmemColumnBits &&
              size <= kMaxTmemLoadColumns * kTmemColumnBits && size * bits % kTmemColumnBits == 0;
  int64_t columns = fits ? size * bits / kTmemColumnBits : 0;
  if (!fits || columns > kMaxTmemLoadColumns || !llvm::isPowerOf2_64(columns))
    return op->emitOpError() << "one access takes 1, 2, 4, ... " << kMaxTmemLoadColumns
                             << " columns of " << kTmemColumnBits << " bits (PTX ISA 8.8, " << instr
                             << ", shape 32x32b), found " << type
                             << "; split it into several accesses";
  if (memory.getRank() < 1 || (!memory.isDynamicDim(memory.getRank() - 1) &&
                               size > memory.getDimSize(memory.getRank() - 1)))
    return op->emitOpError() << "the access takes " << size << " elements of a row, more than "
                             << memory << " has";
  return success();
}

LogicalResult TmemLoadOp::verify() {
  Type type = getResult().getType();
  if (auto async = dyn_cast<AsyncType>(type))
    type = async.getValueType();
  return checkTmemVector(*this, type, getSrc().getType(), "tcgen05.ld");
}

LogicalResult TmemStoreOp::verify() {
  return checkTmemVector(*this, getValue().getType(), getDst().getType(), "tcgen05.st");
}

LogicalResult TmemWaitOp::verify() {
  if (getValues().size() != getResults().size())
    return emitOpError() << "takes " << getValues().size() << " values and gives "
                         << getResults().size() << "; expected one result per value";
  for (auto [value, result] : llvm::zip_equal(getValues(), getResults())) {
    Type expected = cast<AsyncType>(value.getType()).getValueType();
    if (result.getType() != expected)
      return emitOpError() << "the wait turns " << value.getType() << " into " << expected
                           << ", found " << result.getType();
  }
  return success();
}

LogicalResult TmemViewOp::verify() {
  return checkSpace(*this, getResult().getType(), "the view", /*smem=*/false);
}

//===-- wgmma --------------------------------------------------------------------------------===//

LogicalResult WgmmaStartOp::verify() {
  FragmentType from = getFragment().getType();
  WgmmaType to = getResult().getType();
  if (from.getShape() == to.getShape() && from.getElementType() == to.getElementType())
    return success();
  return emitOpError() << "accumulators start from a fragment of their own shape and type: " << from
                       << " does not become " << to;
}

static LogicalResult checkWgmmaTypes(Operation *op, Type a, Type b, Type d, int64_t n) {
  auto isF8 = [](Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); };
  bool f16 = a.isF16() && b.isF16(), bf16 = a.isBF16() && b.isBF16();
  bool tf32 = a.isF32() && b.isF32(), f8 = isF8(a) && isF8(b);
  bool i8 = a.isInteger(8) && b.isInteger(8);
  if (!f16 && !bf16 && !tf32 && !f8 && !i8)
    return op->emitOpError()
           << "wgmma does not multiply " << a << " by " << b
           << "; expected two f16, two bf16, two f32 (tf32), two i8, or f8E4M3FN and "
              "f8E5M2 in any pair (PTX ISA 8.8, wgmma.mma_async)";
  bool okD = i8 ? d.isInteger(32) : d.isF32() || ((f16 || f8) && d.isF16());
  if (!okD)
    return op->emitOpError() << "the accumulator has element type " << d << ", " << a << " times "
                             << b << " accumulates in "
                             << (i8          ? "i32"
                                 : f16 || f8 ? "f32 or f16"
                                             : "f32")
                             << " (PTX ISA 8.8, wgmma.mma_async)";
  if (i8 && n % 16 && n != 8 && n != 24)
    return op->emitOpError() << "N = " << n
                             << " does not exist for i8, expected 8, 24 or a multiple "
                                "of 16 (PTX ISA 8.8, wgmma.mma_async)";
  return success();
}

/// Whether a wait behind `op`, or the end of its block, takes the registers of A: until then
/// nothing else may be given them, and only a use tells.
static bool keepsRegisters(WgmmaOp op) {
  return llvm::any_of(op.getA().getUsers(), [&](Operation *user) {
    return user->getBlock() == op->getBlock() && op->isBeforeInBlock(user) &&
           (isa<WgmmaWaitOp>(user) || user->hasTrait<OpTrait::IsTerminator>());
  });
}

LogicalResult WgmmaOp::verify() {
  WgmmaType acc = getAcc().getType();
  auto fragment = dyn_cast<FragmentType>(getA().getType());
  auto memory = dyn_cast<MemRefType>(getA().getType());
  if (!fragment && !memory)
    return emitOpError() << "A is a tile in shared memory or a fragment in registers, found "
                         << getA().getType();
  Type a = fragment ? fragment.getElementType() : memory.getElementType();
  Type b = getB().getType().getElementType();
  int64_t n = acc.getShape()[1];
  if (failed(checkWgmmaTypes(*this, a, b, acc.getElementType(), n)))
    return failure();
  int64_t bits = getElementBits(a);
  if (getTransposeA() && fragment)
    return emitOpError("A in registers is 64 x K, 'transpose_a' does not apply (PTX ISA 8.8, "
                       "wgmma.mma_async)");
  if ((getTransposeA() || getTransposeB()) && bits != 16)
    return emitOpError() << "'" << (getTransposeA() ? "transpose_a" : "transpose_b")
                         << "' needs 16-bit elements (PTX ISA 8.8, wgmma.mma_async), found "
                         << (getTransposeA() ? a : b) << "; store the tile K-major";
  // The register layouts of A and of an accumulator agree for 16-bit elements only.
  if (fragment && bits != 16)
    return emitOpError()
           << "A in registers needs 16-bit elements, found " << a
           << "; other widths have another register layout (PTX ISA 8.8, wgmma register "
              "fragments), pass them through shared memory";
  MatrixTile tileA;
  if (fragment) {
    tileA.rows = fragment.getShape()[0];
    tileA.inner = fragment.getShape()[1];
  } else {
    FailureOr<MatrixTile> tile = checkDescriptorTile(*this, memory, "A");
    if (failed(tile))
      return failure();
    tileA = *tile;
  }
  FailureOr<MatrixTile> tileB = checkDescriptorTile(*this, getB().getType(), "B");
  if (failed(tileB))
    return failure();
  int64_t m = getTransposeA() ? tileA.getCols() : tileA.rows;
  int64_t ka = getTransposeA() ? tileA.rows : tileA.getCols();
  int64_t nb = getTransposeB() ? tileB->getCols() : tileB->rows;
  int64_t kb = getTransposeB() ? tileB->rows : tileB->getCols();
  if (m != kWgmmaM)
    return emitOpError() << "A has M = " << m << ", one warpgroup multiplies " << kWgmmaM
                         << " rows (PTX ISA 8.8, wgmma.mma_async); take a subview of " << kWgmmaM
                         << " rows per warpgroup";
  if (nb != n)
    return emitOpError() << "B has N = " << nb << ", the accumulator N = " << n
                         << "; B is N x K and the accumulator " << kWgmmaM << " x N";
  if (failed(checkK(*this, ka, kb, getWgmmaK(a), "wgmma.mma_async")))
    return failure();
  if (fragment && !keepsRegisters(*this))
    return emitOpError("A is in registers, which the product reads until its group is complete; "
                       "pass A to the ts.wgmma_wait behind it, or they may be overwritten before");
  return success();
}

/// How many groups are surely committed from the ts.wgmma that wrote `acc` to the wait, its own
/// included: more than the wait leaves in flight means that its own is complete. With nothing left
/// in flight everything is, hence at least 1.
static int64_t groupsSince(Value acc, WgmmaWaitOp wait) {
  auto writer = acc.getDefiningOp<WgmmaOp>();
  if (!writer || writer->getBlock() != wait->getBlock())
    return 1;
  int64_t groups = 0;
  for (Operation *op = writer->getNextNode(); op && op != wait; op = op->getNextNode())
    groups += isa<WgmmaCommitOp>(op);
  return std::max<int64_t>(groups, 1);
}

LogicalResult WgmmaWaitOp::verify() {
  int64_t pending = getPending();
  if (pending < 0 || pending > std::numeric_limits<int32_t>::max())
    return emitOpError() << "waits until at most 'pending' groups are in flight: expected a number "
                            "from 0 to 2147483647, found "
                         << pending;
  if (getValues().size() != getResults().size())
    return emitOpError() << "takes " << getValues().size() << " values and gives "
                         << getResults().size() << "; expected one result per value";
  for (auto [value, result] : llvm::zip_equal(getValues(), getResults())) {
    Type from = value.getType(), to = result.getType();
    if (!isa<WgmmaType, FragmentType>(from))
      return emitOpError() << "carries accumulators (!ts.wgmma) and register operands "
                              "(!ts.fragment), found "
                           << from;
    if (from == to)
      continue;
    auto acc = dyn_cast<WgmmaType>(from);
    auto fragment = dyn_cast<FragmentType>(to);
    if (!acc || !fragment || acc.getShape() != fragment.getShape() ||
        acc.getElementType() != fragment.getElementType())
      return emitOpError() << from << " does not become " << to
                           << "; an accumulator stays or becomes a fragment of its own shape and "
                              "type, a fragment stays";
    if (pending >= groupsSince(value, *this))
      return emitOpError() << "with 'pending' " << pending << " the group that writes " << from
                           << " may still be in flight, so it cannot become the readable " << to
                           << "; wait for 0, keep " << from
                           << ", or commit more groups between its ts.wgmma and the wait";
  }
  return success();
}
