/// A request, as far as a gate looks at it.
struct Asked: Sendable {
  var target = "/x"
  var method = "GET"
  var host = "app.example.com"
  var fields: [String] = []
  var isFromProxy = false
  var address = "192.0.2.1"

  /// Whether `Accept` says that it is a browser's, unless the fields say something of the client.
  var isOfBrowser = true

  var text: String {
    let isSaid = ["Accept:", "Sec-Fetch-", "X-Requested-"].contains { name in fields.contains { $0.hasPrefix(name) } }
    let accept = isOfBrowser && !isSaid ? ["Accept: text/html"] : []
    let lines = ["\(method) \(target) HTTP/1.1", "Host: \(host)"] + fields + accept
    return lines.joined(separator: "\r\n") + "\r\n\r\n"
  }
}
