import CPostgreSQL

/// Unsolicited messages of the server on a connection. Remembers an error, by which it ends the connection;
/// anything else is dropped, where libpq would print it.
final class Notices {
  private(set) var haveFarewell = false

  /// Has libpq hand the notices of a connection to this object, which must outlive it.
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
