internal import DataPlane
internal import HTTPTypes
internal import Sessions
internal import WebFormats

/// The pending sign-ins of one browser: those whose states a request has in its cookies. Finds them, and makes the
/// `Set-Cookie` values that keep them within their limits.
struct PendingSignIns {
  private let cookies: RequestCookies
  private let keyring: SessionKeyring
  /// The time of the request, in milliseconds since 1970.
  private let now: Int64

  init(of request: ControlRequest, _ keyring: SessionKeyring, now: Int64 = WallClock.now()) {
    cookies = RequestCookies(request.head.headerFields)
    self.keyring = keyring
    self.now = now
  }

  // MARK: Finding them

  /// The pending sign-in that an authorization response is for.
  enum Match: Equatable {
    /// Begun in this browser, with the secret of this `state`.
    case verified(SignInState)
    /// It took too long. Nil if its destination is no longer known.
    case expired(SignInState?)
    /// The browser has sent no cookie of it.
    case missing
    /// Not one of this browser; with the reason of the failure.
    case refused(reason: String)
  }

  /// Finds the sign-in that a response is for, by its `state`.
  func match(_ state: String?) -> Match {
    guard let state, let identifier = SignInState.identifier(inState: state) else {
      return .refused(reason: "state_missing")
    }
    do throws(SealError) {
      guard let signIn = try SignInState.open(identifier, in: cookies, keyring, now: now) else { return .missing }
      return signIn.isMeant(by: state) ? .verified(signIn) : .refused(reason: "state_mismatch")
    } catch .expired {
      let kept = try? SignInState.openKept(identifier, in: cookies, keyring, now: now)
      return .expired(kept.flatMap { $0.isMeant(by: state) ? $0 : nil })
    } catch {
      return .refused(reason: "attempt_forged")
    }
  }

  /// All of them, expired ones as well. A forged cookie does not count.
  func all() -> [SignInState] {
    identifiers.compactMap { try? SignInState.openKept($0, in: cookies, keyring, now: now) }
  }

  /// The newest of several, rather one that was begun on our own pages: its page is where the user probably wants to
  /// go. A page cannot lead to an app.
  static func newest(of signIns: [SignInState]) -> SignInState? {
    signIns.filter { !$0.destination.isApp }
      .max { $0.isCrossSite == $1.isCrossSite ? $0.began < $1.began : $0.isCrossSite }
  }

  private var identifiers: [String] { SignInState.identifiers(in: cookies, keyring.cookies) }

  // MARK: Limits

  /// The largest number of pending sign-ins of one browser, without those that another site began.
  private static let mostAtOnce = 5
  /// The largest number of pending sign-ins of one browser that another site began.
  private static let mostCrossSite = 2
  /// The largest total size of the paths of one browser's pending sign-ins, without those that another site began, in
  /// bytes. With these, and encrypted, they stay below the 8 KiB that nginx accepts in one line by default.
  private static let mostPathBytes = 3_072
  /// The largest total size of the paths of sign-ins that are set again at once, in bytes. All are in one header
  /// section, which a proxy in front of us may limit to 4 KiB.
  private static let mostPathBytesSetAgain = 1_024
  /// The largest total size of the `Set-Cookie` lines with which cookies are removed when a sign-in has completed, and
  /// of those that are set again before them, in bytes. With the rest of the head they stay below the 4 KiB that nginx
  /// accepts by default: otherwise it answers 502, and the user is not signed in.
  private static let mostBytesSetAgain = 3_000
  /// The size of a `Set-Cookie` line without its value, in bytes.
  private static let lineBytes = "Set-Cookie: \r\n".utf8.count

  /// The `Set-Cookie` values for the others when a sign-in begins, so that the limits hold. Removed are invalid ones,
  /// then the oldest; the oldest of the others lose their paths. Another site cannot cause either for one that the user
  /// began here.
  func makingRoom(for signIn: SignInState) -> [String] {
    var updates: [String] = []
    var rivals: [SignInState] = []
    for identifier in identifiers {
      guard let other = try? SignInState.open(identifier, in: cookies, keyring, now: now) else {
        updates.append(SignInState.clearCookie(identifier, keyring.cookies))
        continue
      }
      if other.isCrossSite == signIn.isCrossSite { rivals.append(other) }
    }
    rivals.sort { $0.began > $1.began }
    let room = (signIn.isCrossSite ? Self.mostCrossSite : Self.mostAtOnce) - 1
    updates += rivals.dropFirst(room).map { SignInState.clearCookie($0.identifier, keyring.cookies) }
    var bytes = signIn.returnTo.utf8.count
    for other in rivals.prefix(room) {
      bytes += other.returnTo.utf8.count
      guard bytes > Self.mostPathBytes, other.toFrontPage != other else { continue }
      bytes -= other.returnTo.utf8.count
      if let cookie = try? other.toFrontPage.setCookie(keyring, age: now - other.began) { updates.append(cookie) }
    }
    return updates
  }

  /// The `Set-Cookie` values for the others when a sign-in has completed: they replace its session when they are
  /// completed themselves. Only these cookies are sent with the cross-site POST of `form_post`.
  ///
  /// There are more than may be if several began at once, each before the browser had the cookies of the others. Then
  /// the newest are set again, and the rest are removed: they would not replace the session, and be sent for an hour.
  /// Those that another site began are behind all that the user began here.
  func replacing(_ session: PublicSessionID, except signIn: SignInState) -> [String] {
    var others = identifiers.filter { $0 != signIn.identifier }
      .compactMap { try? SignInState.open($0, in: cookies, keyring, now: now) }
      .filter { !$0.destination.isApp }
      .sorted { $0.began > $1.began }
    let isCrowded = others.count > Self.mostAtOnce + Self.mostCrossSite
    if isCrowded { others = others.filter { !$0.isCrossSite } + others.filter(\.isCrossSite) }
    let kept = others.prefix(isCrowded ? Self.mostAtOnce : others.count)
    var room = Self.mostPathBytesSetAgain
    var updates: [String] = kept.compactMap { other in
      let keepsPath = other.returnTo.utf8.count <= room
      if keepsPath { room -= other.returnTo.utf8.count }
      return try? other.replacing(session, keepsPath: keepsPath).setCookie(keyring, age: now - other.began)
    }
    var bytes = updates.reduce(0) { $0 + $1.utf8.count + Self.lineBytes }
    for other in others.dropFirst(kept.count) {
      let removal = SignInState.clearCookie(other.identifier, keyring.cookies)
      bytes += removal.utf8.count + Self.lineBytes
      guard bytes <= Self.mostBytesSetAgain else { break }
      updates.append(removal)
    }
    return updates
  }
}
