import COpenSSL

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
