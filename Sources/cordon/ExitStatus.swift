/// Exit statuses of the command (sysexits.h).
enum ExitStatus {
  /// EX_CONFIG: the configuration is not in order.
  static let configuration: Int32 = 78
  /// EX_CANTCREAT: a file cannot be written.
  static let cannotCreate: Int32 = 73
}
