/// How a simulator is set up.
package struct SimulatorConfiguration: Sendable {
  /// The address that it listens on. Default: 127.0.0.1, so that nobody else can reach it.
  package var host: String
  /// The port; 0 for any that is free. Default: 0.
  package var port: Int
  /// Who is registered. Default: nobody.
  package var clients: [SimulatedClient]
  /// Who has an account. Default: the built-in users.
  package var users: [SimulatedUser]
  /// What of Apple's behaviour is shown.
  package var switches: SimulatorSwitches
  /// Where notifications about users are posted. Default: nowhere.
  package var notificationURL: String?

  package init(
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
