import AccessPolicy
import AppleIdentity
import DataPlane
import IdentityAssertion
import Operations
import Secrets
import Sessions
import WebFormats

/// Checks the files that a configuration names: existence, contents and permissions.
struct FileChecks {
  let files: FileAccess

  /// The largest accepted size of files of keys and secrets, in bytes.
  private static let limit = 65_536

  /// Checks every file. What takes several files together, and warnings, only where nothing else is wrong.
  func check(
    _ builder: ConfigurationBuilder, listeners: [DocumentReader.Element<ListenerBuilder>],
    upstreams: [DocumentReader.Element<UpstreamBuilder>], _ context: inout DecodingContext
  ) {
    let configuration = builder.configuration
    let listeners = ListenerChecks.places(builder, listeners)
    checkSecrets(configuration, &context)
    if let file = configuration.apple.authorityFile {
      checkAuthority(file, NodePath("apple.tls_ca_file"), &context)
    }
    for (acceptor, path) in listeners { checkTLS(acceptor, at: path, &context) }
    checkTLS(configuration.upstream.tls, at: NodePath("upstream"), &context)
    for (index, upstream, _) in upstreams {
      checkTLS(upstream.tls.settings, at: UpstreamChecks.path(at: index), &context)
    }
    guard context.problems.isEmpty else { return }
    let paths = listeners.map(\.path)
    checkCertificates(configuration, paths, &context)
    warnAboutStore(configuration.store.location, &context)
    for (acceptor, path) in zip(configuration.listener.acceptors, paths) {
      warnAboutSocket(acceptor.address, at: path.appending("address"), &context)
    }
    warnAboutSocket(configuration.adminAddress, at: NodePath("admin.address"), &context)
  }

  /// Checks the files of keys, secrets and tokens, if the keys that name them are valid.
  private func checkSecrets(_ configuration: Configuration, _ context: inout DecodingContext) {
    if context.validKeys.contains("apple.private_key_file") {
      let path = NodePath("apple.private_key_file")
      let hint =
        "put the .p8 file there that was downloaded under Keys in the developer account; if it is lost, create another "
        + "key, because Apple gives each one out only once, and change apple.key_id"
      if let contents = secret(configuration.apple.privateKeyFile, path, missing: hint, &context) {
        let shown = context.shown(configuration.apple.privateKeyFile)
        do throws(ClientSecretKeyError) {
          _ = try ClientSecretKey(pem: contents, name: shown)
        } catch {
          context.report(at: path, "\(path): \(error.message)", remedy: error.remedy)
        }
      }
    }
    if context.validKeys.contains("session.secret_files") {
      for (index, file) in configuration.session.secretFiles.enumerated() {
        checkKeyMaterial(file, NodePath("session.secret_files").appending(index), lost: Self.lostSecret, &context)
      }
    }
    if context.validKeys.contains("assertion.key_files") {
      for (index, file) in configuration.assertion.keyFiles.enumerated() {
        checkAssertionKey(file, NodePath("assertion.key_files").appending(index), &context)
      }
    }
    if let file = configuration.admin.tokenFile {
      checkKeyMaterial(file, NodePath("admin.token_file"), &context)
      checkToken(file, NodePath("admin.token_file"), &context)
    }
  }

  private func warnAboutSocket(_ address: BindAddress, at path: NodePath, _ context: inout DecodingContext) {
    guard case .unix(let file) = address else { return }
    warnIfMissing(
      ConfigurationFile.directory(of: file), at: path,
      remedy: "create it for the gateway's user before it starts; below /run by RuntimeDirectory= of its unit",
      &context)
  }

  /// Warns about a missing folder, unless the gateway's unit makes it.
  private func warnIfMissing(
    _ folder: String, at path: NodePath, remedy: String, _ context: inout DecodingContext
  ) {
    guard !files.hasFolder(folder), !ServiceFolders(files: files).makes(folder) else { return }
    context.warn(
      atKey: path, "there is no folder \(folder) on this machine, and the gateway does not make it",
      remedy: remedy)
  }

