internal import CNghttp2
internal import NIOCore

/// The fields of a section to be sent: names are lower-cased, bytes are copied once.
///
/// One list serves an event loop: it is emptied and filled again for each section.
package struct HTTP2Fields: ~Copyable {
  private struct Place: Sendable {
    var nameCount: Int
    var valueCount: Int
  }

  private var text = HeaderBuffer()
  private var places: [Place] = []

  /// An empty list.
  package init() {}

  /// The number of fields.
  package var count: Int { places.count }

  /// Memory of nghttp2's copy: for each field its name and value, each with a NUL, and their place.
  var memory: Int { text.count + places.count * (MemoryLayout<nghttp2_nv>.stride + 2) }

  /// Whether nghttp2 can send the section: the most that HPACK makes of it is within the session's limit.
  package var canBeSent: Bool {
    // As nghttp2 estimates it: two changes of the table's size, a priority, then two lengths for each field.
    12 + 5 + 12 * places.count + text.count <= HTTP2Policy.sentSectionBytes
  }

  /// Empties the list.
  package mutating func removeAll() {
    text.removeAll()
    places.removeAll(keepingCapacity: true)
  }

  /// Begins the section of a response.
  /// - Parameter status: 100 to 599.
  package mutating func begin(status: Int) {
    removeAll()
    text.append(":status")
    for place in [100, 10, 1] { text.append(UInt8(truncatingIfNeeded: 0x30 + status / place % 10)) }
    places.append(Place(nameCount: ":status".utf8.count, valueCount: 3))
  }

  /// Adds a field line of a head.
  @inline(__always)
  package mutating func append(_ line: FieldLine, _ source: RawSpan) {
    append(line, source, value: source.extracting(line.value))
  }

  /// Adds a field line of a head with another value.
  @inline(__always)
  package mutating func append(_ line: FieldLine, _ source: RawSpan, value: RawSpan) {
    source.extracting(line.name).withUnsafeBytes { text.append(lowercasing: $0) }
    value.withUnsafeBytes { text.append($0) }
    places.append(Place(nameCount: line.name.count, valueCount: value.byteCount))
  }

  /// Adds whole field lines, each ended by CR LF.
  package mutating func append(lines: [UInt8]) {
    TrailerSection.forEachLine(lines) { line, bytes in append(line, bytes) }
  }

  /// Adds a field.
  /// - Parameter name: in small letters.
  package mutating func append(_ name: StaticString, _ value: RawSpan) {
    text.append(name)
    value.withUnsafeBytes { text.append($0) }
    places.append(Place(nameCount: name.utf8CodeUnitCount, valueCount: value.byteCount))
  }

  /// Adds a field.
  /// - Parameter name: in small letters.
  package mutating func append(_ name: StaticString, _ value: StaticString) {
    value.withUTF8Buffer { append(name, Span(_unsafeElements: $0).bytes) }
  }

  /// Adds a field of the control plane's: its name is a token, its value has no CR, LF or NUL.
  package mutating func append(name: String, value: String) {
    Array(value.utf8).withUnsafeBytes { append(name: name, bytes: $0) }
  }

  /// The same, for a value that need not be UTF-8.
  package mutating func append(name: String, bytes value: UnsafeRawBufferPointer) {
    let before = text.count
    Array(name.utf8).withUnsafeBytes { text.append(lowercasing: $0) }
    let nameCount = text.count - before
    text.append(value)
    places.append(Place(nameCount: nameCount, valueCount: text.count - before - nameCount))
  }

  /// Lends the fields as nghttp2 takes them; it copies what it keeps.
  mutating func withNameValues<Result>(_ body: (UnsafePointer<nghttp2_nv>?, Int) -> Result) -> Result {
    let places = places.span
    // Taken by a reader only, whatever the type says.
    guard var next = UnsafeMutableRawPointer(mutating: text.bytes.baseAddress)?.assumingMemoryBound(to: UInt8.self)
    else { return body(nil, 0) }
    return withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: places.count) { list in
      for index in places.indices {
        let place = places[index]
        list.initializeElement(
          at: index,
          to: nghttp2_nv(
            name: next, value: next + place.nameCount, namelen: place.nameCount, valuelen: place.valueCount,
            flags: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue)))
        next += place.nameCount + place.valueCount
      }
      return body(list.baseAddress, places.count)
    }
  }
}
