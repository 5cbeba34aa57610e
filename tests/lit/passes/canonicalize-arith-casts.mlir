// RUN: ttc opt %s --canonicalize | FileCheck %s --match-full-lines
// BLESSED: what ttc prints; the comment above each function says what it must show.

// The inverse comparison.
// CHECK-LABEL: tt.func public @not_of_cmpi(%a: i32, %b: i32) -> i1 {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.cmpi sge, %a, %b : i32
// CHECK-NEXT: tt.return %[[R]] : i1
// CHECK-NEXT: }
tt.func public @not_of_cmpi(%a: i32, %b: i32) -> i1 {
  %t = arith.constant true
  %0 = arith.cmpi slt, %a, %b : i32
  %r = arith.xori %0, %t : i1
  tt.return %r : i1
}

// Not of a constant.
// CHECK-LABEL: tt.func public @not_of_cmpi_not(%a: i32, %b: i32) -> i1 {
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.cmpi slt, %a, %b : i32
// CHECK-NEXT: %[[V1:[^ ,:)#]+]] = arith.cmpi eq, %a, %b : i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.xori %[[V0]], %[[V1]] : i1
// CHECK-NEXT: tt.return %[[R]] : i1
// CHECK-NEXT: }
tt.func public @not_of_cmpi_not(%a: i32, %b: i32) -> i1 {
  %f = arith.constant false
  %0 = arith.cmpi slt, %a, %b : i32
  %1 = arith.cmpi eq, %a, %b : i32
  %r = arith.xori %0, %1 : i1
  tt.return %r : i1
}

// Equal after extension is equal before.
// CHECK-LABEL: tt.func public @equality_of_extensions(%a: i32, %b: i32, %n: i16) -> i1 {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.cmpi eq, %a, %b : i32
// CHECK-NEXT: tt.return %[[R]] : i1
// CHECK-NEXT: }
tt.func public @equality_of_extensions(%a: i32, %b: i32, %n: i16) -> i1 {
  %0 = arith.extsi %a : i32 to i64
  %1 = arith.extsi %b : i32 to i64
  %r = arith.cmpi eq, %0, %1 : i64
  tt.return %r : i1
}

// The types differ.
// CHECK-LABEL: tt.func public @equality_of_extensions_not(%a: i32, %b: i32, %n: i16) -> i1 {
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.extsi %a : i32 to i64
// CHECK-NEXT: %[[V1:[^ ,:)#]+]] = arith.extsi %n : i16 to i64
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.cmpi eq, %[[V0]], %[[V1]] : i64
// CHECK-NEXT: tt.return %[[R]] : i1
// CHECK-NEXT: }
tt.func public @equality_of_extensions_not(%a: i32, %b: i32, %n: i16) -> i1 {
  %0 = arith.extsi %a : i32 to i64
  %1 = arith.extsi %n : i16 to i64
  %r = arith.cmpi eq, %0, %1 : i64
  tt.return %r : i1
}

// Also unsigned.
// CHECK-LABEL: tt.func public @inequality_of_extensions(%a: i32, %b: i32) -> i1 {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.cmpi ne, %a, %b : i32
// CHECK-NEXT: tt.return %[[R]] : i1
// CHECK-NEXT: }
tt.func public @inequality_of_extensions(%a: i32, %b: i32) -> i1 {
  %0 = arith.extui %a : i32 to i64
  %1 = arith.extui %b : i32 to i64
  %r = arith.cmpi ne, %0, %1 : i64
  tt.return %r : i1
}

// One is signed, the other is not.
// CHECK-LABEL: tt.func public @inequality_of_extensions_not(%a: i32, %b: i32) -> i1 {
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.extui %a : i32 to i64
// CHECK-NEXT: %[[V1:[^ ,:)#]+]] = arith.extsi %b : i32 to i64
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.cmpi ne, %[[V0]], %[[V1]] : i64
// CHECK-NEXT: tt.return %[[R]] : i1
// CHECK-NEXT: }
tt.func public @inequality_of_extensions_not(%a: i32, %b: i32) -> i1 {
  %0 = arith.extui %a : i32 to i64
  %1 = arith.extsi %b : i32 to i64
  %r = arith.cmpi ne, %0, %1 : i64
  tt.return %r : i1
}

