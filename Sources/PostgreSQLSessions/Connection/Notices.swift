import CPostgreSQL

/// Unsolicited messages of the server on a connection. Keeps an error, with which the server ends the connection, and
/// drops all others, which libpq would print.
final class Notices {
  private(set) var haveFarewell = false

  /// Registers this object, which must outlive the connection, as the receiver of its notices.
  func receive(from connection: OpaquePointer) {
    _ = pq.PQsetNoticeReceiver(
      connection,
      { context, notice in
        guard let context, let notice, Notices.isError(notice) else { return }
        Unmanaged<Notices>.fromOpaque(context).takeUnretainedValue().haveFarewell = true
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// By the class of its state (PostgreSQL's manual, appendix A): notices and warnings are of 00, 01 and 02.
  private static func isError(_ notice: OpaquePointer) -> Bool {
    guard let text = pq.PQresultErrorField(notice, Int32(UInt8(ascii: "C"))) else { return false }
    let state = SQLState(String(cString: text))
    return !["00", "01", "02"].contains { state.isOfClass($0) }
  }
}
