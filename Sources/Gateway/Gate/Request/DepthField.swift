internal import AccessPolicy
internal import HTTPWire

/// `Depth` (RFC 4918, 10.2) of a request: the part of what is below its path that it acts on.
enum DepthField {
  /// The value of the field. All that an application could read in another way counts as infinity: several fields, any
  /// value but exactly 0 and 1, and a field that `Connection` names, because it is not forwarded. Without the field it
  /// is infinity by the standard.
  static func depth(_ head: borrowing RequestHead, _ bytes: RawSpan) -> RequestDepth {
    // The parser names no method that depends on the field.
    guard head.method == .other, let line = head.fields.line(.depth), !head.fields.isRepeated(.depth),
      !isNominated(head, bytes)
    else { return .everything }
    if bytes.equals("0", line.value) { return .resource }
    return bytes.equals("1", line.value) ? .members : .everything
  }

  private static func isNominated(_ head: borrowing RequestHead, _ bytes: RawSpan) -> Bool {
    head.nominatesFields && head.fields.nominations.contains { bytes.equalsIgnoringCase("depth", $0) }
  }
}