// Only equality is taken before the extension: this stays.
// CHECK-LABEL: tt.func public @order_of_extensions(%a: i32, %b: i32) -> i1 {
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.extsi %a : i32 to i64
// CHECK-NEXT: %[[V1:[^ ,:)#]+]] = arith.extsi %b : i32 to i64
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.cmpi slt, %[[V0]], %[[V1]] : i64
// CHECK-NEXT: tt.return %[[R]] : i1
// CHECK-NEXT: }
tt.func public @order_of_extensions(%a: i32, %b: i32) -> i1 {
  %0 = arith.extsi %a : i32 to i64
  %1 = arith.extsi %b : i32 to i64
  %r = arith.cmpi slt, %0, %1 : i64
  tt.return %r : i1
}

// And this.
// CHECK-LABEL: tt.func public @order_of_extensions_not(%a: i32, %b: i32) -> i1 {
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.extui %a : i32 to i64
// CHECK-NEXT: %[[V1:[^ ,:)#]+]] = arith.extui %b : i32 to i64
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.cmpi ult, %[[V0]], %[[V1]] : i64
// CHECK-NEXT: tt.return %[[R]] : i1
// CHECK-NEXT: }
tt.func public @order_of_extensions_not(%a: i32, %b: i32) -> i1 {
  %0 = arith.extui %a : i32 to i64
  %1 = arith.extui %b : i32 to i64
  %r = arith.cmpi ult, %0, %1 : i64
  tt.return %r : i1
}

// The sign of an unsigned extension is 0.
// CHECK-LABEL: tt.func public @extsi_of_extui(%a: i8) -> i32 {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.extui %a : i8 to i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @extsi_of_extui(%a: i8) -> i32 {
  %0 = arith.extui %a : i8 to i16
  %r = arith.extsi %0 : i16 to i32
  tt.return %r : i32
}

// The other way round it is not.
// CHECK-LABEL: tt.func public @extsi_of_extui_not(%a: i8) -> i32 {
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.extsi %a : i8 to i16
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.extui %[[V0]] : i16 to i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @extsi_of_extui_not(%a: i8) -> i32 {
  %0 = arith.extsi %a : i8 to i16
  %r = arith.extui %0 : i16 to i32
  tt.return %r : i32
}

// Extension to what is left.
// CHECK-LABEL: tt.func public @trunci_of_extension(%a: i8, %b: i64) -> i16 {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.extsi %a : i8 to i16
// CHECK-NEXT: tt.return %[[R]] : i16
// CHECK-NEXT: }
tt.func public @trunci_of_extension(%a: i8, %b: i64) -> i16 {
  %0 = arith.extsi %a : i8 to i32
  %r = arith.trunci %0 : i32 to i16
  tt.return %r : i16
}

// Not of a sum.
// CHECK-LABEL: tt.func public @trunci_of_extension_not(%a: i8, %b: i64) -> i16 {
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.trunci %b : i64 to i32
// CHECK-NEXT: %[[V1:[^ ,:)#]+]] = arith.addi %[[V0]], %[[V0]] : i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.trunci %[[V1]] : i32 to i16
// CHECK-NEXT: tt.return %[[R]] : i16
// CHECK-NEXT: }
tt.func public @trunci_of_extension_not(%a: i8, %b: i64) -> i16 {
  %0 = arith.trunci %b : i64 to i32
  %1 = arith.addi %0, %0 : i32
  %r = arith.trunci %1 : i32 to i16
  tt.return %r : i16
}

// No bit of the sign is kept.
// CHECK-LABEL: tt.func public @trunci_of_shift(%a: i64, %b: i64) -> i32 {
// CHECK-NEXT: %[[C32I64:[^ ,:)#]+]] = arith.constant 32 : i64
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.shrui %a, %[[C32I64]] : i64
// CHECK-NEXT: %[[R0:[^ ,:)#]+]] = arith.trunci %[[R]] : i64 to i32
// CHECK-NEXT: tt.return %[[R0]] : i32
// CHECK-NEXT: }
tt.func public @trunci_of_shift(%a: i64, %b: i64) -> i32 {
  %c32 = arith.constant 32 : i64
  %0 = arith.shrsi %a, %c32 : i64
  %r = arith.trunci %0 : i64 to i32
  tt.return %r : i32
}

// One is.
// CHECK-LABEL: tt.func public @trunci_of_shift_not(%a: i64, %b: i64) -> i32 {
// CHECK-NEXT: %[[C33I64:[^ ,:)#]+]] = arith.constant 33 : i64
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.shrsi %a, %[[C33I64]] : i64
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.trunci %[[V0]] : i64 to i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @trunci_of_shift_not(%a: i64, %b: i64) -> i32 {
  %c33 = arith.constant 33 : i64
  %0 = arith.shrsi %a, %c33 : i64
  %r = arith.trunci %0 : i64 to i32
  tt.return %r : i32
}

