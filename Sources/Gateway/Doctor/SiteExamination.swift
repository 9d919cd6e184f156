internal import DataPlane
internal import FoundationEssentials
internal import NIOCore
internal import Sessions

/// Examines the local side: the upstreams, the certificates, the secrets, the store.
struct SiteExamination {
  let upstreams: [UpstreamSettings]
  let acceptors: [AcceptorSettings]
  let secretFiles: [String]

  // MARK: The application

  /// Servers of FastCGI and of TLS answer at once.
  private static let probeTimeout = TimeAmount.seconds(1)

  /// Whether each address of each upstream accepts connections, and speaks TLS if it is an `https:` one, otherwise
  /// neither TLS nor FastCGI. Sends no request. Asks all at the same time.
  /// - Returns: the findings in the order of the file.
  func examineUpstreams(on eventLoop: any EventLoop) async -> [DoctorFinding] {
    let addresses = upstreams.flatMap { upstream in
      upstream.addresses.map { address in
        UpstreamPlace(
          address: address, settings: upstream.alone(at: address), isOneOfSeveral: upstream.addresses.count > 1)
      }
    }
    return await addresses.examined { await Self.examine($0, on: eventLoop) }
  }

  /// One address of an upstream.
  private struct UpstreamPlace: Sendable {
    let address: UpstreamAddress
    /// The settings of the upstream, with this address alone.
    let settings: UpstreamSettings
    /// Whether the upstream has others, which are in a list.
    let isOneOfSeveral: Bool

    /// The key of the address, as a remedy names it.
    var addressKey: String { key(isOneOfSeveral ? "urls" : "url") }

    /// A key of the upstream, as a remedy names it.
    func key(_ name: String) -> String {
      let isDefault = settings.name.utf8.elementsEqual(UpstreamSettings.defaultName.utf8)
      return isDefault ? "upstream.\(name)" : "\(name) of [[upstreams]] \"\(settings.name)\""
    }
  }

  private static func examine(_ place: UpstreamPlace, on eventLoop: any EventLoop) async -> DoctorFinding {
    let (address, upstream) = (place.address, place.settings)
    do {
      let client = try await OriginClient(
        try UpstreamGroup(upstream), authority: "localhost", timeout: upstream.timeouts.connect, bodyLimit: 0,
        on: eventLoop)
      do throws(OriginError) {
        try await client.connect()
      } catch {
        return .failure("upstream", "\(address): \(error.reason)", await remedy(at: place, on: eventLoop))
      }
      if let finding = await wrongProtocol(at: place, on: eventLoop) { return finding }
      return .ok("upstream", "\(address) takes connections")
    } catch {
      return .failure(
        "upstream", "\(error)", "correct \(place.addressKey); is the package ca-certificates installed?")
    }
  }

  /// The finding if the server at an address in cleartext speaks another protocol than HTTP; nil if it does not.
  private static func wrongProtocol(at place: UpstreamPlace, on eventLoop: any EventLoop) async -> DoctorFinding? {
    let address = place.address
    if case .tcp(_, _, tls: true) = address { return nil }
    if await FastCGIProbe.probe.ask(address, timeout: probeTimeout, on: eventLoop) == true {
      return .failure(
        "upstream", "\(address) speaks FastCGI, not HTTP",
        "put a web server with fastcgi_pass between (examples/fastcgi-behind-nginx), and write its address in "
          + place.addressKey)
    }
    guard case .tcp = address, await TLSProbe.probe.ask(address, timeout: probeTimeout, on: eventLoop) == true else {
      return nil
    }
    return .failure(
      "upstream", "\(address) speaks TLS, not HTTP in cleartext",
      "write https: in \(place.addressKey), or the port where the application speaks HTTP; "
        + "\(place.key("tls_ca_file")) names the authority of its certificate")
  }

  /// The remedy at an address without a connection.
  private static func remedy(at place: UpstreamPlace, on eventLoop: any EventLoop) async -> String {
    let remedy = "start the application, or correct \(place.addressKey)"
    guard case .tcp(_, _, tls: true) = place.address else { return remedy }
    // It has answered, but not with TLS.
    if await TLSProbe.probe.ask(place.address, timeout: probeTimeout, on: eventLoop) == false {
      return "write http: in \(place.addressKey) if the application speaks HTTP there, or the port where it speaks TLS"
    }
    return "\(remedy); \(place.key("tls_ca_file")) names the authority of its certificate, "
      + "\(place.key("tls_server_name")) its name"
  }

