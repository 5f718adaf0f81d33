//! The window, driven through labels and keys as a person would.

mod agreement;
mod audit;
mod canvas;
mod canvas_figures;
mod canvas_large;
mod canvas_memory;
mod columns;
mod commands;
mod looks;
mod looks_canvas;
mod measures;
mod narrow;
mod networks;
mod people;
mod pixels;
mod pointer;
mod pointer_modes;
mod regions_tab;
mod support;
mod taken_back;
mod thresholds;
mod tools;
mod unreadable;
mod walk;
