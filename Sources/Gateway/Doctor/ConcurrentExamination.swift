extension Array where Element: Sendable {
  /// Examines all elements at the same time: one that does not answer takes seconds.
  /// - Returns: the findings, in the order of the elements.
  func examined(by examine: @escaping @Sendable (Element) async -> DoctorFinding) async -> [DoctorFinding] {
    await withTaskGroup(of: (Int, DoctorFinding).self) { group in
      for (index, element) in enumerated() {
        group.addTask { (index, await examine(element)) }
      }
      var findings: [Int: DoctorFinding] = [:]
      for await (index, finding) in group { findings[index] = finding }
      return indices.compactMap { findings[$0] }
    }
  }
}