// There and back.
// CHECK-LABEL: tt.func public @bitcast_of_bitcast(%a: i32) -> i32 {
// CHECK-NEXT: tt.return %a : i32
// CHECK-NEXT: }
tt.func public @bitcast_of_bitcast(%a: i32) -> i32 {
  %0 = arith.bitcast %a : i32 to f32
  %r = arith.bitcast %0 : f32 to i32
  tt.return %r : i32
}

// Not of a sum.
// CHECK-LABEL: tt.func public @bitcast_of_bitcast_not(%a: i32) -> i32 {
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.bitcast %a : i32 to f32
// CHECK-NEXT: %[[V1:[^ ,:)#]+]] = arith.addf %[[V0]], %[[V0]] : f32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.bitcast %[[V1]] : f32 to i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @bitcast_of_bitcast_not(%a: i32) -> i32 {
  %0 = arith.bitcast %a : i32 to f32
  %1 = arith.addf %0, %0 : f32
  %r = arith.bitcast %1 : f32 to i32
  tt.return %r : i32
}

// The cast extends by itself.
// CHECK-LABEL: tt.func public @index_cast_of_extension(%a: i32) -> index {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.index_cast %a : i32 to index
// CHECK-NEXT: tt.return %[[R]] : index
// CHECK-NEXT: }
tt.func public @index_cast_of_extension(%a: i32) -> index {
  %0 = arith.extsi %a : i32 to i64
  %r = arith.index_cast %0 : i64 to index
  tt.return %r : index
}

// But not unsigned.
// CHECK-LABEL: tt.func public @index_cast_of_extension_not(%a: i32) -> index {
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.extui %a : i32 to i64
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.index_cast %[[V0]] : i64 to index
// CHECK-NEXT: tt.return %[[R]] : index
// CHECK-NEXT: }
tt.func public @index_cast_of_extension_not(%a: i32) -> index {
  %0 = arith.extui %a : i32 to i64
  %r = arith.index_cast %0 : i64 to index
  tt.return %r : index
}

// There and back.
// CHECK-LABEL: tt.func public @index_cast_back(%a: index, %b: i64) -> index {
// CHECK-NEXT: tt.return %a : index
// CHECK-NEXT: }
tt.func public @index_cast_back(%a: index, %b: i64) -> index {
  %0 = arith.index_cast %a : index to i64
  %r = arith.index_cast %0 : i64 to index
  tt.return %r : index
}

// Not of a sum.
// CHECK-LABEL: tt.func public @index_cast_back_not(%a: index, %b: i64) -> index {
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.index_cast %a : index to i64
// CHECK-NEXT: %[[V1:[^ ,:)#]+]] = arith.addi %[[V0]], %b : i64
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.index_cast %[[V1]] : i64 to index
// CHECK-NEXT: tt.return %[[R]] : index
// CHECK-NEXT: }
tt.func public @index_cast_back_not(%a: index, %b: i64) -> index {
  %0 = arith.index_cast %a : index to i64
  %1 = arith.addi %0, %b : i64
  %r = arith.index_cast %1 : i64 to index
  tt.return %r : index
}

// An unsigned extension is not negative.
// CHECK-LABEL: tt.func public @float_of_extension(%a: i8, %b: i64) -> f32 {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.uitofp %a : i8 to f32
// CHECK-NEXT: tt.return %[[R]] : f32
// CHECK-NEXT: }
tt.func public @float_of_extension(%a: i8, %b: i64) -> f32 {
  %0 = arith.extui %a : i8 to i32
  %r = arith.sitofp %0 : i32 to f32
  tt.return %r : f32
}

// A truncation may be.
// CHECK-LABEL: tt.func public @float_of_extension_not(%a: i8, %b: i64) -> f32 {
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.trunci %b : i64 to i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.sitofp %[[V0]] : i32 to f32
// CHECK-NEXT: tt.return %[[R]] : f32
// CHECK-NEXT: }
tt.func public @float_of_extension_not(%a: i8, %b: i64) -> f32 {
  %0 = arith.trunci %b : i64 to i32
  %r = arith.sitofp %0 : i32 to f32
  tt.return %r : f32
}

