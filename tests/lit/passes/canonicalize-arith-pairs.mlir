// RUN: ttc opt %s --canonicalize | FileCheck %s --match-full-lines
// BLESSED: what ttc prints; the comment above each function says what it must show.

// (a - 3) + 5 is a + 2.
// CHECK-LABEL: tt.func public @addi_of_subi_right(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.constant 2 : i32
// CHECK-NEXT: %[[R0:[^ ,:)#]+]] = arith.addi %a, %[[R]] : i32
// CHECK-NEXT: tt.return %[[R0]] : i32
// CHECK-NEXT: }
tt.func public @addi_of_subi_right(%a: i32, %b: i32) -> i32 {
  %c3 = arith.constant 3 : i32
  %c5 = arith.constant 5 : i32
  %0 = arith.subi %a, %c3 : i32
  %r = arith.addi %0, %c5 : i32
  tt.return %r : i32
}

// (a - b) + 5 stays.
// CHECK-LABEL: tt.func public @addi_of_subi_right_not(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[C5I32:[^ ,:)#]+]] = arith.constant 5 : i32
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.subi %a, %b : i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.addi %[[V0]], %[[C5I32]] : i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @addi_of_subi_right_not(%a: i32, %b: i32) -> i32 {
  %c3 = arith.constant 3 : i32
  %c5 = arith.constant 5 : i32
  %0 = arith.subi %a, %b : i32
  %r = arith.addi %0, %c5 : i32
  tt.return %r : i32
}

// (3 - a) + 5 is 8 - a.
// CHECK-LABEL: tt.func public @addi_of_subi_left(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.constant 8 : i32
// CHECK-NEXT: %[[R0:[^ ,:)#]+]] = arith.subi %[[R]], %a : i32
// CHECK-NEXT: tt.return %[[R0]] : i32
// CHECK-NEXT: }
tt.func public @addi_of_subi_left(%a: i32, %b: i32) -> i32 {
  %c3 = arith.constant 3 : i32
  %c5 = arith.constant 5 : i32
  %0 = arith.subi %c3, %a : i32
  %r = arith.addi %0, %c5 : i32
  tt.return %r : i32
}

// Without a constant it stays.
// CHECK-LABEL: tt.func public @addi_of_subi_left_not(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[C5I32:[^ ,:)#]+]] = arith.constant 5 : i32
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.subi %b, %a : i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.addi %[[V0]], %[[C5I32]] : i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @addi_of_subi_left_not(%a: i32, %b: i32) -> i32 {
  %c3 = arith.constant 3 : i32
  %c5 = arith.constant 5 : i32
  %0 = arith.subi %b, %a : i32
  %r = arith.addi %0, %c5 : i32
  tt.return %r : i32
}

// a + b * -1 is a - b.
// CHECK-LABEL: tt.func public @addi_of_negation(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.subi %a, %b : i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @addi_of_negation(%a: i32, %b: i32) -> i32 {
  %m = arith.constant -1 : i32
  %0 = arith.muli %b, %m : i32
  %r = arith.addi %a, %0 : i32
  tt.return %r : i32
}

// With another factor it stays.
// CHECK-LABEL: tt.func public @addi_of_negation_not(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[M:[^ ,:)#]+]] = arith.constant -2 : i32
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.muli %b, %[[M]] : i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.addi %a, %[[V0]] : i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @addi_of_negation_not(%a: i32, %b: i32) -> i32 {
  %m = arith.constant -2 : i32
  %0 = arith.muli %b, %m : i32
  %r = arith.addi %a, %0 : i32
  tt.return %r : i32
}

// (a + 3) - 5 is a + -2.
// CHECK-LABEL: tt.func public @subi_of_addi(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.constant -2 : i32
// CHECK-NEXT: %[[R0:[^ ,:)#]+]] = arith.addi %a, %[[R]] : i32
// CHECK-NEXT: tt.return %[[R0]] : i32
// CHECK-NEXT: }
tt.func public @subi_of_addi(%a: i32, %b: i32) -> i32 {
  %c3 = arith.constant 3 : i32
  %c5 = arith.constant 5 : i32
  %0 = arith.addi %a, %c3 : i32
  %r = arith.subi %0, %c5 : i32
  tt.return %r : i32
}

