import COpenSSL
import WebFormats

/// The host names that a certificate lists, in lower case, as bytes.
struct CertificateNames {
  /// `subjectAltName` entries of kind dNSName (RFC 5280, 4.2.1.6). A name with a byte that is invalid in host
  /// names is left out, because no client can request it.
  let names: [[UInt8]]

  init(of certificate: Certificate) {
    var names: [[UInt8]] = []
    if let list = X509_get_ext_d2i(certificate.pointer, NID_subject_alt_name, nil, nil).map({ OpaquePointer($0) }) {
      for index in 0..<cordon_GENERAL_NAMES_count(list) {
        var kind: Int32 = 0
        guard let value = GENERAL_NAME_get0_value(cordon_GENERAL_NAMES_value(list, index), &kind), kind == GEN_DNS
        else { continue }
        let text = value.assumingMemoryBound(to: ASN1_STRING.self)
        guard let start = ASN1_STRING_get0_data(text) else { continue }
        let bytes = UnsafeBufferPointer(start: start, count: max(0, Int(ASN1_STRING_length(text))))
        if let name = HostNameBytes.folded(bytes) { names.append(name) }
      }
      GENERAL_NAMES_free(list)
    }
    self.names = names
  }
}

/// Normalization of host names for comparison.
enum HostNameBytes {
  /// The name in lower case and without a final dot; nil if it is not a host name.
  static func folded(_ name: some Collection<UInt8>) -> [UInt8]? {
    var bytes = name.map(\.asciiLowercased)
    if bytes.last == UInt8(ascii: ".") { bytes.removeLast() }
    guard (1...253).contains(bytes.count), bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
    return bytes
  }
}
