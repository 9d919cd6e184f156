import WebFormats

/// An error in the files and values of a TLS context. Always an operator error.
package enum TLSConfigurationError: Error, Sendable, Equatable {
  /// A file cannot be read: the system's reason.
  case unreadable(file: String, reason: String)
  /// A file cannot be read now, for a reason that can pass while the file stays as it is: the system's.
  case readFailed(file: String, reason: String)
  /// A file is not a regular file, or larger than any such file is (limit in bytes).
  case notAPlausibleFile(file: String, limit: Int)
  /// The private key's file may be read or changed by others: its permission bits.
  case privateKeyExposed(file: String, mode: UInt32)
  /// The file holds no PEM certificate.
  case noCertificate(file: String)
  /// The file holds no PEM private key.
  case noPrivateKey(file: String)
  /// The private key is protected by a passphrase.
  case privateKeyEncrypted(file: String)
  /// The file holds a damaged PEM block: OpenSSL's reason.
  case malformed(file: String, reason: String)
  /// The private key is not that of the certificate.
  case keyMismatch(certificateFile: String, privateKeyFile: String)
  /// OpenSSL does not accept the certificate or key (too weak, a kind that it does not know): its reason.
  case refused(file: String, reason: String)
  /// The file of a session ticket key has another length, in bytes.
  case notATicketKey(file: String, length: Int)
  /// No certificate was named.
  case noIdentity
  /// An application protocol's name is empty or longer than 255 bytes.
  case invalidApplicationProtocol(String)
  /// OpenSSL failed for another reason.
  case libraryFailure(reason: String)

  /// A constant word for logs.
  package var code: String {
    switch self {
    case .unreadable: "tls_file_unreadable"
    case .readFailed: "tls_file_read_failed"
    case .notAPlausibleFile: "tls_file_not_plausible"
    case .privateKeyExposed: "tls_private_key_exposed"
    case .noCertificate: "tls_no_certificate"
    case .noPrivateKey: "tls_no_private_key"
    case .privateKeyEncrypted: "tls_private_key_encrypted"
    case .malformed: "tls_file_malformed"
    case .keyMismatch: "tls_key_mismatch"
    case .refused: "tls_certificate_refused"
    case .notATicketKey: "tls_not_a_ticket_key"
    case .noIdentity: "tls_no_identity"
    case .invalidApplicationProtocol: "tls_invalid_application_protocol"
    case .libraryFailure: "tls_library_failure"
    }
  }

  /// Whether the same files may be accepted later, without a change of them.
  package var isTransient: Bool { if case .readFailed = self { true } else { false } }

  /// The file with the problem; nil if there is none.
  package var file: String? {
    switch self {
    case .unreadable(let file, _), .readFailed(let file, _), .notAPlausibleFile(let file, _),
      .privateKeyExposed(let file, _), .noCertificate(let file), .noPrivateKey(let file),
      .privateKeyEncrypted(let file), .malformed(let file, _), .keyMismatch(_, let file), .refused(let file, _),
      .notATicketKey(let file, _):
      file
    case .noIdentity, .invalidApplicationProtocol, .libraryFailure: nil
    }
  }

  /// The problem, and its remedy.
  package var message: String {
    switch self {
    case .unreadable(let file, let reason):
      "cannot read \(file) (\(reason)): correct the path, or let the gateway's user read it"
    case .readFailed(let file, let reason):
      "cannot read \(file) now (\(reason)): look at the machine and its file system, not at the file"
    case .notAPlausibleFile(let file, let limit):
      "\(file) is not a regular file of at most \(limit) bytes: correct the path"
    case .privateKeyExposed(let file, let mode):
      "the key \(file) has mode \(Self.octal(mode)), open to others: run chmod 600 on it, or chmod 640 with a "
        + "group of its own (a Kubernetes secret volume: defaultMode 0400)"
    case .noCertificate(let file):
      "\(file) holds no PEM certificate (-----BEGIN CERTIFICATE-----): name the file of the certificate chain"
    case .noPrivateKey(let file):
      "\(file) holds no PEM private key (-----BEGIN PRIVATE KEY-----): name the file of the key"
    case .privateKeyEncrypted(let file):
      "the private key \(file) is protected by a passphrase that nobody can type here: remove it with "
        + "openssl pkey -in \(ShellWord.quoting(file)) -out NEWFILE, and protect NEWFILE with chmod 600"
    case .malformed(let file, let reason):
      "\(file) is damaged (\(reason)): copy it again from its source"
    case .keyMismatch(let certificateFile, let privateKeyFile):
      "the key \(privateKeyFile) does not belong to the first certificate of \(certificateFile): name the key that it "
        + "was issued for, and put the server's own certificate first in the file, then the intermediate ones"
    case .refused(let file, let reason):
      "OpenSSL does not accept \(file) (\(reason)): get a certificate with an RSA key of at least 2048 bits or a "
        + "P-256 key"
    case .notATicketKey(let file, let length):
      "\(file) has \(length) bytes, and the key of session tickets has 80 or 48: make one with "
        + "(umask 077; openssl rand 80 > \(ShellWord.quoting(file)))"
    case .noIdentity: "no certificate is named: name the file of a certificate chain and that of its key"
    case .invalidApplicationProtocol(let name):
      "the application protocol's name has \(name.utf8.count) bytes: it must have 1 to 255"
    case .libraryFailure(let reason):
      "OpenSSL failed (\(reason)): look at memory and at the installation of libssl"
    }
  }

  private static func octal(_ mode: UInt32) -> String {
    let digits = String(mode & 0o7777, radix: 8)
    return String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
  }
}

extension TLSConfigurationError: CustomStringConvertible {
  package var description: String { message }
}
