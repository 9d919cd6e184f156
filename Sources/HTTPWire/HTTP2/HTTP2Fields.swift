internal import CNghttp2
internal import NIOCore

/// The fields of a section that is to be sent: names are made lower-case, bytes are copied once.
///
/// One list serves an event loop: it is emptied and filled again for each section.
package struct HTTP2Fields: ~Copyable, Sendable {
  private struct Place: Sendable {
    var nameCount: Int
    var valueCount: Int
  }

  private var bytes: [UInt8] = []
  private var places: [Place] = []

  package init() {}

  /// How many fields there are.
  package var count: Int { places.count }

  /// Empties the list.
  package mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    places.removeAll(keepingCapacity: true)
  }

  /// Begins the section of a response.
  /// - Parameter status: 100 to 599.
  package mutating func begin(status: Int) {
    removeAll()
    append(
      ":status",
      [UInt8(0x30 + status / 100 % 10), UInt8(0x30 + status / 10 % 10), UInt8(0x30 + status % 10)].span.bytes)
  }

  /// Adds a field line of a head.
  package mutating func append(_ line: FieldLine, _ source: RawSpan) {
    let name = line.name
    for offset in name { bytes.append(source.byte(at: offset).lowercased) }
    source.extracting(line.value).withUnsafeBytes { bytes.append(contentsOf: $0) }
    places.append(Place(nameCount: name.count, valueCount: line.value.count))
  }

  /// Adds whole field lines, each ended by CR LF.
  package mutating func append(lines: [UInt8]) {
    TrailerSection.forEachLine(lines) { line, bytes in append(line, bytes) }
  }

  /// Adds a field.
  /// - Parameter name: in small letters.
  package mutating func append(_ name: StaticString, _ value: RawSpan) {
    name.withUTF8Buffer { bytes.append(contentsOf: $0) }
    value.withUnsafeBytes { bytes.append(contentsOf: $0) }
    places.append(Place(nameCount: name.utf8CodeUnitCount, valueCount: value.byteCount))
  }

  /// Adds a field.
  /// - Parameter name: in small letters.
  package mutating func append(_ name: StaticString, _ value: StaticString) {
    value.withUTF8Buffer { append(name, Span(_unsafeElements: $0).bytes) }
  }

  /// Adds a field of the control plane's: its name is a token, its value has no CR, LF or NUL.
  package mutating func append(name: String, value: String) {
    let before = bytes.count
    for byte in name.utf8 { bytes.append(byte.lowercased) }
    let nameCount = bytes.count - before
    bytes.append(contentsOf: value.utf8)
    places.append(Place(nameCount: nameCount, valueCount: bytes.count - before - nameCount))
  }

  /// Lends the fields as nghttp2 takes them; it copies what it keeps.
  mutating func withNameValues<Result>(_ body: (UnsafePointer<nghttp2_nv>?, Int) -> Result) -> Result {
    let places = places
    return bytes.withUnsafeMutableBufferPointer { bytes in
      withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: max(places.count, 1)) { list in
        guard var next = bytes.baseAddress else { return body(nil, 0) }
        for (index, place) in places.enumerated() {
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
}
