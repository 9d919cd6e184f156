import DataPlane

/// The tables about the applications behind the gateway.
extension ConfigurationSchema {
  static let upstream = Section<ConfigurationBuilder>(
    name: "upstream", introduction: "The application behind the gateway.",
    entries: [
      .required(
        "upstream.url", .upstreamURL, into: \.upstreamURL, example: "\"http://127.0.0.1:3000\"",
        """
        Where the application listens: http:, https: (its certificate is checked), or \
        "unix:" and the path of a socket. No path: paths are forwarded as they arrive. The host's name is looked up again \
        while the gateway runs.
        """, seeAlso: ["upstream.urls"]),
      .absent(
        "upstream.urls", ValueType.upstreamURL.list(), into: \.upstreamURLs,
        example: "[\"http://10.0.0.1:3000\", \"http://10.0.0.2:3000\"]",
        """
        Instead of url: where several instances of the application listen. A request goes to the less busy of two of \
        them, chosen at random; one that does not answer is left out for a while.
        """, omission: "There is one address, url.", seeAlso: ["upstream.url", "upstream.check.path"]),
      .withDefault(
        "upstream.protocol", .choice, into: \.configuration.upstream.speaks,
        """
        What the application is spoken to in. "h2" is HTTP/2, also in cleartext (h2c): for gRPC, which cannot do without. \
        WebSockets want "http/1.1".
        """, seeAlso: ["upstream.url", "listen.protocols"]),
      .withDefault(
        "upstream.idle_connections", .integer(0...10_000), into: \.configuration.upstream.idleConnectionsPerLoop,
        """
        Idle connections that each event loop keeps for the next request, for each address. Those of a burst beyond it are \
        closed when they have been of no use for a second. 0 keeps none, and every request says so to the application \
        (Connection: close): for one that answers without reading the bodies of requests, and would take what it \
        left for the next request.
        """, unit: "connections",
        seeAlso: ["upstream.timeouts.idle", "listen.workers"]),
      .withDefault(
        "upstream.lenient", ValueType<UpstreamLenience>.choice.named("mistake").list(),
        into: \.configuration.upstream.lenient,
        """
        Mistakes in the heads of its responses that are put right instead of refused with 502, for an application \
        that cannot be corrected: "bare-lf" (lines that end with LF alone), "duplicate-length" (the same \
        Content-Length more than once), "status-range" (a status from 600 to 999), "control-bytes" (control \
        characters in values; each becomes a space). The log names the one that a refused response would need.
        """, seeAlso: ["upstream.url"]),
      .withDefault(
        "upstream.max_connections", .integer(0...1_000_000), into: \.configuration.upstream.maximumConnections,
        """
        Connections that there may be to each address, over all event loops: as many as the application serves at a time. \
        Further requests wait until one is free. 0 is no limit.
        """, unit: "connections", seeAlso: ["upstream.queue"]),
      .withDefault(
        "upstream.queue", .integer(0...100_000), into: \.configuration.upstream.queueLimit,
        """
        Requests that may wait for one of max_connections, for each address, and for as long as timeouts.connect. Then, \
        and beyond it: 503.
        """, unit: "requests", seeAlso: ["upstream.max_connections", "upstream.timeouts.connect"]),
      .absent(
        "upstream.tls_ca_file", .file, into: \.upstreamTLS.authorityFile, example: "\"tls/internal-ca.pem\"",
        "For https: the authorities, in PEM, whose certificates are believed, and no others.",
        omission: "Those of the system (the package ca-certificates) are believed.",
        seeAlso: ["upstream.tls_server_name"]),
      .absent(
        "upstream.tls_server_name", .serverName, into: \.upstreamTLS.serverName, example: "\"app.internal\"",
        "For https: the name that the certificate has to list, and that is sent as SNI, where it is not the url's host.",
        omission: "It is the host of the address.", seeAlso: ["upstream.tls_ca_file"]),
      .absent(
        "upstream.tls_certificate_file", .file, into: \.upstreamTLS.certificateFile, example: "\"tls/gateway.pem\"",
        "For https: the certificate that the gateway shows when it is asked for one, and its chain, in PEM.",
        omission: "It has none to show.", seeAlso: ["upstream.tls_private_key_file"]),
      .absent(
        "upstream.tls_private_key_file", .file, into: \.upstreamTLS.privateKeyFile, example: "\"tls/gateway.key\"",
        "The private key that belongs to that certificate, in PEM. Others must not be able to read the file.",
        omission: "The certificate and the key are given both or neither.", seeAlso: ["upstream.tls_certificate_file"]),
    ])

  static let upstreamTimeouts = Section<ConfigurationBuilder>(
    name: "upstream.timeouts",
    introduction: "How long each step towards the application may take. Times are kept to a quarter of a second.",
    entries: [
      .withDefault(
        "upstream.timeouts.connect", .duration(stepRange), into: \.configuration.upstream.timeouts.connect,
        "To find its name, connect and agree on TLS, together. Then: 504."),
      .withDefault(
        "upstream.timeouts.first_byte", .duration(stepRange), into: \.configuration.upstream.timeouts.firstByte,
        "From the end of the request to the first byte of the answer. Then: 504."),
      .withDefault(
        "upstream.timeouts.body_progress", .duration(stepRange), into: \.configuration.upstream.timeouts.bodyProgress,
        "Without a byte of the answer's body. Then the answer is cut off."),
      .withDefault(
        "upstream.timeouts.idle", .duration(stepRange), into: \.configuration.upstream.timeouts.idle,
        """
        How long an idle connection is kept. Shorter than the application keeps it, so that none breaks under a request: \
        Node and Apache keep theirs for 5 s, gunicorn for 2 s. For servers that keep them longer, such as nginx and Tomcat \
        (75 s and 60 s), "50s" saves connections.
        """,
        seeAlso: ["upstream.idle_connections"]),
      .withDefault(
        "upstream.timeouts.tunnel", .duration(.zero...(.seconds(30 * 86_400))),
        into: \.configuration.upstream.timeouts.tunnel,
        "Without a byte in either direction of a WebSocket. Then it ends. \"0s\": never."),
    ])

