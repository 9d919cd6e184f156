import Foundation
import Testing

@testable import AppleSimulator

@Suite("Button images")
struct ButtonTests {
  @Test(
    "Parameters in Apple's ranges make a PNG of that many pixels",
    arguments: [
      ("", "", 140, 30), ("", "width=375&height=64&scale=6&border_radius=50&border=true", 2_250, 384),
      ("", "type=continue&locale=ar_SA&color=white", 140, 30),
      ("/left", "label-position=70&logo-position=0&logo-size=large", 140, 30),
      ("/left", "width=375&label-position=182", 375, 30), ("/logo", "size=64&scale=2", 128, 128),
    ])
  func sizes(kind: String, query: String, width: Int, height: Int) async throws {
    try await Relying.withSimulator { relying async throws in
      let answer = try await relying.send("GET", "/appleid/button\(kind)?\(query)")
      #expect(answer.status == 200)
      #expect(answer.headers["content-type"] == "image/png")
      let bytes = [UInt8](answer.body)
      #expect(bytes.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]))
      #expect(bytes[16..<20].reduce(0) { $0 << 8 | Int($1) } == width)
      #expect(bytes[20..<24].reduce(0) { $0 << 8 | Int($1) } == height)
      #expect(bytes.suffix(4) == [0xae, 0x42, 0x60, 0x82])
    }
  }

  @Test(
    "A button image with an unknown, repeated or invalid parameter is answered 404",
    arguments: [
      "?width=129", "?width=376", "?height=29", "?height=65", "?height=", "?height=+30", "?height=030000",
      "?scale=0", "?scale=7", "?border_radius=51", "?color=red", "?border=yes", "?type=signin", "?locale=en",
      "?size=30", "?logo-size=small", "?width=140&width=140", "/left?label-position=71", "/left?logo-size=huge",
      "/left?width=375&logo-position=183", "/logo?height=30", "/logo?label-position=0", "/logo?size=65", "/right",
    ])
  func refused(path: String) async throws {
    try await Relying.withSimulator { relying async throws in
      #expect(try await relying.send("GET", "/appleid/button\(path)").status == 404)
    }
  }

  @Test("A point of a picture is where it was set, and outside ones are ignored")
  func points() {
    var image = PNGImage(width: 2, height: 1)
    image.set(x: 1, y: 0, grey: 7)
    image.set(x: 2, y: 0, grey: 9)
    // Header 33 bytes; chunk head 8, zlib head 2, block head 5; then: no filter, two points of two bytes.
    #expect([UInt8](file(image)[48..<53]) == [0, 0, 0, 7, 255])
  }

  private func file(_ image: PNGImage) -> [UInt8] { [UInt8](image.file) }
}
