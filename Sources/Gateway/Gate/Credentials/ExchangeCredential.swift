internal import Sessions

/// The credential of a request, as its exchange keeps it: the key that signed it, the host that it counts on, and
/// whether it was a bearer token; or a machine token. Also whether the client's address is known.
struct ExchangeCredential {
  let number: UInt64

  /// - Parameter scope: ``GateSite/credentialScope`` of the host that the request was for.
  init(key: KeyIdentifier, isBearer: Bool, scope: UInt64) {
    number = UInt64(key.number) | (isBearer ? Self.bearer : 0) | scope
  }

  init(number: UInt64) { self.number = number }

  /// That of a machine token, which no key of the configuration signs.
  static let machineToken = ExchangeCredential(number: 1 << 33)

  private static let bearer: UInt64 = 1 << 32

  var key: KeyIdentifier { KeyIdentifier(number: UInt32(truncatingIfNeeded: number)) }
  var isBearer: Bool { number & Self.bearer != 0 }
  var isMachineToken: Bool { number & Self.machineToken.number != 0 }

  /// Whether `networks` may rely on the client's address.
  var isAddressKnown: Bool { number & Self.unknownAddress == 0 }

  /// The mark of a client whose address is not known.
  static let unknownAddress: UInt64 = 1 << 34

  /// The bits of the host that it counts on; none for `public_url`.
  var scope: UInt64 { number & Self.scopeBits }

  private static let scopeBits = UInt64.max << 35

  /// The bits of a host. Their hash differs from process to process, which no exchange outlives.
  static func bits(of scope: CookieScope) -> UInt64 {
    scope == .publicURL ? 0 : (UInt64(truncatingIfNeeded: scope.hashValue) | 1) << 35
  }
}
