import WebFormats

/// A type of values, which reads and writes them.
struct ValueType<Value: Sendable>: Sendable {
  /// In the reference: "duration". Composed when it is asked for.
  var name: String { composeName() }
  private let composeName: @Sendable () -> String
  /// Reads the value of a node; nil if it is invalid, after the problem was added.
  let read: @Sendable (Node, NodePath, inout DecodingContext) -> Value?
  /// Writes the value as in the file.
  let write: @Sendable (Value) -> String

  init(
    name: @autoclosure @escaping @Sendable () -> String,
    read: @escaping @Sendable (Node, NodePath, inout DecodingContext) -> Value?,
    write: @escaping @Sendable (Value) -> String
  ) {
    composeName = name
    self.read = read
    self.write = write
  }
}

extension ValueType {
  /// A value that is written as a text.
  /// - Parameters:
  ///   - name: in the reference.
  ///   - expected: the expected form, for a value of another type: `a duration, as in "15s"`.
  ///   - isConfidential: whether diagnostics must not repeat the value: problems of a reload are also in the log and
  ///     on `/healthz`.
  ///   - write: without quotation marks.
  ///   - parse: reads the text; relative paths are relative to the directory.
  static func text(
    _ name: String, expected: String, isConfidential: Bool = false, write: @escaping @Sendable (Value) -> String,
    parse: @escaping @Sendable (_ text: String, _ directory: String) throws(Diagnostic) -> Value
  ) -> ValueType {
    ValueType(
      name: name,
      read: { node, path, context in
        guard let text = context.text(node, at: path, expected: expected) else { return nil }
        do throws(Diagnostic) {
          return try parse(text.value, context.directory)
        } catch {
          let subject = isConfidential ? path.entry : "\(path): \(text.shown)"
          // A diagnostic may repeat a part of the value, to show a correct form.
          context.report(
            at: path, "\(subject) \(context.concealing(error.problem))", remedy: context.concealing(error.remedy))
          return nil
        }
      },
      write: { TOMLText.quoted(write($0)) })
  }

  /// A list of values.
  func list() -> ValueType<[Value]> {
    ValueType<[Value]>(
      name: "list of \(Self.plural(of: name))",
      read: { node, path, context in
        guard case .array(let elements) = node else {
          context.report(at: path, "\(path) is \(node.describedKind)", remedy: "write a list, as in [\"…\"]")
          return nil
        }
        var values: [Value] = []
        for (index, element) in elements.enumerated() {
          if let value = read(element, path.appending(index), &context) { values.append(value) }
        }
        return values.count == elements.count ? values : nil
      },
      write: { values in "[\(values.map { write($0) }.joined(separator: ", "))]" })
  }

  /// The plural of a type's name for the reference: "addresses", "kinds of data". Values and pairs have none.
  private static func plural(of name: String) -> String {
    if name.utf8.contains(where: { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "=") }) { return name }
    let words = name.split(separator: " ", maxSplits: 1)
    // In "kind of data" the first word is the noun.
    let isPhrase = words.count == 2 && words[1].utf8.starts(with: "of ".utf8)
    let noun = isPhrase ? String(words[0]) : name
    let plural = noun + (noun.utf8.last == UInt8(ascii: "s") ? "es" : "s")
    return isPhrase ? "\(plural) \(words[1])" : plural
  }

  /// The same type under a shorter name for the reference.
  func named(_ name: String) -> ValueType { ValueType(name: name, read: read, write: write) }

  /// The same type for a setting that can be absent.
  func optional() -> ValueType<Value?> {
    ValueType<Value?>(
      name: name, read: { node, path, context in read(node, path, &context).map { .some($0) } },
      write: { $0.map { write($0) } ?? "" })
  }
}

extension ValueType where Value == Bool {
  static var boolean: ValueType {
    ValueType(
      name: "true or false",
      read: { node, path, context in
        if case .boolean(let value) = node { return value }
        context.report(
          at: path, "\(path) is \(node.describedKind)", remedy: "write true or false, without quotation marks")
        return nil
      },
      write: { $0 ? "true" : "false" })
  }
}

extension ValueType where Value == Int {
  static func integer(_ range: ClosedRange<Int>) -> ValueType {
    ValueType(
      name: "number",
      read: { node, path, context in
        guard case .integer(let value) = node else {
          let remedy = "write a whole number from \(range.lowerBound) to \(range.upperBound), without quotation marks"
          context.report(at: path, "\(path) is \(node.describedKind)", remedy: remedy)
          return nil
        }
        guard range.contains(value) else {
          context.report(
            at: path, "\(path) is \(value)", remedy: "write a number from \(range.lowerBound) to \(range.upperBound)")
          return nil
        }
        return value
      },
      write: { "\($0)" })
  }

