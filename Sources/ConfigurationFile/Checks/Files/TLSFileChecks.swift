import DataPlane
import WebFormats

/// Checks the certificates and keys that a configuration names, as the gateway does when it starts.
extension FileChecks {
  func checkTLS(_ acceptor: ListenerBuilder, at path: NodePath, _ context: inout DecodingContext) {
    if let file = acceptor.certificateFile {
      checkCertificate(file, path.appending("tls_certificate_file"), &context)
    }
    if let file = acceptor.privateKeyFile { checkKey(file, path.appending("tls_private_key_file"), &context) }
    for (index, files) in acceptor.certificates.enumerated() {
      let place = path.appending("certificate").appending(index)
      checkCertificate(files.certificateFile, place.appending("certificate_file"), &context)
      checkKey(files.privateKeyFile, place.appending("private_key_file"), &context)
    }
    for (index, file) in acceptor.ticketKeyFiles.enumerated() {
      checkTicketKey(file, path.appending("tls_ticket_key_files").appending(index), &context)
    }
    if let file = acceptor.clientAuthorityFile {
      checkAuthority(file, path.appending("tls_client_ca_file"), &context)
    }
  }

  func checkTLS(_ upstream: UpstreamTLSSettings, at path: NodePath, _ context: inout DecodingContext) {
    if let file = upstream.authorityFile { checkAuthority(file, path.appending("tls_ca_file"), &context) }
    if let files = upstream.certificate {
      checkCertificate(files.certificateFile, path.appending("tls_certificate_file"), &context)
      checkKey(files.privateKeyFile, path.appending("tls_private_key_file"), &context)
    }
  }

  /// Checks a file of trusted certificates, and warns if none of them is that of an authority.
  func checkAuthority(_ file: String, _ path: NodePath, _ context: inout DecodingContext) {
    guard let contents = checkCertificate(file, path, &context), AuthorityFile.holdsAuthority(contents) == false
    else { return }
    context.warn(
      atKey: path,
      "\(path): \(context.shown(file)) holds no CA certificate, so only a peer that has one of exactly these "
        + "certificates is accepted, and not with a renewed one",
      remedy: "write the certificate of the CA that issues them, unless these alone are meant")
  }

  /// - Returns: the contents of the file, if it can be read.
  @discardableResult
  private func checkCertificate(_ file: String, _ path: NodePath, _ context: inout DecodingContext) -> [UInt8]? {
    let found = self.contents(
      file, path, missing: "write the path of a PEM file", limit: AuthorityFile.sizeLimit, called: "1 MiB", &context)
    guard let bytes = found?.bytes else { return nil }
    requirePEM("-----BEGIN CERTIFICATE-----", of: "certificate", in: bytes, file, path, &context)
    return bytes
  }

  private func checkKey(_ file: String, _ path: NodePath, _ context: inout DecodingContext) {
    guard let contents = secret(file, path, missing: "write the path of a PEM file", &context) else { return }
    requirePEM("PRIVATE KEY-----", of: "private key", in: contents, file, path, &context)
  }

  /// Reports a file without the marker that every text of its kind has in PEM (RFC 7468, 2).
  private func requirePEM(
    _ marker: String, of kind: String, in contents: [UInt8], _ file: String, _ path: NodePath,
    _ context: inout DecodingContext
  ) {
    guard !String(decoding: contents, as: UTF8.self).utf8.containsSequence(marker.utf8) else { return }
    context.report(
      at: path, "\(path): \(context.shown(file)) holds no \(kind) in PEM", remedy: "write the path of a PEM file")
  }

  private func checkTicketKey(_ file: String, _ path: NodePath, _ context: inout DecodingContext) {
    let command = "(umask 077; openssl rand 80 > \(ShellWord.quoting(context.concealing(file))))"
    guard
      let contents = secret(file, path, missing: "create one with: \(command)", &context),
      contents.count != 80, contents.count != 48
    else { return }
    context.report(
      at: path,
      "\(path): \(context.shown(file)) has \(contents.count) bytes, but a session ticket key has 80 or 48",
      remedy: "create one with: \(command)")
  }
}

extension Collection where Element == UInt8 {
  /// Whether it contains `other`.
  fileprivate func containsSequence(_ other: some Collection<UInt8>) -> Bool {
    var start = startIndex
    while start != endIndex {
      if self[start...].starts(with: other) { return true }
      start = index(after: start)
    }
    return other.isEmpty
  }
}
