import DataPlane

/// Turns what a document says of listeners into settings.
enum ListenerChecks {
  static func check(
    _ drafts: [DocumentReader.Element<ListenerBuilder>], into draft: inout ConfigurationBuilder,
    _ reading: inout DecodingContext
  ) {
    checkTLS(draft.main, at: NodePath("listen"), draft.configuration, &reading)
    checkProtocols(draft.main, at: NodePath("listen"), &reading)
    draft.configuration.listener.main = draft.main.settings
    for (index, other, _) in drafts {
      let path = path(at: index)
      checkName(other, at: path, among: draft.configuration.listener, &reading)
      checkTLS(other, at: path, draft.configuration, &reading)
      checkProtocols(other, at: path, &reading)
      checkAddress(other.address, at: path, draft.configuration, &reading)
      draft.configuration.listener.others.append(other.settings)
    }
  }

  /// Every draft with its place, the main one first.
  static func places(
    _ draft: ConfigurationBuilder, _ drafts: [DocumentReader.Element<ListenerBuilder>]
  ) -> [(draft: ListenerBuilder, path: NodePath)] {
    [(draft.main, NodePath("listen"))] + drafts.map { ($0.draft, path(at: $0.index)) }
  }

  private static func path(at index: Int) -> NodePath { NodePath(ConfigurationSchema.listener.name).appending(index) }

  private static func checkName(
    _ other: ListenerBuilder, at path: NodePath, among listener: ListenerSettings, _ reading: inout DecodingContext
  ) {
    let taken = ["admin"] + listener.acceptors.map(\.name)
    guard taken.contains(where: { UpstreamChecks.isSame($0, other.name) }) else { return }
    reading.complain(
      at: path.appending("name"), "this listener name is already used",
      remedy: "choose another name; \"listen\" and \"admin\" are those of [listen] and [admin]")
  }

  private static func checkAddress(
    _ address: BindAddress, at path: NodePath, _ configuration: Configuration, _ reading: inout DecodingContext
  ) {
    let others = configuration.listener.acceptors.map(\.address) + [configuration.adminAddress]
    guard others.contains(where: { CombinationChecks.overlap($0, address) }) else { return }
    reading.complain(
      at: path.appending("address"), "another listener has this address", remedy: "give each its own port")
  }

  private static func checkProtocols(_ draft: ListenerBuilder, at path: NodePath, _ reading: inout DecodingContext) {
    guard let protocols = draft.protocols, protocols.isEmpty || Set(protocols).count < protocols.count else { return }
    let key = path.appending("protocols")
    reading.complain(
      at: key, "\(key) \(protocols.isEmpty ? "is empty" : "names one twice")",
      remedy: "write [\"h2\", \"http/1.1\"] or one of them, or leave the key out")
  }

  private static func checkTLS(
    _ draft: ListenerBuilder, at path: NodePath, _ configuration: Configuration, _ reading: inout DecodingContext
  ) {
    let (certificate, key) = (path.appending("tls_certificate_file"), path.appending("tls_private_key_file"))
    if draft.certificateFile != nil, !reading.isThere(key) {
      reading.complain(atKey: certificate, "there is a \(certificate), but no \(key)", remedy: "write both or neither")
    } else if draft.privateKeyFile != nil, !reading.isThere(certificate) {
      reading.complain(atKey: key, "there is a \(key), but no \(certificate)", remedy: "write both or neither")
    }
    if draft.settings.tls != nil {
      checkScheme(configuration, &reading)
    } else if !reading.isThere(certificate), !reading.isThere(path.appending("certificate")) {
      for name in ["tls_ticket_key_files", "tls_client_ca_file", "tls_client_certificate"]
      where reading.isThere(path.appending(name)) {
        reading.complain(
          atKey: path.appending(name), "\(path.appending(name)) requires TLS, but this listener has no certificate",
          remedy: "set tls_certificate_file and tls_private_key_file, or remove this")
      }
    }
    let mode = path.appending("tls_client_certificate")
    if draft.settings.tls != nil, reading.isThere(mode), !reading.isThere(path.appending("tls_client_ca_file")) {
      reading.complain(
        atKey: mode, "\(mode) is about client certificates, but tls_client_ca_file is not set",
        remedy: "set tls_client_ca_file, or remove this")
    }
  }

  private static func checkScheme(_ configuration: Configuration, _ reading: inout DecodingContext) {
    guard reading.good.contains("public_url"), configuration.publicURL.utf8.starts(with: "http:".utf8),
      !configuration.listener.acceptors.contains(where: { $0.tls != nil })
    else { return }
    reading.complain(
      at: NodePath("public_url"), "public_url is http:, but the listener uses TLS",
      remedy: "write https:// in public_url, or remove the certificate")
  }
}
