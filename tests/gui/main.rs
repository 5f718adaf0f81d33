//! The window, driven through labels and keys as a person would.

mod looks;
mod people;
mod pixels;
mod support;
mod walk;
