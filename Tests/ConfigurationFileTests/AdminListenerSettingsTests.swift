import DataPlane
import Operations
import Testing

@testable import ConfigurationFile

// [admin] of a file that may be out of order elsewhere: what `cordon reload` asks a running gateway by.

@Suite("The administration socket that an invalid file names")
struct AdminListenerSettingsTests {
  private func read(_ text: String) -> AdminListenerSettings? {
    let files = FileAccess(read: { _, _ in .contents(Array(text.utf8), mode: 0o600) })
    return ConfigurationFile.adminListener("/conf/gateway.conf", environment: Sandbox.environment, files: files)
  }

  private static let admin = "[admin]\naddress = \"127.0.0.1:9000\"\ntoken_file = \"admin.token\" # beside it\n"

  @Test(
    "The administration socket is found whatever is wrong before and after it",
    arguments: [
      ("", ""), ("", "[upstream]\nurl = 7\n"), ("listen = \"nothing else\"\n", "[[route]]\n"),
      ("public_url = \"\n", ""),
      ("", "[upstream\n"), ("[listen]\naddress = \n", "\n [session]\nsecret_files = [\n"), ("[a]\nx=1\n[a]\n", ""),
    ])
  func found(before: String, behind: String) throws {
    let place = try #require(read(before + Self.admin + behind))
    #expect(place.address == .ip(host: "127.0.0.1", port: 9_000))
    #expect(place.settings.tokenFile == "/conf/admin.token")
  }

  @Test("The administration socket is found in a file whose lines end with a carriage return, too")
  func carriageReturns() throws {
    let text = (Self.admin + "[upstream\nurl = 7\n").replacing("\n", with: "\r\n")
    #expect(try #require(read(text)).address == .ip(host: "127.0.0.1", port: 9_000))
  }

  @Test("The defaults hold for settings that the file does not contain")
  func defaults() throws {
    let place = try #require(read("[listen]\naddress = 1\n"))
    #expect(place.address == .ip(host: "127.0.0.1", port: 9_901))
    #expect(place.settings.tokenFile == nil)
  }

  @Test(
    "An administration setting that is invalid, misspelt or there twice names no place, rather than the default one",
    arguments: [
      "[admin]\naddress = 9000\n", "[admin]\naddress = \"127.0.0.1\"\n", "[admin]\ntoken_file = [\"a\"]\n",
      "[admin]\naddress = \"127.0.0.1:9000\n", "[admin]\naddress = \"${NO_SUCH}\"\n", "[[admin]]\naddress = \"x\"\n",
      "public_url = \"\n", "[admin]\nadress = \"127.0.0.1:9000\"\n",
      "[admin]\naddress = \"127.0.0.1:9000\"\n[admin]\naddress = \"127.0.0.1:9001\"\n",
      "[admin]\naddress = \"127.0.0.1:9000\"\n[a]\n[admin]\n[a\n",
    ])
  func nowhere(text: String) {
    #expect(read(text) == nil, "\(text)")
  }

  @Test("A file that is missing names no administration socket")
  func missing() {
    let files = FileAccess(read: { _, _ in .missing })
    #expect(ConfigurationFile.adminListener("gateway.conf", environment: Sandbox.environment, files: files) == nil)
  }
}
