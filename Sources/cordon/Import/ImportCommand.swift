import ArgumentParser
import ConfigurationFile

/// `cordon import`: the configuration of oauth2-proxy, translated as far as that goes.
struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Translates an oauth2-proxy configuration.",
    discussion: """
      Prints a gateway.conf with the translated options, and reports on standard error, with line numbers, which \
      options are not needed and which need your attention. Add flags and OAUTH2_PROXY_… environment variables to the \
      file first. Check the result with `cordon check`.

      Exit status: 0 if the file could be read, even if options are left; 65 if it is not TOML.
      """)

  @Argument(help: ArgumentHelp("The file: oauth2-proxy.cfg.", valueName: "file"), completion: .file())
  var file: String

  @Option(
    name: .long, help: ArgumentHelp("Write to a new file instead of standard output.", valueName: "file"),
    completion: .file())
  var output: String?

  func run() throws {
    let bytes: [UInt8]
    switch FileAccess.system.read(file, 1 << 20) {
    case .contents(let contents, _): bytes = contents
    case .missing: throw refused("\(file): there is no such file")
    case .notRegular: throw refused("\(file): this is no regular file")
    case .tooLong: throw refused("\(file): the file is longer than 1 MiB")
    case .unreadable(let reason): throw refused("\(file): \(reason)")
    }
    let translation: OAuth2ProxyTranslation
    do throws(ConfigurationProblems) {
      translation = OAuth2ProxyTranslation(of: try ForeignSettings(bytes, name: file), read: readBeside)
    } catch {
      throw refused("\(error)")
    }
    if let output {
      do throws(KeygenCommand.NewFileError) {
        try KeygenCommand.create(output, Array(translation.configuration.text.utf8))
      } catch {
        complain("cordon import: \(error.message)")
        throw ExitCode(ExitStatus.cannotCreate)
      }
    } else {
      print(translation.configuration.text, terminator: "")
    }
    for note in translation.notes { complain(printable("\(file):\(note.line): \(note.text)")) }
    complain("\n" + translation.summary)
  }

  /// Reads a file that the configuration names: relative to the working directory, as oauth2-proxy does, or else to the
  /// folder of the configuration.
  private func readBeside(_ path: String) -> [UInt8]? {
    let slash = file.utf8.lastIndex(of: UInt8(ascii: "/"))
    let folder = slash.map { String(file[...$0]) } ?? ""
    for candidate in path.utf8.first == UInt8(ascii: "/") ? [path] : [path, folder + path] {
      if case .contents(let bytes, _) = FileAccess.system.read(candidate, 512 * 1_024) { return bytes }
    }
    return nil
  }

  private func refused(_ message: String) -> ExitCode {
    complain("cordon import: \(message)")
    return ExitCode(ExitStatus.badInput)
  }
}
