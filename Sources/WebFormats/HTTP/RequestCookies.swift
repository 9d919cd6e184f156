/// The cookies of a request, as name and value pairs (RFC 6265, 4.2.1): pairs are separated by semicolons, surrounded
/// by optional white space, and split at their first `=`. Quotation marks belong to the value (RFC 6265, 5.2).
package struct RequestCookies: Sendable {
  private let pairs: [(name: String, value: String)]

  /// - Parameter fields: the values of all `Cookie` fields, in their order.
  package init(_ fields: some Sequence<String>) {
    pairs = fields.flatMap { field in
      field.utf8.split(separator: UInt8(ascii: ";")).compactMap { pair in
        let text = pair.trimmingOptionalWhitespace
        guard let equals = text.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        return (
          String(decoding: text[..<equals], as: UTF8.self),
          String(decoding: text[text.index(after: equals)...], as: UTF8.self)
        )
      }
    }
  }

  /// Cookies whose names begin alike are looked at up to this number. A browser keeps few of ours; forged ones must
  /// not cost the square of what fits into a header.
  package static let mostAlike = 32

  /// The first value of a name. Names are compared by their bytes.
  package func first(_ name: String) -> String? { pairs.first { $0.name.utf8.elementsEqual(name.utf8) }?.value }

  /// Every value of a name, in order.
  package func all(_ name: String) -> [String] { pairs.filter { $0.name.utf8.elementsEqual(name.utf8) }.map(\.value) }

  /// The rest of each name that begins with `prefix`, of the first ``mostAlike`` such cookies.
  package func names(after prefix: String) -> [String] {
    let rests = pairs.lazy.compactMap { pair in
      pair.name.utf8.starts(with: prefix.utf8) ? String(pair.name.utf8.dropFirst(prefix.utf8.count)) : nil
    }
    return Array(rests.prefix(Self.mostAlike))
  }
}
