//! What a person does, step by step.
