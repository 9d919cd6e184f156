/// The numbers of groups: their indexes in the order of their names, byte by byte.
struct GroupNumbers: Sendable {
  /// Sorted byte by byte, each once.
  let names: [String]
  private let numbers: [[UInt8]: Int]

  init(_ names: some Sequence<String>) {
    var numbers: [[UInt8]: Int] = [:]
    for name in names { numbers[Array(name.utf8)] = 0 }
    let sorted = numbers.keys.sorted { $0.lexicographicallyPrecedes($1) }
    for (number, name) in sorted.enumerated() { numbers[name] = number }
    self.names = sorted.map { String(decoding: $0, as: UTF8.self) }
    self.numbers = numbers
  }

  /// The number of a group; nil for a name that is not among them.
  func number(of name: String) -> Int? { numbers[Array(name.utf8)] }

  /// The groups of these names. Unknown names match nobody; they are problems of the configuration.
  func set(of names: [String]) -> GroupSet { GroupSet(names.compactMap { number(of: $0) }) }
}
