internal import HTTPWire

/// Header fields that tell some caches only, in place of `Cache-Control`, how long they may keep a response.
enum TargetedCacheControl {
  /// Whether a field is a targeted one (RFC 9213, 2.1), or one of those that caches took before there was a standard.
  static func isTargeted(_ bytes: RawSpan, _ name: Range<Int>) -> Bool {
    let suffix = "-cache-control".utf8.count
    if name.count > suffix, bytes.equalsIgnoringCase("-cache-control", name.suffix(suffix)) { return true }
    return bytes.equalsIgnoringCase("surrogate-control", name)
      || bytes.equalsIgnoringCase("edge-control", name) || bytes.equalsIgnoringCase("x-accel-expires", name)
  }

  /// Whether a targeted line forbids its caches to keep the response: by a directive, or as `X-Accel-Expires` does.
  static func forbidsStoring(_ line: FieldLine, _ bytes: RawSpan) -> Bool {
    bytes.equals("0", line.value) || bytes.equalsIgnoringCase("off", line.value)
      || PrivateResponseHeaders.isPersonal(line, bytes)
  }
}
