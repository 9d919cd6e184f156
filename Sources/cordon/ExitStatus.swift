/// Exit statuses of the command (sysexits.h).
enum ExitStatus {
  /// EX_CONFIG: the configuration is invalid.
  static let configuration: Int32 = 78
  /// EX_DATAERR: the input is not what it should be.
  static let badInput: Int32 = 65
  /// EX_CANTCREAT: a file cannot be written.
  static let cannotCreate: Int32 = 73
  /// EX_IOERR: standard output cannot be written.
  static let outputFailed: Int32 = 74
}
