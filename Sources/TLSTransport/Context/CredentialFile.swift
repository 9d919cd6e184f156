import Secrets

/// A file of certificates or of a private key, read whole.
struct CredentialFile: ~Copyable {
  /// The longest accepted file, in bytes: 1 MiB. Certificate chains are a few kilobytes; a bundle of all public CAs,
  /// such as Debian's `/etc/ssl/certs/ca-certificates.crt`, is about 220 KiB.
  static let limit = 1_048_576

  let path: String
  let bytes: [UInt8]

  /// Reads certificates, which are public.
  init(path: String) throws(TLSConfigurationError) {
    self.path = path
    do throws(PrivateFileError) {
      bytes = try OpenedFile.read(path, limit: Self.limit).bytes
    } catch {
      throw TLSConfigurationError(error)
    }
  }

  /// Reads a private key or a ticket key, whose file must be private (`PrivateFile`).
  init(privatePath path: String) throws(TLSConfigurationError) {
    self.path = path
    do throws(PrivateFileError) {
      bytes = try PrivateFile.read(path, limit: Self.limit)
    } catch {
      throw TLSConfigurationError(error)
    }
  }
}

extension TLSConfigurationError {
  fileprivate init(_ error: PrivateFileError) {
    self =
      switch error.reason {
      case .missing: .unreadable(file: error.path, reason: "No such file or directory")
      case .unreadable(let text): .unreadable(file: error.path, reason: text)
      case .failed(let text): .readFailed(file: error.path, reason: text)
      case .notRegular, .tooLong: .notAPlausibleFile(file: error.path, limit: CredentialFile.limit)
      case .exposed(let mode): .privateKeyExposed(file: error.path, mode: mode)
      }
  }
}
