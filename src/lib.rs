//! EditScope.
