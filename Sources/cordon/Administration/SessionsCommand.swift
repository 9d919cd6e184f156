import ArgumentParser
import Gateway
import WebFormats

/// `cordon sessions`: ends sessions at a running gateway.
struct SessionsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sessions", abstract: "Ends sessions, at a running gateway.", subcommands: [End.self])

  /// The arguments for the parser: a session ID may begin with a hyphen, as one in sixty-four does, and must not be
  /// parsed as an option. It is moved to the end, after the `--` that ends the options.
  static func separatingHandle(in arguments: [String]) -> [String] {
    guard arguments.starts(with: ["sessions", "end"]), !arguments.contains("--"),
      let place = arguments.firstIndex(where: isHandleLikeOption)
    else { return arguments }
    var separated = arguments
    let handle = separated.remove(at: place)
    return separated + ["--", handle]
  }

  /// 22 characters of base64url, the first of them a hyphen: no option is so long.
  private static func isHandleLikeOption(_ argument: String) -> Bool {
    argument.utf8.count == 22 && argument.utf8.first == UInt8(ascii: "-")
      && argument.utf8.allSatisfy { $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
  }

  /// `cordon sessions end`.
  struct End: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "end",
      abstract: "Ends a session, or all sessions of a user, and closes their streams.")

    @OptionGroup var gateway: RunningGatewayOptions

    @Argument(help: "The session ID, from `cordon accounts sessions` or the audit log.")
    var handle: String?

    @Option(help: ArgumentHelp("End all sessions of this user instead.", valueName: "sub"))
    var all: String?

    func validate() throws {
      guard (handle == nil) != (all == nil) else { throw ValidationError("Give a session ID, or --all SUB.") }
    }

    func run() async throws {
      try await gateway.perform("sessions end", acceptsInvalidFile: true) { client in
        if let all { return try await client.endSessions(of: all) }
        return try await client.endSession(handle ?? "")
      } tell: { report in
        if gateway.json { return try printJSON(report) }
        print("\(report.ended) session\(report.ended == 1 ? "" : "s") ended.")
      }
    }
  }
}
