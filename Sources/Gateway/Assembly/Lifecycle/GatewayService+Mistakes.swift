internal import DataPlane

extension GatewayService {
  /// Whether an error of ``run()`` is an address that cannot be listened on until somebody changes the configuration,
  /// the socket unit, a file or a permission. An address in use, or not of this machine yet, may become available by
  /// itself.
  package static func isListeningMistake(_ error: any Error) -> Bool {
    switch error {
    case is InheritedSocketError: true
    case let error as ListenerError: error.isLasting
    default: false
    }
  }
}
