// The store follows.
