import DataPlane
import Operations

/// Every table and key of the configuration, in the order of the reference and of `gateway.conf.sample`.
enum ConfigurationSchema {
  /// All tables but those that there may be many of: the routes, the upstreams that they name, other listeners.
  static let all: [Section<ConfigurationBuilder>] = [
    top, listen, listenLimits, listenTimeouts, admin, upstream, upstreamTimeouts, upstreamCheck, apple, session,
    revalidation, native,
    store, identity, identityHeaders, assertion, notifications, pages, pagesButton, log, shutdown, access,
  ]

  /// Every key's description, those of routes last.
  static var descriptions: [SchemaKeyDescription] {
    all.flatMap { $0.entries.map(\.description) } + listener.entries.map(\.description)
      + upstreams.entries.map(\.description) + route.entries.map(\.description)
  }

  /// Required keys that another key can stand in for.
  static let alternatives = ["upstream.url": "upstream.urls"]

  /// Whether a key must be there.
  static func isRequired(_ key: String) -> Bool {
    descriptions.contains { description in
      guard case .required = description.presence else { return false }
      return description.key == key
    }
  }

  static let top = Section<ConfigurationBuilder>(
    name: "", introduction: "",
    entries: [
      .required(
        "public_url", .publicURL, into: \.configuration.publicURL, example: "\"https://app.example.com\"",
        """
        The origin that browsers see: scheme, host, and the port if it is not the usual one. Apple sends browsers back \
        to it, at public_url + path_prefix + "/callback": register that address with the Services ID. Plain http: is \
        accepted on loopback only.
        """, seeAlso: ["path_prefix", "listen.hosts"]),
      .withDefault(
        "path_prefix", .pathPrefix, into: \.configuration.pathPrefix,
        """
        What the gateway's own pages stand under. Requests below it never reach the application, so choose a path that \
        the application does not use.
        """, seeAlso: ["public_url"]),
    ])

  static let listen = Section<ConfigurationBuilder>(
    name: "listen", introduction: "Where browsers, or the load balancer before the gateway, connect to.",
    entries: [
      .required(
        "listen.address", .address, into: \.main.address, example: "\"0.0.0.0:8080\"",
        """
        The address that the gateway listens on: an IP address and a port, or "unix:" and the path of a socket. "[::]" \
        is every address of the machine, IPv4 too.
        """, seeAlso: ["admin.address"]),
      .withDefault(
        "listen.workers", .integer(0...1_024), into: \.configuration.workers,
        """
        Event loops, each of which serves its share of the connections. 0 is one for each processor that the process may \
        use: by its affinity (taskset, CPUAffinity=, a cpuset) and by the quota of its control group (CPUQuota=, \
        --cpus, limits.cpu), rounded up.
        """),
      .withDefault(
        "listen.hosts", ValueType.host.list(), into: \.configuration.hosts,
        """
        Hosts that requests may name beside that of public_url, with a port if it is not the usual one. Any other gets \
        421. The application sees the host that was named. People sign in and out at public_url, and stay there.
        """, seeAlso: ["public_url"]),
      .withDefault(
        "listen.trusted_proxies", ValueType.network.list(), into: \.main.trustedProxies,
        """
        Networks of the proxies before the gateway, whose X-Forwarded-For, X-Original-URI, X-Request-Id and the like are \
        believed: the client is the rightmost address of X-Forwarded-For that is none of them. Name no network that \
        browsers can come from: they could be anybody then.
        """,
        omission: """
          Nobody is believed; the client is whoever connects. verify answers 403 where any route is stricter than \
          signed-in.
          """, seeAlso: ["listen.proxy_protocol_from"]),
      .withDefault(
        "listen.proxy_protocol_from", ValueType.network.list(), into: \.main.proxyProtocolPeers,
        """
        Networks of the load balancers that begin each connection with a PROXY protocol header, version 1 or 2. From \
        these every connection must begin with one, or it is closed; from others none may. The address that it announces \
        takes the place of the connection's own, also for trusted_proxies.
        """, omission: "Nobody sends one.", seeAlso: ["listen.trusted_proxies"]),
    ] + listenTLS)

