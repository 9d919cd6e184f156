import ArgumentParser
import ConfigurationFile
import IdentityAssertion
import Sessions

/// The questions and answers so far, and the configuration that they make. An answer is judged by the same reader that
/// reads the file afterwards: problems on its line are reported, and the question is asked again.
struct Interview {
  static let secretName = "session.key"

  private(set) var secret: [UInt8]
  var configuration = ConfigurationText(
    head: """
      Made by `cordon init`. Every key: man gateway.conf, or cordon reference.
      After a change: cordon check --config FILE, then cordon reload --config FILE.
      """)
  /// The current path of the key file.
  private(set) var keySource = ""
  /// The key that is made for the simulator; nil if the key is Apple's.
  private(set) var madeKey: [UInt8]?
  let fileName: String
  /// The options that are named together, as soon as one of them is missed.
  var missingOptions: [String] = []

  let terminal: Terminal?
  private let folder: ConfigurationFolder

  init(terminal: Terminal?, folder: ConfigurationFolder, output: String) {
    self.terminal = terminal
    self.folder = folder
    fileName = ConfigurationFolder.split(output).name
    secret = SessionSecret.newFileContent()
  }

  /// Answers the questions about Apple with the simulator's client, and makes a key unless there is one.
  mutating func useSimulator() throws {
    let key = "\(folder.path)/\(LocalApple.keyFile)"
    if case .missing = FileAccess.system.read(key, 64 << 10) { madeKey = AssertionKey.newFileContent() }
    configuration.set("apple.base_url", .text(LocalApple.origin), comment: "apple-simulator. Not for Apple.")
    try ask(.clientID, given: LocalApple.clientID)
    try ask(.teamID, given: LocalApple.teamID)
    try ask(.keyFile, given: key)
    try ask(.keyID(in: keySource), given: LocalApple.keyID)
  }

  /// Names the secret that will be made.
  mutating func nameSecret() { configuration.set("session.secret_files", .texts([Self.secretName])) }

  /// Puts the admin listener on a Unix socket, which admits its owner without a token: `cordon reload` and the other
  /// commands work at once. If no socket can have the path, it stays on the default port.
  mutating func nameAdminSocket() {
    let key = "admin.address"
    let path = folder.isSystemWide ? "/run/cordon/admin.sock" : "\(folder.path)/admin.sock"
    configuration.set(
      key, .text("unix:\(path)"), comment: "For probes and Prometheus: \"127.0.0.1:9901\", and token_file.")
    if !problems(with: [key]).isEmpty { configuration.remove(key) }
  }

  /// Asks for a key, unless it was given, until the answer is in order.
  /// - Throws: `ExitCode`, where nobody can be asked.
  mutating func ask(_ question: Question, given: String?) throws {
    var given = given
    if terminal != nil, given == nil { terminal?.say("\n\(question.explanation)") }
    while true {
      let answer = try given ?? answer(to: question)
      // An empty list of domains would admit everybody.
      if question.key == Question.domains.key, Self.words(answer).isEmpty {
        try tell(["no domain is named; give one, as in example.com"], question)
        given = nil
        continue
      }
      set(question.key, answer)
      let problems = problems(with: [question.key])
      guard !problems.isEmpty else { return }
      try tell(problems, question)
      given = nil
    }
  }

  /// Asks for keys whose answers can contradict each other. If they do, all of them are asked again: any may be wrong.
  mutating func askTogether(_ questions: [(question: Question, given: String?)]) throws {
    var given = questions.map(\.given)
    while true {
      for (index, entry) in questions.enumerated() { try ask(entry.question, given: given[index]) }
      let problems = problems(with: questions.map(\.question.key))
      guard let first = problems.first else { return }
      let place = questions.firstIndex { configuration.line(of: $0.question.key) == first.line } ?? 0
      try tell(problems, questions[place].question)
      given = questions.map { _ in nil }
      // A new answer must not be refused because of the former one to another question.
      for entry in questions { configuration.remove(entry.question.key) }
    }
  }

  /// Reports what is wrong with the answers as a whole, so that nothing is written then.
  /// - Throws: `ExitCode`.
  func checkAll() throws {
    let problems = everyProblem
    for problem in problems { printError("cordon init: " + printable("\(problem.problem); \(problem.remedy)")) }
    guard problems.isEmpty else { throw ExitCode(ExitStatus.configuration) }
  }