// (a + b) - 5 stays.
// CHECK-LABEL: tt.func public @subi_of_addi_not(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[C5I32:[^ ,:)#]+]] = arith.constant 5 : i32
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.addi %a, %b : i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.subi %[[V0]], %[[C5I32]] : i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @subi_of_addi_not(%a: i32, %b: i32) -> i32 {
  %c3 = arith.constant 3 : i32
  %c5 = arith.constant 5 : i32
  %0 = arith.addi %a, %b : i32
  %r = arith.subi %0, %c5 : i32
  tt.return %r : i32
}

// 5 - (3 - a) is a + 2.
// CHECK-LABEL: tt.func public @subi_from_constant(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.constant 2 : i32
// CHECK-NEXT: %[[R0:[^ ,:)#]+]] = arith.addi %a, %[[R]] : i32
// CHECK-NEXT: tt.return %[[R0]] : i32
// CHECK-NEXT: }
tt.func public @subi_from_constant(%a: i32, %b: i32) -> i32 {
  %c3 = arith.constant 3 : i32
  %c5 = arith.constant 5 : i32
  %0 = arith.subi %c3, %a : i32
  %r = arith.subi %c5, %0 : i32
  tt.return %r : i32
}

// 5 - (a - b) stays.
// CHECK-LABEL: tt.func public @subi_from_constant_not(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[C5I32:[^ ,:)#]+]] = arith.constant 5 : i32
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.subi %a, %b : i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.subi %[[C5I32]], %[[V0]] : i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @subi_from_constant_not(%a: i32, %b: i32) -> i32 {
  %c3 = arith.constant 3 : i32
  %c5 = arith.constant 5 : i32
  %0 = arith.subi %a, %b : i32
  %r = arith.subi %c5, %0 : i32
  tt.return %r : i32
}

// (a - b) - a is 0 - b.
// CHECK-LABEL: tt.func public @subi_cancels(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.constant 0 : i32
// CHECK-NEXT: %[[R0:[^ ,:)#]+]] = arith.subi %[[R]], %b : i32
// CHECK-NEXT: tt.return %[[R0]] : i32
// CHECK-NEXT: }
tt.func public @subi_cancels(%a: i32, %b: i32) -> i32 {
  %0 = arith.subi %a, %b : i32
  %r = arith.subi %0, %a : i32
  tt.return %r : i32
}

// (a - b) - b stays.
// CHECK-LABEL: tt.func public @subi_cancels_not(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.subi %a, %b : i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.subi %[[V0]], %b : i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @subi_cancels_not(%a: i32, %b: i32) -> i32 {
  %0 = arith.subi %a, %b : i32
  %r = arith.subi %0, %b : i32
  tt.return %r : i32
}

// (a * 3) * 5 is a * 15.
// CHECK-LABEL: tt.func public @muli_of_muli(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.constant 15 : i32
// CHECK-NEXT: %[[R0:[^ ,:)#]+]] = arith.muli %a, %[[R]] : i32
// CHECK-NEXT: tt.return %[[R0]] : i32
// CHECK-NEXT: }
tt.func public @muli_of_muli(%a: i32, %b: i32) -> i32 {
  %c3 = arith.constant 3 : i32
  %c5 = arith.constant 5 : i32
  %0 = arith.muli %a, %c3 : i32
  %r = arith.muli %0, %c5 : i32
  tt.return %r : i32
}

// (a * b) * 5 stays.
// CHECK-LABEL: tt.func public @muli_of_muli_not(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[C5I32:[^ ,:)#]+]] = arith.constant 5 : i32
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.muli %a, %b : i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.muli %[[V0]], %[[C5I32]] : i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @muli_of_muli_not(%a: i32, %b: i32) -> i32 {
  %c3 = arith.constant 3 : i32
  %c5 = arith.constant 5 : i32
  %0 = arith.muli %a, %b : i32
  %r = arith.muli %0, %c5 : i32
  tt.return %r : i32
}

