import DataPlane

/// Turns the listeners of a document into settings.
enum ListenerChecks {
  static func check(
    _ builders: [DocumentReader.Element<ListenerBuilder>], into builder: inout ConfigurationBuilder,
    _ context: inout DecodingContext
  ) {
    checkTLS(builder.main, at: NodePath("listen"), builder.configuration, &context)
    checkProtocols(builder.main, at: NodePath("listen"), &context)
    builder.configuration.listener.main = builder.main.settings
    for (index, other, _) in builders {
      let path = path(at: index)
      checkName(other, at: path, among: builder.configuration.listener, &context)
      checkTLS(other, at: path, builder.configuration, &context)
      checkProtocols(other, at: path, &context)
      checkAddress(other.address, at: path, builder.configuration, &context)
      builder.configuration.listener.others.append(other.settings)
    }
  }

  /// Every listener with its path, the main one first.
  static func places(
    _ builder: ConfigurationBuilder, _ builders: [DocumentReader.Element<ListenerBuilder>]
  ) -> [(builder: ListenerBuilder, path: NodePath)] {
    [(builder.main, NodePath("listen"))] + builders.map { ($0.builder, path(at: $0.index)) }
  }

  static func path(at index: Int) -> NodePath { NodePath(ConfigurationSchema.listener.name).appending(index) }

  private static func checkName(
    _ other: ListenerBuilder, at path: NodePath, among listener: ListenerSettings, _ context: inout DecodingContext
  ) {
    let taken = ["admin"] + listener.acceptors.map(\.name)
    guard taken.contains(where: { $0.utf8.elementsEqual(other.name.utf8) }) else { return }
    context.report(
      at: path.appending("name"), "this listener name is already used",
      remedy: "choose another name; \"listen\" and \"admin\" are those of [listen] and [admin]")
  }

  private static func checkAddress(
    _ address: BindAddress, at path: NodePath, _ configuration: Configuration, _ context: inout DecodingContext
  ) {
    let others = configuration.listener.acceptors.map(\.address) + [configuration.adminAddress]
    guard others.contains(where: { $0.overlaps(address) }) else { return }
    context.report(
      at: path.appending("address"), "another listener has this address", remedy: "give each its own port")
  }

  private static func checkProtocols(_ builder: ListenerBuilder, at path: NodePath, _ context: inout DecodingContext) {
    guard let protocols = builder.protocols, protocols.isEmpty || Set(protocols).count < protocols.count else { return }
    let key = path.appending("protocols")
    context.report(
      at: key, "\(key) \(protocols.isEmpty ? "is empty" : "names one twice")",
      remedy: "write [\"h2\", \"http/1.1\"] or one of them, or leave the key out")
  }

  private static func checkTLS(
    _ builder: ListenerBuilder, at path: NodePath, _ configuration: Configuration, _ context: inout DecodingContext
  ) {
    let (certificate, key) = (path.appending("tls_certificate_file"), path.appending("tls_private_key_file"))
    if builder.certificateFile != nil, !context.isPresent(key) {
      context.report(atKey: certificate, "there is a \(certificate), but no \(key)", remedy: "write both or neither")
    } else if builder.privateKeyFile != nil, !context.isPresent(certificate) {
      context.report(atKey: key, "there is a \(key), but no \(certificate)", remedy: "write both or neither")
    }
    if builder.settings.tls != nil {
      checkScheme(configuration, &context)
    } else if !context.isPresent(certificate), !context.isPresent(path.appending("certificate")) {
      for name in ["tls_ticket_key_files", "tls_client_ca_file", "tls_client_certificate"]
      where context.isPresent(path.appending(name)) {
        context.report(
          atKey: path.appending(name), "\(path.appending(name)) requires TLS, but this listener has no certificate",
          remedy: "set tls_certificate_file and tls_private_key_file, or remove this")
      }
    }
    let mode = path.appending("tls_client_certificate")
    if builder.settings.tls != nil, context.isPresent(mode), !context.isPresent(path.appending("tls_client_ca_file")) {
      context.report(
        atKey: mode, "\(mode) is about client certificates, but tls_client_ca_file is not set",
        remedy: "set tls_client_ca_file, or remove this")
    }
  }

  private static func checkScheme(_ configuration: Configuration, _ context: inout DecodingContext) {
    guard context.validKeys.contains("public_url"), configuration.publicURL.utf8.starts(with: "http:".utf8),
      !configuration.listener.acceptors.contains(where: { $0.tls != nil })
    else { return }
    context.report(
      at: NodePath("public_url"), "public_url is http:, but the listener uses TLS",
      remedy: "write https:// in public_url, or remove the certificate")
  }
}
