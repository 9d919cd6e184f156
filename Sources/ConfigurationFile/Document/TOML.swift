internal import CTOMLParser

/// A document of TOML 1.0 as a tree of values.
enum TOML {
  /// A syntax error: the parser's message, and the location at which it stopped.
  struct SyntaxError: Error {
    let message: String
    /// Nil if the parser cannot say.
    let location: SourceLocation?
  }

  /// The values of a document.
  /// - Parameter bytes: UTF-8.
  /// - Throws: the first error of the document; parsing stops there.
  static func parse(_ bytes: [UInt8]) throws(SyntaxError) -> [String: Node] {
    let builder = TreeBuilder()
    var visitor = builder.visitor
    var error = CTOMLError()
    let isParsed = withExtendedLifetime(builder) {
      bytes.withUnsafeBytes {
        ctoml_parse($0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count, &visitor, &error)
      }
    }
    guard isParsed else {
      let message = withUnsafeBytes(of: &error.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      let location = error.line == 0 ? nil : SourceLocation(line: Int(error.line), column: Int(error.column))
      throw SyntaxError(message: message, location: location)
    }
    return builder.root
  }
}

/// Builds a tree from the events of the parser.
private final class TreeBuilder {
  /// The outermost table, once it is complete.
  private(set) var root: [String: Node] = [:]
  /// The tables and arrays that are not complete, from the outermost.
  private var open: [Container] = []

  private struct Container {
    var isTable: Bool
    var table: [String: Node] = [:]
    var array: [Node] = []
    /// The key of the value to come.
    var key = ""
  }

  private func begin(_ container: Container) { open.append(container) }

  private func end() {
    guard let ended = open.popLast() else { return }
    if open.isEmpty { root = ended.table } else { add(ended.isTable ? .table(ended.table) : .array(ended.array)) }
  }

  private func expect(_ key: String) { open[open.count - 1].key = key }

  private func add(_ node: Node) {
    let last = open.count - 1
    if open[last].isTable { open[last].table[open[last].key] = node } else { open[last].array.append(node) }
  }

  /// For one parse, during which the builder must be kept alive.
  var visitor: CTOMLVisitor {
    CTOMLVisitor(
      context: Unmanaged.passUnretained(self).toOpaque(),
      begin_table: { TreeBuilder.from($0).begin(Container(isTable: true)) },
      begin_array: { context, count in
        var container = Container(isTable: false)
        container.array.reserveCapacity(count)
        TreeBuilder.from(context).begin(container)
      },
      end: { TreeBuilder.from($0).end() },
      key: { TreeBuilder.from($0).expect(TreeBuilder.text($1, $2)) },
      string: { TreeBuilder.from($0).add(.string(TreeBuilder.text($1, $2))) },
      integer: { TreeBuilder.from($0).add(.integer(Int($1))) },
      number: { TreeBuilder.from($0).add(.number($1)) },
      boolean: { TreeBuilder.from($0).add(.boolean($1)) },
      moment: { TreeBuilder.from($0).add(.moment) })
  }

  private static func from(_ context: UnsafeMutableRawPointer?) -> TreeBuilder {
    guard let context else { preconditionFailure("the visitor has its context") }
    return Unmanaged<TreeBuilder>.fromOpaque(context).takeUnretainedValue()
  }

  private static func text(_ bytes: UnsafePointer<CChar>?, _ count: Int) -> String {
    String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
  }
}
