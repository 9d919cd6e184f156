import ArgumentParser
import ConfigurationFile
import Gateway
import Logging
import Operations
import ServiceLifecycle
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
      Serves until SIGTERM or SIGINT, then finishes what is in flight. Logs go to standard output.

      Exit status: 0 after a stop that was asked for, 78 if the configuration is not in order (as `cordon check` tells \
      it), 1 if the gateway could not start.
      """)

  @Option(name: .long, help: ArgumentHelp("The configuration file.", valueName: "file"))
  var config: String

  func run() async throws {
    let configuration = try Configuration.loaded(from: config)
    // A client that goes away while it is written to is an error of that write, not the end of the process.
    signal(SIGPIPE, SIG_IGN)
    let log = configuration.log
    LoggingSystem.bootstrap { CordonLogHandler(label: $0, settings: log) }
    let logger = Logger(label: "cordon")
    do {
      let service = GatewayService(
        settings: try GatewaySettings(configuration), store: try configuration.store.open(), logger: logger,
        version: CordonCommand.version)
      let group = ServiceGroup(
        configuration: .init(
          services: [.init(service: service, successTerminationBehavior: .gracefullyShutdownGroup)],
          gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
      try await group.run()
      LineOutput.standard.flush()
    } catch {
      logger.critical("cordon could not start", metadata: ["reason": "\(error)"])
      LineOutput.standard.flush()
      complain("cordon: \(error)")
      throw ExitCode.failure
    }
  }
}

extension GatewaySettings {
  /// What the configuration means to the gateway.
  init(_ configuration: Configuration) throws {
    self.init(
      origin: try configuration.publicOrigin, prefix: configuration.pathPrefix, hosts: configuration.hosts,
      workers: configuration.workers, listener: configuration.listener, adminAddress: configuration.adminAddress,
      admin: configuration.admin, upstream: configuration.upstream, upstreams: configuration.upstreams,
      apple: configuration.apple,
      session: configuration.session, revalidation: configuration.revalidation, store: configuration.store,
      identity: configuration.identityHeaders, routes: configuration.routes, pages: configuration.pages,
      log: configuration.log)
  }
}
