/// Active health checks of addresses (`[upstream.check]` of the configuration).
package struct UpstreamCheckSettings: Sendable, Equatable {
  /// Target of the GET request: begins with `/`. A status from 200 to 399 is a success.
  package var path: String
  /// Interval between two checks of one address. Default: 10 s.
  package var interval: Duration = .seconds(10)
  /// Time-out of one check, including the connect. Default: 2 s.
  package var timeout: Duration = .seconds(2)
  /// Consecutive successes after which an unhealthy address is healthy again. Default: 2.
  package var healthyAfter = 2
  /// Consecutive failures after which an address is unhealthy. Default: 3.
  package var unhealthyAfter = 3

  /// Checks by GET requests for this target, with the default interval and thresholds.
  package init(path: String) { self.path = path }
}
