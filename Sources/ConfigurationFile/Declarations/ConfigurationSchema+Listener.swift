import DataPlane

/// TLS of the listener, and the tables of other listeners.
extension ConfigurationSchema {
  static let listenTLS: [SchemaKey<ConfigurationBuilder>] = [
    .optional(
      "listen.tls_certificate_file", .file, into: \.main.certificateFile, example: "\"tls/fullchain.pem\"",
      """
      The listener's certificate and its chain, in PEM, the listener's own first. Changed certificate, key and ticket \
      key files are reloaded automatically, without dropped connections.
      """,
      omission: "The listener uses cleartext; a proxy in front of it must terminate TLS.",
      seeAlso: ["listen.tls_private_key_file", "listen.certificate"]),
    .optional(
      "listen.tls_private_key_file", .file, into: \.main.privateKeyFile, example: "\"tls/privkey.pem\"",
      "The private key that belongs to the certificate, in PEM. Others must not be able to read the file.",
      omission: "The listener uses cleartext. Set both certificate and key, or neither.",
      seeAlso: ["listen.tls_certificate_file"]),
    .optional(
      "listen.protocols", ValueType<HTTPProtocol>.choice.list(), into: \.main.protocols,
      example: "[\"h2\", \"http/1.1\"]",
      """
      The listener's protocols: "h2" (HTTP/2), "http/1.1", or both. Over TLS, HTTP/2 is preferred (ALPN). In \
      cleartext, "h2" is for clients with prior knowledge, such as some load balancers.
      """, omission: "Both over TLS, HTTP/1.1 alone in cleartext.", seeAlso: ["listen.tls_certificate_file"]),
    .withDefault(
      "listen.certificate", ValueType.certificate.list(), into: \.main.certificates,
      """
      More certificates, each a table [[listen.certificate]] with certificate_file and private_key_file. The first \
      certificate that lists the requested name (SNI) is used, exact names before wildcards; if none does, \
      tls_certificate_file, or the first of these. An RSA and an ECDSA certificate may have the same name: each client \
      gets the one that it supports.
      """, omission: "tls_certificate_file is the only certificate.", seeAlso: ["listen.tls_certificate_file"]),
    .withDefault(
      "listen.tls_ticket_key_files", ValueType.file.list(), into: \.main.ticketKeyFiles,
      """
      Keys for session tickets, each a file of 80 or 48 random bytes that others must not be able to read (openssl \
      rand 80). The first encrypts tickets, all decrypt them. With the same files on every replica, sessions can be \
      resumed on all of them. A stolen key decrypts TLS 1.2 connections that were resumed with it: add a new key at \
      the front every day.
      """, omission: "Random keys in memory, for this process only, are rotated every twelve hours.",
      seeAlso: ["listen.tls_certificate_file"]),
    .optional(
      "listen.tls_client_ca_file", .file, into: \.main.clientAuthorityFile, example: "\"tls/clients.pem\"",
      """
      CA certificates, in PEM, for client certificates. Each of them is trusted, also an intermediate CA without its \
      root. The handshake refuses a client without a valid certificate. It only decides who may connect: users still \
      sign in, and the certificate is not forwarded to the application.
      """, omission: "Client certificates are not requested.", seeAlso: ["listen.tls_client_certificate"]),
    .withDefault(
      "listen.tls_client_certificate", .choice, into: \.main.clientCertificate,
      """
      Whether clients must have a certificate. With "optional", clients without one are accepted, and only invalid \
      certificates are refused.
      """, seeAlso: ["listen.tls_client_ca_file"]),
  ]

  static let listener = Section<ListenerBuilder>(
    name: "listener",
    introduction: """
      Additional listeners, each with or without TLS. Hosts, limits and timeouts are those of [listen].
      """,
    entries: [
      .required(
        "listener.name", .label, into: \.name, example: "\"internal\"",
        """
        The listener's name in logs, health checks and systemd (FileDescriptorName=): letters, digits, "-", "_", ".".
        """),
      .required(
        "listener.address", .address, into: \.address, example: "\"127.0.0.1:8081\"",
        "An IP address and a port, or \"unix:\" and the path of a socket.", seeAlso: ["listen.address"]),
      .optional(
        "listener.tls_certificate_file", .file, into: \.certificateFile, example: "\"tls/internal.pem\"",
        "The listener's certificate and chain, in PEM.", omission: "The listener uses cleartext.",
        seeAlso: ["listen.tls_certificate_file"]),
      .optional(
        "listener.tls_private_key_file", .file, into: \.privateKeyFile, example: "\"tls/internal.key\"",
        "The private key that belongs to the certificate, in PEM.", omission: "The listener uses cleartext.",
        seeAlso: ["listen.tls_private_key_file"]),
      .optional(
        "listener.protocols", ValueType<HTTPProtocol>.choice.list(), into: \.protocols,
        example: "[\"h2\", \"http/1.1\"]", "The listener's protocols: \"h2\", \"http/1.1\", or both.",
        omission: "Both over TLS, HTTP/1.1 alone in cleartext.", seeAlso: ["listen.protocols"]),
      .withDefault(
        "listener.certificate", ValueType.certificate.list(), into: \.certificates,
        "More certificates, each in a table [[listener.certificate]] after its listener.",
        seeAlso: ["listen.certificate"]),
      .withDefault(
        "listener.tls_ticket_key_files", ValueType.file.list(), into: \.ticketKeyFiles,
        "Keys for the listener's session tickets.", omission: "Random keys in memory.",
        seeAlso: ["listen.tls_ticket_key_files"]),
      .optional(
        "listener.tls_client_ca_file", .file, into: \.clientAuthorityFile, example: "\"tls/clients.pem\"",
        "CA certificates, in PEM, for client certificates.",
        omission: "Client certificates are not requested.", seeAlso: ["listen.tls_client_ca_file"]),
      .withDefault(
        "listener.tls_client_certificate", .choice, into: \.clientCertificate,
        "Whether clients must have a certificate.", seeAlso: ["listen.tls_client_certificate"]),
      .withDefault(
        "listener.redirect", .boolean, into: \.redirects,
        """
        Whether every request is redirected (308) to the same path at the [[host]] that it names, and at public_url if \
        it names another: for http: beside a listener with TLS.
        """, seeAlso: ["public_url", "host.name"]),
      .withDefault(
        "listener.trusted_proxies", ValueType.network.list(), into: \.trustedProxies,
        "Networks of trusted proxies in front of this listener.", omission: "No proxy is trusted.",
        seeAlso: ["listen.trusted_proxies"]),
      .withDefault(
        "listener.proxy_protocol_from", ValueType.network.list(), into: \.proxyProtocolPeers,
        "Networks of load balancers that send a PROXY protocol header at the start of each connection.",
        omission: "PROXY headers are not accepted.", seeAlso: ["listen.proxy_protocol_from"]),
    ])
}
