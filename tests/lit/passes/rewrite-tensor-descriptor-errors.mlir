// RUN: ttc opt %s --split-input-file --verify-diagnostics --triton-rewrite-tensor-descriptor-to-pointer

tt.func public @signless(%d: !tt.tensordesc<64xi32>, %o: i32, %v: tensor<64xi32>) {
  // expected-error @below {{there is no atomic operation for `tt.descriptor_reduce min` on elements of type i32}}
  tt.descriptor_reduce min, %d[%o], %v : !tt.tensordesc<64xi32>, tensor<64xi32>
  tt.return
}

// -----

tt.func public @float(%d: !tt.tensordesc<64xf32>, %o: i32, %v: tensor<64xf32>) {
  // expected-error @below {{there is no atomic operation for `tt.descriptor_reduce max` on elements of type f32}}
  tt.descriptor_reduce max, %d[%o], %v : !tt.tensordesc<64xf32>, tensor<64xf32>
  tt.return
}

// -----

tt.func public @inc(%d: !tt.tensordesc<64xui32>, %o: i32, %v: tensor<64xi32>) {
  // expected-error @below {{`tt.descriptor_reduce inc`}}
  tt.descriptor_reduce inc, %d[%o], %v : !tt.tensordesc<64xui32>, tensor<64xi32>
  tt.return
}

// -----

tt.func public @unknown(%d: !tt.tensordesc<64xf32>) {
  // expected-error @below {{`builtin.unrealized_conversion_cast` takes or gives a tensor descriptor}}
  %0 = builtin.unrealized_conversion_cast %d : !tt.tensordesc<64xf32> to i64
  tt.return
}
