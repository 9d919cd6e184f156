internal import Cryptography
package import FoundationEssentials
internal import Secrets

/// A browser's visit to the sign-in of `public_url`, from a host where it has no session: all data that is needed to
/// return to that host. It is sealed, so that it cannot be forged.
package struct HostVisit: Sendable, Equatable {
  fileprivate var destination: Destination
  /// The longest age of the sign-in, in seconds: 0 for a new one, nil for any.
  package let maxAge: Int?
  /// The time when it began, to the millisecond.
  package let began: Date

  /// The authority of the host.
  package var host: String { destination.host }
  /// The path to return to on that host.
  package var returnTo: String { destination.returnTo }

  /// The lifetime of a visit: as long as a sign-in at Apple's may take.
  package static let lifetime = Duration.seconds(600)

  /// - Parameter secret: that of the visit cookie, which only this browser has.
  package init(host: String, secret: some Sequence<UInt8>, returnTo: String, maxAge: Int?, began: Date) {
    destination = Destination(host: host, secretHash: Destination.hash(of: secret), returnTo: returnTo)
    self.maxAge = maxAge
    self.began = Date(millisecondsSince1970: began.millisecondsSince1970)
  }

  /// The same visit with another path to return to.
  package func returning(to path: String) -> HostVisit {
    var visit = self
    visit.destination.returnTo = path
    return visit
  }

  /// Whether it has expired. One that begins a lifetime or more in the future was begun by a wrong clock, and counts as
  /// expired.
  package func isOver(at now: Date) -> Bool {
    now >= began.advanced(by: Self.lifetime) || began >= now.advanced(by: Self.lifetime)
  }

  ///     began in ms (8) | maximum age in seconds, all ones for none (8) | destination
  package var bytes: [UInt8] {
    began.millisecondsSince1970.bigEndianBytes + Int64(maxAge ?? -1).bigEndianBytes + destination.bytes
  }

  /// Nil for anything but ``bytes`` of a visit.
  package init?(bytes: some Collection<UInt8>) {
    guard bytes.count >= 16, let destination = Destination(bytes.dropFirst(16)) else { return nil }
    self.destination = destination
    let age = Int64(bigEndian: bytes.dropFirst(8).prefix(8))
    maxAge = age < 0 ? nil : Int(age)
    began = Date(millisecondsSince1970: Int64(bigEndian: bytes.prefix(8)))
  }
}

/// The content of the one-time code that brings a session to the host of a visit. The code is self-contained and not
/// stored; the store ensures that it is used only once (``ReplayGuard/arrival(_:)``).
package struct HostArrival: Sendable, Equatable {
  /// The session that arrives.
  package let identifier: SessionIdentifier
  /// The time when the code expires, to the millisecond.
  package let expires: Date
  private let destination: Destination

  /// The authority of the host.
  package var host: String { destination.host }
  /// The path to return to on that host.
  package var returnTo: String { destination.returnTo }

  /// The lifetime of the code; browsers follow the redirect that carries it at once.
  package static let lifetime = Duration.seconds(60)

  /// The arrival of a session at the end of a visit.
  package init(of identifier: SessionIdentifier, by visit: HostVisit, now: Date) {
    self.identifier = identifier
    destination = visit.destination
    expires = Date(millisecondsSince1970: now.advanced(by: Self.lifetime).millisecondsSince1970)
  }

  /// Whether this is the secret of the cookie that the visit began with.
  package func isProved(by secret: some Sequence<UInt8>) -> Bool {
    ConstantTime.equal(Destination.hash(of: secret), destination.secretHash)
  }

  ///     expiry in ms (8) | session identifier (16) | destination
  fileprivate var bytes: [UInt8] {
    expires.millisecondsSince1970.bigEndianBytes + identifier.bytes + destination.bytes
  }

  fileprivate init?(bytes: [UInt8]) {
    guard bytes.count >= 24, let destination = Destination(bytes[24...]) else { return nil }
    self.destination = destination
    expires = Date(millisecondsSince1970: Int64(bigEndian: bytes[..<8]))
    identifier = SessionIdentifier(bigEndian: bytes[8..<24])
  }
}

/// The browser and the page that a visit leads back to.
private struct Destination: Sendable, Equatable {
  let host: String
  /// SHA-256 of the visit cookie's secret: 32 bytes.
  let secretHash: [UInt8]
  var returnTo: String

  static func hash(of secret: some Sequence<UInt8>) -> [UInt8] {
    SHA256.hash(Array("cordon visit v1\0".utf8) + secret)
  }

  init(host: String, secretHash: [UInt8], returnTo: String) {
    self.host = host
    self.secretHash = secretHash
    self.returnTo = returnTo
  }

  ///     hash (32) | length of the host (2) | host | path
  var bytes: [UInt8] {
    secretHash + UInt16(truncatingIfNeeded: host.utf8.count).bigEndianBytes + host.utf8 + returnTo.utf8
  }

  init?(_ bytes: some Collection<UInt8>) {
    let bytes = Array(bytes)
    let head = SHA256.byteCount + 2
    guard bytes.count >= head else { return nil }
    let end = head + Int(UInt16(bigEndian: bytes[(head - 2)..<head]))
    guard bytes.count >= end else { return nil }
    secretHash = Array(bytes[..<SHA256.byteCount])
    host = String(decoding: bytes[head..<end], as: UTF8.self)
    returnTo = String(decoding: bytes[end...], as: UTF8.self)
  }
}

extension SessionKeyring {
  /// A visit as a value of a URL.
  ///
  /// - Throws: only `SealError.failed`.
  package func sealVisit(_ visit: HostVisit) throws(SealError) -> String {
    try sealText(visit.bytes, for: .visit, expires: nil)
  }

  /// Opens a visit, even an expired one, because its error page links back to the host.
  package func openVisit(_ text: [UInt8]) throws(SealError) -> HostVisit {
    guard let visit = HostVisit(bytes: try openText(text, for: .visit, now: .distantPast)) else { throw .refused }
    return visit
  }

  /// The one-time code of an arrival.
  ///
  /// - Throws: only `SealError.failed`.
  package func sealArrival(_ arrival: HostArrival) throws(SealError) -> String {
    try sealText(arrival.bytes, for: .arrival, expires: nil)
  }

  /// Opens a code, even an expired one, because its error page links to the path to return to.
  package func openArrival(_ code: [UInt8]) throws(SealError) -> HostArrival {
    guard let arrival = HostArrival(bytes: try openText(code, for: .arrival, now: .distantPast)) else { throw .refused }
    return arrival
  }
}
