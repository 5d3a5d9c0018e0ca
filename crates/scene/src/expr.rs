//! Conditions of assertions, as text and as a tree.
