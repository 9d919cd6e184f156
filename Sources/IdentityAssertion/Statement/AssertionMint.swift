package import FoundationEssentials
internal import Synchronization

/// Makes assertions about sessions: at most one a minute for each session, unless its content has changed.
package final class AssertionMint: Sendable {
  /// The time for which an assertion is reused, in seconds.
  package static let renewal: TimeInterval = 60
  /// The minimum remaining lifetime of an assertion when it is sent, in seconds.
  package static let remainder: TimeInterval = 30

  private let signer: AssertionSigner
  private let lifetime: Duration
  private let memory = Mutex(Memory())

  /// Recent assertions, in two generations of a minute each; older ones are not needed.
  private struct Memory {
    var young: [String: Made] = [:]
    var old: [String: Made] = [:]
    var youngSince = Date.distantPast

    func find(_ session: String) -> Made? { young[session] ?? old[session] }

    mutating func turn(at now: Date) {
      guard now >= youngSince.addingTimeInterval(renewal) || now < youngSince else { return }
      old = young
      young = [:]
      youngSince = now
    }
  }

  private struct Made {
    let statement: AssertionStatement
    let at: Date
    /// The signature, shared by all callers that request it while it is being made.
    let result: Task<Result<SignedAssertion, AssertionSigningError>, Never>
  }

  /// Mints with one signer; `lifetime` is the time from `iat` to `exp` of each assertion.
  package init(signer: AssertionSigner, lifetime: Duration) {
    self.signer = signer
    self.lifetime = lifetime
  }

  /// An assertion with this content: one from the last minute, or a new one.
  package func assertion(
    of statement: AssertionStatement, now: Date
  ) async throws(AssertionSigningError) -> SignedAssertion {
    try await task(for: statement, now: now).value.get()
  }

  private func task(
    for statement: AssertionStatement, now: Date
  ) -> Task<Result<SignedAssertion, AssertionSigningError>, Never> {
    memory.withLock { memory in
      memory.turn(at: now)
      if let made = memory.find(statement.session), made.statement == statement, Self.isRecent(made.at, now) {
        return made.result
      }
      let (signer, lifetime) = (signer, lifetime)
      let result = Task { Self.sign(statement, by: signer, now: now, lifetime: lifetime) }
      memory.young[statement.session] = Made(statement: statement, at: now, result: result)
      return result
    }
  }

  /// False also if the clock was set back to before it was made.
  private static func isRecent(_ made: Date, _ now: Date) -> Bool {
    now >= made && now < made.addingTimeInterval(renewal)
  }

  private static func sign(
    _ statement: AssertionStatement, by signer: AssertionSigner, now: Date, lifetime: Duration
  ) -> Result<SignedAssertion, AssertionSigningError> {
    var claims = statement.claims
    claims["sub"] = .text(statement.subject)
    claims["sid"] = .text(statement.session)
    do throws(AssertionSigningError) {
      return .success(try signer.sign(claims, now: now, lifetime: lifetime))
    } catch {
      return .failure(error)
    }
  }
}
