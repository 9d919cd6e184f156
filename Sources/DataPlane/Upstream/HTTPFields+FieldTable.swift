internal import HTTPTypes
internal import HTTPWire

extension HTTPFields {
  /// The fields of a head that was parsed, for the control plane. Those whose names HTTPTypes does not take are left
  /// out.
  init(_ table: borrowing FieldTable, _ bytes: RawSpan) {
    self.init()
    for line in table.lines {
      if let name = HTTPField.Name(bytes.string(line.name)) {
        append(HTTPField(name: name, value: bytes.string(line.value)))
      }
    }
  }
}
