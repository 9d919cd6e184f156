import Testing

@testable import DataPlane

@Suite("Reads that are withheld")
struct ReadGateTests {
  @Test("A read that is requested while reads are held happens later, once")
  func withheld() {
    var gate = ReadGate()
    func step(_ body: (inout ReadGate) -> Bool) -> Bool { body(&gate) }
    #expect(step { $0.read() })
    #expect(!step { $0.release() })
    gate.hold()
    #expect(gate.isHeld)
    #expect(!step { $0.release() } && !gate.isHeld)
    gate.hold()
    #expect(!step { $0.read() })
    // A second hold forgets nothing.
    gate.hold()
    #expect(step { $0.release() })
    #expect(!step { $0.release() })
    #expect(step { $0.read() })
  }
}
