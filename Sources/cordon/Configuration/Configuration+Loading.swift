import ArgumentParser
import ConfigurationFile

extension Configuration {
  /// Reads a file for a command that needs a valid one.
  /// - Throws: `ExitCode` 78, or 1 if only the machine keeps the files from being read, after every problem was printed
  ///   on standard error.
  static func loaded(from path: String) throws -> Configuration {
    do throws(ConfigurationError) {
      return try ConfigurationFile.load(path)
    } catch {
      throw refused(error)
    }
  }

  /// The same, for a start, with warnings for its log. A certificate and a key that do not belong together are read
  /// once more after two seconds: the tool that renews them may have replaced one of both.
  static func loadedForStart(
    from path: String
  ) async throws -> (configuration: Configuration, warnings: [ConfigurationDiagnostic]) {
    do throws(ConfigurationError) {
      return try ConfigurationFile.loadWithWarnings(path)
    } catch {
      guard error.isMismatch else { throw refused(error) }
    }
    try await Task.sleep(for: .seconds(2))
    do throws(ConfigurationError) { return try ConfigurationFile.loadWithWarnings(path) } catch { throw refused(error) }
  }

  /// The same, with the warnings of `cordon check`.
  static func checked(
    from path: String, files: FileAccess = .system
  ) throws -> (configuration: Configuration, warnings: [ConfigurationDiagnostic]) {
    do throws(ConfigurationError) {
      let checked = try ConfigurationFile.check(path, files: files)
      return (checked.configuration, checked.warnings)
    } catch {
      throw refused(error)
    }
  }

  private static func refused(_ error: ConfigurationError) -> ExitCode {
    printError("\(error)")
    return error.exit
  }
}

extension ConfigurationError {
  /// The exit status of a command that needs the file: 78 if the operator has to change something, 1 if the same files
  /// may be read later, so that a service manager tries again.
  var exit: ExitCode { isTransient ? .failure : ExitCode(ExitStatus.configuration) }
}
