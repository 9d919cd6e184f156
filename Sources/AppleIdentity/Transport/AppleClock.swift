package import FoundationEssentials

/// The source of the time: the system's clock in the gateway, a manual clock in tests.
package typealias AppleClock = @Sendable () -> Date
