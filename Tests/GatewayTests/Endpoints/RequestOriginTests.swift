import DataPlane
import HTTPTypes
import Testing

@testable import Gateway

// Fetch Metadata of requests to the gateway's own endpoints: which of them are navigations of a tab.
@Suite("Requests to endpoints by what browsers say of them")
struct RequestOriginTests {
  private func request(_ fields: [(String, String)]) throws -> ControlRequest {
    var headers = HTTPFields()
    for (name, value) in fields { headers.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value)) }
    return ControlRequest(
      head: HTTPRequest(method: .get, scheme: "https", authority: "a", path: "/", headerFields: headers),
      client: ClientPeer(address: "192.0.2.1", isTrusted: false), requestID: "r")
  }

  private let page = ("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
  private let navigation = ("Sec-Fetch-Mode", "navigate")
  private let upgrade = ("Upgrade-Insecure-Requests", "1")

  @Test("A navigation of a tab is one, and so is one that a service worker passes on, which has no destination")
  func navigations() throws {
    let navigations: [[(String, String)]] = [
      [], [page], [page, navigation], [page, navigation, ("Sec-Fetch-Dest", "document")],
      [page, navigation, ("Sec-Fetch-Dest", "empty")],
      [("Accept", "application/xml, Text/HTML;q=0.9"), navigation, ("Sec-Fetch-Dest", "empty")],
      // By a worker in Firefox.
      [page, upgrade, ("Sec-Fetch-Mode", "same-origin"), ("Sec-Fetch-Dest", "empty")],
    ]
    for fields in navigations { #expect(try request(fields).isTopLevelNavigation, "\(fields)") }
  }

  @Test("A script, a frame, an image, a download and a prefetch are no navigation of a tab")
  func others() throws {
    let others: [[(String, String)]] = [
      [page, ("Sec-Fetch-Mode", "cors"), ("Sec-Fetch-Dest", "empty")],
      [page, ("Sec-Fetch-Mode", "same-origin"), ("Sec-Fetch-Dest", "empty")],
      [("Accept", "*/*"), upgrade, ("Sec-Fetch-Mode", "same-origin"), ("Sec-Fetch-Dest", "empty")],
      [page, upgrade, ("Sec-Fetch-Mode", "same-origin"), ("Sec-Fetch-Dest", "iframe")],
      [page, upgrade, ("Sec-Fetch-Mode", "cors"), ("Sec-Fetch-Dest", "empty")],
      [page, ("Sec-Fetch-Mode", "no-cors"), ("Sec-Fetch-Dest", "image")],
      [page, navigation, ("Sec-Fetch-Dest", "iframe")], [page, navigation, ("Sec-Fetch-Dest", "frame")],
      [page, navigation, ("Sec-Fetch-Dest", "embed")], [page, navigation, ("Sec-Fetch-Dest", "")],
      [navigation, ("Sec-Fetch-Dest", "empty")], [("Accept", "*/*"), navigation, ("Sec-Fetch-Dest", "empty")],
      [("Accept", "text/htmlx"), navigation, ("Sec-Fetch-Dest", "empty")],
      [page, navigation, ("Sec-Fetch-Dest", "empty"), ("Sec-Purpose", "prefetch")],
      // Of a frame on another site, by a worker that the page in it has registered there.
      [page, navigation, ("Sec-Fetch-Dest", "empty"), ("Sec-Fetch-Storage-Access", "none")],
    ]
    for fields in others { #expect(try !request(fields).isTopLevelNavigation, "\(fields)") }
  }
}