// x + -y is x - y.
// CHECK-LABEL: tt.func public @addf_of_negf(%x: f32, %y: f32) -> f32 {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.subf %x, %y : f32
// CHECK-NEXT: tt.return %[[R]] : f32
// CHECK-NEXT: }
tt.func public @addf_of_negf(%x: f32, %y: f32) -> f32 {
  %0 = arith.negf %y : f32
  %r = arith.addf %x, %0 : f32
  tt.return %r : f32
}

// x * -y stays.
// CHECK-LABEL: tt.func public @addf_of_negf_not(%x: f32, %y: f32) -> f32 {
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.negf %y : f32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.mulf %x, %[[V0]] : f32
// CHECK-NEXT: tt.return %[[R]] : f32
// CHECK-NEXT: }
tt.func public @addf_of_negf_not(%x: f32, %y: f32) -> f32 {
  %0 = arith.negf %y : f32
  %r = arith.mulf %x, %0 : f32
  tt.return %r : f32
}

// Both signs go.
// CHECK-LABEL: tt.func public @mulf_of_negations(%x: f32, %y: f32) -> f32 {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.mulf %x, %y : f32
// CHECK-NEXT: tt.return %[[R]] : f32
// CHECK-NEXT: }
tt.func public @mulf_of_negations(%x: f32, %y: f32) -> f32 {
  %0 = arith.negf %x : f32
  %1 = arith.negf %y : f32
  %r = arith.mulf %0, %1 : f32
  tt.return %r : f32
}

// One stays.
// CHECK-LABEL: tt.func public @mulf_of_negations_not(%x: f32, %y: f32) -> f32 {
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.negf %x : f32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.mulf %[[V0]], %y : f32
// CHECK-NEXT: tt.return %[[R]] : f32
// CHECK-NEXT: }
tt.func public @mulf_of_negations_not(%x: f32, %y: f32) -> f32 {
  %0 = arith.negf %x : f32
  %r = arith.mulf %0, %y : f32
  tt.return %r : f32
}

// Both signs go.
// CHECK-LABEL: tt.func public @divf_of_negations(%x: f32, %y: f32) -> f32 {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.divf %x, %y : f32
// CHECK-NEXT: tt.return %[[R]] : f32
// CHECK-NEXT: }
tt.func public @divf_of_negations(%x: f32, %y: f32) -> f32 {
  %0 = arith.negf %x : f32
  %1 = arith.negf %y : f32
  %r = arith.divf %0, %1 : f32
  tt.return %r : f32
}

// One stays.
// CHECK-LABEL: tt.func public @divf_of_negations_not(%x: f32, %y: f32) -> f32 {
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.negf %y : f32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.divf %x, %[[V0]] : f32
// CHECK-NEXT: tt.return %[[R]] : f32
// CHECK-NEXT: }
tt.func public @divf_of_negations_not(%x: f32, %y: f32) -> f32 {
  %0 = arith.negf %y : f32
  %r = arith.divf %x, %0 : f32
  tt.return %r : f32
}

// The inner choice is known.
// CHECK-LABEL: tt.func public @select_of_same(%p: i1, %q: i1, %a: i32, %b: i32, %d: i32) -> i32 {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.select %p, %a, %d : i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @select_of_same(%p: i1, %q: i1, %a: i32, %b: i32, %d: i32) -> i32 {
  %0 = arith.select %p, %a, %b : i32
  %r = arith.select %p, %0, %d : i32
  tt.return %r : i32
}

// Another condition.
// CHECK-LABEL: tt.func public @select_of_same_not(%p: i1, %q: i1, %a: i32, %b: i32, %d: i32) -> i32 {
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.select %q, %a, %b : i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.select %p, %[[V0]], %d : i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @select_of_same_not(%p: i1, %q: i1, %a: i32, %b: i32, %d: i32) -> i32 {
  %0 = arith.select %q, %a, %b : i32
  %r = arith.select %p, %0, %d : i32
  tt.return %r : i32
}

// The choices change places.
// CHECK-LABEL: tt.func public @select_of_not(%p: i1, %q: i1, %a: i32, %b: i32, %d: i32) -> i32 {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.select %p, %b, %a : i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @select_of_not(%p: i1, %q: i1, %a: i32, %b: i32, %d: i32) -> i32 {
  %t = arith.constant true
  %0 = arith.xori %p, %t : i1
  %r = arith.select %0, %a, %b : i32
  tt.return %r : i32
}

