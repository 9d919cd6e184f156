import Foundation
import HTTPTypes
import Synchronization
import Testing
import WaitingTesting

@testable import AppleIdentity

@Suite("Images of the button")
struct ButtonImagesTests {
  /// A content network that answers as a test says, and counts.
  private final class Network: Sendable {
    let answer = Mutex<Result<AppleHTTPResponse, AppleTransportError>>(.success(ButtonImagesTests.image()))
    let paths = Mutex<[String]>([])
    let now = Mutex(Date(timeIntervalSince1970: 1_000_000))
    let problems = Mutex<[ButtonImageError]>([])

    func images(_ settings: ButtonSettings = ButtonSettings()) throws -> ButtonImages {
      try ButtonImages(
        settings: settings, baseURL: "http://127.0.0.1:1",
        transport: { (request) async throws(AppleTransportError) in
          self.paths.withLock { $0.append(request.head.path ?? "") }
          let answer = self.answer.withLock { $0 }
          return try answer.get()
        }, clock: { self.now.withLock { $0 } }, report: { problem in self.problems.withLock { $0.append(problem) } })
    }

    func pass(_ seconds: TimeInterval) { now.withLock { $0 += seconds } }
    func set(_ response: AppleHTTPResponse) { answer.withLock { $0 = .success(response) } }
    func goAway() { answer.withLock { $0 = .failure(.notSent(reason: "refused")) } }
    var count: Int { paths.withLock(\.count) }
  }

  private static func png(width: UInt8 = 10, height: UInt8 = 10, rest: [UInt8] = []) -> [UInt8] {
    [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8) + [
      0, 0, 0, width, 0, 0, 0, height,
    ]
      + [8, 4, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0] + Array("IDAT".utf8) + [5, 6, 7, 8] + rest + [0, 0, 0, 0]
      + Array("IEND".utf8) + [0xAE, 0x42, 0x60, 0x82]
  }

  fileprivate static func image(
    _ body: [UInt8] = png(), type: String? = "image/png", status: Int = 200
  ) -> AppleHTTPResponse {
    AppleHTTPResponse(status: status, contentType: type, body: body)
  }

  private static let german = ButtonVariant(locale: .german, isWhite: false)
  private static let long = Duration.seconds(3_600)

  @Test("An image is fetched once for all requests that wait, and kept")
  func once() async throws {
    let network = Network()
    let images = try network.images()
    await withTaskGroup(of: ButtonImage?.self) { group in
      for _ in 0..<20 { group.addTask { await images.image(Self.german, within: Self.long) } }
      for await image in group { #expect(image?.png == Self.png()) }
    }
    #expect(await images.image(Self.german, within: .zero) != nil)
    #expect(network.count == 1)
    #expect(network.paths.withLock { $0 } == [ButtonSettings().imagePath(Self.german)])
    _ = await images.image(ButtonVariant(locale: .german, isWhite: true), within: Self.long)
    #expect(network.count == 2)
  }

  @Test("An image is fetched again when it is a day old, and the old one stays in use if that fails")
  func daily() async throws {
    let network = Network()
    let images = try network.images()
    _ = await images.image(Self.german, within: Self.long)
    network.pass(86_399)
    _ = await images.image(Self.german, within: Self.long)
    #expect(network.count == 1)
    network.pass(1)
    network.goAway()
    #expect(await images.image(Self.german, within: Self.long)?.png == Self.png())
    try await eventually("a report of the problem") { network.problems.withLock { !$0.isEmpty } }
    #expect(await images.image(Self.german, within: Self.long)?.png == Self.png())
    network.pass(60)
    network.set(Self.image(Self.png(width: 20)))
    _ = await images.image(Self.german, within: Self.long)
    try await eventually("the other image") {
      await images.image(Self.german, within: .zero)?.png == Self.png(width: 20)
    }
    #expect(network.count == 3)
  }

  @Test("While Apple cannot be reached, nothing is asked for a minute, of any image")
  func away() async throws {
    let network = Network()
    network.goAway()
    let images = try network.images()
    #expect(await images.image(Self.german, within: Self.long) == nil)
    #expect(await images.image(ButtonVariant(locale: .french, isWhite: true), within: Self.long) == nil)
    #expect(network.count == 1)
    network.pass(60)
    network.set(Self.image())
    #expect(await images.image(Self.german, within: Self.long) != nil)
    #expect(network.problems.withLock { $0 } == [.unreachable(.notSent(reason: "refused"))])
  }

  @Test(
    "A response that is not an image is not served, and not requested again for a minute",
    arguments: [
      image(status: 404), image(status: 302), image(type: "text/html"), image(type: nil), image(type: "image/pngx"),
      image([]), image(Array(png().dropLast())), image([0] + png()), image(png(width: 0)), image(png(height: 0)),
      image(Array("<svg/>".utf8)), image(png(rest: [UInt8](repeating: 0, count: 512 * 1024))),
    ])
  func noImage(response: AppleHTTPResponse) async throws {
    let network = Network()
    network.set(response)
    let images = try network.images()
    #expect(await images.image(Self.german, within: Self.long) == nil)
    #expect(await images.image(Self.german, within: Self.long) == nil)
    #expect(network.count == 1)
    #expect(network.problems.withLock(\.count) == 1)
    // Another image may be had nevertheless.
    network.set(Self.image(type: "image/PNG; charset=binary"))
    #expect(await images.image(ButtonVariant(locale: .french, isWhite: true), within: Self.long) != nil)
  }

  @Test("A request that may not wait gets no image, and the image is fetched nevertheless")
  func impatience() async throws {
    let network = Network()
    let images = try network.images()
    _ = await images.image(Self.german, within: .zero)
    try await eventually("the image") { await images.image(Self.german, within: Self.long) != nil }
    #expect(network.count == 1)
  }
}
