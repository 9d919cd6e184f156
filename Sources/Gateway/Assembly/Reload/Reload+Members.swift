internal import Logging
internal import Operations
internal import Threads

/// Reloading of members files only, without the configuration.
extension Reload {
  /// Reads the members files that have changed. Their groups have the new members on every event loop when this
  /// returns; invalid files keep the old ones. Reloads of the configuration read all of them.
  func rereadMembers() async {
    await afterOthers { await self.rereadMembersNow() }
  }

  private func rereadMembersNow() async {
    guard !isStopping else { return }
    let current = current
    let (members, changes, problems) = await files.run {
      var members = current.members
      let (changes, problems) = members.reread()
      return (members, changes, problems)
    }
    guard !isStopping else { return }
    if changes.isEmpty { replace(current.with(members)) } else { await apply(members, after: current) }
    for change in changes {
      logger.log(
        level: change.isLarge ? .warning : .notice, "group members reloaded",
        metadata: ["group": "\(change.group)", "members": "\(change.after)", "before": "\(change.before)"])
    }
    members.report(to: running.health)
    let isRepaired = members.problems.isEmpty && !current.members.problems.isEmpty
    if !changes.isEmpty || isRepaired || !problems.isEmpty {
      metrics.reloads.recordMembers(areGood: members.problems.isEmpty)
    }
    report(problems)
    reportRepaired(members, since: current.members)
  }

  /// Logs members files that can be used again.
  func reportRepaired(_ members: MembersFiles, since before: MembersFiles) {
    for group in members.repaired(since: before) {
      logger.notice("a members file can be used again", metadata: ["group": "\(group)"])
    }
  }

  /// Logs members files that cannot be used.
  func report(_ problems: [MembersFileError]) {
    for problem in problems {
      logger.error(
        "reading a members file failed, keeping the previous members",
        metadata: ["group": "\(problem.group)", "problem": "\(problem.problem)", "remedy": "\(problem.remedy)"])
    }
  }

  /// Applies new members of the same groups. Cannot fail.
  private func apply(_ members: MembersFiles, after current: ConfigurationSnapshot) async {
    let next = factory.make(members, after: current)
    await running.gates.apply { $0.gate.apply(next.gate, endpoints: next.endpoints) }
    replace(next)
  }
}

extension MembersFiles {
  /// Reports the state of the files to health, for information.
  func report(to health: HealthMonitor) {
    guard !isEmpty else { return health.remove(Self.checkName) }
    let problems = problems
    health.update(
      Self.checkName, problems.isEmpty ? .ok : .failing,
      message: problems.isEmpty ? nil : problems.map(\.description).joined(separator: "; "), at: .now())
  }

  /// The name of the check on `/healthz`.
  private static let checkName = "members_file"
}
