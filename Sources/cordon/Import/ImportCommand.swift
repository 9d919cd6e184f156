import ArgumentParser
import ConfigurationFile
import WebFormats

/// `cordon import`: the configuration of oauth2-proxy, translated as far as that goes.
struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Translates an oauth2-proxy configuration.",
    discussion: """
      Reads oauth2-proxy's file, environment (OAUTH2_PROXY_…) and arguments, any of them or all: arguments take \
      precedence over the environment, and the environment over the file. Prints a gateway.conf with the translated \
      options, and reports on standard error which options are not needed, which need your attention, and which \
      addresses change. Check the result with `cordon check`.

      Exit status: 0 if everything could be read, even if options are left; 65 if the file is not TOML, or the \
      environment or the arguments cannot be read; 73 or 74 if the result could not be written: then do not use it.
      """)

  @Argument(help: ArgumentHelp("The file: oauth2-proxy.cfg.", valueName: "file"), completion: .file())
  var file: String?

  @Option(
    name: .long, help: ArgumentHelp("A file of environment variables, one NAME=value on each line.", valueName: "file"),
    completion: .file())
  var env: String?

  @Option(
    name: .long, parsing: .unconditional,
    help: ArgumentHelp(
      "Arguments of oauth2-proxy, in one word: --args \"--email-domain=… --upstream=…\".", valueName: "text"))
  var args: String?

  @Option(
    name: .long, help: ArgumentHelp("Write to a new file instead of standard output.", valueName: "file"),
    completion: .file())
  var output: String?

  func validate() throws {
    guard file != nil || env != nil || args != nil else {
      throw ValidationError("name a file, or give --env FILE or --args \"…\"")
    }
  }

  func run() throws {
    let translation = OAuth2ProxyTranslation(of: try settings(), includesFile: file != nil, read: readBeside)
    if let output {
      do throws(NewFileError) {
        try NewFile.create(output, Array(translation.result.configuration.text.utf8))
      } catch {
        printError("cordon import: \(error.message)")
        throw ExitCode(ExitStatus.cannotCreate)
      }
    } else {
      print(translation.result.configuration.text, terminator: "")
    }
    for note in translation.result.notes { printError(printable(note.text)) }
    printError("\n" + translation.result.summary + "\n")
    for line in translation.addresses.lines { printError(printable(line)) }
  }

  private func settings() throws -> ForeignSettings {
    var sources: [[ForeignSettings.Setting]] = []
    do {
      if let file { sources.append(try fileSettings(file)) }
      if let env { sources.append(try OAuth2ProxySources.environment(try bytes(of: env), name: env)) }
      if let args { sources.append(try OAuth2ProxySources.arguments(args)) }
    } catch let problems as ConfigurationError {
      throw refused("\(problems)")
    } catch let error as OAuth2ProxySources.SyntaxError {
      throw refused(printable(error.message))
    }
    return OAuth2ProxySources.merged(sources)
  }

  private func fileSettings(_ file: String) throws -> [ForeignSettings.Setting] {
    let contents = try bytes(of: file)
    let settings: [ForeignSettings.Setting]
    do throws(ConfigurationError) {
      settings = try ForeignSettings(contents, name: file).settings
    } catch {
      guard let format = ForeignFormat(contents, name: file) else { throw error }
      throw refused("\(file): \(format.explanation)")
    }
    if Self.isOwnConfiguration(settings) {
      let command = "cordon check --config \(ShellWord.quoting(file))"
      throw refused(
        "\(file): this is Cordon's own configuration, and needs no translation: `\(command)` checks it; name the file "
          + "of oauth2-proxy's --config, if you have one")
    }
    return settings
  }

  /// Whether the settings of a file are Cordon's: oauth2-proxy has neither of these keys, and no table at all.
  private static func isOwnConfiguration(_ settings: [ForeignSettings.Setting]) -> Bool {
    settings.contains { $0.name.utf8.elementsEqual("public_url".utf8) }
      && settings.contains { $0.name.utf8.elementsEqual("apple".utf8) && $0.value == .other }
  }

  private func bytes(of file: String) throws -> [UInt8] {
    switch FileAccess.system.read(file, 1 << 20) {
    case .contents(let contents, _): contents
    case .missing where file.isEmpty: throw refused("the name of the file is empty; name the one of oauth2-proxy")
    case .missing: throw refused("\(file): there is no such file; name the one of oauth2-proxy")
    case .notRegular: throw refused("\(file): this is not a regular file; name the one of oauth2-proxy")
    case .tooLong: throw refused("\(file): the file is longer than 1 MiB")
    case .unreadable(let reason), .failed(let reason): throw refused("\(file): \(reason)")
    }
  }

  /// Reads a file that the configuration names: relative to the working directory, as oauth2-proxy does, or else to the
  /// folder of the configuration.
  private func readBeside(_ path: String) -> [UInt8]? {
    let configuration = file ?? env ?? ""
    let slash = configuration.utf8.lastIndex(of: UInt8(ascii: "/"))
    let folder = slash.map { String(configuration[...$0]) } ?? ""
    for candidate in path.utf8.first == UInt8(ascii: "/") ? [path] : [path, folder + path] {
      if case .contents(let bytes, _) = FileAccess.system.read(candidate, 512 * 1_024) { return bytes }
    }
    return nil
  }

  private func refused(_ message: String) -> ExitCode {
    printError("cordon import: \(message)")
    return ExitCode(ExitStatus.badInput)
  }
}
