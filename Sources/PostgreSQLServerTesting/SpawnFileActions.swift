package import Glibc

extension posix_spawn_file_actions_t {
  /// Closes in the child what it would inherit of the parent's descriptors beyond those that were passed on. A child
  /// that outlives a test would else hold open the pipe or the connection that another test waits for the end of: what
  /// is opened on one thread can be inherited by what is started on another before it is marked to be closed.
  ///
  /// One by one, because Swift does not see glibc's `addclosefrom`. Closing what is not open is not a failure.
  /// - Parameter first: the lowest that is closed.
  package mutating func closeInherited(from first: Int32) {
    for descriptor in first..<2_048 { posix_spawn_file_actions_addclose(&self, descriptor) }
  }
}
