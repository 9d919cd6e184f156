/// How a simulator is set up.
public struct SimulatorConfiguration: Sendable {
  /// The address that it listens on. Default: 127.0.0.1, so that nobody else can reach it.
  public var host: String
  /// The port; 0 for any that is free. Default: 0.
  public var port: Int
  /// Who is registered. Default: nobody.
  public var clients: [SimulatedClient]
  /// Who has an account. Default: the built-in users.
  public var users: [SimulatedUser]
  /// What of Apple's behaviour is shown.
  public var switches: SimulatorSwitches
  /// Where notifications about users are posted. Default: nowhere.
  public var notificationURL: String?

  public init(
    host: String = "127.0.0.1", port: Int = 0, clients: [SimulatedClient] = [],
    users: [SimulatedUser] = SimulatedUser.builtIn, switches: SimulatorSwitches = SimulatorSwitches()
  ) {
    self.host = host
    self.port = port
    self.clients = clients
    self.users = users
    self.switches = switches
  }
}
