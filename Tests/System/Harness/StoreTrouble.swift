import Testing

/// The visible effects of a failing store, for every store and every failure.
extension Site {
  /// Returns the application's response to a visitor.
  func application(_ visitor: Visitor) throws -> Int { try visitor.fetch(origin + "/app").status }

  /// Signed-in users are served, on every event loop, and so the gateway stays ready; sign-ins and sign-outs fail;
  /// `/healthz` says `words` of the store, and a metric tells of it.
  /// - Parameter isWritten: whether something may still get into the store, where it cannot be read.
  func expectStoreTrouble(
    _ words: String, for visitor: Visitor, isWritten: Bool = false, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    // What was allocated before a disk was full may last for another sign-in.
    let (stranger, page) = try poll("a sign-in that comes to nothing") {
      let stranger = Visitor()
      let page = try stranger.signIn(self, as: "ben")
      return page.status == 503 ? (stranger, page) : nil
    }
    #expect(page.response.fields["Content-Type"]?.hasPrefix("text/html") == true, sourceLocation: sourceLocation)
    #expect(page.text.contains("Sign-in is temporarily unavailable"), "\(page.text)", sourceLocation: sourceLocation)
    #expect(isWritten || stranger.jar["__Host-cordon"] == nil, sourceLocation: sourceLocation)
    for _ in 0..<5 { #expect(try application(visitor) == 200, sourceLocation: sourceLocation) }
    try poll("/healthz to say \(words)") {
      let health = try gateway.admin.get("/healthz")
      return health.text.contains("\"name\":\"store\",\"status\":\"failing\"") && health.text.contains(words) ? () : nil
    }
    let ready = try gateway.admin.get("/readyz")
    #expect(ready.status == 200, "\(ready.text)", sourceLocation: sourceLocation)
    #expect(try gateway.admin.get("/healthz").status == 200, sourceLocation: sourceLocation)
    #expect(try gateway.admin.get("/metrics").text.contains("\ncordon_store_up 0\n"), sourceLocation: sourceLocation)
    #expect(try application(visitor) == 200, sourceLocation: sourceLocation)
    #expect(gateway.process.isRunning, sourceLocation: sourceLocation)
    if isWritten { return }
    // A sign-out that could not be stored is not confirmed.
    let signOut = try visitor.fetch(own("sign-out"), method: "POST", fields: [("Origin", origin)])
    #expect(signOut.status == 503, sourceLocation: sourceLocation)
    #expect(
      signOut.fields["Content-Type"]?.hasPrefix("application/json") == true, sourceLocation: sourceLocation)
    #expect(try signOut.json()["error"] is String, sourceLocation: sourceLocation)
    #expect(try application(visitor) == 200, sourceLocation: sourceLocation)
  }

  /// Everything works again, without any action on the gateway.
  func expectStoreRecovery(for visitor: Visitor, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let pid = gateway.process.pid
    // A pool of connections that found none may wait for a moment before it looks again.
    let ben = try poll("a sign-in") { try? signedIn(as: "ben") }
    try poll("/healthz to say that the store is well") {
      try gateway.admin.get("/healthz").text.contains("\"name\":\"store\",\"status\":\"ok\"") ? () : nil
    }
    #expect(try gateway.admin.get("/readyz").status == 200, sourceLocation: sourceLocation)
    #expect(try ben.fetch(own("session")).status == 200, sourceLocation: sourceLocation)
    #expect(try visitor.fetch(own("session")).status == 200, sourceLocation: sourceLocation)
    #expect(try application(visitor) == 200, sourceLocation: sourceLocation)
    #expect(gateway.process.isRunning && gateway.process.pid == pid, sourceLocation: sourceLocation)
  }
}
