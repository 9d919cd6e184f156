internal import DataPlane
internal import NIOCore
package import Sessions
internal import SocketTransport

/// Examines everything that a gateway needs: its registration by calls to Apple, the upstreams, the certificates,
/// `public_url`, each host, the secrets, the store. It changes nothing, and asks Apple about no user.
package struct Doctor: Sendable {
  private let apple: AppleExamination
  private let site: SiteExamination
  private let publicURL: PublicURLExamination
  private let hosts: HostExamination
  private let openStore: @Sendable () async throws(StoreError) -> StorePresence

  /// The result of opening the store.
  package enum StorePresence: Sendable {
    /// The store; the doctor closes it after the examination.
    case open(any SessionStore)
    /// There is no store yet, and the doctor must not create one; its future location.
    case absent(String)
  }

  /// - Parameter openStore: opens the store, if there is one.
  package init(settings: GatewaySettings, openStore: @escaping @Sendable () async throws(StoreError) -> StorePresence) {
    apple = AppleExamination(
      apple: settings.apple, proxy: settings.appleProxy, redirectURI: settings.publicAddress.redirectURI)
    site = SiteExamination(
      upstreams: settings.upstreams.all, acceptors: settings.listener.acceptors,
      secretFiles: settings.session.secretFiles)
    let address = settings.publicAddress
    publicURL = PublicURLExamination(origin: address.origin, prefix: address.prefix)
    hosts = HostExamination(
      hosts: settings.routing.sites.map(\.host), origin: address.origin, prefix: address.prefix,
      acceptors: settings.listener.acceptors)
    self.openStore = openStore
  }

  /// Runs all examinations in turn, those of upstreams and of hosts each at the same time. Takes seconds if something
  /// does not answer.
  /// - Parameter report: called with each finding as soon as it is known.
  /// - Returns: all findings.
  /// - Throws: `LoopCreationError` if the system has no thread or no descriptor for it.
  package func examine(_ report: (DoctorFinding) -> Void = { _ in }) async throws -> [DoctorFinding] {
    let group = try SocketEventLoopGroup(loops: 1)
    var findings: [DoctorFinding] = []
    func note(_ finding: DoctorFinding) {
      findings.append(finding)
      report(finding)
    }
    await apple.run(on: group.next(), note)
    for finding in await site.examineUpstreams(on: group.next()) { note(finding) }
    for certificate in site.certificates() { note(certificate) }
    note(await publicURL.run(on: group.next()))
    for finding in await hosts.run(on: group.next()) { note(finding) }
    let (keyring, keys) = site.sessionKeys()
    note(keys)
    note(await site.store(openStore, keyring))
    try? await group.shutdownGracefully()
    return findings
  }
}
