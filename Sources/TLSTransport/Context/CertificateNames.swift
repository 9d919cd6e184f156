import COpenSSL

/// The host names that a certificate lists, in lower case, as bytes.
struct CertificateNames {
  /// `subjectAltName` entries of kind dNSName (RFC 5280, section 4.2.1.6). A name with a byte that no host name has is left
  /// out: nobody can ask for it.
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

/// Host names as they are compared.
enum HostNameBytes {
  /// In lower case and without a final dot; nil for what no host name can be.
  static func folded(_ name: some Collection<UInt8>) -> [UInt8]? {
    var bytes = name.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    if bytes.last == UInt8(ascii: ".") { bytes.removeLast() }
    guard (1...253).contains(bytes.count), bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
    return bytes
  }
}

/// Which of several certificates a client is shown.
struct CertificateChoice {
  private var exact: [[UInt8]: Int] = [:]
  /// By what follows the `*` of a wildcard, its dot included.
  private var wildcards: [[UInt8]: Int] = [:]

  /// Adds the names of the certificate at a place. A name that an earlier one lists stays with that one.
  mutating func add(_ names: CertificateNames, at place: Int) {
    for name in names.names {
      if name.starts(with: [UInt8(ascii: "*"), UInt8(ascii: ".")]) {
        let rest = Array(name.dropFirst())
        if self.wildcards[rest] == nil { self.wildcards[rest] = place }
      } else if self.exact[name] == nil {
        self.exact[name] = place
      }
    }
  }

  /// The place of the certificate that lists a name, or whose wildcard stands for its first label (RFC 9525, section
  /// 6.3: for one whole label, and no part of one); nil where none does. A certificate that lists the name itself comes
  /// before one with a wildcard.
  func place(for name: some Collection<UInt8>) -> Int? {
    guard let name = HostNameBytes.folded(name) else { return nil }
    if let place = self.exact[name] { return place }
    guard let dot = name.firstIndex(of: UInt8(ascii: ".")), dot > 0 else { return nil }
    return self.wildcards[Array(name[dot...])]
  }
}