  // MARK: The certificate

  /// Examines the certificates of the listeners; no findings if TLS is terminated before the gateway.
  func certificates() -> [DoctorFinding] { acceptors.flatMap { certificates(of: $0) } }

  private func certificates(of acceptor: AcceptorSettings) -> [DoctorFinding] {
    do {
      guard let certificate = try ListenerCertificate(acceptor) else { return [] }
      let now = WallClock.now() / 1_000
      let seen = certificate.expiries.map { "\($0.file), valid until \(Self.day($0.expiry))" }.joined(separator: ", ")
      var findings: [DoctorFinding] = []
      if let warning = certificate.warning(at: now) {
        let problem = "\(warning.problem): \(seen)"
        findings.append(
          certificate.isRefused(at: now)
            ? .failure("certificate", problem, warning.remedy) : .warning("certificate", problem, warning.remedy))
      }
      for (file, issuer) in try certificate.missingIssuers() {
        findings.append(
          .warning(
            "certificate", "\(file) ends before its issuer \(issuer), which is no root of this system either",
            "append the certificates of its issuers (certbot: use fullchain.pem), unless all clients know that issuer"))
      }
      return findings.isEmpty ? [.ok("certificate", seen)] : findings
    } catch {
      // The message includes the remedy.
      return [.failure("certificate", "\(error)", nil)]
    }
  }

  /// The day of a moment in seconds since 1970, in UTC.
  private static func day(_ seconds: Int64) -> String {
    String(Date(timeIntervalSince1970: Double(seconds)).ISO8601Format().prefix(10))
  }

  // MARK: Secrets and store

  /// Reads the session secrets.
  /// - Returns: the keyring, nil if they cannot be used, and the finding about them.
  func sessionKeys() -> (SessionKeyring?, DoctorFinding) {
    let files = secretFiles
    do throws(KeyringError) {
      let keyring = try SessionKeyring(files: files)
      let count = files.count == 1 ? "one secret" : "\(files.count) secrets, the first"
      return (keyring, .ok("session keys", "\(count) signs and seals, as key \(keyring.currentKey)"))
    } catch {
      return (nil, .failure("session keys", error.message, nil))
    }
  }

  /// Examines the store, if there is one: whether it can be written, and whether the secrets open all its tokens.
  /// - Parameter keyring: nil if the secrets cannot be used.
  func store(
    _ open: () async throws(StoreError) -> Doctor.StorePresence, _ keyring: SessionKeyring?
  ) async -> DoctorFinding {
    do throws(StoreError) {
      switch try await open() {
      case .absent(let place): return .ok("store", "none yet at \(place): the gateway makes it at its first start")
      case .open(let store):
        let finding: DoctorFinding
        do throws(StoreError) {
          finding = try await examine(store, keyring)
        } catch {
          finding = .failure("store", error.description, nil)
        }
        try await store.close()
        return finding
      }
    } catch {
      return .failure("store", error.description, nil)
    }
  }

  private func examine(_ store: any StoreMaintenance & EncryptedTokenStore, _ keyring: SessionKeyring?)
    async throws(StoreError) -> DoctorFinding
  {
    try await store.ping()
    let counts = try await store.counts()
    let seen =
      "\(store.place) can be written; \(Self.count(counts.accounts, "account")), "
      + "\(Self.count(counts.sessions, "session")), "
      + Self.count(counts.refreshTokens, "refresh token")
    guard let keyring else { return .ok("store", seen) }
    let sealed = try await store.sealingKeys()
    do throws(KeyringError) {
      try keyring.requireEveryKey(of: sealed)
    } catch {
      return .failure("store", error.message, nil)
    }
    let older = sealed.filter { $0.key != keyring.currentKey }.values.reduce(0, +)
    guard older == 0 else {
      return .warning(
        "store", "\(seen), \(older) of them sealed by an older secret", "run `cordon store reseal`")
    }
    if let bytes = store.logBytes, bytes > Self.largeLog {
      return .warning(
        "store", "\(seen); its write-ahead log takes \(bytes >> 20) MiB",
        "end the program that keeps a transaction open on it: `fuser` with the path of the -wal file names those that "
          + "have it open")
    }
    return .ok("store", seen)
  }

  /// The size from which a write-ahead log is a warning, in bytes: that of the alert `CordonStoreLogGrows`.
  private static let largeLog = 256 << 20

  private static func count(_ number: Int, _ word: String) -> String { "\(number) \(word)\(number == 1 ? "" : "s")" }
}
