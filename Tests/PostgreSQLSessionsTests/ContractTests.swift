// The contract follows.