  static let listenLimits = Section<ConfigurationBuilder>(
    name: "listen.limits",
    introduction:
      "What one request, and all connections together, may be at most. A request beyond a limit is refused.",
    entries: [
      .withDefault(
        "listen.limits.head_size", .size(1_024...65_535), into: \.configuration.listener.limits.headBytes,
        "The request line and all header fields together. Beyond it: 431.", unit: "bytes"),
      .withDefault(
        "listen.limits.field_count", .integer(1...1_000), into: \.configuration.listener.limits.fieldCount,
        "Header fields of a request. Beyond it: 431.", unit: "fields"),
      .withDefault(
        "listen.limits.target_length", .size(64...65_535), into: \.configuration.listener.limits.targetBytes,
        "The request target, path and query. Beyond it: 414.", unit: "bytes", seeAlso: ["listen.limits.head_size"]),
      .absent(
        "listen.limits.body_size", .size(1...SizeText.limit), into: \.configuration.listener.limits.bodyBytes,
        example: "\"100MiB\"", "The body of a request. Beyond it: 413.", unit: "bytes",
        omission: "There is no limit: the application knows its own."),
      .withDefault(
        "listen.limits.body_rate", .integer(0...1_000_000_000), into: \.configuration.listener.limits.bodyRate,
        """
        How much of a request's body has to arrive each second, on average since its head; time in which the application \
        does not take it is not counted. A slower one is ended with 408. 0 asks for nothing.
        """, unit: "bytes per second", seeAlso: ["listen.timeouts.body_grace", "listen.timeouts.body_progress"]),
      .withDefault(
        "listen.limits.response_rate", .integer(0...1_000_000_000), into: \.configuration.listener.limits.responseRate,
        """
        How much of a response a client has to take each second while it waits for it; time in which the application has \
        nothing to say is not counted, and tunnels are not asked. A slower client is cut off: it would hold one of the \
        application's connections. 0 asks for nothing.
        """, unit: "bytes per second", seeAlso: ["listen.timeouts.body_grace", "listen.timeouts.write_progress"]),
      .withDefault(
        "listen.limits.connections", .integer(1...1_000_000), into: \.configuration.listener.limits.connections,
        """
        Client connections at a time, idle ones too. One more is answered 503 and closed. Where the descriptors that the \
        process may have open are fewer, further clients wait until there is one again.
        """, unit: "connections"),
    ])

  /// How long a step of a connection may take.
  static let stepRange: ClosedRange<Duration> = .milliseconds(1)...(.seconds(86_400))

  static let listenTimeouts = Section<ConfigurationBuilder>(
    name: "listen.timeouts",
    introduction: "How long each step of a client's connection may take. Times are kept to a quarter of a second.",
    entries: [
      .withDefault(
        "listen.timeouts.head", .duration(stepRange), into: \.configuration.listener.timeouts.head,
        "From the first byte of a request's head to its last. Then: 408."),
      .withDefault(
        "listen.timeouts.body_progress", .duration(stepRange), into: \.configuration.listener.timeouts.bodyProgress,
        "Without a byte of a request's body. Then: 408.", seeAlso: ["listen.limits.body_rate"]),
      .withDefault(
        "listen.timeouts.body_grace", .duration(stepRange), into: \.configuration.listener.timeouts.bodyGrace,
        """
        From a request's head until its body has to arrive at its least rate, and from when bytes of a response wait for \
        the client until they have to be taken at theirs.
        """, seeAlso: ["listen.limits.body_rate", "listen.limits.response_rate"]),
      .withDefault(
        "listen.timeouts.idle", .duration(stepRange), into: \.configuration.listener.timeouts.idle,
        """
        Between two requests of one connection. Then it is closed. A load balancer before the gateway must give up its \
        idle connections earlier.
        """),
      .withDefault(
        "listen.timeouts.write_progress", .duration(stepRange), into: \.configuration.listener.timeouts.writeProgress,
        "Without progress of a response that the client does not read. Then the connection is closed."),
      .withDefault(
        "listen.timeouts.handshake", .duration(stepRange), into: \.configuration.listener.timeouts.handshake,
        "From the connection to the end of its PROXY header, and from there to that of the TLS handshake. Then it is closed."
      ),
    ])

  static let shutdown = Section<ConfigurationBuilder>(
    name: "shutdown",
    introduction: "How the gateway ends on SIGTERM and SIGINT. A second one ends it at once.",
    entries: [
      .withDefault(
        "shutdown.delay", .duration(.zero...(.seconds(3_600))), into: \.configuration.shutdown.delay,
        """
        How long requests are still taken while /readyz says 503 already and responses say that their connection ends. A \
        load balancer or a cluster goes on sending until it has noticed: give it twice the interval of its probes.
        """, seeAlso: ["shutdown.limit"]),
      .withDefault(
        "shutdown.limit", .duration(.milliseconds(1)...(.seconds(86_400))), into: \.configuration.shutdown.limit,
        """
        How long what is in flight may take after that, WebSockets too, which are told by a Close frame. What is not done \
        by then is cut off. Whoever kills the process when it does not end must wait for longer than both together.
        """, seeAlso: ["shutdown.delay"]),
    ])

  static let admin = Section<ConfigurationBuilder>(
    name: "admin",
    introduction: "The listener for operators and orchestrators: health, metrics, status, accounts and sessions.",
    entries: [
      .withDefault(
        "admin.address", .address, into: \.configuration.adminAddress,
        """
        An IP address and a port, or "unix:" and the path of a socket. Health and metrics ask for no token, so let only \
        your own network reach it. On a loopback address it answers for loopback names and addresses only.
        """, seeAlso: ["listen.address"]),
      .absent(
        "admin.token_file", .file, into: \.configuration.admin.tokenFile, example: "\"admin.token\"",
        """
        A file with the bearer token that administration of accounts and sessions asks for, at least 32 bytes. Others \
        must not be able to read it. `cordon keygen --output FILE` makes one.
        """,
        omission: "Accounts and sessions are administered through a Unix socket only, by whoever may open it."),
    ])
}
