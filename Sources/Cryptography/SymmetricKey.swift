/// The bytes of a secret key. A value cannot be printed.
package struct SymmetricKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The key itself. Keep it out of logs, error messages and pages.
  package let exposedBytes: [UInt8]

  /// A key of these bytes.
  package init(_ bytes: some Sequence<UInt8>) { exposedBytes = Array(bytes) }

  package var description: String { "[secret]" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
