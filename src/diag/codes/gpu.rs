//! E11xx: running, measuring and tuning kernels on a GPU.

crate::diag::code::codes! {
    BAD_LOCK = "E1111", "a lock file cannot be read",
"`ttc tune` keeps the best configuration of each kernel in a lock file, `ttc.lock`. A lock file is TOML with a \
`version`, and a table `[[kernel]]` for each kernel, GPU, key and types. The file was changed by hand, comes from \
another ttc, or is no lock file.

What to do: undo the change, or delete the file and tune again.";
}
