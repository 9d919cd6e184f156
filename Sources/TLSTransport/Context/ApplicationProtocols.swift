/// The application protocols of one side (ALPN, RFC 7301), the preferred one first.
final class ApplicationProtocols: Sendable {
  /// Each name as bytes, 1 to 255 of them.
  let names: [[UInt8]]

  init(_ names: [String]) throws(TLSConfigurationError) {
    for name in names {
      guard (1...255).contains(name.utf8.count) else { throw .invalidApplicationProtocol(name) }
    }
    self.names = names.map { Array($0.utf8) }
  }

  /// The wire format: each name after a byte with its length.
  var wireFormat: [UInt8] {
    names.flatMap { [UInt8($0.count)] + $0 }
  }

  /// The first of our names that is also in the offer (in wire format), as the position of its bytes in the offer; nil
  /// if there is none. A malformed offer is read up to its first error.
  func choose(from offer: some RandomAccessCollection<UInt8>) -> Range<Int>? {
    for name in names {
      var rest = offer[...]
      var position = 0
      while let length = rest.first {
        let candidate = rest.dropFirst().prefix(Int(length))
        guard candidate.count == Int(length) else { break }
        if candidate.elementsEqual(name) { return (position + 1)..<(position + 1 + name.count) }
        rest = rest.dropFirst(1 + Int(length))
        position += 1 + Int(length)
      }
    }
    return nil
  }
}