// Not a negation.
// CHECK-LABEL: tt.func public @select_of_not_not(%p: i1, %q: i1, %a: i32, %b: i32, %d: i32) -> i32 {
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.xori %p, %q : i1
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.select %[[V0]], %a, %b : i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @select_of_not_not(%p: i1, %q: i1, %a: i32, %b: i32, %d: i32) -> i32 {
  %0 = arith.xori %p, %q : i1
  %r = arith.select %0, %a, %b : i32
  tt.return %r : i32
}

// There is nothing to choose.
// CHECK-LABEL: tt.func public @select_equal(%p: i1, %q: i1, %a: i32, %b: i32, %d: i32) -> i32 {
// CHECK-NEXT: tt.return %a : i32
// CHECK-NEXT: }
tt.func public @select_equal(%p: i1, %q: i1, %a: i32, %b: i32, %d: i32) -> i32 {
  %r = arith.select %p, %a, %a : i32
  tt.return %r : i32
}

// There is.
// CHECK-LABEL: tt.func public @select_equal_not(%p: i1, %q: i1, %a: i32, %b: i32, %d: i32) -> i32 {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.select %p, %a, %b : i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @select_equal_not(%p: i1, %q: i1, %a: i32, %b: i32, %d: i32) -> i32 {
  %r = arith.select %p, %a, %b : i32
  tt.return %r : i32
}

// A maximum.
// CHECK-LABEL: tt.func public @select_to_max(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.maxsi %a, %b : i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @select_to_max(%a: i32, %b: i32) -> i32 {
  %0 = arith.cmpi sgt, %a, %b : i32
  %r = arith.select %0, %a, %b : i32
  tt.return %r : i32
}

// Other values than are compared.
// CHECK-LABEL: tt.func public @select_to_max_not(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.cmpi eq, %a, %b : i32
// CHECK-NEXT: %[[V1:[^ ,:)#]+]] = arith.addi %a, %b : i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.select %[[V0]], %a, %[[V1]] : i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @select_to_max_not(%a: i32, %b: i32) -> i32 {
  %0 = arith.cmpi eq, %a, %b : i32
  %1 = arith.addi %a, %b : i32
  %r = arith.select %0, %a, %1 : i32
  tt.return %r : i32
}

// Negation.
// CHECK-LABEL: tt.func public @select_to_not(%p: i1, %q: i1, %a: i32, %b: i32, %d: i32) -> i1 {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.constant true
// CHECK-NEXT: %[[R0:[^ ,:)#]+]] = arith.xori %p, %[[R]] : i1
// CHECK-NEXT: tt.return %[[R0]] : i1
// CHECK-NEXT: }
tt.func public @select_to_not(%p: i1, %q: i1, %a: i32, %b: i32, %d: i32) -> i1 {
  %t = arith.constant true
  %f = arith.constant false
  %r = arith.select %p, %f, %t : i1
  tt.return %r : i1
}

// No constants on both sides.
// CHECK-LABEL: tt.func public @select_to_not_not(%p: i1, %q: i1, %a: i32, %b: i32, %d: i32) -> i1 {
// CHECK-NEXT: %[[F:[^ ,:)#]+]] = arith.constant false
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.select %p, %q, %[[F]] : i1
// CHECK-NEXT: tt.return %[[R]] : i1
// CHECK-NEXT: }
tt.func public @select_to_not_not(%p: i1, %q: i1, %a: i32, %b: i32, %d: i32) -> i1 {
  %f = arith.constant false
  %r = arith.select %p, %q, %f : i1
  tt.return %r : i1
}

// 1 or 0 is the condition as a number.
// CHECK-LABEL: tt.func public @select_to_extui(%p: i1, %q: i1, %a: i32, %b: i32, %d: i32) -> i32 {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.extui %p : i1 to i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @select_to_extui(%p: i1, %q: i1, %a: i32, %b: i32, %d: i32) -> i32 {
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  %r = arith.select %p, %one, %zero : i32
  tt.return %r : i32
}

// 2 or 0 is not.
// CHECK-LABEL: tt.func public @select_to_extui_not(%p: i1, %q: i1, %a: i32, %b: i32, %d: i32) -> i32 {
// CHECK-NEXT: %[[ONE:[^ ,:)#]+]] = arith.constant 2 : i32
// CHECK-NEXT: %[[ZERO:[^ ,:)#]+]] = arith.constant 0 : i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.select %p, %[[ONE]], %[[ZERO]] : i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @select_to_extui_not(%p: i1, %q: i1, %a: i32, %b: i32, %d: i32) -> i32 {
  %one = arith.constant 2 : i32
  %zero = arith.constant 0 : i32
  %r = arith.select %p, %one, %zero : i32
  tt.return %r : i32
}
