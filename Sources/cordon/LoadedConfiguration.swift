import ArgumentParser
import ConfigurationFile

extension Configuration {
  /// Reads a file for a command that needs a valid one.
  /// - Parameter checksMembersFiles: false for commands that ask a running gateway, which keeps the members it has.
  /// - Throws: `ExitCode` 78, after every problem was printed on standard error.
  static func loaded(from path: String, checksMembersFiles: Bool = true) throws -> Configuration {
    do throws(ConfigurationError) {
      return try ConfigurationFile.load(path, checksMembersFiles: checksMembersFiles)
    } catch {
      throw refused(error)
    }
  }

  /// The same, with the warnings of `cordon check`.
  static func checked(
    from path: String
  ) throws -> (configuration: Configuration, warnings: [ConfigurationDiagnostic]) {
    do throws(ConfigurationError) {
      let checked = try ConfigurationFile.check(path)
      return (checked.configuration, checked.warnings)
    } catch {
      throw refused(error)
    }
  }

  private static func refused(_ error: ConfigurationError) -> ExitCode {
    printError("\(error)")
    return ExitCode(ExitStatus.configuration)
  }
}
