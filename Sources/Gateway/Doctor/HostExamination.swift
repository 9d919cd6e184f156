internal import AccessPolicy
internal import DataPlane
internal import HTTPTypes
internal import NIOCore
internal import WebFormats

/// Examines each `[[host]]`: its certificate, its application, and whether requests to it reach this gateway.
struct HostExamination {
  let hosts: [HostSettings]
  let origin: PublicOrigin
  let prefix: String
  let acceptors: [AcceptorSettings]

  private static let subject = "host"

  /// Examines all hosts at the same time.
  /// - Returns: the findings in the order of the file.
  func run(on eventLoop: any EventLoop) async -> [DoctorFinding] {
    // SiteExamination reports certificates that cannot be read.
    let certificates = acceptors.compactMap { try? ListenerCertificate($0) }
    return await hosts.examined { host in
      let name = host.origin.authority
      if origin.scheme == .https, !certificates.isEmpty, !certificates.contains(where: { $0.lists(host.origin.host) }) {
        return .failure(
          Self.subject, "\(name): no certificate of a TLS listener is for it", "add one with [[listen.certificate]]")
      }
      return await ask(host, on: eventLoop)
    }
  }

  /// Requests the sign-in page of a host, as a browser would; it must redirect to that of `public_url`.
  private func ask(_ host: HostSettings, on eventLoop: any EventLoop) async -> DoctorFinding {
    let name = host.origin.authority
    let signIn = GatewayEndpoint.signIn.path(below: prefix)
    do {
      let client = try await host.origin.client(on: eventLoop)
      let request = HTTPRequest(
        method: .get, scheme: nil, authority: nil, path: signIn,
        headerFields: [.accept: "text/html", .secFetchMode: "navigate", .userAgent: "cordon-doctor"])
      let response: OriginResponse
      do throws(OriginError) {
        response = try await client.send(request, body: [])
      } catch {
        return .warning(
          Self.subject, "\(name) was not reached: \(error.reason)",
          "make its name lead to this gateway, and start the gateway")
      }
      let location = response.head.headerFields[.location] ?? ""
      guard response.head.status.kind == .redirection, location.utf8.starts(with: "\(origin)\(signIn)".utf8) else {
        return .failure(
          Self.subject, "\(name) answers \(response.head.status.code) and does not lead to \(origin) to sign in",
          "make its name lead to this gateway, let proxies keep Host, and reload the configuration")
      }
      return .ok(Self.subject, "\(name) leads to \(origin) to sign in, and is served by upstream \(host.upstream)")
    } catch {
      return .failure(Self.subject, "\(name): \(error)", "is the package ca-certificates installed?")
    }
  }
}
