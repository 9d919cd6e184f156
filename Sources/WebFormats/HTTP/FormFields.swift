/// The decoded fields of a form or a query: `application/x-www-form-urlencoded` (URL Standard, 5.1), read strictly and
/// within limits.
///
/// Names and values are bytes: whether they are text is checked only when they are read as text.
package struct FormFields: Sendable, Equatable {
  /// In the order of the form.
  package let fields: [Field]

  /// One `name=value`, percent-decoded, `+` turned into a space.
  package struct Field: Sendable, Equatable {
    /// Decoded; any bytes.
    package let name: [UInt8]
    /// Decoded; any bytes.
    package let value: [UInt8]

    /// One field, decoded.
    package init(name: [UInt8], value: [UInt8]) {
      self.name = name
      self.value = value
    }
  }

  /// Limits of a form. Defaults: 64 KiB in all, 32 fields, names up to 64 bytes.
  package struct Limits: Sendable {
    /// Length of the encoded text, in bytes.
    package var bytes = 64 * 1024
    /// The maximum number of fields, without empty ones between two `&`.
    package var fields = 32
    /// Length of a decoded name, in bytes.
    package var nameBytes = 64

    /// The defaults.
    package init() {}
  }

  /// Fields in their order.
  package init(fields: [Field]) {
    self.fields = fields
  }

  /// Parses the body of a form, or the query of a request target (the part after `?`).
  /// - Throws: ``FormFieldsError``, also for the raw bytes that no browser leaves unencoded (controls, spaces and
  ///   everything from 0x7F) and for a `%` without two hexadecimal digits.
  package init(parsing encoded: some Collection<UInt8>, limits: Limits = Limits()) throws(FormFieldsError) {
    guard encoded.count <= limits.bytes else { throw .tooLong }
    // Called from other modules, the generic code is not specialized, and each access to a byte would be a call. There
    // is one version for arrays.
    fields = try Self.parse(Array(encoded), limits)
  }

  private static func parse(_ encoded: [UInt8], _ limits: Limits) throws(FormFieldsError) -> [Field] {
    var parsed: [Field] = []
    for pair in encoded.split(separator: UInt8(ascii: "&")) {
      guard parsed.count < limits.fields else { throw .tooManyFields }
      let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
      let name = try decode(pair[..<equals])
      let value = equals == pair.endIndex ? [] : try decode(pair[(equals + 1)...])
      guard !name.isEmpty, name.count <= limits.nameBytes else { throw .badName }
      parsed.append(Field(name: name, value: value))
    }
    return parsed
  }

  /// The values of a name in the order sent.
  package func values(of name: String) -> [[UInt8]] {
    fields.lazy.filter { $0.name.elementsEqual(name.utf8) }.map(\.value)
  }

  /// The value of a name that must not be repeated: `nil` if it is absent.
  /// - Throws: ``FormFieldsError/repeated(_:)``.
  package func value(of name: String) throws(FormFieldsError) -> [UInt8]? {
    let all = values(of: name)
    guard all.count <= 1 else { throw .repeated(name) }
    return all.first
  }

  /// The same as text. - Throws: ``FormFieldsError/notUTF8(_:)`` as well.
  package func text(of name: String) throws(FormFieldsError) -> String? {
    guard let bytes = try value(of: name) else { return nil }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .notUTF8(name) }
    return text
  }

  private static func decode(_ encoded: ArraySlice<UInt8>) throws(FormFieldsError) -> [UInt8] {
    var decoded: [UInt8] = []
    decoded.reserveCapacity(encoded.count)
    var index = encoded.startIndex
    while index != encoded.endIndex {
      let byte = encoded[index]
      index = encoded.index(after: index)
      switch byte {
      case UInt8(ascii: "+"):
        decoded.append(UInt8(ascii: " "))
      case UInt8(ascii: "%"):
        guard index != encoded.endIndex, let high = Hex.value(of: encoded[index]) else { throw .badEncoding }
        index = encoded.index(after: index)
        guard index != encoded.endIndex, let low = Hex.value(of: encoded[index]) else { throw .badEncoding }
        index = encoded.index(after: index)
        decoded.append(high << 4 | low)
      case 0x21...0x7E:
        decoded.append(byte)
      default:
        throw .badEncoding
      }
    }
    return decoded
  }
}

/// A reason why a form was refused. The sender is at fault.
package enum FormFieldsError: Error, Sendable, Equatable {
  /// More bytes than the limit.
  case tooLong
  /// More fields than the limit.
  case tooManyFields
  /// An empty name, or one that is too long.
  case badName
  /// A `%` without two hexadecimal digits, or a byte that should have been encoded.
  case badEncoding
  /// A name occurs twice.
  case repeated(String)
  /// A value is not UTF-8.
  case notUTF8(String)

  /// The problem, for a log line.
  package var message: String {
    switch self {
    case .tooLong: "the form is too long"
    case .tooManyFields: "the form has too many fields"
    case .badName: "the form has a field without a name, or with a very long one"
    case .badEncoding: "the form is not percent-encoded as it should be"
    case .repeated(let name): "the field \(name) is there more than once"
    case .notUTF8(let name): "the field \(name) is not UTF-8"
    }
  }
}
