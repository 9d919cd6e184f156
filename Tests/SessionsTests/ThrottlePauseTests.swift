import FoundationEssentials
import Sessions
import Testing

@Suite("The pause that Apple asks for")
struct ThrottlePauseTests {
  private func seconds(_ seconds: Double) -> Date { Date(timeIntervalSince1970: 1_790_000_000 + seconds) }

  @Test("A pause lasts as long as Apple says, and there is none before that")
  func lasts() {
    var pause = ThrottlePause()
    #expect(!pause.contains(seconds(0)))
    pause.note(.seconds(90), at: seconds(0))
    #expect(pause.contains(seconds(0)) && pause.contains(seconds(89)) && !pause.contains(seconds(90)))
  }

  @Test("A pause lasts an hour at most, and a negative one not at all")
  func bounds() {
    var pause = ThrottlePause()
    pause.note(.seconds(Int64.max), at: seconds(0))
    #expect(pause.contains(seconds(3_599)) && !pause.contains(seconds(3_600)))
    pause = ThrottlePause()
    pause.note(.seconds(-90), at: seconds(0))
    #expect(!pause.contains(seconds(0)))
  }

  @Test("A later answer makes it longer, never shorter")
  func longer() {
    var pause = ThrottlePause()
    pause.note(.seconds(90), at: seconds(0))
    pause.note(.seconds(10), at: seconds(1))
    #expect(pause.contains(seconds(89)))
    pause.note(.seconds(90), at: seconds(60))
    #expect(pause.contains(seconds(149)) && !pause.contains(seconds(150)))
  }

  @Test("However often Apple asks for them, pauses take half of the time")
  func halfOfTheTime() {
    var pause = ThrottlePause()
    for second in stride(from: 0.0, through: 3_500, by: 100) { pause.note(.seconds(3_600), at: seconds(second)) }
    #expect(pause.contains(seconds(3_599)) && !pause.contains(seconds(3_600)))
    for second in [3_600.0, 5_000, 7_199] {
      pause.note(.seconds(3_600), at: seconds(second))
      #expect(!pause.contains(seconds(second)))
    }
    pause.note(.seconds(60), at: seconds(7_200))
    #expect(pause.contains(seconds(7_259)) && !pause.contains(seconds(7_260)))
  }

  @Test("A pause that began while the clock was ahead does not count, nor keep the next one from counting")
  func clockSetBack() {
    var pause = ThrottlePause()
    pause.note(.seconds(3_600), at: seconds(86_400))
    #expect(!pause.contains(seconds(0)))
    pause.note(.seconds(90), at: seconds(0))
    #expect(pause.contains(seconds(89)) && !pause.contains(seconds(90)))
  }
}
