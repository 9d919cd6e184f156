package import FoundationEssentials

/// Where the time comes from: the system's clock in the gateway, a clock of its own in a test.
package typealias AppleClock = @Sendable () -> Date
