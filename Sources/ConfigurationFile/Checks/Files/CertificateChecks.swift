import AccessPolicy
import DataPlane
import WebFormats

/// Checks the certificates of listeners with their keys, and whether they are for the configured hosts.
extension FileChecks {
  /// Reads the certificates of listeners with their keys, if the single files are valid.
  /// - Parameter paths: the path of each listener in the document.
  func checkCertificates(_ configuration: Configuration, _ paths: [NodePath], _ context: inout DecodingContext) {
    // Certificates for addresses are rare, and browsers name no address (RFC 6066, 3).
    let host = (try? configuration.publicOrigin)?.host
    let name = host.flatMap { IPAddress($0) == nil && $0.utf8.first != UInt8(ascii: "[") ? $0 : nil }
    var certificates: [ListenerCertificate] = []
    for (acceptor, listener) in zip(configuration.listener.acceptors, paths) {
      let path = listener.appending("tls_certificate_file")
      do {
        guard let certificate = try files.readCertificate(acceptor) else { continue }
        certificates.append(certificate)
        if let warning = certificate.warning(at: WallClock.now() / 1_000) {
          context.warn(atKey: path, "\(path): \(warning.problem)", remedy: warning.remedy)
        }
        for file in certificate.filesForNoBrowser {
          context.warn(
            atKey: path, "\(path): browsers cannot use the kind of key of \(file) (Ed25519 or Ed448)",
            remedy: "add a certificate with an ECDSA or RSA key")
        }
        warnAboutAuthorities(certificate, at: listener.appending("tls_client_ca_file"), &context)
        guard let name, !certificate.lists(name) else { continue }
        context.warn(
          atKey: path, "\(path): no certificate lists the host of public_url, \(name), so browsers refuse it",
          remedy: "get one for \(name) (subjectAltName), unless clients connect by another name")
      } catch {
        context.report(
          at: path, "\(path): the gateway cannot use it", remedy: "\(error)",
          cause: ListenerCertificate.isTransient(error)
            ? .machine : ListenerCertificate.isMismatch(error) ? .mismatch : .contents)
      }
    }
    if !certificates.isEmpty { warnAboutHosts(configuration, certificates, &context) }
  }

  /// Warns about each CA for clients that has also issued the gateway's own certificate, as public CAs do.
  private func warnAboutAuthorities(
    _ certificate: ListenerCertificate, at path: NodePath, _ context: inout DecodingContext
  ) {
    for subject in certificate.sharedAuthorities {
      context.warn(
        atKey: path,
        "\(path): the CA \(context.concealing(subject)) has also issued the gateway's own certificate: everybody with "
          + "a certificate of this CA may connect, of a public CA anybody",
        remedy: "write a CA that issues certificates to your clients only, unless this one does")
    }
  }

  /// Warns about each `[[host]]` that no certificate of any listener covers.
  private func warnAboutHosts(
    _ configuration: Configuration, _ certificates: [ListenerCertificate], _ context: inout DecodingContext
  ) {
    // The indexes match those of the file, because every host is valid.
    for (index, site) in configuration.hosts.enumerated() {
      let origin = site.host.origin
      guard origin.scheme == .https, IPAddress(origin.host) == nil, origin.host.utf8.first != UInt8(ascii: "["),
        !certificates.contains(where: { $0.lists(origin.host) })
      else { continue }
      context.warn(
        atKey: HostChecks.path(at: index).appending("name"),
        "no certificate of a TLS listener is for \(context.concealing(origin.host)), so browsers refuse to open it",
        remedy: "add one with [[listen.certificate]], unless TLS for this host ends before the gateway")
    }
  }
}
