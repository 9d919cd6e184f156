import ArgumentParser
import ConfigurationFile
import Gateway
import Logging
import Operations
import ServiceLifecycle
import Sessions
import UnixSignals

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// `cordon run`: the gateway itself, until SIGTERM, SIGINT or SIGQUIT.
struct RunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Runs the gateway.",
    discussion: """
      Serves until SIGTERM, SIGINT or SIGQUIT, then completes requests in flight; a second signal ends it at once. \
      SIGHUP reloads the configuration, as `cordon reload` does; SIGUSR1 and SIGUSR2 are ignored. Logs are written to \
      standard output.

      It starts without Apple, and without its session store: public routes are served meanwhile; requests with a \
      session, and sign-in, are answered with 503 until the store is there.

      Exit status: 0 after one of these signals, 78 if the configuration is invalid (see `cordon check`) or the store \
      cannot be opened until somebody changes something (wrong password, missing database, a newer version's schema, \
      no permission, a session secret that it needs), or it may not listen on an address, or an inherited socket \
      matches no listener; 1 if the gateway could not start for another reason, such as a file that the machine cannot \
      read at the moment.
      """)

  @Option(name: .long, help: ArgumentHelp("The configuration file.", valueName: "file"), completion: .file())
  var config = ConfigurationFile.defaultPath

  init() {}

  /// The command as service managers and containers write it: `run --config FILE` or `run --config=FILE`. It is read
  /// without the parser, which takes a fifth of a start. Anything else is the parser's, and so are its errors and help.
  /// - Parameter arguments: those of the process, without its name.
  init?(plain arguments: [String]) {
    guard arguments.first == "run", let option = arguments.dropFirst().first else { return nil }
    let equals = "--config="
    let file: String
    switch arguments.count {
    case 3 where option == "--config": file = arguments[2]
    case 2 where option.utf8.starts(with: equals.utf8):
      file = String(decoding: option.utf8.dropFirst(equals.utf8.count), as: UTF8.self)
    default: return nil
    }
    // The parser takes a hyphen for an option.
    guard !file.isEmpty, file.utf8.first != UInt8(ascii: "-") else { return nil }
    config = file
  }

  func run() async throws {
    // First of all: a signal that arrives during the start must not end the process.
    let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sigquit, .sighup)
    // A client that goes away while it is written to, and a file that may not grow, are errors of that write, not the
    // end of the process; SIGUSR1 is what recipes for logrotate send.
    for ignored in [SIGPIPE, SIGXFSZ, SIGUSR1, SIGUSR2] { signal(ignored, SIG_IGN) }
    try ResourceFloor.checkAddressSpace()
    let (configuration, warnings) = try await Configuration.loadedForStart(from: config)
    let log = LogControl(configuration.log)
    LoggingSystem.bootstrap { CordonLogHandler(label: $0, control: log) }
    let logger = Logger(label: "cordon")
    for warning in warnings {
      logger.warning(
        "configuration warning",
        metadata: [
          "place": "\(warning.file):\(warning.line):\(warning.column)", "problem": "\(warning.problem)",
          "remedy": "\(warning.remedy)",
        ])
    }
    configuration.store.warnAboutRoot(logger)
    do {
      let settings = try GatewaySettings(configuration)
      try ResourceFloor.checkDescriptors(for: settings)
      try ResourceFloor.checkThreads(for: settings)
      let service = GatewayService(
        settings: settings, open: configuration.store.opener(logger),
        logger: logger, log: log, version: CordonCommand.version, reread: reread(config))
      let group = ServiceGroup(
        configuration: .init(
          services: [.init(service: service.member, successTerminationBehavior: .gracefullyShutdownGroup)],
          logger: logger))
      let handling = Task { await handle(signals, service, group) }
      defer { handling.cancel() }
      try await group.run()
      LogSink.standard.flush()
      // libpq must not run while OpenSSL cleans up at the end of the process: nothing is cleaned up.
      if service.hasLeftStoreOpen { _exit(0) }
    } catch let exit as ExitCode {
      throw exit
    } catch {
      logger.critical("cordon could not start", metadata: ["reason": "\(error)"])
      LogSink.standard.flush()
      printError("cordon: \(error)")
      throw isForOperator(error) ? ExitCode(ExitStatus.configuration) : ExitCode.failure
    }
  }
}

/// Whether the same start fails again until somebody changes the configuration, its files, the store, or the addresses
/// that it may listen on.
private func isForOperator(_ error: any Error) -> Bool {
  switch error {
  case let error as StoreError: error.fault == .operator || [.corrupt, .damagedRow].contains(error.code)
  case let error as KeyringError: !error.isTransient
  default: GatewayService.isListeningMistake(error)
  }
}

/// Reads and checks the file again, as `cordon check` does; the gateway itself reads the members files, and keeps those
/// members whose file is broken now.
private func reread(_ path: String) -> @Sendable () throws(SettingsError) -> GatewaySettings {
  { () throws(SettingsError) in
    do {
      return try GatewaySettings(try ConfigurationFile.load(path, checksMembersFiles: false))
    } catch let problems as ConfigurationError {
      throw SettingsError(problems.problems.map(\.description))
    } catch {
      throw SettingsError(["\(path):1:1: \(error)"])
    }
  }
}

/// Handles signals, until cancelled.
private func handle(_ signals: UnixSignalsSequence, _ service: GatewayService, _ group: ServiceGroup) async {
  var isStopping = false
  for await signal in signals {
    switch signal {
    // In a task of its own, so that a reload can still be stopped.
    case .sighup: Task { await service.reload() }
    case _ where isStopping: service.forceClose()
    default:
      isStopping = true
      await group.triggerGracefulShutdown()
    }
  }
}