  static func size(_ range: ClosedRange<Int>) -> ValueType {
    ValueType(
      name: "size",
      read: { node, path, context in
        var value: Int
        if case .integer(let bytes) = node {
          value = bytes
        } else {
          let expected = "a size, as in \"32KiB\", or a whole number of bytes"
          guard let text = context.text(node, at: path, expected: expected) else { return nil }
          do throws(Diagnostic) {
            value = try SizeText.parse(text.value)
          } catch {
            context.report(at: path, "\(path): \(text.shown) \(error.problem)", remedy: error.remedy)
            return nil
          }
        }
        guard range.contains(value) else {
          let limits = "\(SizeText.format(range.lowerBound)) to \(SizeText.format(range.upperBound))"
          context.report(
            at: path, "\(path) is \(value < range.lowerBound ? "too small" : "too large")",
            remedy: "write a size from \(limits)")
          return nil
        }
        return value
      },
      write: { TOMLText.quoted(SizeText.format($0)) })
  }
}

extension ValueType where Value == Duration {
  /// - Parameter range: the permitted values.
  static func duration(_ range: ClosedRange<Duration>) -> ValueType {
    @Sendable func limits() -> String {
      "from \(DurationText.format(range.lowerBound)) to \(DurationText.format(range.upperBound))"
    }
    return ValueType(
      name: "duration",
      read: { node, path, context in
        let expected = "a duration in quotation marks, as in \"15s\" (units: ms, s, m, h, d)"
        guard let text = context.text(node, at: path, expected: expected) else { return nil }
        do throws(Diagnostic) {
          let value = try DurationText.parse(text.value)
          if range.contains(value) { return value }
          let size = value < range.lowerBound ? "short" : "long"
          context.report(at: path, "\(path): \(text.shown) is too \(size)", remedy: "write a duration \(limits())")
        } catch {
          context.report(at: path, "\(path): \(text.shown) \(error.problem)", remedy: error.remedy)
        }
        return nil
      },
      write: { TOMLText.quoted(DurationText.format($0)) })
  }

  /// The maximum age of a sign-in: zero for none, or long enough to sign in again. In whole seconds.
  static var age: ValueType {
    let (least, most) = (Duration.seconds(60), Duration.seconds(3_650 * 86_400))
    let type = duration(.zero...most)
    return ValueType(
      name: type.name,
      read: { node, path, context in
        guard let value = type.read(node, path, &context) else { return nil }
        guard value == .zero || value >= least, value.components.attoseconds == 0 else {
          context.report(
            at: path, "\(path) is \(value < least ? "shorter than a sign-in may take" : "not in whole seconds")",
            remedy: "write 1m or more, or \"0s\" for no limit")
          return nil
        }
        return value
      },
      write: type.write)
  }
}

extension ValueType where Value: RawRepresentable<String> & CaseIterable {
  /// One of a few words.
  static var choice: ValueType {
    @Sendable func choices() -> [String] { Value.allCases.map { TOMLText.quoted($0.rawValue) } }
    @Sendable func expected() -> String { "one of \(choices().joined(separator: ", "))" }
    return ValueType(
      name: choices().joined(separator: " or "),
      read: { node, path, context in
        guard let text = context.text(node, at: path, expected: expected()) else { return nil }
        // Bytes, not characters: "K" (the kelvin sign) is not a "K".
        let value = Value.allCases.first { $0.rawValue.utf8.elementsEqual(text.value.utf8) }
        if value == nil {
          let words = Value.allCases.map(\.rawValue)
          // Two letters are a language, and another one is no typing error.
          let hasNearest = words.count > 6 && text.value.utf8.count > 2
          let nearest = hasNearest ? NearestKey.find(text.value, among: words) : nil
          context.report(
            at: path, "\(path): \(text.shown) is not one of its values",
            remedy: nearest.map { "did you mean \(TOMLText.quoted($0))?" } ?? "write \(expected())")
        }
        return value
      },
      write: { TOMLText.quoted($0.rawValue) })
  }
}

/// Texts as TOML basic strings.
enum TOMLText {
  static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x22, 0x5C: result += "\\\(scalar)"
      case 0..<0x20, 0x7F:
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