  /// Asks for the certificate and its key, which are checked together. Without a certificate neither is set.
  mutating func askForCertificate(_ certificate: String?, _ key: String?) throws {
    var (certificate, key) = (certificate, key)
    if terminal != nil, certificate == nil { terminal?.say("\n\(Question.certificate.explanation)") }
    while true {
      let chain = try certificate ?? answer(to: .certificate)
      guard !chain.isEmpty else {
        configuration.remove(Question.certificate.key)
        configuration.remove(Question.certificateKey.key)
        noteProxy()
        return
      }
      set(Question.certificate.key, folder.absolute(chain))
      set(Question.certificateKey.key, folder.absolute(try key ?? answer(to: .certificateKey)))
      let problems = problems(with: [Question.certificate.key, Question.certificateKey.key])
      guard !problems.isEmpty else { return }
      try tell(problems, .certificate)
      (certificate, key) = (nil, nil)
    }
  }

  /// Notes which key a proxy in front needs. Without a certificate there must be one, but its address is not asked for.
  /// One that connects through a Unix socket has none, and is never a trusted proxy.
  private mutating func noteProxy() {
    guard configuration.text(of: Question.publicURL.key)?.hasPrefix("https:") == true,
      let address = configuration.text(of: Question.listen.key), !address.hasPrefix("unix:")
    else { return }
    configuration.set(
      Question.listen.key, .text(address),
      comment: """
        Clear text, for a proxy that terminates TLS. List its address, which all users have otherwise; it must overwrite
        X-Forwarded-For ("nginx in front of the gateway" in OPERATING.md):
        trusted_proxies = ["127.0.0.1/32"]
        """)
  }

  func answer(to question: Question) throws -> String {
    if let terminal { return try terminal.ask(question.prompt, default: question.fallback) }
    if let fallback = question.fallback { return fallback }
    let options = missingOptions.isEmpty ? [question.option] : missingOptions
    printError("cordon init: without a terminal, give these options: \(options.joined(separator: ", "))")
    throw ExitCode.validationFailure
  }

  private mutating func set(_ key: String, _ answer: String) {
    if key == Question.keyFile.key {
      keySource = folder.absolute(answer)
      configuration.set(key, .text(keySource))
    } else if key == Question.domains.key {
      configuration.set(key, .texts(Self.words(answer)))
    } else {
      configuration.set(key, .text(answer))
    }
  }

  /// The problems of the answers at these keys. Keys that were not asked for yet are ignored.
  private func problems(with keys: [String]) -> [ConfigurationDiagnostic] {
    let lines = Set(keys.compactMap(configuration.line(of:)))
    return everyProblem.filter { lines.contains($0.line) }
  }

  /// The problems of the configuration as it is now, keys that are missing included.
  private var everyProblem: [ConfigurationDiagnostic] {
    do throws(ConfigurationError) {
      _ = try ConfigurationFile.parse(
        Array(configuration.text.utf8), name: fileName, directory: folder.path,
        environment: ConfigurationFile.processEnvironment, files: files)
      return []
    } catch {
      return error.problems
    }
  }

  /// The files as they will be: the secret is not written yet, and the key's copy is nobody else's.
  private var files: FileAccess {
    let (secretPath, secret, keySource) = ("\(folder.path)/\(Self.secretName)", secret, keySource)
    let madeKey = madeKey
    return FileAccess(
      read: { path, limit in
        if path == secretPath { return .contents(secret, mode: 0o600) }
        if path == keySource, let madeKey { return .contents(madeKey, mode: 0o600) }
        let outcome = FileAccess.system.read(path, limit)
        if path == keySource, case .contents(let bytes, _) = outcome { return .contents(bytes, mode: 0o600) }
        return outcome
      }, list: FileAccess.system.list, readCertificate: FileAccess.system.readCertificate)
  }

  private func tell(_ problems: [ConfigurationDiagnostic], _ question: Question) throws {
    try tell(problems.map { printable("\($0.problem); \($0.remedy)") }, question)
  }

  /// Reports the problems of an answer.
  /// - Throws: `ExitCode`, where nobody can be asked again.
  func tell(_ texts: [String], _ question: Question) throws {
    if let terminal {
      let lines = TerminalLines()
      return terminal.say(texts.map { "  No: \(lines.fitted($0, indentation: 6))" }.joined(separator: "\n"))
    }
    for text in texts { printError("cordon init: \(question.option): \(text)") }
    throw ExitCode(ExitStatus.configuration)
  }
}
