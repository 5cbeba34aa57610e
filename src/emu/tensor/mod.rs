//! The tensor instructions: which lane holds what, where it lies in shared memory, and how the tensor cores add.
