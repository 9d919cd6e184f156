import DataPlane
import WebFormats

/// One address to listen on, `[listen]` or one of `[[listener]]`, while it is read.
struct ListenerBuilder: DecodingTarget {
  var name = AcceptorSettings.mainName
  var address = BindAddress.unix(path: "")
  var protocols: [HTTPProtocol]?
  var trustedProxies: [NetworkPrefix] = []
  var proxyProtocolPeers: [NetworkPrefix] = []
  var redirects = false
  /// Halves of the first certificate, until both are seen.
  var certificateFile: String?
  var privateKeyFile: String?
  /// More certificates.
  var certificates: [TLSFiles] = []
  var ticketKeyFiles: [String] = []
  var clientAuthorityFile: String?
  var clientCertificate = ClientCertificate.required

  enum ClientCertificate: String, Sendable, CaseIterable {
    case required, optional
  }

  /// Every certificate with its key, the default one first.
  private var everyCertificate: [TLSFiles] {
    guard let certificateFile, let privateKeyFile else { return certificates }
    return [TLSFiles(certificateFile: certificateFile, privateKeyFile: privateKeyFile)] + certificates
  }

  var settings: AcceptorSettings {
    var tls: AcceptorTLSSettings?
    if !everyCertificate.isEmpty {
      var settings = AcceptorTLSSettings(certificates: everyCertificate)
      settings.ticketKeyFiles = ticketKeyFiles
      settings.clients = clientAuthorityFile.map {
        TLSClientsSettings(authorityFile: $0, areRequired: clientCertificate == .required)
      }
      tls = settings
    }
    var settings = AcceptorSettings(
      name: name, address: address, tls: tls, trustedProxies: trustedProxies, proxyProtocolPeers: proxyProtocolPeers)
    settings.protocols = protocols
    settings.redirects = redirects
    return settings
  }
}
