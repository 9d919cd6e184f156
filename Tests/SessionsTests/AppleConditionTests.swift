import Foundation
import Testing

@testable import Sessions

@Suite("The state of Apple for health checks")
struct AppleConditionTests {
  private func message(_ report: AppleCondition.Report) -> String {
    if case .failing(let message) = report { return message }
    return ""
  }

  private let error = AppleCondition.Contact.inconclusive(reason: "Apple answered 503")

  @Test("The state of Apple is unknown before the first call; a single error is no outage")
  func begins() {
    var condition = AppleCondition()
    #expect(condition.report(nil, at: noon) == .unknown)
    condition.note(error, clientID: "web", at: noon)
    #expect(condition.report(nil, at: noon) == .ok)
  }

  @Test("Three errors in a row are reported with the last one's reason, until Apple gives an answer of use")
  func errors() {
    var condition = AppleCondition()
    condition.note(error, clientID: "web", at: noon)
    condition.note(error, clientID: "app", at: noon)
    condition.note(.accepted, clientID: "web", at: noon)
    for _ in 0..<2 { condition.note(error, clientID: "web", at: noon) }
    #expect(condition.report(nil, at: noon) == .ok)
    for _ in 0..<100 { condition.note(error, clientID: "web", at: noon) }
    let said = message(condition.report(.noSuccess(checks: 20), at: noon))
    #expect(said.hasPrefix("Apple answered 503") && said.contains("signed-in users are still served"))
    condition.note(.accepted, clientID: "web", at: noon)
    #expect(condition.report(nil, at: noon) == .ok)
  }

  @Test("Refused credentials are reported with the client and the remedy, until Apple accepts those of the same client")
  func refused() {
    var condition = AppleCondition()
    condition.note(.refused(code: "invalid_client", remedy: "check the key"), clientID: "web", at: noon)
    let said = message(condition.report(.noSuccess(checks: 30), at: noon))
    #expect(said.contains("web (invalid_client)") && said.contains("check the key") && said.contains("cordon doctor"))
    condition.note(.accepted, clientID: "app", at: noon)
    #expect(message(condition.report(nil, at: noon)) == said)
    for _ in 0..<3 { condition.note(error, clientID: "web", at: noon) }
    let later = message(condition.report(nil, at: noon))
    #expect(later == said + "; the latest trouble: Apple answered 503", "the later trouble is not hidden")
    #expect(message(condition.report(nil, at: noon.addingTimeInterval(3_600))) == said, "long ago")
    condition.note(.notSent(reason: "no TLS with the server: expired"), clientID: "web", at: noon)
    #expect(message(condition.report(nil, at: noon)).contains("cannot be reached"), "the refusal may have ended")
    condition.note(error, clientID: "web", at: noon)
    #expect(message(condition.report(nil, at: noon)) == later)
    condition.noteMissingKeys(reason: "Apple answered 500 when asked for its keys", at: noon)
    let last = message(condition.report(nil, at: noon))
    #expect(last == said + "; the latest trouble: Apple answered 500 when asked for its keys")
    condition.noteReachable(clockDifference: 0)
    condition.note(.accepted, clientID: "web", at: noon)
    #expect(condition.report(nil, at: noon) == .ok)
    for number in 0..<100 { condition.note(.refused(code: "x", remedy: ""), clientID: "\(number)", at: noon) }
    for number in 84..<100 { condition.note(.accepted, clientID: "\(number)", at: noon) }
    #expect(condition.report(nil, at: noon) == .ok, "memory of constant size")
  }