  /// A file that is at the place of the store already must be a database, because it is not replaced. Only a warning: a
  /// damaged one must not keep a running gateway from a reload.
  private func warnAboutStoreFile(_ file: String, _ context: inout DecodingContext) {
    let path = NodePath("store.url")
    switch files.store(file) {
    case .notRegular:
      context.warn(
        atKey: path, "\(context.shown(file)) is a folder, or another thing that is not a file",
        remedy: "write the path of a file, as in \"sqlite:/var/lib/cordon/cordon.db\"")
    case .notDatabase:
      context.warn(
        atKey: path, "\(context.shown(file)) is not an SQLite database",
        remedy: "write the path of one, or of a file that does not exist yet: the gateway makes it")
    case .possible: break
    }
  }

  private func warnAboutStore(_ location: StoreSettings.Location, _ context: inout DecodingContext) {
    guard case .sqlite(let file) = location else { return }
    warnAboutStoreFile(file, &context)
    let folder = ConfigurationFile.directory(of: file)
    warnIfMissing(
      folder, at: NodePath("store.url"),
      remedy: "create it for the gateway's user: install -d -m 0700 -o USER \(ShellWord.quoting(folder))", &context)
  }

  /// Checks the members files of groups, and counts their members. Write access to such a file is the right to admit
  /// users.
  /// - Parameter admitting: the names of the groups whose members are admitted somewhere.
  /// - Returns: the number of members in the file of each group.
  func countMembers(
    of groups: [DocumentReader.Element<GroupBuilder>], admitting: Set<[UInt8]>, _ context: inout DecodingContext
  ) -> [Int] {
    var counts = [Int](repeating: 0, count: groups.count)
    for (place, (index, group, _)) in groups.enumerated() {
      guard let file = group.membersFile else { continue }
      let path = GroupChecks.path(at: index).appending("members_file")
      guard
        let (bytes, mode) = contents(
          file, path, missing: "create it, with one member on each line", limit: MembersFile.sizeLimit,
          called: "64 MiB", &context)
      else { continue }
      if mode & 0o002 != 0 {
        context.report(
          at: path, "\(path): every user can write \(context.shown(file))",
          remedy: "fix it with: chmod o-w \(ShellWord.quoting(context.concealing(file)))")
      }
      do throws(MembersFileSyntaxError) {
        let members = try MembersFile.parse(bytes)
        counts[place] = members.count
        warn(of: members, at: path, file, &context)
        if admitting.contains(Array(group.name.utf8)), let domain = members.first(where: MailProviders.admitsAnybody) {
          context.warn(
            atKey: path, "\(path): \(context.shown(file)): \(MailProviders.problem(of: context.concealing(domain)))",
            remedy: MailProviders.remedy)
        }
      } catch {
        context.report(
          at: path, "\(path): \(context.shown(file)):\(error.line): \(error.message)", remedy: error.remedy)
      }
    }
    return counts
  }

  /// Warns of lines that are probably not subjects.
  private func warn(of members: [String], at path: NodePath, _ file: String, _ context: inout DecodingContext) {
    if let problem = UnlikelySubjects.problem(of: members, context) {
      context.warn(atKey: path, "\(path): \(context.shown(file)): \(problem)", remedy: UnlikelySubjects.remedy)
    }
    if let found = UnlikelySubjects.domainProblem(of: members, context) {
      context.warn(atKey: path, "\(path): \(context.shown(file)): \(found.problem)", remedy: found.remedy)
    }
  }

