internal import NIOCore

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The system's resolver: `/etc/hosts`, DNS, and whatever else the machine is set up for.
enum SystemResolver {
  static let addresses: NameResolver.Lookup = { (host, port) throws(UnresolvedHostError) in
    var hint = addrinfo()
    hint.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hint.ai_protocol = Int32(IPPROTO_TCP)
    var list: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(host, String(port), &hint, &list)
    // Of a name server that does not answer, or has no answer from others.
    if status == EAI_AGAIN { throw UnresolvedHostError(host: host, reason: .noAnswer) }
    guard status == 0 else { return [] }
    defer { freeaddrinfo(list) }
    var found: [SocketAddress] = []
    var entry = list
    while let info = entry?.pointee {
      let address = UnsafeRawPointer(info.ai_addr)
      switch (info.ai_family, address) {
      case (AF_INET, let address?): found.append(SocketAddress(address.load(as: sockaddr_in.self), host: host))
      case (AF_INET6, let address?): found.append(SocketAddress(address.load(as: sockaddr_in6.self), host: host))
      default: break
      }
      entry = info.ai_next
    }
    return found
  }
}
