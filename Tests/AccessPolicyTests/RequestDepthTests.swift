import Testing

@testable import AccessPolicy

@Suite("The depth of a request")
struct RequestDepthTests {
  private func depth(_ method: String, _ field: RequestDepth) -> RequestDepth {
    let bytes = Array(method.utf8)
    return RequestDepth(method: bytes.span, field: field)
  }

  @Test("Each listed method acts on everything below its path, unless its Depth says less and counts for it")
  func listed() {
    for method in RequestDepth.methods {
      #expect(depth(method, .everything) == .everything, "\(method)")
      let isLimited = ["COPY", "LOCK", "PROPFIND"].contains(method)
      #expect(depth(method, .resource) == (isLimited ? .resource : .everything), "\(method)")
      #expect(depth(method, .members) == (method == "PROPFIND" ? .members : .everything), "\(method)")
    }
    #expect(Set(RequestDepth.methods).count == 14)
  }

  @Test("Any other method acts on the resource of its path, whatever its Depth")
  func others() {
    for method in [
      "GET", "HEAD", "POST", "PUT", "PATCH", "OPTIONS", "PROPPATCH", "MKCOL", "UNLOCK", "ACL", "ORDERPATCH",
      "VERSION-CONTROL", "CHECKOUT", "CHECKIN", "delete", "Move", "DELET", "DELETED", "BASELINE_CONTROL", "",
    ] {
      for field in [RequestDepth.resource, .members, .everything] {
        #expect(depth(method, field) == .resource, "\(method)")
      }
    }
  }
}
