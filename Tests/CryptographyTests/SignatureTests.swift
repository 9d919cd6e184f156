import Crypto
import CryptoExtras
import Cryptography
import Foundation
import JWTKit
import Testing
import WebFormats

private typealias ES256PrivateKey = Cryptography.ES256PrivateKey
private typealias ES256PublicKey = Cryptography.ES256PublicKey

@Suite("ES256")
struct ES256Tests {
  private let message = Array("header.payload".utf8)

  @Test("A signature is valid for another library, and the other's for us")
  func againstSwiftCrypto() throws {
    let theirs = P256.Signing.PrivateKey()
    let ours = try #require(ES256PrivateKey(pem: theirs.pemRepresentation.utf8))
    // R and S begin with zeros now and then.
    for _ in 0..<300 {
      let signature = try #require(ours.signature(of: message))
      #expect(signature.count == 64)
      #expect(
        theirs.publicKey.isValidSignature(try .init(rawRepresentation: signature), for: message))
      #expect(ours.publicKey.isValid(signature: try theirs.signature(for: message).rawRepresentation, of: message))
    }
  }

  @Test("Keys are written as another library reads them, in PKCS #8")
  func writtenKeys() throws {
    let key = ES256PrivateKey()
    let theirs = try P256.Signing.PrivateKey(pemRepresentation: key.pem)
    #expect(key.pem.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
    #expect(key.pem.hasSuffix("-----END PRIVATE KEY-----\n"))
    #expect(theirs.publicKey.pemRepresentation + "\n" == key.publicKey.pem)
    let coordinates = key.publicKey.coordinates
    #expect(Array(theirs.publicKey.rawRepresentation) == coordinates.x + coordinates.y)
    #expect(ES256PublicKey(x: coordinates.x, y: coordinates.y)?.pem == key.publicKey.pem)
    #expect(ES256PublicKey(pem: key.publicKey.pem.utf8)?.pem == key.publicKey.pem)
  }

  @Test("A key in the form of SEC 1, as openssl ecparam writes it with its parameters, is read")
  func sec1() throws {
    let key = P256.Signing.PrivateKey()
    let written = try Self.sec1(key)
    let read = try #require(ES256PrivateKey(pem: written.utf8))
    #expect(read.publicKey.pem == key.publicKey.pemRepresentation + "\n")
  }

  @Test("Only a P-256 key is read: not other curves and kinds, public keys, encrypted and damaged ones, nothing")
  func otherKeys() throws {
    let key = P256.Signing.PrivateKey()
    let damaged = key.pemRepresentation.replacing("MI", with: "AA")
    let others = [
      P384.Signing.PrivateKey().pemRepresentation, try _RSA.Signing.PrivateKey(keySize: .bits2048).pemRepresentation,
      Curve25519.Signing.PrivateKey().rawRepresentation.base64EncodedString(), key.publicKey.pemRepresentation,
      damaged, "", "-----BEGIN PRIVATE KEY-----", Self.encrypted,
    ]
    for other in others { #expect(ES256PrivateKey(pem: other.utf8) == nil, "\(other)") }
    for other in [P384.Signing.PrivateKey().publicKey.pemRepresentation, key.pemRepresentation, ""] {
      #expect(ES256PublicKey(pem: other.utf8) == nil, "\(other)")
    }
  }

  @Test("A point off the curve, at infinity or of another length is not a public key")
  func badPoints() {
    let (x, y) = ES256PrivateKey().publicKey.coordinates
    var moved = y
    moved[31] ^= 1
    let zeros = [UInt8](repeating: 0, count: 32)
    let large = [UInt8](repeating: 0xFF, count: 32)
    for (x, y) in [(x, moved), (zeros, zeros), (large, y), (x, large), (x, []), ([0] + x, y), (x, Array(y.dropLast()))]
    {
      #expect(ES256PublicKey(x: x, y: y) == nil)
    }
  }

  @Test("A signature that was changed, cut, extended, or is all zeros is invalid")
  func badSignatures() throws {
    let key = ES256PrivateKey()
    let signature = try #require(key.signature(of: message))
    for index in signature.indices {
      var changed = signature
      changed[index] ^= 0x10
      #expect(!key.publicKey.isValid(signature: changed, of: message))
    }
    let zeros = [UInt8](repeating: 0, count: 64)
    let large = [UInt8](repeating: 0xFF, count: 64)
    for bad in [[], Array(signature.dropLast()), signature + [0], zeros, large] {
      #expect(!key.publicKey.isValid(signature: bad, of: message))
    }
    #expect(!key.publicKey.isValid(signature: signature, of: message + [0]))
    #expect(!ES256PrivateKey().publicKey.isValid(signature: signature, of: message))
  }

  @Test("A compact JWS is verified by a JWT library, with its header")
  func compactJWS() async throws {
    struct Claims: JWTPayload {
      let iss: String
      func verify(using algorithm: some JWTAlgorithm) throws {}
    }
    let key = ES256PrivateKey()
    let payload = Array(#"{"iss":"DEF123GHIJ"}"#.utf8)
    let token = try #require(CompactJWS.sign(payload: payload, using: key, keyID: "ABC123DEFG"))
    let keys = JWTKeyCollection()
    await keys.add(ecdsa: try JWTKit.ES256PublicKey(pem: key.publicKey.pem), kid: "ABC123DEFG")
    #expect(try await keys.verify(token, as: Claims.self).iss == "DEF123GHIJ")
    let header = try #require(Base64URL.decode(token.utf8.prefix { $0 != UInt8(ascii: ".") }))
    #expect(String(decoding: header, as: UTF8.self) == #"{"alg":"ES256","kid":"ABC123DEFG","typ":"JWT"}"#)
  }

  /// SEC 1 with the curve's parameters in front, made of the parts of PKCS #8.
  private static func sec1(_ key: P256.Signing.PrivateKey) throws -> String {
    let header: [UInt8] = [0x30, 0x77, 0x02, 0x01, 0x01, 0x04, 0x20]
    let curve: [UInt8] = [0xA0, 0x0A, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
    let point: [UInt8] = [0xA1, 0x44, 0x03, 0x42, 0x00]
    let body = header + Array(key.rawRepresentation) + curve + point + Array(key.publicKey.x963Representation)
    return "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"
      + "-----BEGIN EC PRIVATE KEY-----\n\(Data(body).base64EncodedString(options: .lineLength64Characters))\n"
      + "-----END EC PRIVATE KEY-----\n"
  }

  /// The passphrase is "secret".
  private static let encrypted = """
    -----BEGIN ENCRYPTED PRIVATE KEY-----
    MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAi7wPBOf7JmOAICCAAw
    DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEHNlo4178y+2SIq+JCHLTHgEgZCY
    69tFLre0A8ZyOPNdCfeXDcMzUvI6r1p/BMNJ1J807y2/ssLauYBckl1oHTFG0IyG
    VCd+oP1SVnTeMLjZPQyq38gXkkoXO5GT5os2XY8s+5f24GRJqx/Xidsp4z2Fxh81
    KeNCmDD0lTy7U7BMr61MQ0uEWrlnYpuH+1jlZCiQDPpsAzfnp6mFrFBSO4qzCc0=
    -----END ENCRYPTED PRIVATE KEY-----
    """
}

@Suite("RS256")
struct RS256Tests {
  private let message = Array("header.payload".utf8)

  @Test("A signature is valid for another library, and the other's for us")
  func againstSwiftCrypto() throws {
    let ours = RS256PrivateKey()
    let theirPublic = try _RSA.Signing.PublicKey(pemRepresentation: ours.publicKey.pem)
    let signature = try #require(ours.signature(of: message))
    #expect(
      theirPublic.isValidSignature(
        .init(rawRepresentation: signature), for: Crypto.SHA256.hash(data: message), padding: .insecurePKCS1v1_5))

    let theirs = try _RSA.Signing.PrivateKey(keySize: .bits2048)
    let numbers = try theirs.publicKey.getKeyPrimitives()
    let key = try #require(RS256PublicKey(modulus: Array(numbers.modulus), exponent: Array(numbers.publicExponent)))
    let hash = Crypto.SHA256.hash(data: message)
    let good = try theirs.signature(for: hash, padding: .insecurePKCS1v1_5).rawRepresentation
    #expect(key.isValid(signature: good, of: message))
    // The padding of PS256 is another algorithm.
    #expect(!key.isValid(signature: try theirs.signature(for: hash, padding: .PSS).rawRepresentation, of: message))
  }

  @Test("A signature that was changed, cut or extended is invalid, and so is one of another key or message")
  func badSignatures() throws {
    let key = RS256PrivateKey()
    let signature = try #require(key.signature(of: message))
    #expect(key.publicKey.isValid(signature: signature, of: message))
    for index in stride(from: 0, to: signature.count, by: 17) {
      var changed = signature
      changed[index] ^= 1
      #expect(!key.publicKey.isValid(signature: changed, of: message))
    }
    let large = [UInt8](repeating: 0xFF, count: 256)
    for bad in [[], Array(signature.dropLast()), signature + [0], [0] + signature, large] {
      #expect(!key.publicKey.isValid(signature: bad, of: message))
    }
    #expect(!key.publicKey.isValid(signature: signature, of: message + [0]))
    #expect(!RS256PrivateKey().publicKey.isValid(signature: signature, of: message))
  }

  @Test("Numbers that make a weak or a slow key are refused, zeros in front do not hide them")
  func badNumbers() {
    let (modulus, exponent) = RS256PrivateKey().publicKey.numbers
    #expect(exponent == [1, 0, 1])
    #expect(RS256PublicKey(modulus: [0, 0] + modulus, exponent: [0] + exponent) != nil)
    let short = [UInt8](repeating: 0xFF, count: 255)
    let long = [UInt8](repeating: 0xFF, count: 1025)
    var even = modulus
    even[even.count - 1] &= 0xFE
    for modulus in [[], [0], short, [0] + short, [0x7F] + short, long, even] {
      #expect(RS256PublicKey(modulus: modulus, exponent: exponent) == nil)
    }
    for exponent: [UInt8] in [[], [0], [1], [2], [1, 0, 0], [0xFF, 0xFF, 0xFF, 0xFF, 0xFF]] {
      #expect(RS256PublicKey(modulus: modulus, exponent: exponent) == nil)
    }
    // With these a message would be its own signature.
    #expect(RS256PublicKey(modulus: modulus, exponent: [0, 0, 1]) == nil)
  }
}
