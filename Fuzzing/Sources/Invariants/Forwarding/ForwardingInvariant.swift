import HTTPWire
import NIOCore
import NIOHTTP1

@testable import DataPlane

extension Invariant {
  /// The bytes that go upstream for an accepted request are exactly one request, for us and for llhttp: the same
  /// method, path, body and authority; no field that only the gateway may set, no hop-by-hop field, none of our
  /// cookies; and the other fields unchanged, in their order.
  static let forwarding = Invariant("forwarding") { bytes in
    let span = bytes.span.bytes
    var head = RequestHead()
    guard RequestHeadParser(limits: .forInvariants).parse(span, into: &head) == .complete else { return }
    // The gate answers 421 where the authority is not ours, and an empty one is not.
    guard !head.authority.isEmpty else { return }
    let rules = ForwardingRules(
      reservedNames: KeptNames.identity, sessionCookieName: KeptNames.cookie, scheme: "https")
    rules.gatewayCookies.find(span, in: &head)
    for circumstances in Circumstances.all {
      let upgrades = circumstances.allowsUpgrade && head.wantsUpgrade && head.framing == .none
      var buffer = ByteBuffer()
      RequestForwarding.write(
        head, span, rules: rules,
        context: .init(
          identity: circumstances.identity, address: Circumstances.address, trusted: circumstances.isTrusted,
          requestID: .init(high: 1, low: 2), upgrades: upgrades,
          closes: circumstances.closes),
        to: &buffer)
      let written = Array(buffer.readableBytesView)
      do {
        try requireOneRequest(written, of: head, span, upgrades: upgrades)
        try requireFields(of: written, from: head, span, circumstances, upgrades: upgrades)
      } catch {
        throw Violation(description: "\(circumstances): \(error)\nwritten: \(shown(written))")
      }
    }
  }
}

/// The client, and the decision of the gate.
struct Circumstances: CustomStringConvertible {
  /// The peer's.
  static let address = "192.0.2.1"

  var isTrusted = false
  var allowsUpgrade = false
  var isSignedIn = false
  var closes = false

  static let all = [
    Circumstances(), Circumstances(allowsUpgrade: true, isSignedIn: true),
    Circumstances(isTrusted: true, isSignedIn: true), Circumstances(isSignedIn: true, closes: true),
  ]

  var identity: SerializedIdentityHeaders? {
    isSignedIn ? SerializedIdentityHeaders(KeptNames.identity.map { ($0, Array("the gateway's".utf8)) }) : nil
  }

  var description: String {
    "\(isTrusted ? "trusted peer" : "stranger"), \(isSignedIn ? "signed in" : "no session"), "
      + "\(allowsUpgrade ? "may upgrade" : "no upgrade"), \(closes ? "closes" : "goes on")"
  }
}
