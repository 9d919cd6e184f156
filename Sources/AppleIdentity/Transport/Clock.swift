public import FoundationEssentials

/// Where the time comes from: the system's clock in the gateway, a clock of its own in a test.
public typealias AppleClock = @Sendable () -> Date
