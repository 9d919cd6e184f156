import AccessPolicy
import AppleIdentity
import DataPlane
import IdentityAssertion
import Operations
import Secrets
import Sessions
import WebFormats

/// Looks at the files that a configuration names: whether they are there, hold what they should, and are nobody else's.
struct FileChecks {
  let files: FileAccess

  /// Most bytes of any of these files.
  private static let limit = 65_536

  func check(
    _ draft: ConfigurationBuilder, listeners: [DocumentReader.Element<ListenerBuilder>],
    upstreams: [DocumentReader.Element<UpstreamBuilder>], _ reading: inout DecodingContext
  ) {
    let configuration = draft.configuration
    if reading.good.contains("apple.private_key_file") {
      let path = NodePath("apple.private_key_file")
      let hint = "download the key from Keys in the developer account (possible only once)"
      if let contents = secret(configuration.apple.privateKeyFile, path, missing: hint, &reading) {
        let shown = reading.shown(configuration.apple.privateKeyFile)
        do throws(ClientSecretKeyError) {
          _ = try ClientSecretKey(pem: contents, name: shown)
        } catch {
          reading.complain(at: path, "\(path): \(error.message)", remedy: error.remedy)
        }
      }
    }
    if reading.good.contains("session.secret_files") {
      for (index, file) in configuration.session.secretFiles.enumerated() {
        checkLength(file, NodePath("session.secret_files").appending(index), &reading)
      }
    }
    if reading.good.contains("assertion.key_files") {
      for (index, file) in configuration.assertion.keyFiles.enumerated() {
        checkAssertionKey(file, NodePath("assertion.key_files").appending(index), &reading)
      }
    }
    if let file = configuration.admin.tokenFile {
      checkLength(file, NodePath("admin.token_file"), &reading)
      checkToken(file, NodePath("admin.token_file"), &reading)
    }
    if let file = configuration.apple.authorityFile {
      checkCertificate(file, NodePath("apple.tls_ca_file"), &reading)
    }
    for (acceptor, path) in ListenerChecks.places(draft, listeners) { checkTLS(acceptor, at: path, &reading) }
    checkTLS(configuration.upstream.tls, at: NodePath("upstream"), &reading)
    for (index, upstream, _) in upstreams {
      checkTLS(upstream.tls.settings, at: NodePath(ConfigurationSchema.upstreams.name).appending(index), &reading)
    }
    if reading.problems.isEmpty {
      checkCertificates(configuration, ListenerChecks.places(draft, listeners).map(\.path), &reading)
      warnAboutStore(configuration.store.location, &reading)
    }
  }

  /// Reads the certificates of listeners with their keys, when nothing is wrong with the files one by one.
  /// - Parameter paths: the place of each listener.
  private func checkCertificates(
    _ configuration: Configuration, _ paths: [NodePath], _ reading: inout DecodingContext
  ) {
    // Certificates for addresses are rare, and browsers name no address (RFC 6066, 3).
    let host = (try? configuration.publicOrigin)?.host
    let name = host.flatMap { IPAddress($0) == nil && $0.utf8.first != UInt8(ascii: "[") ? $0 : nil }
    var certificates: [ListenerCertificate] = []
    for (acceptor, path) in zip(configuration.listener.acceptors, paths) {
      let path = path.appending("tls_certificate_file")
      do {
        guard let certificate = try files.readCertificate(acceptor) else { continue }
        certificates.append(certificate)
        guard let name, !certificate.lists(name) else { continue }
        reading.warn(
          atKey: path, "\(path): no certificate lists the host of public_url, \(name), so browsers refuse it",
          remedy: "get one for \(name) (subjectAltName), unless clients connect by another name")
      } catch {
        reading.complain(at: path, "\(path): the gateway cannot use it", remedy: "\(error)")
      }
    }
    if !certificates.isEmpty { warnAboutHosts(configuration, certificates, &reading) }
  }

  /// Warns of each `[[host]]` that no certificate of any listener is for.
  private func warnAboutHosts(
    _ configuration: Configuration, _ certificates: [ListenerCertificate], _ reading: inout DecodingContext
  ) {
    // No host of the file was left out: nothing is wrong with any.
    for (index, site) in configuration.sites.enumerated() {
      let origin = site.host.origin
      guard origin.scheme == .https, IPAddress(origin.host) == nil, origin.host.utf8.first != UInt8(ascii: "["),
        !certificates.contains(where: { $0.lists(origin.host) })
      else { continue }
      reading.warn(
        atKey: HostChecks.path(at: index).appending("name"),
        "no certificate of a TLS listener is for \(reading.concealing(origin.host)), so browsers refuse to open it",
        remedy: "add one with [[listen.certificate]], unless TLS for this host ends before the gateway")
    }
  }

  private func warnAboutStore(_ location: StoreSettings.Location, _ reading: inout DecodingContext) {
    guard case .sqlite(let file) = location else { return }
    let folder = ConfigurationFile.directory(of: file)
    guard !files.hasFolder(folder) else { return }
    reading.warn(
      atKey: NodePath("store.url"), "there is no folder \(folder) on this machine, and the gateway does not make it",
      remedy: "create it for the gateway's user: install -d -m 0700 -o USER \(folder)")
  }