  /// Any bytes, one trailing newline dropped: at least 32, of at least eight values. Of 32 random hexadecimal digits,
  /// one in ten million has fewer.
  /// - Parameter lost: what comes before the command for a new secret, if a file that was lost should be restored.
  private func checkKeyMaterial(
    _ file: String, _ path: NodePath, lost: String = "", _ context: inout DecodingContext
  ) {
    let shown = context.shown(file)
    // The command can be run in any folder, so its path is absolute.
    let command = "cordon keygen --output \(ShellWord.quoting(context.concealing(file)))"
    guard var contents = secret(file, path, missing: "\(lost)create one with: \(command)", &context) else { return }
    if contents.last == 0x0A { contents.removeLast() }
    if contents.count < 32 {
      context.report(
        at: path, "\(path): \(shown) holds \(contents.count) bytes, but a secret must have at least 32",
        remedy: "\(lost)remove it and create another with: \(command)")
    } else if Set(contents).count < 8 {
      context.report(
        at: path, "\(path): \(shown) repeats a few bytes, so it can be guessed",
        remedy: "remove it and create another with: \(command)")
    }
  }

  /// Cookies and refresh tokens depend on a secret: a new one in the place of a lost one signs everybody out.
  private static let lostSecret =
    "if it was in use, restore it, because with another one everybody has to sign in again; otherwise "

  private func checkAssertionKey(_ file: String, _ path: NodePath, _ context: inout DecodingContext) {
    let hint = "create one with: cordon keygen --assertion --output \(ShellWord.quoting(context.concealing(file)))"
    guard let contents = secret(file, path, missing: hint, &context) else { return }
    do throws(AssertionKeyError) {
      _ = try AssertionKey(pem: contents, name: context.shown(file))
    } catch {
      context.report(at: path, "\(path): \(error.message)", remedy: error.remedy)
    }
  }

  /// Checks that a token is valid for `Authorization: Bearer`: visible ASCII, 4096 bytes at most.
  private func checkToken(_ file: String, _ path: NodePath, _ context: inout DecodingContext) {
    guard case .contents(var contents, _) = files.read(file, Self.limit) else { return }
    if contents.last == 0x0A { contents.removeLast() }
    guard contents.count > 4_096 || !contents.allSatisfy({ (0x21...0x7E).contains($0) }) else { return }
    context.report(
      at: path, "\(path): \(context.shown(file)) is not a token: one line of visible ASCII",
      remedy: "remove it and create another with: cordon keygen --output \(ShellWord.quoting(context.concealing(file)))"
    )
  }

  /// The contents of a file that holds a secret, checked by the rule of `PrivateFile`, as by the gateway.
  func secret(_ file: String, _ path: NodePath, missing: String, _ context: inout DecodingContext) -> [UInt8]? {
    guard let (bytes, mode) = contents(file, path, missing: missing, &context) else { return nil }
    if mode & 0o007 != 0 {
      let shown = context.shown(file)
      context.report(
        at: path, "\(path): other users can access \(shown)",
        remedy: "fix it with: chmod o= \(ShellWord.quoting(context.concealing(file)))")
    } else if !PrivateFile.isPrivate(mode: mode) {
      context.report(
        at: path, "\(path): the file's group can write \(context.shown(file))",
        remedy: "fix it with: chmod g-w \(ShellWord.quoting(context.concealing(file)))")
    }
    return bytes
  }

  func contents(
    _ file: String, _ path: NodePath, missing: String, limit: Int = Self.limit, called limitText: String = "64 KiB",
    _ context: inout DecodingContext
  ) -> (bytes: [UInt8], mode: UInt32)? {
    let shown = context.shown(file)
    switch files.read(file, limit) {
    case .contents(let bytes, let mode): return (bytes, mode)
    case .missing: context.report(at: path, "\(path): there is no file \(shown)", remedy: missing)
    case .notRegular: context.report(at: path, "\(path): \(shown) is not a regular file", remedy: "name a file")
    case .tooLong:
      context.report(at: path, "\(path): \(shown) has more than \(limitText)", remedy: "name the right file")
    case .unreadable(let reason):
      context.report(
        at: path, "\(path): \(shown) cannot be read (\(reason))",
        remedy: "grant read access to the gateway's user")
    case .failed(let reason):
      context.report(
        at: path, "\(path): \(shown) cannot be read now (\(reason))", remedy: FileAccess.failureRemedy, cause: .machine)
    }
    return nil
  }
}
