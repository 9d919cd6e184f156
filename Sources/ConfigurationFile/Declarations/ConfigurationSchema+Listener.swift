import DataPlane

/// TLS of the listener, and the tables of other listeners.
extension ConfigurationSchema {
  static let listenTLS: [SchemaKey<ConfigurationBuilder>] = [
    .absent(
      "listen.tls_certificate_file", .file, into: \.main.certificateFile, example: "\"tls/fullchain.pem\"",
      """
      The certificate of the listener and its chain, in PEM: the listener's own first. Certificates, keys and ticket keys \
      are read again when a file changes, and no connection is dropped for it.
      """,
      omission: "The listener speaks cleartext; something before it has to speak TLS.",
      seeAlso: ["listen.tls_private_key_file", "listen.certificate"]),
    .absent(
      "listen.tls_private_key_file", .file, into: \.main.privateKeyFile, example: "\"tls/privkey.pem\"",
      "The private key that belongs to the certificate, in PEM. Others must not be able to read the file.",
      omission: "The listener speaks cleartext. The certificate and the key are given both or neither.",
      seeAlso: ["listen.tls_certificate_file"]),
    .absent(
      "listen.protocols", ValueType<HTTPProtocol>.choice.list(), into: \.main.protocols,
      example: "[\"h2\", \"http/1.1\"]",
      """
      What the listener speaks: "h2" (HTTP/2), "http/1.1", or both. Over TLS a client that can speak both gets HTTP/2. \
      In cleartext "h2" is for clients that begin with HTTP/2 of their own accord, as some load balancers do.
      """, omission: "Both over TLS, HTTP/1.1 alone in cleartext.", seeAlso: ["listen.tls_certificate_file"]),
    .withDefault(
      "listen.certificate", ValueType.certificate.list(), into: \.main.certificates,
      """
      More certificates, each a table [[listen.certificate]] with certificate_file and private_key_file. A browser is shown \
      the first one that lists the name it asks for, a name itself before one with a wildcard; where none does, \
      tls_certificate_file, or the first of these. An RSA and an ECDSA certificate for one name are both used, by what the \
      client understands.
      """, omission: "There is the one certificate of tls_certificate_file.", seeAlso: ["listen.tls_certificate_file"]),
    .withDefault(
      "listen.tls_ticket_key_files", ValueType.file.list(), into: \.main.ticketKeyFiles,
      """
      Keys for session tickets, each a file of 80 or 48 random bytes that others must not be able to read (openssl rand \
      80). The first makes tickets, all take them back. With the same files on every replica, a browser that comes back to \
      another one needs no full handshake. Whoever has such a key can read what was sent over connections of TLS 1.2 that \
      were resumed with it: put a new one first every day.
      """, omission: "The keys are in memory, of this process alone, and made anew every twelve hours.",
      seeAlso: ["listen.tls_certificate_file"]),
    .absent(
      "listen.tls_client_ca_file", .file, into: \.main.clientAuthorityFile, example: "\"tls/clients.pem\"",
      """
      The authorities, in PEM, whose certificates clients have to show. The handshake refuses a client without one. It \
      decides who may connect, and nothing else: people still sign in, and the application is told nothing of the \
      certificate.
      """, omission: "No client is asked for a certificate.", seeAlso: ["listen.tls_client_certificate"]),
    .withDefault(
      "listen.tls_client_certificate", .choice, into: \.main.clientCertificate,
      """
      Whether every client must show a certificate. With "optional" one without is served, and only one whose \
      certificate does not verify is refused.
      """, seeAlso: ["listen.tls_client_ca_file"]),
  ]

  static let listener = Section<ListenerBuilder>(
    name: "listener",
    introduction: """
      Other addresses that the gateway listens on, each with TLS or without. Hosts, limits and time-outs are those of \
      [listen].
      """,
    entries: [
      .required(
        "listener.name", .label, into: \.name, example: "\"internal\"",
        "What log, health and systemd (FileDescriptorName=) call it: letters, digits, \"-\", \"_\", \".\"."),
      .required(
        "listener.address", .address, into: \.address, example: "\"127.0.0.1:8081\"",
        "An IP address and a port, or \"unix:\" and the path of a socket.", seeAlso: ["listen.address"]),
      .absent(
        "listener.tls_certificate_file", .file, into: \.certificateFile, example: "\"tls/internal.pem\"",
        "Its certificate and chain, in PEM.", omission: "It speaks cleartext.",
        seeAlso: ["listen.tls_certificate_file"]),
      .absent(
        "listener.tls_private_key_file", .file, into: \.privateKeyFile, example: "\"tls/internal.key\"",
        "The private key that belongs to the certificate, in PEM.", omission: "It speaks cleartext.",
        seeAlso: ["listen.tls_private_key_file"]),
      .absent(
        "listener.protocols", ValueType<HTTPProtocol>.choice.list(), into: \.protocols,
        example: "[\"h2\", \"http/1.1\"]", "What it speaks: \"h2\", \"http/1.1\", or both.",
        omission: "Both over TLS, HTTP/1.1 alone in cleartext.", seeAlso: ["listen.protocols"]),
      .withDefault(
        "listener.certificate", ValueType.certificate.list(), into: \.certificates,
        "More certificates, each a table [[listener.certificate]] below its listener.",
        seeAlso: ["listen.certificate"]),
      .withDefault(
        "listener.tls_ticket_key_files", ValueType.file.list(), into: \.ticketKeyFiles,
        "Keys for its session tickets.", omission: "The keys are in memory.",
        seeAlso: ["listen.tls_ticket_key_files"]),
      .absent(
        "listener.tls_client_ca_file", .file, into: \.clientAuthorityFile, example: "\"tls/clients.pem\"",
        "The authorities whose certificates its clients have to show.",
        omission: "No client is asked for a certificate.", seeAlso: ["listen.tls_client_ca_file"]),
      .withDefault(
        "listener.tls_client_certificate", .choice, into: \.clientCertificate,
        "Whether every client must show a certificate.", seeAlso: ["listen.tls_client_certificate"]),
      .withDefault(
        "listener.trusted_proxies", ValueType.network.list(), into: \.trustedProxies,
        "Networks of the proxies before it that are believed.", omission: "Nobody is believed.",
        seeAlso: ["listen.trusted_proxies"]),
      .withDefault(
        "listener.proxy_protocol_from", ValueType.network.list(), into: \.proxyProtocolPeers,
        "Networks of the load balancers that begin each connection with a PROXY protocol header.",
        omission: "Nobody sends one.", seeAlso: ["listen.proxy_protocol_from"]),
    ])
}