  static let upstreamCheck = Section<ConfigurationBuilder>(
    name: "upstream.check",
    introduction:
      "Asking the application's addresses, from time to time, whether they are well. Off where there is no path.",
    entries: [
      .absent(
        "upstream.check.path", .requestPath, into: \.checkPath, example: "\"/health\"",
        "What is asked for with GET. An answer from 200 to 399 is well.",
        omission: "Nothing is asked; addresses are judged by what becomes of requests.", seeAlso: ["upstream.urls"]),
      .withDefault(
        "upstream.check.interval", .duration(.milliseconds(100)...(.seconds(86_400))), into: \.check.interval,
        "Between two checks of one address."),
      .withDefault(
        "upstream.check.timeout", .duration(stepRange), into: \.check.timeout,
        "How long one check may take, from connecting to the end of the answer."),
      .withDefault(
        "upstream.check.healthy_after", .integer(1...100), into: \.check.healthyAfter,
        "Good checks in a row after which an address gets requests again.", unit: "checks"),
      .withDefault(
        "upstream.check.unhealthy_after", .integer(1...100), into: \.check.unhealthyAfter,
        "Bad checks in a row after which an address gets no more requests, as long as another does.", unit: "checks"),
    ])

  static let upstreams = Section<UpstreamBuilder>(
    name: "upstreams",
    introduction: """
      Other applications behind the gateway, for the routes that name them. Time-outs and idle connections are those of \
      [upstream], and so are limits that are not written here.
      """,
    entries: [
      .required(
        "upstreams.name", .label, into: \.name, example: "\"reports\"",
        "What routes call it: letters, digits, \"-\", \"_\" and \".\". \"default\" is [upstream].",
        seeAlso: ["route.upstream"]),
      .absent(
        "upstreams.url", .upstreamURL, into: \.url, example: "\"http://127.0.0.1:3001\"",
        "Where it listens, as for [upstream].", omission: "There is a list of addresses, urls.",
        seeAlso: ["upstream.url"]),
      .absent(
        "upstreams.urls", ValueType.upstreamURL.list(), into: \.urls,
        example: "[\"http://10.0.0.3:3000\", \"http://10.0.0.4:3000\"]", "Where several instances of it listen.",
        omission: "There is one address, url.", seeAlso: ["upstream.urls"]),
      .withDefault(
        "upstreams.protocol", .choice, into: \.speaks, "What it is spoken to in, as for [upstream].",
        seeAlso: ["upstream.protocol"]),
      .withDefault(
        "upstreams.lenient", ValueType<UpstreamLenience>.choice.named("mistake").list(), into: \.lenient,
        "Mistakes in its responses that are put right instead of refused, as for [upstream].",
        seeAlso: ["upstream.lenient"]),
      .absent(
        "upstreams.max_connections", .integer(0...1_000_000), into: \.maximumConnections, example: "32",
        "Connections that there may be to each address, as for [upstream].", unit: "connections",
        omission: "As many as upstream.max_connections says.", seeAlso: ["upstream.max_connections"]),
      .absent(
        "upstreams.queue", .integer(0...100_000), into: \.queueLimit, example: "50",
        "Requests that may wait for one of them, as for [upstream].", unit: "requests",
        omission: "As many as upstream.queue says.", seeAlso: ["upstream.queue"]),
      .absent(
        "upstreams.check_path", .requestPath, into: \.checkPath, example: "\"/health\"",
        "What its addresses are asked for, as often as [upstream.check] says.", omission: "Nothing is asked.",
        seeAlso: ["upstream.check.path", "upstream.check.interval"]),
      .absent(
        "upstreams.tls_ca_file", .file, into: \.tls.authorityFile, example: "\"tls/internal-ca.pem\"",
        "For https: the authorities, in PEM, whose certificates are believed, and no others.",
        omission: "Those of the system (the package ca-certificates) are believed.",
        seeAlso: ["upstreams.tls_server_name"]),
      .absent(
        "upstreams.tls_server_name", .serverName, into: \.tls.serverName, example: "\"app.internal\"",
        "For https: the name that the certificate has to list, and that is sent as SNI, where it is not the url's host.",
        omission: "It is the host of the address.", seeAlso: ["upstreams.tls_ca_file"]),
      .absent(
        "upstreams.tls_certificate_file", .file, into: \.tls.certificateFile, example: "\"tls/gateway.pem\"",
        "For https: the certificate that the gateway shows when it is asked for one, and its chain, in PEM.",
        omission: "It has none to show.", seeAlso: ["upstreams.tls_private_key_file"]),
      .absent(
        "upstreams.tls_private_key_file", .file, into: \.tls.privateKeyFile, example: "\"tls/gateway.key\"",
        "The private key that belongs to that certificate, in PEM. Others must not be able to read the file.",
        omission: "The certificate and the key are given both or neither.", seeAlso: ["upstreams.tls_certificate_file"]),
    ])
}
