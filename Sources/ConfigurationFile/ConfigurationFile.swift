internal import WebFormats

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// Reads a configuration file: every setting, or every problem.
package enum ConfigurationFile {
  /// The default file of commands: that of the Debian package.
  package static let defaultPath = "/etc/cordon/gateway.conf"

  /// Reads a file of this machine, and checks the files that it names.
  /// - Parameters:
  ///   - path: the file; relative to the working directory.
  ///   - environment: the value of an environment variable, for `${NAME}`.
  ///   - files: the access to files.
  ///   - checksMembersFiles: whether a members file that cannot be used is a problem. Not for a gateway that has read
  ///     it before, and keeps those members.
  /// - Throws: all problems, in the order of the file.
  package static func load(
    _ path: String, environment: @escaping @Sendable (String) -> String? = processEnvironment,
    files: FileAccess = .system, checksMembersFiles: Bool = true
  ) throws(ConfigurationError) -> Configuration {
    let (bytes, _) = try contents(of: path, files)
    return try read(
      bytes, name: path, directory: directory(of: path), environment: environment, files: files.withoutStore,
      checksMembersFiles: checksMembersFiles
    ).configuration
  }

  /// Reads a file as ``load(_:environment:files:checksMembersFiles:)`` does, with the warnings of
  /// ``check(_:environment:files:)``, except those about the places of the store and of Unix sockets.
  /// - Throws: all problems, in the order of the file.
  package static func loadWithWarnings(
    _ path: String, environment: @escaping @Sendable (String) -> String? = processEnvironment,
    files: FileAccess = .system
  ) throws(ConfigurationError) -> (configuration: Configuration, warnings: [ConfigurationDiagnostic]) {
    let (bytes, mode) = try contents(of: path, files)
    var (configuration, places, context) = try read(
      bytes, name: path, directory: directory(of: path), environment: environment, files: files.withoutStore)
    warnAboutMode(mode, of: path, &context)
    let warnings = ConfigurationWarnings(configuration: configuration, places: places, context: context)
    return (configuration, warnings.all(configuration.effectiveHosts).limited)
  }

  /// Reads a file of this machine, checks the files that it names, and explains its routes.
  /// - Throws: all problems, in the order of the file.
  package static func check(
    _ path: String, environment: @escaping @Sendable (String) -> String? = processEnvironment,
    files: FileAccess = .system
  ) throws(ConfigurationError) -> CheckedConfiguration {
    let (bytes, mode) = try contents(of: path, files)
    return try check(
      bytes, mode: mode, name: path, directory: directory(of: path), environment: environment, files: files)
  }

  /// - Returns: the file's contents, and its permission bits.
  private static func contents(
    of path: String, _ files: FileAccess
  ) throws(ConfigurationError) -> (bytes: [UInt8], mode: UInt32) {
    let (problem, remedy): (String, String)
    var cause = ConfigurationDiagnostic.Cause.contents
    switch files.read(path, Document.sizeLimit) {
    case .contents(let bytes, let mode): return (bytes, mode)
    case .missing where path.isEmpty:
      (problem, remedy) = ("the name of the file is empty", "name one with --config")
    case .missing:
      (problem, remedy) = ("there is no such file", "name another with --config, or make one with `cordon init`")
    case .notRegular: (problem, remedy) = ("this is not a regular file", "name a file")
    case .tooLong: (problem, remedy) = ("the file is longer than 1 MiB", "name the right file")
    case .unreadable(let reason):
      (problem, remedy) = (
        "the file cannot be read (\(reason))", "run this as root or as the gateway's user, or name another file"
      )
    case .failed(let reason):
      (problem, remedy) = ("the file cannot be read now (\(reason))", FileAccess.failureRemedy)
      cause = .machine
    }
    throw ConfigurationError([
      ConfigurationDiagnostic(file: path, line: 1, column: 1, problem: problem, remedy: remedy, cause: cause)
    ])
  }

  /// Reads the contents of a file.
  /// - Parameters:
  ///   - bytes: the file's contents.
  ///   - name: the name of the file in diagnostics.
  ///   - directory: the absolute path of the folder that relative paths are relative to.
  ///   - environment: the value of an environment variable, for `${NAME}`.
  ///   - files: the access to the files that it names.
  /// - Throws: all problems, in the order of the file.
  package static func parse(
    _ bytes: [UInt8], name: String, directory: String, environment: @escaping @Sendable (String) -> String?,
    files: FileAccess
  ) throws(ConfigurationError) -> Configuration {
    try read(bytes, name: name, directory: directory, environment: environment, files: files).configuration
  }

  /// Reads the contents of a file, as ``parse(_:name:directory:environment:files:)`` does, and explains its
  /// routes.
  /// - Parameter mode: the file's permission bits.
  static func check(
    _ bytes: [UInt8], mode: UInt32 = 0o640, name: String, directory: String,
    environment: @escaping @Sendable (String) -> String?, files: FileAccess
  ) throws(ConfigurationError) -> CheckedConfiguration {
    var (configuration, places, context) = try read(
      bytes, name: name, directory: directory, environment: environment, files: files)
    warnAboutMode(mode, of: name, &context)
    return CheckedConfiguration(configuration, places, context)
  }

  private static func warnAboutMode(_ mode: UInt32, of name: String, _ context: inout DecodingContext) {
    guard mode & 0o002 != 0 else { return }
    context.warnAboutFile(
      "every user of this machine may write this file, and so decide who is let in",
      remedy: "chmod o-w \(ShellWord.quoting(name))")
  }

  /// - Returns: the settings, the indexes of routes and hosts in the document, and the context with source locations.
  private static func read(
    _ bytes: [UInt8], name: String, directory: String, environment: @escaping @Sendable (String) -> String?,
    files: FileAccess, checksMembersFiles: Bool = true
  ) throws(ConfigurationError) -> (configuration: Configuration, places: DocumentPlaces, context: DecodingContext) {
    let document: Document
    do throws(DocumentError) {
      document = try Document(bytes)
    } catch {
      let problem = ConfigurationDiagnostic(
        file: name, line: error.location.line, column: error.location.column, problem: error.problem,
        remedy: error.remedy)
      throw ConfigurationError([problem])
    }
    var reader = DocumentReader(
      context: DecodingContext(document: document, fileName: name, directory: directory, environment: environment))
    reader.read(document)
    var (builder, context) = (reader.builder, reader.context)
    ListenerChecks.check(reader.listeners, into: &builder, &context)
    UpstreamChecks.check(reader.upstreams, into: &builder, &context)
    CombinationChecks.check(&builder, &context)
    GroupChecks.check(reader.groups, into: &builder.configuration, &context)
    let hosts = HostChecks.check(
      reader.hosts, asksForAccess: builder.access.requests, files, into: &builder.configuration, &context)
    let routes = RouteChecks.check(reader.routes, builder.access, into: &builder.configuration, &context)
    ForwardingChecks.check(
      builder.configuration, upstreams: reader.upstreams.map(\.index), routes: routes, &context)
    TemplateChecks.check(&builder, asksForAccess: builder.access.requests, files, &context)
    FileChecks(files: files).check(builder, listeners: reader.listeners, upstreams: reader.upstreams, &context)
    if checksMembersFiles {
      builder.configuration.membersInFiles = FileChecks(files: files).countMembers(
        of: reader.groups, admitting: MailProviders.admittingGroups(of: builder.configuration), &context)
    }
    guard context.problems.isEmpty else { throw ConfigurationError(context.sortedProblems.limited) }
    return (builder.configuration, DocumentPlaces(routes: routes, hosts: hosts), context)
  }

  /// The environment of this process.
  package static let processEnvironment: @Sendable (String) -> String? = { name in
    getenv(name).map { String(cString: $0) }
  }

  /// The absolute path of the folder that a file is in.
  static func directory(of path: String) -> String {
    var components = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: true)
    _ = components.popLast()
    let folder = components.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/")
    if path.utf8.first == UInt8(ascii: "/") { return "/" + folder }
    var buffer = [CChar](repeating: 0, count: 4_096)
    let working = getcwd(&buffer, buffer.count).map { String(cString: $0) } ?? "/"
    return folder.isEmpty ? working : FilePath.resolve(folder, in: working)
  }
}