// Two constants of andi become one.
// CHECK-LABEL: tt.func public @andi_of_andi(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.constant 1 : i32
// CHECK-NEXT: %[[R0:[^ ,:)#]+]] = arith.andi %a, %[[R]] : i32
// CHECK-NEXT: tt.return %[[R0]] : i32
// CHECK-NEXT: }
tt.func public @andi_of_andi(%a: i32, %b: i32) -> i32 {
  %c3 = arith.constant 3 : i32
  %c5 = arith.constant 5 : i32
  %0 = arith.andi %a, %c3 : i32
  %r = arith.andi %0, %c5 : i32
  tt.return %r : i32
}

// Without a second constant it stays.
// CHECK-LABEL: tt.func public @andi_of_andi_not(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[C5I32:[^ ,:)#]+]] = arith.constant 5 : i32
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.andi %a, %b : i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.andi %[[V0]], %[[C5I32]] : i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @andi_of_andi_not(%a: i32, %b: i32) -> i32 {
  %c3 = arith.constant 3 : i32
  %c5 = arith.constant 5 : i32
  %0 = arith.andi %a, %b : i32
  %r = arith.andi %0, %c5 : i32
  tt.return %r : i32
}

// andi of two extensions from one type is done before.
// CHECK-LABEL: tt.func public @andi_of_extensions(%a: i8, %b: i8, %w: i16) -> i32 {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.andi %a, %b : i8
// CHECK-NEXT: %[[R0:[^ ,:)#]+]] = arith.extui %[[R]] : i8 to i32
// CHECK-NEXT: tt.return %[[R0]] : i32
// CHECK-NEXT: }
tt.func public @andi_of_extensions(%a: i8, %b: i8, %w: i16) -> i32 {
  %0 = arith.extui %a : i8 to i32
  %1 = arith.extui %b : i8 to i32
  %r = arith.andi %0, %1 : i32
  tt.return %r : i32
}

// The types differ.
// CHECK-LABEL: tt.func public @andi_of_extensions_not(%a: i8, %b: i8, %w: i16) -> i32 {
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.extui %a : i8 to i32
// CHECK-NEXT: %[[V1:[^ ,:)#]+]] = arith.extui %w : i16 to i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.andi %[[V0]], %[[V1]] : i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @andi_of_extensions_not(%a: i8, %b: i8, %w: i16) -> i32 {
  %0 = arith.extui %a : i8 to i32
  %1 = arith.extui %w : i16 to i32
  %r = arith.andi %0, %1 : i32
  tt.return %r : i32
}

// Two constants of ori become one.
// CHECK-LABEL: tt.func public @ori_of_ori(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.constant 7 : i32
// CHECK-NEXT: %[[R0:[^ ,:)#]+]] = arith.ori %a, %[[R]] : i32
// CHECK-NEXT: tt.return %[[R0]] : i32
// CHECK-NEXT: }
tt.func public @ori_of_ori(%a: i32, %b: i32) -> i32 {
  %c3 = arith.constant 3 : i32
  %c5 = arith.constant 5 : i32
  %0 = arith.ori %a, %c3 : i32
  %r = arith.ori %0, %c5 : i32
  tt.return %r : i32
}

// Without a second constant it stays.
// CHECK-LABEL: tt.func public @ori_of_ori_not(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[C5I32:[^ ,:)#]+]] = arith.constant 5 : i32
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.ori %a, %b : i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.ori %[[V0]], %[[C5I32]] : i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @ori_of_ori_not(%a: i32, %b: i32) -> i32 {
  %c3 = arith.constant 3 : i32
  %c5 = arith.constant 5 : i32
  %0 = arith.ori %a, %b : i32
  %r = arith.ori %0, %c5 : i32
  tt.return %r : i32
}

// ori of two extensions from one type is done before.
// CHECK-LABEL: tt.func public @ori_of_extensions(%a: i8, %b: i8, %w: i16) -> i32 {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.ori %a, %b : i8
// CHECK-NEXT: %[[R0:[^ ,:)#]+]] = arith.extui %[[R]] : i8 to i32
// CHECK-NEXT: tt.return %[[R0]] : i32
// CHECK-NEXT: }
tt.func public @ori_of_extensions(%a: i8, %b: i8, %w: i16) -> i32 {
  %0 = arith.extui %a : i8 to i32
  %1 = arith.extui %b : i8 to i32
  %r = arith.ori %0, %1 : i32
  tt.return %r : i32
}

