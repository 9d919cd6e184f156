import COpenSSL
import Glibc

/// The owner of an `X509`: one certificate.
final class Certificate: Sendable {
  /// Immutable after creation, except for its reference count, which OpenSSL changes from any thread.
  nonisolated(unsafe) let pointer: OpaquePointer

  init(owning pointer: OpaquePointer) {
    self.pointer = pointer
  }

  deinit {
    X509_free(pointer)
  }

  /// The beginning and the end of its validity, in seconds since 1970; nil if the certificate's dates are invalid.
  var validity: ClosedRange<Int64>? {
    guard let start = Self.seconds(X509_get0_notBefore(pointer)),
      let end = Self.seconds(X509_get0_notAfter(pointer)), start <= end
    else { return nil }
    return start...end
  }

  /// Whether it may issue others: by its basic constraints or its key usage, or as a root of version 1, which has
  /// neither (X509_check_ca(3)).
  var isAuthority: Bool { X509_check_ca(pointer) != 0 }

  /// Its name, in the form `/C=US/O=Example/CN=Name`.
  var subject: String { Self.text(ofName: X509_get_subject_name(pointer)) ?? "" }

  /// Whether another certificate names this one as its issuer, and this one may be one. Verifies no signature.
  func isIssuer(of other: Certificate) -> Bool { X509_check_issued(pointer, other.pointer) == X509_V_OK }

  /// A name in the form `/C=US/O=Example/CN=Name`; nil if there is none.
  static func text(ofName name: OpaquePointer?) -> String? {
    var text = [CChar](repeating: 0, count: 256)
    guard let name, X509_NAME_oneline(name, &text, Int32(text.count)) != nil else { return nil }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Every certificate of a PEM file, at least one.
  static func all(in file: borrowing CredentialFile) throws(TLSConfigurationError) -> [Certificate] {
    let reader = try PEMReader(file.bytes)
    var certificates: [Certificate] = []
    while let certificate = try reader.nextCertificate(file: file.path) { certificates.append(certificate) }
    guard !certificates.isEmpty else { throw .noCertificate(file: file.path) }
    return certificates
  }

  private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
    var parts = tm()
    guard let time, ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
    return Int64(timegm(&parts))
  }
}
