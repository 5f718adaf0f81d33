//! The window, driven through labels and keys as a person would.

mod agreement;
mod audit;
mod busy_store;
mod canvas;
mod canvas_figures;
mod canvas_large;
mod columns;
mod commands;
mod leaving;
mod looks;
mod looks_canvas;
mod measures;
mod narrow;
mod networks;
mod outdated;
mod people;
mod pixels;
mod pointer;
mod project_networks;
mod regions_tab;
mod store_threads;
mod support;
mod tools;
mod unreadable;
mod walk;
