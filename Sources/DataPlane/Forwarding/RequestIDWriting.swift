package import NIOCore

extension RequestIDSource.Identifier {
  /// Writes the identifier as `X-Request-Id` has it.
  @inline(__always)
  func write(to space: inout HeaderWriter) {
    if let given {
      space.append(given.span.bytes)
      return
    }
    space.append(Self.hexadecimal(UInt32(truncatingIfNeeded: high >> 32)))
    space.append(Self.hexadecimal(UInt32(truncatingIfNeeded: high)))
    space.append(Self.hexadecimal(UInt32(truncatingIfNeeded: low >> 32)))
    space.append(Self.hexadecimal(UInt32(truncatingIfNeeded: low)))
  }

  package func write(to buffer: inout ByteBuffer) { buffer.writeHead(expecting: 64) { write(to: &$0) } }
}
