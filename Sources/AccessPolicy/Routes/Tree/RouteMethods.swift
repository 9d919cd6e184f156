/// The methods that routes name, each with a number; all other methods share one number.
struct RouteMethods: Sendable {
  /// Most methods that routes can name.
  static let limit = 64

  private var names = ByteTrie()
  /// The number of the method that a node of `names` spells; -1 where it spells none.
  private var numbers: [Int32] = [-1]
  /// The number of named methods.
  private(set) var count = 0

  /// The number of every method that no route names.
  var other: Int { count }

  /// The number of a method. Without allocation.
  func number(of method: Span<UInt8>) -> Int {
    if count == 0 { return other }
    var node = 0
    for index in 0..<method.count {
      node = names.child(of: node, method[index])
      if node < 0 { return other }
    }
    return numbers[node] < 0 ? other : Int(numbers[node])
  }

  /// The numbers of the methods of a route: `GET` includes `HEAD`.
  mutating func numbers(of methods: [String]) -> Set<Int> {
    var result = Set(methods.map { add($0) })
    if methods.contains(where: { $0.utf8.elementsEqual("GET".utf8) }) { result.insert(add("HEAD")) }
    return result
  }

  private mutating func add(_ method: String) -> Int {
    let node = names.insert(method.utf8)
    while numbers.count < names.nodeCount { numbers.append(-1) }
    if numbers[node] < 0 {
      numbers[node] = Int32(truncatingIfNeeded: count)
      count += 1
    }
    return Int(numbers[node])
  }
}