  @Test("A clock that is behind is reported until an identity token is accepted, whatever Apple answers besides")
  func clockBehind() {
    var condition = AppleCondition()
    condition.noteIdentityToken(isFromFuture: true, at: noon)
    let said = message(condition.report(nil, at: noon))
    #expect(said.contains("clock is behind") && said.contains("cordon doctor"))
    condition.note(.accepted, clientID: "web", at: noon)
    for _ in 0..<3 { condition.note(error, clientID: "web", at: noon) }
    #expect(
      message(condition.report(.noSuccess(checks: 20), at: noon)) == said + "; the latest trouble: Apple answered 503")
    condition.note(.refused(code: "invalid_client", remedy: "check the key"), clientID: "web", at: noon)
    #expect(message(condition.report(nil, at: noon)).contains("invalid_client"), "both are wrong")
    condition.note(.accepted, clientID: "web", at: noon)
    condition.noteIdentityToken(isFromFuture: false, at: noon)
    #expect(condition.report(nil, at: noon) == .ok)
  }

  @Test("A clock that was behind is compared with Apple's a minute after the last token, until it is right")
  func clockCompared() {
    var condition = AppleCondition()
    func after(_ seconds: Double) -> Date { noon.addingTimeInterval(seconds) }
    condition.noteIdentityToken(isFromFuture: true, at: noon)
    let probes = [59, 60, 119, 120].map { condition.beginProbe(at: after($0)) }
    #expect(probes == [false, true, false, true])
    for difference in [-600, -61, nil] as [TimeInterval?] {
      condition.noteReachable(clockDifference: difference)
      #expect(message(condition.report(nil, at: after(120))).contains("clock is behind"), "\(difference ?? 0)")
    }
    condition.noteReachable(clockDifference: 2)
    #expect(condition.report(nil, at: after(120)) == .unknown)
    #expect(condition.beginProbe(at: after(600)) == false)
  }

  @Test("An unreachable Apple is distinguished from checks of which none succeeds")
  func unreachable() {
    var condition = AppleCondition()
    condition.note(.notSent(reason: "no TLS with the server: expired"), clientID: "web", at: noon)
    let said = message(condition.report(nil, at: noon))
    #expect(said.hasPrefix("Apple cannot be reached: no TLS with the server: expired; "))
    condition.noteProbeFailed(reason: "Apple answered 500", isUnsent: false, at: noon)
    #expect(message(condition.report(nil, at: noon)) == said)
    condition.noteProbeFailed(reason: "no connection to the server: refused", isUnsent: true, at: noon)
    #expect(message(condition.report(nil, at: noon)).contains("reached: no connection to the server: refused; "))
    condition.note(error, clientID: "web", at: noon)
    #expect(message(condition.report(.noSuccess(checks: 20), at: noon)).contains("not one of 20 revalidations"))
  }

  @Test("Keys that are missing three times in a row are reported until a token is verified, whatever Apple answers")
  func missingKeys() {
    var condition = AppleCondition()
    for _ in 0..<2 { condition.noteMissingKeys(reason: "Apple answered 500 when asked for its keys", at: noon) }
    condition.note(.accepted, clientID: "web", at: noon)
    #expect(condition.report(nil, at: noon) == .ok, "two say little")
    condition.noteMissingKeys(reason: "Apple answered 403 when asked for its keys", at: noon)
    condition.note(.accepted, clientID: "web", at: noon)
    let said = message(condition.report(.noSuccess(checks: 20), at: noon.addingTimeInterval(86_400)))
    #expect(said.hasPrefix("Apple answered 403 when asked for its keys") && said.contains("nobody can sign in"))
    condition.noteIdentityToken(isFromFuture: false, at: noon)
    #expect(condition.report(nil, at: noon) == .ok)
  }

  @Test("Missing keys are probed a minute after the last attempt, until a probe gets them")
  func missingKeysProbed() {
    var condition = AppleCondition()
    func after(_ seconds: Double) -> Date { noon.addingTimeInterval(seconds) }
    condition.noteProbeFailed(reason: "time-out", isUnsent: false, at: noon)
    #expect(condition.beginProbe(at: after(600)) == false, "no token has missed them")
    condition.noteMissingKeys(reason: "Apple answered 500", at: noon)
    let probes = [59, 60, 119, 120].map { condition.beginProbe(at: after($0)) }
    #expect(probes == [false, true, false, true])
    for _ in 0..<2 { condition.noteProbeFailed(reason: "time-out", isUnsent: false, at: after(120)) }
    #expect(message(condition.report(nil, at: after(120))).hasPrefix("time-out"))
    condition.noteReachable(clockDifference: 0)
    #expect(condition.report(nil, at: after(120)) == .unknown)
    #expect(condition.beginProbe(at: after(600)) == false)
  }

  @Test("An hour after the last error without another call, the state of Apple is unknown, with what it was")
  func outdated() {
    var condition = AppleCondition()
    for _ in 0..<3 { condition.note(error, clientID: "web", at: noon) }
    #expect(message(condition.report(nil, at: noon.addingTimeInterval(3_599))).hasPrefix("Apple answered 503"))
    let later = noon.addingTimeInterval(3_600)
    guard case .outdated(let said) = condition.report(nil, at: later) else {
      Issue.record("\(condition.report(nil, at: later))")
      return
    }
    #expect(said.hasPrefix("Apple answered 503, an hour or more ago"))
    #expect(message(condition.report(.noSuccess(checks: 20), at: later)).contains("not one of 20"))
    condition.note(error, clientID: "web", at: later)
    #expect(message(condition.report(nil, at: later)).hasPrefix("Apple answered 503"), "the fourth in a row")
  }

  @Test("An Apple that cannot be reached is probed a minute after the last attempt, whatever its credentials are worth")
  func probes() {
    var condition = AppleCondition()
    func after(_ seconds: Double) -> Date { noon.addingTimeInterval(seconds) }
    func probes(at seconds: Double...) -> [Bool] { seconds.map { condition.beginProbe(at: after($0)) } }
    condition.note(.refused(code: "invalid_client", remedy: "check the key"), clientID: "web", at: noon)
    for _ in 0..<3 { condition.note(error, clientID: "web", at: noon) }
    #expect(probes(at: 600) == [false], "Apple answers, if only with errors")
    condition.note(.notSent(reason: "no TLS with the server: expired"), clientID: "web", at: noon)
    #expect(probes(at: 59) == [false])
    condition.note(.notSent(reason: "no TLS with the server: expired"), clientID: "web", at: after(59))
    #expect(probes(at: 118, 119, 178, 179) == [false, true, false, true])
    #expect(probes(at: -3_600) == [true], "the clock was ahead")
    condition.noteReachable(clockDifference: 0)
    #expect(message(condition.report(nil, at: after(180))).contains("invalid_client"))
    #expect(probes(at: 600) == [false])
    condition.note(.accepted, clientID: "web", at: after(600))
    #expect(condition.report(nil, at: after(600)) == .ok)
  }
}
