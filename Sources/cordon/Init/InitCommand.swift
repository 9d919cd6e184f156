import AccessPolicy
import ArgumentParser
import ConfigurationFile
import WebFormats

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// `cordon init`: the first configuration, by asking.
struct InitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Asks for the settings and writes a first configuration.",
    discussion: """
      Asks for the required settings, validates each answer, copies Apple's key and a new session secret next to the \
      file with the right permissions, and checks the result as `cordon check` does. Settings given by options are not \
      asked for. Without a terminal, or with --no-input, nothing is asked. An existing file is replaced only with your \
      consent, and kept under another name.

      With --simulator the configuration is for `apple-simulator`, a local Apple for trying out and for tests: nothing \
      is asked, the identifiers and addresses are the simulator's defaults, and a key is made. Everybody has access, \
      unless --access says otherwise.

      Exit status: 0 if a valid configuration was written, 64 if an answer is missing, 73 if a file cannot be written, \
      78 if an answer is invalid, 1 if it was interrupted: then nothing was written.
      """)

  @Option(name: .long, help: ArgumentHelp("The file to write.", valueName: "file"), completion: .file())
  var output = "gateway.conf"

  @Option(name: .customLong("public-url"), help: ArgumentHelp("The public origin.", valueName: "url"))
  var publicURL: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The application: http://, https://, or unix:/path, which costs less where it is on the same machine.",
      valueName: "url"))
  var upstream: String?

  @Option(name: .long, help: ArgumentHelp("The listener's address.", valueName: "address"))
  var listen: String?

  @Option(
    name: .long, help: ArgumentHelp("The listener's certificate chain; \"\" for none.", valueName: "file"),
    completion: .file())
  var tlsCertificate: String?

  @Option(name: .long, help: ArgumentHelp("The certificate's key.", valueName: "file"), completion: .file())
  var tlsKey: String?

  @Option(name: .customLong("client-id"), help: ArgumentHelp("The Services ID.", valueName: "identifier"))
  var clientID: String?

  @Option(name: .customLong("team-id"), help: ArgumentHelp("The Team ID.", valueName: "identifier"))
  var teamID: String?

  @Option(name: .long, help: ArgumentHelp("The key's file as Apple gave it.", valueName: "file"), completion: .file())
  var keyFile: String?

  @Option(
    name: .customLong("key-id"),
    help: ArgumentHelp("The key's identifier; it is in the name of the key's file.", valueName: "identifier"))
  var keyID: String?

  @Option(
    name: .customLong("access"),
    help: ArgumentHelp(
      "Who has access: requests (users who ask for it, once admitted), listed (--members), domains (--domains), "
        + "everybody. Default: listed or domains with one of these options, otherwise requests.",
      valueName: "choice"))
  var accessChoice: AccessChoice?

  @Option(
    name: .long, help: ArgumentHelp("The only users with access: addresses and subjects.", valueName: "list"))
  var members: String?

  @Option(
    name: .long, help: ArgumentHelp("The e-mail domains of the users with access.", valueName: "list"))
  var domains: String?

  @Option(name: .long, help: ArgumentHelp("The store of accounts and sessions.", valueName: "url"))
  var store: String?

  @Flag(name: .long, help: "Write a configuration for apple-simulator, without Apple.")
  var simulator = false

  @Flag(name: .long, help: "Do not ask questions.")
  var noInput = false

  @Flag(name: .long, help: "Replace an existing file without asking.")
  var force = false

  func validate() throws {
    if members != nil, accessChoice ?? .listed != .listed {
      throw ValidationError("--members goes with --access listed.")
    }
    if domains != nil, accessChoice ?? .domains != .domains {
      throw ValidationError("--domains goes with --access domains.")
    }
    if members != nil, domains != nil { throw ValidationError("Give --members or --domains, not both.") }
    if simulator, [clientID, teamID, keyFile, keyID].contains(where: { $0 != nil }) {
      throw ValidationError("--simulator has its own --client-id, --team-id, --key-id and --key-file.")
    }
  }

  func run() throws {
    // Before its folder is made.
    guard !ConfigurationFolder.split(output).name.isEmpty else { throw refusedOutput() }
    let terminal = isatty(STDIN_FILENO) == 1 && !noInput ? Terminal() : nil
    let folder = try reportingErrors { () throws(ConfigurationFolderError) in try ConfigurationFolder(of: output) }
    try confirmReplacement(terminal)
    if !simulator { welcome(terminal) }

    var interview = Interview(terminal: simulator ? nil : terminal, folder: folder, output: output)
    if simulator { try answerForSimulator(&interview, folder) } else { try answer(&interview, folder) }
    try interview.checkAll()

    terminal?.say("")
    try reportingErrors { () throws(ConfigurationFolderError) in try Self.writeFiles(of: &interview, in: folder) }
    for note in folder.notes { print(note) }
    print("")
    let (configuration, warnings) = try Configuration.checked(from: output, files: .systemWithStore)
    TerminalLines().printTable(configuration.summary)
    if !warnings.isEmpty { print("") }
    for warning in warnings { print(warning) }
    printNextSteps(configuration, folder)
  }

  /// Writes the key, the secret and the configuration.
  private static func writeFiles(
    of interview: inout Interview, in folder: ConfigurationFolder
  ) throws(ConfigurationFolderError) {
    let source = interview.keySource
    if let made = interview.madeKey { try folder.placeMadeKey(named: LocalApple.keyFile, made) }
    interview.configuration.set("apple.private_key_file", .text(try folder.placeKey(from: source)))
    try folder.placeSecret(named: Interview.secretName, interview.secret)
    try folder.writeConfiguration(named: interview.fileName, interview.configuration.text)
  }

  private func printNextSteps(_ configuration: Configuration, _ folder: ConfigurationFolder) {
    let file = ShellWord.quoting(output)
    let first = simulator ? "Start the simulated Apple:" : "The Services ID must list this return URL, exactly:"
    print(
      """

      The configuration is valid. \(first)

        \(simulator ? LocalApple.command(configuration, folder) : configuration.redirectURI)

      Then:

      \(Self.nextSteps(file, isSystemWide: folder.isSystemWide, configuration))
      """)
    if configuration.access.requests {
      print(
        """

        Nobody has access yet. Users who sign in can ask for it, and get a code.
        To admit one:

          cordon requests list --config \(file)
          cordon requests admit CODE --group \(AccessChoice.group) --config \(file)
        """)
    }
  }

  /// The commands that follow. In the folders of the service nothing is started as root: it creates files of its own.
  /// - Parameter file: the configuration, as a word of a command.
  private static func nextSteps(_ file: String, isSystemWide: Bool, _ configuration: Configuration) -> String {
    guard isSystemWide else {
      return """
          cordon doctor --config \(file)     tests everything that the gateway needs
          cordon run --config \(file)        runs the gateway
        """
    }
    // The service may not open such a port itself.
    let start =
      configuration.privilegedAddress.map {
        """
          systemctl stop cordon
          systemctl enable --now cordon.socket
          systemctl start cordon

        The socket unit opens the port: its ListenStream= must be \($0), see systemctl edit cordon.socket.
        """
      } ?? "  systemctl enable --now cordon"
    return """
        runuser -u cordon -- cordon doctor --config \(file)
      \(start)
      """
  }

  private func welcome(_ terminal: Terminal?) {
    terminal?.say(
      """
      Cordon puts Sign in with Apple in front of your application. A few questions:
      Enter takes what stands in [brackets], Ctrl-C leaves everything as it is.
      The steps on Apple's site are in Documentation/QUICK-START-APPLE.md.
      """)
  }

  /// Takes what options do not say from the simulator's defaults.
  private func answerForSimulator(_ interview: inout Interview, _ folder: ConfigurationFolder) throws {
    let address = publicURL ?? LocalApple.publicURL(of: listen)
    // The first key of the file. Whether it can be an http: address is decided by that of Apple.
    interview.configuration.set(Question.publicURL.key, .text(address))
    try interview.useSimulator()
    try interview.ask(.publicURL, given: address)
    try interview.askTogether([(.upstream, upstream), (.listen, listen ?? LocalApple.listen(at: publicURL))])
    try interview.askForCertificate(tlsCertificate ?? "", tlsKey)
    interview.nameSecret()
    interview.nameAdminSocket()
    try interview.askForAccess(
      accessChoice ?? (members == nil && domains == nil ? .everybody : nil), members: members, domains: domains)
    try interview.ask(.store(in: folder), given: store)
  }

  /// The options without which something would have to be asked.
  private var missingOptions: [String] {
    var questions: [(Question, String?)] = [
      (.publicURL, publicURL), (.clientID, clientID), (.teamID, teamID), (.keyFile, keyFile),
    ]
    if let keyFile { questions.append((.keyID(in: keyFile), keyID)) }
    if let tlsCertificate, !tlsCertificate.isEmpty { questions.append((.certificateKey, tlsKey)) }
    if accessChoice == .listed { questions.append((.members, members)) }
    if accessChoice == .domains { questions.append((.domains, domains)) }
    return questions.filter { $0.1 == nil && $0.0.fallback == nil }.map(\.0.option)
  }

  private func answer(_ interview: inout Interview, _ folder: ConfigurationFolder) throws {
    interview.missingOptions = missingOptions
    try interview.ask(.publicURL, given: publicURL)
    try interview.askTogether([(.upstream, upstream), (.listen, listen)])
    try interview.askForCertificate(tlsCertificate, tlsKey)
    try interview.askTogether([(.clientID, clientID), (.teamID, teamID)])
    try interview.ask(.keyFile, given: keyFile)
    try interview.ask(.keyID(in: interview.keySource), given: keyID)
    interview.nameSecret()
    interview.nameAdminSocket()
    try interview.askForAccess(accessChoice, members: members, domains: domains)
    try interview.ask(.store(in: folder), given: store)
  }

  /// Returns if there is no file yet, or if it may be replaced.
  /// - Throws: `ExitCode`, after the reason was printed.
  private func confirmReplacement(_ terminal: Terminal?) throws {
    var status = stat()
    guard stat(output, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFREG else { throw refusedOutput() }
    if force { return }
    if let terminal {
      let isReplaced = try terminal.confirm("There is a \(printable(output)) already. Replace it? The old one is kept.")
      if isReplaced { return }
      printError("Nothing was written.")
      throw ExitCode.failure
    }
    printError("cordon init: \(output) is there already; --force replaces it and keeps the old one")
    throw ExitCode(ExitStatus.cannotCreate)
  }

  /// Prints that `--output` names no file; answers the error to throw.
  private func refusedOutput() -> ExitCode {
    let problem = output.isEmpty ? "the name of the file is empty" : "\(output) is not a file"
    printError("cordon init: \(problem); name the file to write: --output FILE")
    return ExitCode(ExitStatus.cannotCreate)
  }

  /// Prints the error of a file that could not be written.
  /// - Throws: `ExitCode` 73.
  private func reportingErrors<Result>(_ body: () throws(ConfigurationFolderError) -> Result) throws -> Result {
    do throws(ConfigurationFolderError) { return try body() } catch {
      printError("cordon init: \(error.message)")
      throw ExitCode(ExitStatus.cannotCreate)
    }
  }
}
