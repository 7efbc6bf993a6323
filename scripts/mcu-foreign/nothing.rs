// Cargo wants a target.
