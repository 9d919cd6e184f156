import DataPlane

/// Looks at the certificates and keys that a configuration names, as the gateway will when it starts.
extension FileChecks {
  func checkTLS(_ acceptor: ListenerBuilder, at path: NodePath, _ reading: inout DecodingContext) {
    if let file = acceptor.certificateFile {
      checkCertificate(file, path.appending("tls_certificate_file"), &reading)
    }
    if let file = acceptor.privateKeyFile { checkKey(file, path.appending("tls_private_key_file"), &reading) }
    for (index, files) in acceptor.certificates.enumerated() {
      let place = path.appending("certificate").appending(index)
      checkCertificate(files.certificateFile, place.appending("certificate_file"), &reading)
      checkKey(files.privateKeyFile, place.appending("private_key_file"), &reading)
    }
    for (index, file) in acceptor.ticketKeyFiles.enumerated() {
      checkTicketKey(file, path.appending("tls_ticket_key_files").appending(index), &reading)
    }
    if let file = acceptor.clientAuthorityFile {
      checkCertificate(file, path.appending("tls_client_ca_file"), &reading)
    }
  }

  func checkTLS(_ upstream: UpstreamTLSSettings, at path: NodePath, _ reading: inout DecodingContext) {
    if let file = upstream.authorityFile { checkCertificate(file, path.appending("tls_ca_file"), &reading) }
    if let files = upstream.certificate {
      checkCertificate(files.certificateFile, path.appending("tls_certificate_file"), &reading)
      checkKey(files.privateKeyFile, path.appending("tls_private_key_file"), &reading)
    }
  }

  func checkCertificate(_ file: String, _ path: NodePath, _ reading: inout DecodingContext) {
    guard let contents = contents(file, path, missing: "write the path of a PEM file", &reading)?.bytes else { return }
    expect(
      "-----BEGIN CERTIFICATE-----", in: contents, file, path, "no certificate in PEM", "write the path of a PEM file",
      &reading)
  }

  private func checkKey(_ file: String, _ path: NodePath, _ reading: inout DecodingContext) {
    guard let contents = secret(file, path, missing: "write the path of a PEM file", &reading) else { return }
    expect(
      "PRIVATE KEY-----", in: contents, file, path, "no private key in PEM", "write the path of a PEM file", &reading)
  }

  private func checkTicketKey(_ file: String, _ path: NodePath, _ reading: inout DecodingContext) {
    let command = "(umask 077; openssl rand 80 > \(reading.concealing(file)))"
    guard
      let contents = secret(file, path, missing: "create one with: \(command)", &reading),
      contents.count != 80, contents.count != 48
    else { return }
    reading.complain(
      at: path,
      "\(path): \(reading.shown(file)) has \(contents.count) bytes, but a session ticket key has 80 or 48",
      remedy: "create one with: \(command)")
  }
}