  /// Checks the members files of groups: write access to such a file is the right to admit users.
  /// - Returns: the number of members in the file of each.
  func check(_ groups: [DocumentReader.Element<GroupBuilder>], _ reading: inout DecodingContext) -> [Int] {
    var counts = [Int](repeating: 0, count: groups.count)
    for (place, (index, group, _)) in groups.enumerated() {
      guard let file = group.membersFile else { continue }
      let path = GroupChecks.path(at: index).appending("members_file")
      guard
        let (bytes, mode) = contents(
          file, path, missing: "create it, with one member on each line", limit: MembersFile.sizeLimit,
          called: "64 MiB", &reading)
      else { continue }
      if mode & 0o002 != 0 {
        reading.complain(
          at: path, "\(path): every user can write \(reading.shown(file))",
          remedy: "fix it with: chmod o-w \(reading.concealing(file))")
      }
      do throws(MembersFileSyntaxError) {
        let members = try MembersFile.parse(bytes)
        counts[place] = members.count
        warn(of: members, at: path, file, &reading)
      } catch {
        reading.complain(
          at: path, "\(path): \(reading.shown(file)):\(error.line): \(error.message)", remedy: error.remedy)
      }
    }
    return counts
  }

  /// Warns of lines that are probably not subjects.
  private func warn(of members: [String], at path: NodePath, _ file: String, _ reading: inout DecodingContext) {
    guard let problem = UnlikelySubjects.problem(of: members, reading) else { return }
    reading.warn(atKey: path, "\(path): \(reading.shown(file)): \(problem)", remedy: UnlikelySubjects.remedy)
  }

  /// Any bytes, one trailing newline dropped, at least 32 left.
  private func checkLength(_ file: String, _ path: NodePath, _ reading: inout DecodingContext) {
    let shown = reading.shown(file)
    // A command is run in any folder: its path is the whole one.
    let command = "cordon keygen --output \(reading.concealing(file))"
    guard var contents = secret(file, path, missing: "create one with: \(command)", &reading) else { return }
    if contents.last == 0x0A { contents.removeLast() }
    if contents.count < 32 {
      reading.complain(
        at: path, "\(path): \(shown) holds \(contents.count) bytes, but a secret must have at least 32",
        remedy: "remove it and create another with: \(command)")
    }
  }

  private func checkAssertionKey(_ file: String, _ path: NodePath, _ reading: inout DecodingContext) {
    let hint = "create one with: cordon keygen --assertion --output \(reading.concealing(file))"
    guard let contents = secret(file, path, missing: hint, &reading) else { return }
    do throws(AssertionKeyError) {
      _ = try AssertionKey(pem: contents, name: reading.shown(file))
    } catch {
      reading.complain(at: path, "\(path): \(error.message)", remedy: error.remedy)
    }
  }

  /// Checks that a token is valid for `Authorization: Bearer`: visible ASCII, 4096 bytes at most.
  private func checkToken(_ file: String, _ path: NodePath, _ reading: inout DecodingContext) {
    guard case .contents(var contents, _) = files.read(file, Self.limit) else { return }
    if contents.last == 0x0A { contents.removeLast() }
    guard contents.count > 4_096 || !contents.allSatisfy({ (0x21...0x7E).contains($0) }) else { return }
    reading.complain(
      at: path, "\(path): \(reading.shown(file)) is not a token: one line of visible ASCII",
      remedy: "remove it and create another with: cordon keygen --output \(reading.concealing(file))")
  }

  func expect(
    _ marker: String, in contents: [UInt8], _ file: String, _ path: NodePath, _ what: String, _ remedy: String,
    _ reading: inout DecodingContext
  ) {
    if !String(decoding: contents, as: UTF8.self).utf8.containsSequence(marker.utf8) {
      reading.complain(at: path, "\(path): \(reading.shown(file)) holds \(what)", remedy: remedy)
    }
  }

  /// The contents of a file that holds a secret, judged by the rule of `PrivateFile` as the gateway will.
  func secret(_ file: String, _ path: NodePath, missing: String, _ reading: inout DecodingContext) -> [UInt8]? {
    guard let (bytes, mode) = contents(file, path, missing: missing, &reading) else { return nil }
    if mode & 0o007 != 0 {
      let shown = reading.shown(file)
      reading.complain(
        at: path, "\(path): other users can access \(shown)",
        remedy: "fix it with: chmod o= \(reading.concealing(file))")
    } else if !PrivateFile.isPrivate(mode: mode) {
      reading.complain(
        at: path, "\(path): the file's group can write \(reading.shown(file))",
        remedy: "fix it with: chmod g-w \(reading.concealing(file))")
    }
    return bytes
  }

  func contents(
    _ file: String, _ path: NodePath, missing: String, limit: Int = Self.limit, called limitText: String = "64 KiB",
    _ reading: inout DecodingContext
  ) -> (bytes: [UInt8], mode: UInt32)? {
    let shown = reading.shown(file)
    switch files.read(file, limit) {
    case .contents(let bytes, let mode): return (bytes, mode)
    case .missing: reading.complain(at: path, "\(path): there is no file \(shown)", remedy: missing)
    case .notRegular: reading.complain(at: path, "\(path): \(shown) is not a regular file", remedy: "name a file")
    case .tooLong:
      reading.complain(at: path, "\(path): \(shown) has more than \(limitText)", remedy: "name the right file")
    case .unreadable(let reason):
      reading.complain(
        at: path, "\(path): \(shown) cannot be read (\(reason))",
        remedy: "grant read access to the gateway's user")
    }
    return nil
  }
}

extension Collection where Element == UInt8 {
  /// Whether `other` stands in it somewhere.
  func containsSequence(_ other: some Collection<UInt8>) -> Bool {
    var start = startIndex
    while start != endIndex {
      if self[start...].starts(with: other) { return true }
      start = index(after: start)
    }
    return other.isEmpty
  }
}
