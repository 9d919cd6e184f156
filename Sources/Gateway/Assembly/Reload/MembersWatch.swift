/// Reloads members files when one of them changed.
struct MembersWatch: Sendable {
  private let reload: Reload

  init(_ reload: Reload) { self.reload = reload }

  /// Looks at the files.
  func look() -> FileRounds.Reaction? {
    guard reload.current.members.areOutdated else { return nil }
    return { [reload] in await reload.rereadMembers() }
  }
}
