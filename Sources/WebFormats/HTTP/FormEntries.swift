/// The entries of a submitted form, if they are text that can be submitted again from another page: no files, and only
/// valid UTF-8.
package struct FormEntries: Sendable, Equatable {
  /// The `enctype` that the form was submitted with.
  package let encoding: Encoding
  /// In the order of the form.
  package let entries: [Entry]

  /// The `enctype` of a form (HTML Standard, 4.10.22). `text/plain` cannot be read back.
  package enum Encoding: String, Sendable {
    /// Names and values in percent-encoding (URL Standard, 5).
    case urlEncoded = "application/x-www-form-urlencoded"
    /// One part for each entry (RFC 7578).
    case multipart = "multipart/form-data"
  }

  /// A name and what was entered.
  package struct Entry: Sendable, Equatable {
    /// The name of the form control, which other entries may have, too.
    package let name: String
    /// The text of the field, or a file input without a file.
    package let content: Content

    /// An entry with its content. The limits hold where a form is read.
    package init(name: String, content: Content) {
      self.name = name
      self.content = content
    }
  }

  /// The content of an entry.
  package enum Content: Sendable, Equatable {
    /// The value of a control that is not a file input; may be empty.
    case text(String)
    /// A file input without a chosen file.
    case noFile
  }

  /// The largest number of entries. Each becomes an element of a page.
  package static let entryLimit = 1_000
  /// The longest name, in bytes.
  package static let nameLimit = 1_024

  /// The entries of a form, in its order. The limits hold where a form is read.
  package init(encoding: Encoding, entries: [Entry]) {
    self.encoding = encoding
    self.entries = entries
  }

  /// Whether a `Content-Type` is that of a form that can be read.
  package static func isReadable(contentType: some Collection<UInt8>) -> Bool { encoding(of: contentType) != nil }

  private static func encoding(of contentType: some Collection<UInt8>) -> Encoding? {
    Encoding(rawValue: String(decoding: MediaType.withoutParameters(contentType), as: UTF8.self))
  }

  /// Reads the body of a form. Nil for another type, for a form with a file, and for malformed input.
  package init?(parsing body: [UInt8], contentType: some Collection<UInt8>) {
    guard let encoding = Self.encoding(of: contentType) else { return nil }
    switch encoding {
    case .urlEncoded:
      var limits = FormFields.Limits()
      limits.bytes = .max
      limits.fields = Self.entryLimit
      limits.nameBytes = Self.nameLimit
      guard let form = try? FormFields(parsing: body, limits: limits) else { return nil }
      var entries: [Entry] = []
      for field in form.fields {
        guard let name = Self.text(field.name), let value = Self.text(field.value) else { return nil }
        entries.append(Entry(name: name, content: .text(value)))
      }
      self.init(encoding: encoding, entries: entries)
    case .multipart:
      guard let boundary = Self.boundary(of: Array(contentType)),
        let entries = MultipartReader(body, boundary: boundary).entries()
      else { return nil }
      self.init(encoding: encoding, entries: entries)
    }
  }

  /// Text for an element of a page: HTML cannot contain NUL.
  fileprivate static func text(_ bytes: some Collection<UInt8>) -> String? {
    bytes.contains(0) ? nil : String(validating: bytes, as: UTF8.self)
  }

  /// The parameter `boundary` (RFC 2046, 5.1.1), which browsers send last and without quotation marks.
  private static func boundary(of contentType: [UInt8]) -> [UInt8]? {
    for parameter in contentType.split(separator: UInt8(ascii: ";")).dropFirst() {
      let parameter = Array(parameter.drop { $0.isOptionalWhitespace })
      let name = Array("boundary=".utf8)
      guard parameter.count > name.count, parameter.prefix(name.count).map(\.asciiLowercased) == name else { continue }
      var value = Array(parameter.dropFirst(name.count))
      while value.last?.isOptionalWhitespace == true { value.removeLast() }
      if value.count >= 2, value.first == UInt8(ascii: "\""), value.last == UInt8(ascii: "\"") {
        value = Array(value.dropFirst().dropLast())
      }
      let isValid = value.allSatisfy { $0.isUnreserved || "'()+,/:=?".utf8.contains($0) }
      return isValid && (1...70).contains(value.count) ? value : nil
    }
    return nil
  }
}

