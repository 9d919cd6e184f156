internal import HTTPWire
internal import Sessions

/// The text of a possible machine token in a request: it has the right length and prefix.
struct MachineTokenValue: Sendable {
  /// `MachineTokenText.length` of them.
  private var bytes = InlineArray<47, UInt8>(repeating: 0)

  /// Copies the text out of a request.
  /// - Precondition: there are as many bytes from `start` on.
  init(_ span: RawSpan, at start: Int) {
    for offset in 0..<MachineTokenText.length { bytes[offset] = span.byte(at: start + offset) }
  }

  /// The text as an array.
  var array: [UInt8] { bytes.indices.map { bytes[$0] } }

  /// The key of the token in the session caches.
  func fingerprint(by fingerprinter: CookieFingerprinter) -> CookieFingerprint {
    bytes.span.bytes.withUnsafeBytes { fingerprinter.fingerprint($0) }
  }
}
