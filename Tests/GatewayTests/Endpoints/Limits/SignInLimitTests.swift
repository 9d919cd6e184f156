import DataPlane
import HTTPTypes
import Logging
import NIOCore
import Operations
import Sessions
import Testing

@testable import Gateway

@Suite("The limit of sign-ins")
struct SignInLimitTests {
  private let metrics = MetricsRegistry(version: "test", startTime: Timestamp(microseconds: 0))
  private let now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
  private let request = ControlRequest(
    head: HTTPRequest(method: .get, scheme: "https", authority: "a", path: "/"),
    client: ClientPeer(address: "192.0.2.1", isTrusted: false), requestID: "r")

  private func limit(_ count: Int, after previous: SignInLimit? = nil) throws -> SignInLimit {
    try #require(
      SignInLimit(
        SignInRate(count: count, period: .hour), trustedProxies: [], metrics: metrics,
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, after: previous, now: now))
  }

  @Test("A reload keeps what clients have done, whether it changes the rate or not", arguments: [2, 1, 3])
  func reload(count: Int) throws {
    let before = try limit(2)
    for _ in 0..<2 { #expect(before.refusal(.signIn, request, now: now) == nil) }
    let after = try limit(count, after: before)
    #expect((after.refusal(.signIn, request, now: now) == nil) == (count == 3))
    #expect(after.refusal(.native, request, now: now) != nil)
    #expect(before.refusal(.signIn, request, now: now) != nil)
    #expect(try limit(count).refusal(.signIn, request, now: now) == nil, "a start forgets it")
  }
}