/// Reads `multipart/form-data` (RFC 7578) as browsers write it (HTML Standard, 4.10.22.8), strictly.
private struct MultipartReader {
  private let body: [UInt8]
  private let delimiter: [UInt8]
  private var position: Int

  init(_ body: [UInt8], boundary: [UInt8]) {
    self.body = body
    delimiter = Array("\r\n--".utf8) + boundary
    position = 0
  }

  consuming func entries() -> [FormEntries.Entry]? {
    // The first delimiter has no line break before it.
    guard body.starts(with: delimiter.dropFirst(2)) else { return nil }
    position = delimiter.count - 2
    var entries: [FormEntries.Entry] = []
    while true {
      if skip("--") { return position == body.count || skip("\r\n") && position == body.count ? entries : nil }
      guard skip("\r\n"), entries.count < FormEntries.entryLimit, let entry = entry() else { return nil }
      entries.append(entry)
    }
  }

  private mutating func skip(_ text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount
    guard body.count - position >= count, body[position..<(position + count)].elementsEqual(text.description.utf8)
    else { return false }
    position += count
    return true
  }

  /// One part up to the following delimiter.
  private mutating func entry() -> FormEntries.Entry? {
    var disposition: (name: String, file: ArraySlice<UInt8>?)?
    var hasType = false
    while !skip("\r\n") {
      guard let line = line(), let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
      let value = line[(colon + 1)...].drop { $0.isOptionalWhitespace }
      switch String(decoding: line[..<colon].map(\.asciiLowercased), as: UTF8.self) {
      case "content-disposition":
        guard disposition == nil, let read = Self.disposition(value) else { return nil }
        disposition = read
      case "content-type" where !hasType: hasType = true
      default: return nil
      }
    }
    guard let disposition, let content = content() else { return nil }
    guard let file = disposition.file else {
      guard !hasType, let text = FormEntries.text(content) else { return nil }
      return FormEntries.Entry(name: disposition.name, content: .text(text))
    }
    return file.isEmpty && content.isEmpty ? FormEntries.Entry(name: disposition.name, content: .noFile) : nil
  }

  private mutating func line() -> ArraySlice<UInt8>? {
    guard let end = body[position...].firstIndex(of: UInt8(ascii: "\r")) else { return nil }
    let line = body[position..<end]
    position = end
    return skip("\r\n") ? line : nil
  }

  /// The bytes before the next delimiter, which is skipped.
  private mutating func content() -> ArraySlice<UInt8>? {
    var start = position
    while let candidate = body[start...].firstIndex(of: UInt8(ascii: "\r")) {
      let end = candidate + delimiter.count
      guard end <= body.count else { return nil }
      if body[candidate..<end] == delimiter[...] {
        defer { position = end }
        return body[position..<candidate]
      }
      start = candidate + 1
    }
    return nil
  }

  /// `form-data; name="…"`, and `; filename="…"` of a choice of files. Browsers percent-encode quotation marks and line
  /// breaks within.
  private static func disposition(_ value: ArraySlice<UInt8>) -> (name: String, file: ArraySlice<UInt8>?)? {
    var rest = value
    func take(_ text: StaticString) -> Bool {
      guard rest.starts(with: text.description.utf8) else { return false }
      rest = rest.dropFirst(text.utf8CodeUnitCount)
      return true
    }
    func quoted() -> ArraySlice<UInt8>? {
      guard let end = rest.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
      defer { rest = rest[(end + 1)...] }
      return rest[..<end]
    }
    guard take("form-data; name=\""), let bytes = quoted(), !bytes.isEmpty, bytes.count <= FormEntries.nameLimit,
      let name = FormEntries.text(bytes)
    else { return nil }
    if rest.isEmpty { return (name, nil) }
    guard take("; filename=\""), let file = quoted(), rest.isEmpty else { return nil }
    return (name, file)
  }
}
