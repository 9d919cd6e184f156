/// The resources that a request acts on: that of its path, and those below it.
package enum RequestDepth: Sendable, Equatable {
  /// The resource itself (`Depth: 0`).
  case resource
  /// The resource, and names and properties of its members (`Depth: 1`). The route of the folder decides about them,
  /// not those of the members, as it does about an index page: otherwise file managers would show nothing. A route for
  /// exactly the path of the folder does not decide alone, because it does not hold for what is below.
  case members
  /// The resource and everything below it (`Depth: infinity`).
  case everything
}

extension RequestDepth {
  /// The methods by which a request can act on what is below its path.
  ///
  /// - RFC 4918: DELETE and MOVE of a collection act on everything in it, whatever `Depth` says (9.6.1, 9.9.2). COPY
  ///   and LOCK do unless it is 0, the only other value that they can have (9.8.3, 9.10.3). PROPFIND can have 0, 1 and
  ///   infinity (9.1).
  /// - RFC 3253: a REPORT has a depth as well (3.6), but that of RFC 6578 is in its body, which the gateway does not
  ///   read. BASELINE-CONTROL, LABEL, MERGE and UPDATE of a collection act on its members.
  /// - RFC 5323: the scope and the depth of a SEARCH are in its body.
  /// - RFC 5842: BIND, REBIND and UNBIND name a member in their body, with everything below it.
  ///
  /// Not listed are methods that act on the resource of the path alone: PROPPATCH (RFC 4918, 9.2), MKCOL, UNLOCK, ACL,
  /// ORDERPATCH, VERSION-CONTROL, CHECKOUT and CHECKIN; nor POST, PUT and PATCH, to which each application gives a
  /// meaning of its own.
  package static let methods = [
    "DELETE", "MOVE", "COPY", "PROPFIND", "LOCK", "REPORT", "SEARCH", "BIND", "REBIND", "UNBIND", "BASELINE-CONTROL",
    "LABEL", "MERGE", "UPDATE",
  ]

  /// The depth of a request: ``resource`` unless its method is one of ``methods``.
  /// - Parameters:
  ///   - method: the bytes of its method.
  ///   - field: the value of its `Depth`, ``everything`` for anything but 0 and 1. Most methods do not depend on it.
  init(method: Span<UInt8>, field: RequestDepth) {
    // By their lengths, so that GET, PUT and most others cost nothing.
    self =
      switch method.count {
      case 4 where Self.isEqual(method, "COPY") || Self.isEqual(method, "LOCK"):
        field == .resource ? .resource : .everything
      case 4 where Self.isEqual(method, "MOVE") || Self.isEqual(method, "BIND"): .everything
      case 5 where Self.isEqual(method, "LABEL") || Self.isEqual(method, "MERGE"): .everything
      case 6 where Self.isOfSixLetters(method): .everything
      case 8 where Self.isEqual(method, "PROPFIND"): field
      case 16 where Self.isEqual(method, "BASELINE-CONTROL"): .everything
      default: .resource
      }
  }

  private static func isOfSixLetters(_ method: Span<UInt8>) -> Bool {
    isEqual(method, "DELETE") || isEqual(method, "REPORT") || isEqual(method, "SEARCH") || isEqual(method, "REBIND")
      || isEqual(method, "UNBIND") || isEqual(method, "UPDATE")
  }

  private static func isEqual(_ method: Span<UInt8>, _ name: StaticString) -> Bool {
    guard method.count == name.utf8CodeUnitCount else { return false }
    return name.withUTF8Buffer { bytes in bytes.indices.allSatisfy { method[$0] == bytes[$0] } }
  }
}
