extension Array where Element: Sendable {
  /// Examines the elements, several at the same time: one that does not answer takes seconds.
  /// - Parameter limit: the most at a time. Each takes a descriptor or two, of which a shell may have few.
  /// - Returns: the findings, in the order of the elements.
  func examined(
    atOnce limit: Int = 16, by examine: @escaping @Sendable (Element) async -> DoctorFinding
  ) async -> [DoctorFinding] {
    await withTaskGroup(of: (Int, DoctorFinding).self) { group in
      var findings: [Int: DoctorFinding] = [:]
      for (index, element) in enumerated() {
        if index >= limit, let (index, finding) = await group.next() { findings[index] = finding }
        group.addTask { (index, await examine(element)) }
      }
      for await (index, finding) in group { findings[index] = finding }
      return indices.compactMap { findings[$0] }
    }
  }
}
