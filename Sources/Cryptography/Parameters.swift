internal import COpenSSL

/// The parameters of one of OpenSSL's algorithms or keys (OSSL_PARAM(3)).
struct Parameters: ~Copyable {
  enum Value {
    case text(String)
    case bytes([UInt8])
    /// A number, the highest byte first.
    case number([UInt8])
    /// The same of a number that must not stay in memory.
    case secretNumber([UInt8])
  }

  private let pointer: UnsafeMutablePointer<OSSL_PARAM>
  /// The parameters refer to their names, and have copies of their values.
  private let names: [UnsafeMutableBufferPointer<CChar>]

  init(_ values: KeyValuePairs<String, Value>) {
    let builder = LibCrypto.require(OSSL_PARAM_BLD_new(), "parameters")
    defer { OSSL_PARAM_BLD_free(builder) }
    names = values.map { Self.string($0.key) }
    // The builder also refers to the values until the parameters are built.
    var texts: [UnsafeMutableBufferPointer<CChar>] = []
    var arrays: [UnsafeMutableBufferPointer<UInt8>] = []
    var numbers: [OpaquePointer] = []
    defer {
      for text in texts { text.deallocate() }
      for array in arrays { array.deallocate() }
      for number in numbers { BN_clear_free(number) }
    }
    for (name, value) in zip(names, values.map(\.value)) {
      switch value {
      case .text(let text):
        texts.append(Self.string(text))
        LibCrypto.require(
          OSSL_PARAM_BLD_push_utf8_string(builder, name.baseAddress, texts.last?.baseAddress, 0), "parameters")
      case .bytes(let bytes):
        // One byte more, so that an empty value has an address too.
        let array = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count + 1)
        _ = array.initialize(from: bytes + [0])
        arrays.append(array)
        LibCrypto.require(
          OSSL_PARAM_BLD_push_octet_string(builder, name.baseAddress, array.baseAddress, bytes.count), "parameters")
      case .number(let bytes), .secretNumber(let bytes):
        let isSecret = if case .secretNumber = value { true } else { false }
        // Parameters of a secure number are in memory that is cleared when it is freed (OSSL_PARAM_BLD(3)).
        let number = LibCrypto.require(isSecret ? BN_secure_new() : BN_new(), "a number")
        _ = LibCrypto.require(BN_bin2bn(bytes, Int32(bytes.count), number), "a number")
        numbers.append(number)
        LibCrypto.require(OSSL_PARAM_BLD_push_BN(builder, name.baseAddress, number), "parameters")
      }
    }
    pointer = LibCrypto.require(OSSL_PARAM_BLD_to_param(builder), "parameters")
  }

  deinit {
    OSSL_PARAM_free(pointer)
    for name in names { name.deallocate() }
  }

  /// The result of a call that takes the parameters, which live at least as long as the call.
  borrowing func pass(to call: (UnsafeMutablePointer<OSSL_PARAM>) -> Int32) -> Int32 { call(pointer) }

  /// A copy that ends in NUL.
  private static func string(_ text: String) -> UnsafeMutableBufferPointer<CChar> {
    let copy = UnsafeMutableBufferPointer<CChar>.allocate(capacity: text.utf8.count + 1)
    _ = copy.initialize(from: text.utf8.map { CChar(bitPattern: $0) } + [0])
    return copy
  }
}
