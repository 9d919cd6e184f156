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

/// `cordon run`: the gateway itself, until SIGTERM or SIGINT.
struct RunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Runs the gateway.",
    discussion: """
      Serves until SIGTERM or SIGINT, then completes requests in flight; a second signal ends it at once. SIGHUP \
      reloads the configuration, as `cordon reload` does. Logs are written to standard output.

      Exit status: 0 after SIGTERM or SIGINT, 78 if the configuration is invalid (see `cordon check`), 1 if the \
      gateway could not start.
      """)

  @Option(name: .long, help: ArgumentHelp("The configuration file.", valueName: "file"), completion: .file())
  var config: String

  func run() async throws {
    // First of all: a signal that arrives during the start must not end the process.
    let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup)
    let configuration = try Configuration.loaded(from: config)
    // A client that goes away while it is written to is an error of that write, not the end of the process.
    signal(SIGPIPE, SIG_IGN)
    let log = LogControl(configuration.log)
    LoggingSystem.bootstrap { CordonLogHandler(label: $0, control: log) }
    let logger = Logger(label: "cordon")
    do {
      let service = GatewayService(
        settings: try GatewaySettings(configuration), store: try await open(configuration.store, logger),
        logger: logger, log: log, version: CordonCommand.version, reread: reread(config))
      let group = ServiceGroup(
        configuration: .init(
          services: [.init(service: service, successTerminationBehavior: .gracefullyShutdownGroup)], logger: logger))
      let handling = Task { await handle(signals, service, group) }
      defer { handling.cancel() }
      try await group.run()
      LogSink.standard.flush()
    } catch {
      logger.critical("cordon could not start", metadata: ["reason": "\(error)"])
      LogSink.standard.flush()
      complain("cordon: \(error)")
      throw ExitCode.failure
    }
  }
}

/// Opens the store; logs if it has to wait for it.
private func open(_ store: StoreSettings, _ logger: Logger) async throws -> any SessionStore {
  let notice = Task {
    try await Task.sleep(for: .seconds(1))
    logger.notice("waiting for the session store")
  }
  defer { notice.cancel() }
  return try await store.open()
}

/// Reads and checks the file again, as `cordon check` does.
private func reread(_ path: String) -> @Sendable () throws(SettingsError) -> GatewaySettings {
  { () throws(SettingsError) in
    do {
      return try GatewaySettings(try ConfigurationFile.load(path))
    } catch let problems as ConfigurationProblems {
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

extension GatewaySettings {
  /// The settings that a configuration file makes.
  init(_ configuration: Configuration) throws {
    self.init(
      origin: try configuration.publicOrigin, prefix: configuration.pathPrefix, hosts: configuration.hosts,
      workers: configuration.workers, listener: configuration.listener, adminAddress: configuration.adminAddress,
      admin: configuration.admin, upstream: configuration.upstream, upstreams: configuration.upstreams,
      apple: configuration.apple, native: configuration.native, session: configuration.session,
      revalidation: configuration.revalidation, store: configuration.store, identity: configuration.identityHeaders,
      assertion: configuration.assertion, notificationRelay: configuration.notificationRelay,
      access: configuration.access, routes: configuration.routes, groups: configuration.groups,
      pages: configuration.pages, button: configuration.button, log: configuration.log, drain: configuration.shutdown)
  }
}
