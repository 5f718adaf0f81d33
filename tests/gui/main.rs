//! The window, driven through labels and keys as a person would.

mod agreement;
mod audit;
mod canvas;
mod canvas_figures;
mod canvas_large;
mod columns;
mod commands;
mod looks;
mod looks_canvas;
mod measures;
mod networks;
mod people;
mod pixels;
mod pointer;
mod regions_tab;
mod support;
mod tools;
mod unreadable;
mod walk;
