/// Has members files read again when one of them changed.
struct MembersWatch: Sendable {
  private let reload: Reload

  /// The interval at which the files are checked: a call of `stat` for each.
  private static let interval = Duration.seconds(2)

  init(_ reload: Reload) { self.reload = reload }

  /// Runs until cancelled.
  func run() async {
    while (try? await Task.sleep(for: Self.interval)) != nil {
      if reload.current.members.areOutdated { await reload.rereadMembers() }
    }
  }
}
