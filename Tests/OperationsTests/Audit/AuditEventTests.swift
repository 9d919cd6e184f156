import Foundation
import Testing

@testable import Operations

@Suite("The audit log")
struct AuditEventTests {
  @Test(
    "Each kind of event has its name and its facts",
    arguments: [
      (.signIn(isNewAccount: true), "sign_in new_account=true"),
      (.emailShared(other: "u-2"), "email_shared other=u-2"),
      (.signInFailed(reason: "nonce_mismatch"), "sign_in_failed reason=nonce_mismatch"),
      (.signInFailed(reason: "state_missing", omitted: 3), "sign_in_failed reason=state_missing omitted=3"),
      (.signOut, "sign_out"),
      (.stopUsing(outcome: "deleted"), "stop_using outcome=deleted"),
      (.sessionEnded(reason: "revoked"), "session_ended reason=revoked"),
      (.check(verdict: "good"), "check verdict=good"), (.revocation(outcome: "ok"), "revocation outcome=ok"),
      (
        .notification(type: "consent-revoked", effect: "sessions_ended"),
        "notification type=consent-revoked effect=sessions_ended"
      ),
      (.administration(act: "end_session", by: "token"), "administration act=end_session by=token"),
      (
        .administration(act: "end_session", by: "socket", failed: "no_session"),
        "administration act=end_session by=socket failed=no_session"
      ),
      (.administrationRefused(omitted: 3), "administration act=refused by=nobody omitted=3"),
    ] as [(AuditEvent.Action, String)])
  func actions(action: AuditEvent.Action, expected: String) {
    var line = LogBuffer()
    AuditEvent(time: Timestamp(microseconds: 0), action: action).append(to: &line, as: .text)
    #expect(line.text == "1970-01-01T00:00:00.000Z audit \(expected)\n")
  }

  @Test("The names of the events are as recorded")
  func names() {
    #expect(
      AuditEvent.Name.allCases.map(\.rawValue) == [
        "sign_in", "email_shared", "sign_in_failed", "sign_out", "stop_using", "session_ended", "check",
        "revocation", "notification", "access_requested", "invitation_redeemed", "administration",
      ])
  }

  @Test("Each event is switched by its name", arguments: AuditEvent.Name.allCases)
  func switches(name: AuditEvent.Name) throws {
    let pipe = Pipe()
    let output = LogSink(descriptor: pipe.fileHandleForWriting.fileDescriptor)
    var settings = LogSettings()
    settings.auditEvents = [name]
    let log = AuditLog(settings, output: output)
    let actions: [AuditEvent.Action] = [
      .signIn(isNewAccount: false), .emailShared(other: "x"), .signInFailed(reason: "x"), .signOut,
      .stopUsing(outcome: "x"), .sessionEnded(reason: "x"), .check(verdict: "x"), .revocation(outcome: "x"),
      .notification(type: "x", effect: "x"), .accessRequested, .invitationRedeemed,
      .administration(act: "x", by: "x"),
    ]
    for action in actions { log.record(AuditEvent(time: Timestamp(microseconds: 0), action: action)) }
    output.flush(atMost: patience)
    try pipe.fileHandleForWriting.close()
    let lines = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self).split(separator: "\n")
    #expect(lines.count == 1 && lines.first?.contains("\"event\":\"\(name.rawValue)\"") == true, "\(lines)")
  }

  @Test("An audit event names subject, place and reason in one JSON line, escaped")
  func json() throws {
    let pipe = Pipe()
    let output = LogSink(descriptor: pipe.fileHandleForWriting.fileDescriptor)
    var off = LogSettings()
    off.auditLog = false
    AuditLog(off, output: output).record(AuditEvent(time: Timestamp(microseconds: 0), action: .signOut))
    AuditLog(LogSettings(), output: output).record(
      AuditEvent(
        time: Timestamp(microseconds: 0), action: .signOut, user: "u-1", session: "s-1", peer: "::1\n",
        requestID: "r-1", clientID: "com.example.web"))
    output.flush(atMost: patience)
    try pipe.fileHandleForWriting.close()
    #expect(
      String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        == #"{"time":"1970-01-01T00:00:00.000Z","kind":"audit","event":"sign_out","user":"u-1","session":"s-1","#
        + #""client":"com.example.web","peer":"::1\n","request":"r-1"}"# + "\n")
  }
}
