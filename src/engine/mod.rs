//! The engine: joins networks, metric and project file on worker threads, and tells both front ends what happens.
