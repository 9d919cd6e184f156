/// The configuration of a simulator.
package struct SimulatorConfiguration: Sendable {
  /// The address that it listens on. Default: 127.0.0.1, so that other machines cannot reach it.
  package var host: String
  /// The port; 0 for any that is free. Default: 0.
  package var port: Int
  /// The registered clients. Default: none.
  package var clients: [SimulatedClient]
  /// The users with an account. Default: the built-in users.
  package var users: [SimulatedUser]
  /// The simulated behaviours of Apple.
  package var switches: SimulatorSwitches
  /// The address for notifications about users. Default: none.
  package var notificationURL: String?

  /// A simulator on a free port of loopback unless stated otherwise, without notifications.
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
