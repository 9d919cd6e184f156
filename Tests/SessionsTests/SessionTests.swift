import Foundation
import Testing

@testable import Sessions

@Suite("Sessions")
struct SessionTests {
  @Test("A session lives until its end, and no longer than the idle time-out after it was last seen")
  func endsInTime() throws {
    var session = try makeSession(lifetime: .seconds(1_000))
    #expect(session.isAlive(at: noon, idleTimeout: .seconds(100)))
    #expect(session.isAlive(at: noon.addingTimeInterval(99), idleTimeout: .seconds(100)))
    #expect(!session.isAlive(at: noon.addingTimeInterval(100), idleTimeout: .seconds(100)))
    session.lastSeen = noon.addingTimeInterval(950)
    #expect(session.isAlive(at: noon.addingTimeInterval(999), idleTimeout: .seconds(100)))
    #expect(!session.isAlive(at: noon.addingTimeInterval(1_000), idleTimeout: .seconds(100)))
    #expect(session.isAlive(at: noon.addingTimeInterval(-10), idleTimeout: .seconds(100)))
  }

  @Test("A sign-in is recent until it is that old, and one from the future only within the tolerance of the clocks")
  func isRecent() throws {
    let session = try makeSession()
    for (seconds, isRecent) in [
      (-61, false), (-60.001, false), (-60, true), (0, true), (299.999, true), (300, false), (301, false),
    ] as [(Double, Bool)] {
      #expect(session.isRecent(.seconds(300), at: noon.addingTimeInterval(seconds)) == isRecent, "after \(seconds) s")
    }
    #expect(!session.isRecent(.zero, at: noon))
  }

  @Test("The name of a browser is kept as 200 bytes of printable ASCII")
  func summarizesUserAgents() {
    #expect(UserAgentSummary("Mozilla/5.0".utf8)?.text == "Mozilla/5.0")
    #expect(UserAgentSummary("a\r\nb\u{1B}é".utf8)?.text == "a??b???")
    #expect(UserAgentSummary(repeatElement(UInt8(ascii: "a"), count: 100_000))?.text.utf8.count == 200)
    #expect(UserAgentSummary("".utf8) == nil)
    #expect(UserAgentSummary("  ".utf8) == nil)
  }

  @Test("Instants and durations far beyond any clock are brought to the nearest possible")
  func clampsInstants() {
    #expect(Date(timeIntervalSince1970: 1e300).millisecondsSince1970 == .max)
    #expect(Date(timeIntervalSince1970: -1e300).millisecondsSince1970 == .min)
    #expect(Date(timeIntervalSince1970: .nan).millisecondsSince1970 == .max)
    #expect(Duration.seconds(Int64.max).milliseconds == .max)
    #expect(Duration.seconds(Int64.min).milliseconds == .min)
    #expect(Duration.milliseconds(-1_500).milliseconds == -1_500)
    #expect(Date(millisecondsSince1970: 1_790_000_000_123).millisecondsSince1970 == 1_790_000_000_123)
  }

  @Test("The periods of a rate are a second, a minute and an hour")
  func periods() {
    let seconds = SignInRate.Period.allCases.map { $0.nanoseconds / 1_000_000_000 }
    #expect(SignInRate.Period.allCases.map(\.rawValue) == ["s", "m", "h"] && seconds == [1, 60, 3_600])
    #expect(SignInRate.Period.allCases.allSatisfy { $0.nanoseconds % 1_000_000_000 == 0 })
  }

  @Test("A replay guard contains its kind: a sign-in is not a notification of the same name")
  func guardsDiffer() {
    let name = Array("1".utf8)
    let guards: Set<ReplayGuard> = [
      .attempt(name), .notification("1"), .appReturn(name), .arrival(name), .nativeCode(name), .invitation("1"),
      .clockJump(day: 1), .attempt(name + [0]),
    ]
    #expect(guards.count == 8)
    #expect(guards.allSatisfy { $0.bytes.count == 16 })
  }
}
