//! The window, driven through labels and keys as a person would.

mod audit;
mod canvas;
mod canvas_figures;
mod canvas_large;
mod columns;
mod looks;
mod looks_canvas;
mod measures;
mod people;
mod pixels;
mod support;
mod tools;
mod walk;