// The types differ.
// CHECK-LABEL: tt.func public @ori_of_extensions_not(%a: i8, %b: i8, %w: i16) -> i32 {
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.extui %a : i8 to i32
// CHECK-NEXT: %[[V1:[^ ,:)#]+]] = arith.extui %w : i16 to i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.ori %[[V0]], %[[V1]] : i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @ori_of_extensions_not(%a: i8, %b: i8, %w: i16) -> i32 {
  %0 = arith.extui %a : i8 to i32
  %1 = arith.extui %w : i16 to i32
  %r = arith.ori %0, %1 : i32
  tt.return %r : i32
}

// Two constants of xori become one.
// CHECK-LABEL: tt.func public @xori_of_xori(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.constant 6 : i32
// CHECK-NEXT: %[[R0:[^ ,:)#]+]] = arith.xori %a, %[[R]] : i32
// CHECK-NEXT: tt.return %[[R0]] : i32
// CHECK-NEXT: }
tt.func public @xori_of_xori(%a: i32, %b: i32) -> i32 {
  %c3 = arith.constant 3 : i32
  %c5 = arith.constant 5 : i32
  %0 = arith.xori %a, %c3 : i32
  %r = arith.xori %0, %c5 : i32
  tt.return %r : i32
}

// Without a second constant it stays.
// CHECK-LABEL: tt.func public @xori_of_xori_not(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[C5I32:[^ ,:)#]+]] = arith.constant 5 : i32
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.xori %a, %b : i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.xori %[[V0]], %[[C5I32]] : i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @xori_of_xori_not(%a: i32, %b: i32) -> i32 {
  %c3 = arith.constant 3 : i32
  %c5 = arith.constant 5 : i32
  %0 = arith.xori %a, %b : i32
  %r = arith.xori %0, %c5 : i32
  tt.return %r : i32
}

// xori of two extensions from one type is done before.
// CHECK-LABEL: tt.func public @xori_of_extensions(%a: i8, %b: i8, %w: i16) -> i32 {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.xori %a, %b : i8
// CHECK-NEXT: %[[R0:[^ ,:)#]+]] = arith.extui %[[R]] : i8 to i32
// CHECK-NEXT: tt.return %[[R0]] : i32
// CHECK-NEXT: }
tt.func public @xori_of_extensions(%a: i8, %b: i8, %w: i16) -> i32 {
  %0 = arith.extui %a : i8 to i32
  %1 = arith.extui %b : i8 to i32
  %r = arith.xori %0, %1 : i32
  tt.return %r : i32
}

// The types differ.
// CHECK-LABEL: tt.func public @xori_of_extensions_not(%a: i8, %b: i8, %w: i16) -> i32 {
// CHECK-NEXT: %[[V0:[^ ,:)#]+]] = arith.extui %a : i8 to i32
// CHECK-NEXT: %[[V1:[^ ,:)#]+]] = arith.extui %w : i16 to i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.xori %[[V0]], %[[V1]] : i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @xori_of_extensions_not(%a: i8, %b: i8, %w: i16) -> i32 {
  %0 = arith.extui %a : i8 to i32
  %1 = arith.extui %w : i16 to i32
  %r = arith.xori %0, %1 : i32
  tt.return %r : i32
}

// addi with 0 changes nothing.
// CHECK-LABEL: tt.func public @addi_identity(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: tt.return %a : i32
// CHECK-NEXT: }
tt.func public @addi_identity(%a: i32, %b: i32) -> i32 {
  %c = arith.constant 0 : i32
  %r = arith.addi %a, %c : i32
  tt.return %r : i32
}

// With 2 it does.
// CHECK-LABEL: tt.func public @addi_identity_not(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[C:[^ ,:)#]+]] = arith.constant 2 : i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.addi %a, %[[C]] : i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @addi_identity_not(%a: i32, %b: i32) -> i32 {
  %c = arith.constant 2 : i32
  %r = arith.addi %a, %c : i32
  tt.return %r : i32
}

