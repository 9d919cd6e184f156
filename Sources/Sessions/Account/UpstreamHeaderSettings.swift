/// The headers that one upstream gets in addition to the identity headers (`[upstream.headers]`, `[upstream.basic]`).
package struct UpstreamHeaderSettings: Sendable, Equatable {
  /// The name of the upstream.
  package var upstream: String
  /// In the order of the configuration.
  package var headers: [Header]
  /// Sent as `Authorization` for signed-in users. Default: nil: none.
  package var basic: BasicCredentialsTemplate?

  /// Creates the headers of an upstream.
  package init(upstream: String, headers: [Header] = [], basic: BasicCredentialsTemplate? = nil) {
    self.upstream = upstream
    self.headers = headers
    self.basic = basic
  }

  /// One header and its value.
  package struct Header: Sendable, Equatable {
    /// The header's name.
    package var name: String
    /// The template of its value.
    package var value: HeaderTemplate

    /// Creates a header.
    package init(name: String, value: HeaderTemplate) {
      self.name = name
      self.value = value
    }
  }

  /// The header of Basic credentials.
  package static let basicHeader = "Authorization"

  /// The names of all headers in it: clients may not send them to this upstream.
  package var names: [String] { headers.map(\.name) + (basic == nil ? [] : [Self.basicHeader]) }

  /// Whether there is nothing to send.
  package var isEmpty: Bool { headers.isEmpty && basic == nil }

  /// The headers for one session.
  /// - Parameters:
  ///   - encoding: of claims that do not state one.
  ///   - omitted: receives the name of each header that cannot be sent, and the reason.
  package func render(
    _ claims: ClaimSource, encoding: IdentityHeaderSettings.Encoding, omitted: (String, HeaderOmissionError) -> Void
  ) -> [(name: String, value: [UInt8])] {
    var fields: [(name: String, value: [UInt8])] = []
    for header in headers {
      do throws(HeaderOmissionError) {
        fields.append((header.name, try header.value.render(claims, encoding: HeaderTemplate.Encoding(encoding))))
      } catch {
        omitted(header.name, error)
      }
    }
    do throws(HeaderOmissionError) {
      if let basic { fields.append((Self.basicHeader, try basic.render(claims))) }
    } catch {
      omitted(Self.basicHeader, error)
    }
    return fields
  }

  /// The headers of requests without a user: those that use no claim.
  package var anonymous: [(name: String, value: [UInt8])] {
    headers.compactMap { header in header.value.constant.map { (header.name, $0) } }
  }
}
