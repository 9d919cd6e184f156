/// Reloads members files when one of them changed.
struct MembersReloader {
  let reload: Reload

  /// Looks at the files.
  func look() -> FileRounds.Reaction? {
    guard reload.current.members.areOutdated else { return nil }
    return { [reload] in await reload.rereadMembers() }
  }
}
