//! The verifier.
//! LEAD: being written in branch `verify` by another helper. Do not write it here; see NOTE_FROM_LEAD.md.
