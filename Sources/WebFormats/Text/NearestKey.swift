/// Finds the known key that is most similar to an unknown one.
package enum NearestKey {
  /// The candidate with the fewest typing errors (insertions, deletions, substitutions, transpositions of neighbours),
  /// if they are few for the length of the key; of equals the first.
  package static func find(_ key: String, among candidates: [String]) -> String? {
    let wanted = Array(key.utf8.prefix(100))
    var best: (candidate: String, distance: Int)?
    for candidate in candidates {
      let distance = distance(wanted, Array(candidate.utf8))
      if distance < best?.distance ?? .max { best = (candidate, distance) }
    }
    guard let best, best.distance <= max(1, min(wanted.count, best.candidate.utf8.count) / 3) else { return nil }
    return best.candidate
  }

  /// The optimal string alignment distance.
  package static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var beforePrevious: [Int] = []
    var previous = Array(0...right.count)
    for row in 0..<left.count {
      var current = [row + 1]
      for column in 0..<right.count {
        let isEqual = left[row] == right[column]
        var cost = min(previous[column] + (isEqual ? 0 : 1), previous[column + 1] + 1, current[column] + 1)
        if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
          cost = min(cost, beforePrevious[column - 1] + 1)
        }
        current.append(cost)
      }
      beforePrevious = previous
      previous = current
    }
    return previous[right.count]
  }
}
