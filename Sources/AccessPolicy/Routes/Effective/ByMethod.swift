/// Values of a route by the methods that it holds for, equal ones together.
package struct ByMethod<Value: Sendable & Equatable>: Sendable, Equatable {
  /// Methods that have the same value.
  package struct Part: Sendable, Equatable {
    /// At least one.
    package var methods: MethodSet
    /// Their common value.
    package var value: Value
  }

  /// Each method is in one part. They are in the order in which values were added, but the one of the methods that no
  /// route names comes last.
  package private(set) var parts: [Part] = []

  /// The value if every method has the same.
  package var only: Value? { parts.count == 1 ? parts.first?.value : nil }

  /// The part that a method is in; nil if it is in none.
  package func part(of method: String) -> Part? {
    parts.first { $0.methods.named.contains(method) } ?? parts.first { $0.methods.includesOthers }
  }

  /// Adds a value for methods that have none yet.
  mutating func add(_ value: Value, for methods: MethodSet) {
    if let known = parts.firstIndex(where: { $0.value == value }) {
      parts[known].methods.add(methods)
    } else {
      parts.append(Part(methods: methods, value: value))
    }
    guard let others = parts.firstIndex(where: { $0.methods.includesOthers }) else { return }
    let part = parts.remove(at: others)
    parts.append(part)
  }

  /// The results of a function for the values, equal ones together.
  package func map<Other: Sendable & Equatable>(_ transform: (Value) -> Other) -> ByMethod<Other> {
    var result = ByMethod<Other>()
    for part in parts { result.add(transform(part.value), for: part.methods) }
    return result
  }
}

/// Methods of requests.
package struct MethodSet: Sendable, Equatable {
  /// Methods that routes name, in alphabetical order.
  package var named: [String]
  /// Whether every method that no route names is among them.
  package var includesOthers: Bool

  /// Whether a method is among them by which a request can act on what is below its path.
  var canReachBelow: Bool { includesOthers || named.contains { RequestDepth.methods.contains($0) } }

  /// Adds methods that are not among them.
  mutating func add(_ methods: MethodSet) {
    named = (named + methods.named).sorted()
    includesOthers = includesOthers || methods.includesOthers
  }
}
