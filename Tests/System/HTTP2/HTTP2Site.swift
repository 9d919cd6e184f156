import Testing

extension GatewayConfiguration {
  /// HTTP/2 by prior knowledge, beside HTTP/1.1.
  mutating func acceptHTTP2() { self["listen", "protocols"] = "[\"h2\", \"http/1.1\"]" }
}

extension Trait where Self == SiteTrait {
  /// A site of the suite's own that speaks HTTP/2 in cleartext, with a public folder and the application that streams.
  static var http2Site: Self {
    Self {
      try Site(upstream: StreamingApplication.answer) {
        $0.acceptHTTP2()
        $0.ending = "[[route]]\npath = \"/public/\"\naccess = \"public\"\n"
      }
    }
  }
}
