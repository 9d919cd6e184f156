internal import FoundationEssentials
internal import Sessions

/// The leases that this process has acquired recently.
struct OwnLeases {
  /// When each was acquired, as the store has it.
  private var acquisitions: [Subject: Int64] = [:]

  private static let maximumCount = 4_096

  /// Notes a lease.
  mutating func note(_ acquiredAt: Date, of subject: Subject, at now: Date) {
    if acquisitions.count >= Self.maximumCount {
      let earliest = now.millisecondsSince1970 - Account.longestAnswer.milliseconds
      acquisitions = acquisitions.filter { $0.value > earliest }
    }
    acquisitions[subject] = acquiredAt.millisecondsSince1970
  }

  /// Whether the latest lease of an account is one of these.
  func contains(_ account: Account) -> Bool {
    guard let asked = account.lastAsked else { return false }
    return acquisitions[account.subject] == asked.millisecondsSince1970
  }
}
