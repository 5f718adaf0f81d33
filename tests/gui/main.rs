//! The window, driven through labels and keys as a person would.

mod columns;
mod looks;
mod measures;
mod people;
mod pixels;
mod support;
mod walk;