// subi with 0 changes nothing.
// CHECK-LABEL: tt.func public @subi_identity(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: tt.return %a : i32
// CHECK-NEXT: }
tt.func public @subi_identity(%a: i32, %b: i32) -> i32 {
  %c = arith.constant 0 : i32
  %r = arith.subi %a, %c : i32
  tt.return %r : i32
}

// With 2 it does.
// CHECK-LABEL: tt.func public @subi_identity_not(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[C:[^ ,:)#]+]] = arith.constant 2 : i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.subi %a, %[[C]] : i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @subi_identity_not(%a: i32, %b: i32) -> i32 {
  %c = arith.constant 2 : i32
  %r = arith.subi %a, %c : i32
  tt.return %r : i32
}

// muli with 1 changes nothing.
// CHECK-LABEL: tt.func public @muli_identity(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: tt.return %a : i32
// CHECK-NEXT: }
tt.func public @muli_identity(%a: i32, %b: i32) -> i32 {
  %c = arith.constant 1 : i32
  %r = arith.muli %a, %c : i32
  tt.return %r : i32
}

// With 3 it does.
// CHECK-LABEL: tt.func public @muli_identity_not(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[C:[^ ,:)#]+]] = arith.constant 3 : i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.muli %a, %[[C]] : i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @muli_identity_not(%a: i32, %b: i32) -> i32 {
  %c = arith.constant 3 : i32
  %r = arith.muli %a, %c : i32
  tt.return %r : i32
}

// divsi with 1 changes nothing.
// CHECK-LABEL: tt.func public @divsi_identity(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: tt.return %a : i32
// CHECK-NEXT: }
tt.func public @divsi_identity(%a: i32, %b: i32) -> i32 {
  %c = arith.constant 1 : i32
  %r = arith.divsi %a, %c : i32
  tt.return %r : i32
}

// With 3 it does.
// CHECK-LABEL: tt.func public @divsi_identity_not(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[C:[^ ,:)#]+]] = arith.constant 3 : i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.divsi %a, %[[C]] : i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @divsi_identity_not(%a: i32, %b: i32) -> i32 {
  %c = arith.constant 3 : i32
  %r = arith.divsi %a, %c : i32
  tt.return %r : i32
}

// divui with 1 changes nothing.
// CHECK-LABEL: tt.func public @divui_identity(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: tt.return %a : i32
// CHECK-NEXT: }
tt.func public @divui_identity(%a: i32, %b: i32) -> i32 {
  %c = arith.constant 1 : i32
  %r = arith.divui %a, %c : i32
  tt.return %r : i32
}

// With 3 it does.
// CHECK-LABEL: tt.func public @divui_identity_not(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[C:[^ ,:)#]+]] = arith.constant 3 : i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.divui %a, %[[C]] : i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @divui_identity_not(%a: i32, %b: i32) -> i32 {
  %c = arith.constant 3 : i32
  %r = arith.divui %a, %c : i32
  tt.return %r : i32
}

// ori with 0 changes nothing.
// CHECK-LABEL: tt.func public @ori_identity(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: tt.return %a : i32
// CHECK-NEXT: }
tt.func public @ori_identity(%a: i32, %b: i32) -> i32 {
  %c = arith.constant 0 : i32
  %r = arith.ori %a, %c : i32
  tt.return %r : i32
}

// With 2 it does.
// CHECK-LABEL: tt.func public @ori_identity_not(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[C:[^ ,:)#]+]] = arith.constant 2 : i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.ori %a, %[[C]] : i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @ori_identity_not(%a: i32, %b: i32) -> i32 {
  %c = arith.constant 2 : i32
  %r = arith.ori %a, %c : i32
  tt.return %r : i32
}

// xori with 0 changes nothing.
// CHECK-LABEL: tt.func public @xori_identity(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: tt.return %a : i32
// CHECK-NEXT: }
tt.func public @xori_identity(%a: i32, %b: i32) -> i32 {
  %c = arith.constant 0 : i32
  %r = arith.xori %a, %c : i32
  tt.return %r : i32
}

