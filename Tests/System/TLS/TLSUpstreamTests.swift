import Foundation
import TemporaryDirectoryTesting
import Testing

// TLS with the application. (Whose certificate is believed: ProxyTests.)
//
// - It is asked for by its name and by its own authority, is shown our certificate, and sessions are resumed.
// - A response that ends with the connection counts as whole only when the application has said so (close_notify).

@SystemActor
@Suite("TLS with the application")
struct TLSUpstreamTests {
  private func gateway(_ folder: TLSFolder, port: UInt16) throws -> GatewayProcess {
    var configuration = try GatewayConfiguration(upstream: "https://127.0.0.1:\(port)")
    configuration.ending = GatewayConfiguration.everythingPublic
    configuration["listen", "workers"] = "1"
    configuration["upstream", "tls_ca_file"] = "\"\(folder.path)/ca.pem\""
    configuration["upstream", "tls_server_name"] = "\"two.test\""
    configuration["upstream", "tls_certificate_file"] = "\"\(folder.path)/one.pem\""
    configuration["upstream", "tls_private_key_file"] = "\"\(folder.path)/one.key\""
    return try GatewayProcess(configuration)
  }

  @Test("The application is asked for by its name, is shown our certificate, and sessions are resumed")
  func agreement() throws {
    let folder = try TLSFolder()
    let port = try FreePort.take()
    let server = try folder.server(
      port: port,
      """
      def answer(s, path):
        who = s.getpeercert()["subject"][0][0][1]
        body = f"{names.get(s)} {who} {s.session_reused}".encode()
        s.sendall(b"HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body) + body)
      """)
    defer { server.stop() }
    let gateway = try gateway(folder, port: port)
    defer { gateway.stop() }
    #expect(try gateway.client.get("/1").text == "two.test one False")
    #expect(try gateway.client.get("/2").text == "two.test one True")
    #expect(try gateway.client.get("/3").text == "two.test one True")
  }

  @Test("A reload keeps the connections, and is refused if a file for them is invalid")
  func reload() throws {
    let folder = try TLSFolder()
    let port = try FreePort.take()
    let server = try folder.server(
      port: port,
      """
      count = {}
      def answer(s, path):
        count[s] = count.get(s, 0) + 1
        body = str(count[s]).encode()
        s.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body) + body)
        return True
      """)
    defer { server.stop() }
    let gateway = try gateway(folder, port: port)
    defer { gateway.stop() }
    #expect(try gateway.client.get("/").text == "1")
    gateway.process.signal(SIGHUP)
    try gateway.process.waitForLine(containing: "configuration reloaded")
    #expect(try gateway.client.get("/").text == "2")
    try Data("no certificate".utf8).write(to: URL(filePath: "\(folder.path)/ca.pem"))
    gateway.process.signal(SIGHUP)
    try gateway.process.waitForLine(containing: "configuration reload failed")
    #expect(try gateway.client.get("/").text == "3")
  }

  @Test("A response that ends with the connection is whole when the application says so, and cut off when it does not")
  func truncation() throws {
    let folder = try TLSFolder()
    let port = try FreePort.take()
    let server = try folder.server(
      port: port,
      """
      def answer(s, path):
        s.sendall(b"HTTP/1.1 200 OK\\r\\nConnection: close\\r\\n\\r\\nabc")
        if path == "/whole": s.unwrap()
      """)
    defer { server.stop() }
    let gateway = try gateway(folder, port: port)
    defer { gateway.stop() }
    for (path, isWhole) in [("/whole", true), ("/cut", false)] {
      let connection = try gateway.connect()
      try connection.send("GET \(path) HTTP/1.1\r\nHost: \(gateway.client.authority)\r\nConnection: close\r\n\r\n")
      let text = String(decoding: try connection.readToEnd(), as: UTF8.self)
      #expect(text.hasPrefix("HTTP/1.1 200") && text.contains("abc"), "\(text)")
      #expect(text.hasSuffix("0\r\n\r\n") == isWhole, "\(path): \(text)")
    }
  }
}
