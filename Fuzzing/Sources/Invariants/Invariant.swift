/// Something that must hold for any bytes at all.
package struct Invariant: Sendable {
  /// The name on the command line and of the folders of seeds and cases.
  package let name: String
  /// The function that checks it.
  package let check: Check

  /// Either way: throws a ``Violation``, or ends the process by a trap, where it does not hold.
  package enum Check: Sendable {
    case immediate(@Sendable ([UInt8]) throws -> Void)
    case suspending(@Sendable ([UInt8]) async throws -> Void)
  }

  init(_ name: String, _ check: @escaping @Sendable ([UInt8]) throws -> Void) {
    self.name = name
    self.check = .immediate(check)
  }

  init(_ name: String, suspending check: @escaping @Sendable ([UInt8]) async throws -> Void) {
    self.name = name
    self.check = .suspending(check)
  }

  /// Every invariant, each a target of the fuzzer.
  package static let all: [Invariant] = [
    .requestHead, .responseHead, .chunks, .proxyHeader,
    .forwarding, .responseForwarding, .trailers, .cookie,
    .path, .returnTarget,
    .form, .json, .identityToken,
    .configuration,
    .tlsRecords, .http2Frames,
  ]
}

/// A case in which an invariant does not hold.
package struct Violation: Error, CustomStringConvertible {
  package let description: String
}

/// Holds one sentence of an invariant.
func require(_ condition: Bool, _ sentence: @autoclosure () -> String) throws(Violation) {
  guard condition else { throw Violation(description: sentence()) }
}

/// Bytes as text that shows every one of them.
func shown(_ bytes: some Sequence<UInt8>) -> String {
  var text = ""
  for byte in bytes {
    switch byte {
    case 0x5C: text += "\\\\"
    case 0x0D: text += "\\r"
    case 0x0A: text += "\\n"
    case 0x20..<0x7F: text.unicodeScalars.append(Unicode.Scalar(byte))
    default: text += byte < 16 ? "\\x0\(String(byte, radix: 16))" : "\\x\(String(byte, radix: 16))"
    }
  }
  return text
}
