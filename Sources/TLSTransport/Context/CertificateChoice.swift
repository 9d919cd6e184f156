/// The choice of one of several certificates, by the name that a client requests (SNI).
///
/// Two that list the same name and have keys of different kinds (RSA and ECDSA) serve it together: OpenSSL selects
/// the one whose signatures the client supports.
struct CertificateChoice {
  /// The certificates that serve a name together, as indexes into the list: at most one for each kind of key, in the
  /// order of the list. The first set is for clients that send no name, or one that no certificate lists.
  private(set) var sets: [[Int]] = []
  /// The index of the set of each name.
  private var exact: [[UInt8]: Int] = [:]
  /// The same for wildcards, by what follows the `*`, its dot included.
  private var wildcards: [[UInt8]: Int] = [:]

  /// - Parameter certificates: in the order of their preference, the kind of each key as OpenSSL numbers it.
  init(_ certificates: [(names: CertificateNames, keyType: Int32)]) {
    var indexes: [[UInt8]: [Int]] = [:]
    for (index, certificate) in certificates.enumerated() {
      for name in certificate.names.names
      where !indexes[name, default: []].contains(where: { certificates[$0].keyType == certificate.keyType }) {
        indexes[name, default: []].append(index)
      }
    }
    var numbers: [[Int]: Int] = [:]
    func number(of set: [Int]) -> Int {
      if let number = numbers[set] { return number }
      numbers[set] = sets.count
      sets.append(set)
      return sets.count - 1
    }
    guard let first = certificates.first else { return }
    // The first certificate, and those that share a name with it.
    var standard = [0]
    for index in first.names.names.flatMap({ indexes[$0] ?? [] }).sorted()
    where !standard.contains(where: { certificates[$0].keyType == certificates[index].keyType }) {
      standard.append(index)
    }
    _ = number(of: standard)
    for (name, set) in indexes.sorted(by: { $0.value.lexicographicallyPrecedes($1.value) }) {
      if name.starts(with: [UInt8(ascii: "*"), UInt8(ascii: ".")]) {
        wildcards[Array(name.dropFirst())] = number(of: set)
      } else {
        exact[name] = number(of: set)
      }
    }
    // A certificate that is never served is loaded too, because one that OpenSSL refuses is a configuration error.
    for index in certificates.indices where !sets.contains(where: { $0.contains(index) }) { _ = number(of: [index]) }
  }

  /// The index of the set that serves a name: of the certificates that list it, or whose wildcard matches its first
  /// label (RFC 9525, 6.3: one whole label, not a part of one); nil if there is none. A certificate that lists
  /// the name itself comes before one with a wildcard.
  func setIndex(for name: some Collection<UInt8>) -> Int? {
    guard let name = HostNameBytes.folded(name) else { return nil }
    if let index = exact[name] { return index }
    guard let dot = name.firstIndex(of: UInt8(ascii: ".")), dot > 0 else { return nil }
    return wildcards[Array(name[dot...])]
  }
}