// With 2 it does.
// CHECK-LABEL: tt.func public @xori_identity_not(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[C:[^ ,:)#]+]] = arith.constant 2 : i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.xori %a, %[[C]] : i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @xori_identity_not(%a: i32, %b: i32) -> i32 {
  %c = arith.constant 2 : i32
  %r = arith.xori %a, %c : i32
  tt.return %r : i32
}

// shli with 0 changes nothing.
// CHECK-LABEL: tt.func public @shli_identity(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: tt.return %a : i32
// CHECK-NEXT: }
tt.func public @shli_identity(%a: i32, %b: i32) -> i32 {
  %c = arith.constant 0 : i32
  %r = arith.shli %a, %c : i32
  tt.return %r : i32
}

// With 2 it does.
// CHECK-LABEL: tt.func public @shli_identity_not(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[C:[^ ,:)#]+]] = arith.constant 2 : i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.shli %a, %[[C]] : i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @shli_identity_not(%a: i32, %b: i32) -> i32 {
  %c = arith.constant 2 : i32
  %r = arith.shli %a, %c : i32
  tt.return %r : i32
}

// shrsi with 0 changes nothing.
// CHECK-LABEL: tt.func public @shrsi_identity(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: tt.return %a : i32
// CHECK-NEXT: }
tt.func public @shrsi_identity(%a: i32, %b: i32) -> i32 {
  %c = arith.constant 0 : i32
  %r = arith.shrsi %a, %c : i32
  tt.return %r : i32
}

// With 2 it does.
// CHECK-LABEL: tt.func public @shrsi_identity_not(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[C:[^ ,:)#]+]] = arith.constant 2 : i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.shrsi %a, %[[C]] : i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @shrsi_identity_not(%a: i32, %b: i32) -> i32 {
  %c = arith.constant 2 : i32
  %r = arith.shrsi %a, %c : i32
  tt.return %r : i32
}

// shrui with 0 changes nothing.
// CHECK-LABEL: tt.func public @shrui_identity(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: tt.return %a : i32
// CHECK-NEXT: }
tt.func public @shrui_identity(%a: i32, %b: i32) -> i32 {
  %c = arith.constant 0 : i32
  %r = arith.shrui %a, %c : i32
  tt.return %r : i32
}

// With 2 it does.
// CHECK-LABEL: tt.func public @shrui_identity_not(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[C:[^ ,:)#]+]] = arith.constant 2 : i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.shrui %a, %[[C]] : i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @shrui_identity_not(%a: i32, %b: i32) -> i32 {
  %c = arith.constant 2 : i32
  %r = arith.shrui %a, %c : i32
  tt.return %r : i32
}

// The remainder by 1 is 0.
// CHECK-LABEL: tt.func public @remsi_one(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.constant 0 : i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @remsi_one(%a: i32, %b: i32) -> i32 {
  %c = arith.constant 1 : i32
  %r = arith.remsi %a, %c : i32
  tt.return %r : i32
}

// That by 0 is undefined, and is left for whoever runs it.
// CHECK-LABEL: tt.func public @remsi_one_not(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[C:[^ ,:)#]+]] = arith.constant 0 : i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.remsi %a, %[[C]] : i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @remsi_one_not(%a: i32, %b: i32) -> i32 {
  %c = arith.constant 0 : i32
  %r = arith.remsi %a, %c : i32
  tt.return %r : i32
}

// The remainder by 1 is 0.
// CHECK-LABEL: tt.func public @remui_one(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.constant 0 : i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @remui_one(%a: i32, %b: i32) -> i32 {
  %c = arith.constant 1 : i32
  %r = arith.remui %a, %c : i32
  tt.return %r : i32
}

// That by 0 is undefined, and is left for whoever runs it.
// CHECK-LABEL: tt.func public @remui_one_not(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT: %[[C:[^ ,:)#]+]] = arith.constant 0 : i32
// CHECK-NEXT: %[[R:[^ ,:)#]+]] = arith.remui %a, %[[C]] : i32
// CHECK-NEXT: tt.return %[[R]] : i32
// CHECK-NEXT: }
tt.func public @remui_one_not(%a: i32, %b: i32) -> i32 {
  %c = arith.constant 0 : i32
  %r = arith.remui %a, %c : i32
  tt.return %r : i32
}
