import DataPlane
import Operations

/// Every table and key of the configuration, in the order of the reference and of `gateway.conf.sample`.
enum ConfigurationSchema {
  /// All tables except the repeatable ones: routes, the hosts, upstreams and groups that they name, other listeners.
  static let all: [Section<ConfigurationBuilder>] = [
    top, listen, listenLimits, listenTimeouts, clientLimits, admin, upstream, upstreamTimeouts, upstreamCheck, apple,
    session,
    revalidation, native, verify,
    store, identity, identityHeaders, headers, assertion, notifications, pages, pagesButton, log, shutdown, access,
  ]

  /// Every key's description, those of routes last.
  static var descriptions: [SchemaKeyDescription] {
    let lists: [[SchemaKeyDescription]] = [
      all.flatMap { $0.entries.map(\.description) }, group.entries.map(\.description),
      listener.entries.map(\.description), upstreams.entries.map(\.description),
      upstreamsTimeouts.entries.map(\.description), host.entries.map(\.description), route.entries.map(\.description),
    ]
    return lists.flatMap { $0 }
  }

  /// Required keys that another key can replace.
  static let alternatives = ["upstream.url": "upstream.urls"]

  /// Whether a key is required.
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
        The public origin: scheme, host, and port unless it is the default. Register public_url + path_prefix + \
        "/callback" as return URL of the Services ID. http: is accepted on loopback only.
        """, seeAlso: ["path_prefix", "listen.hosts"]),
      .withDefault(
        "path_prefix", .pathPrefix, into: \.configuration.pathPrefix,
        """
        The path prefix of the gateway's own pages. Requests below it are never forwarded, so choose a path that the \
        application does not use.
        """, seeAlso: ["public_url"]),
    ])

  static let listen = Section<ConfigurationBuilder>(
    name: "listen", introduction: "The main listener, for browsers or for the load balancer in front of the gateway.",
    entries: [
      .required(
        "listen.address", .address, into: \.main.address, example: "\"0.0.0.0:8080\"",
        """
        The listener's address: an IP address and a port, or "unix:" and the path of a socket. "[::]" means all \
        addresses of the machine, including IPv4. It cannot change while the gateway runs.
        """, seeAlso: ["admin.address"]),
      .withDefault(
        "listen.workers", .integer(0...1_024), into: \.configuration.workers,
        """
        Number of event loops (threads). 0 means one for each CPU that the process may use, by its affinity (taskset, \
        CPUAffinity=, a cpuset) and by the quota of its control group (CPUQuota=, --cpus, limits.cpu), rounded up. It \
        cannot change while the gateway runs.
        """),
      .withDefault(
        "listen.hosts", ValueType.host.list(), into: \.configuration.aliases,
        """
        Host names that are accepted in addition to that of public_url, with a port unless it is the default. Other \
        hosts get 421. The application receives the requested host. Sign-in and sign-out redirect to public_url. A \
        host with a session of its own is a [[host]]. Not for the name that a proxy in front of the gateway sends \
        instead of the browser's: let it forward Host unchanged.
        """, seeAlso: ["public_url", "host.name"]),
      .withDefault(
        "listen.trusted_proxies", ValueType.network.list(), into: \.main.trustedProxies,
        """
        Networks of trusted proxies in front of the gateway. Their X-Forwarded-For, X-Original-URI, X-Request-Id and \
        similar headers are accepted: the client is the rightmost address of X-Forwarded-For that is not a trusted \
        proxy. Do not list networks of browsers, which could then forge their address.
        """,
        omission: """
          No proxy is trusted; the client is the peer of the connection. verify answers 403 if any route is stricter \
          than signed-in.
          """, seeAlso: ["listen.proxy_protocol_from"]),
      .withDefault(
        "listen.proxy_protocol_from", ValueType.network.list(), into: \.main.proxyProtocolPeers,
        """
        Networks of load balancers that send a PROXY protocol header, version 1 or 2, at the start of each connection. \
        It is required from these networks and refused from others. Its address replaces that of the connection, also \
        for trusted_proxies.
        """, omission: "PROXY headers are not accepted.", seeAlso: ["listen.trusted_proxies"]),
    ] + listenTLS)

  static let listenLimits = Section<ConfigurationBuilder>(
    name: "listen.limits",
    introduction:
      "Limits of one request and of all connections together. Requests beyond a limit are refused.",
    entries: [
      .withDefault(
        "listen.limits.head_size", .size(1_024...65_535), into: \.configuration.listener.limits.headBytes,
        """
        Maximum size of the request line and all header fields together. Beyond it: 431. The same if they have more than \
        65,471 bytes together with the fields that the gateway adds.
        """, unit: "bytes"),
      .withDefault(
        "listen.limits.field_count", .integer(1...1_000), into: \.configuration.listener.limits.fieldCount,
        "Maximum number of header fields of a request. Beyond it: 431.", unit: "fields"),
      .withDefault(
        "listen.limits.target_length", .size(64...65_535), into: \.configuration.listener.limits.targetBytes,
        """
        Maximum length of the request target, path and query. Beyond it: 414.
        """, unit: "bytes", seeAlso: ["listen.limits.head_size"]),
      .optional(
        "listen.limits.body_size", .size(1...SizeText.limit), into: \.configuration.listener.limits.bodyBytes,
        example: "\"100MiB\"", "Maximum size of a request body. Beyond it: 413.", unit: "bytes",
        omission: "There is no limit."),
      .withDefault(
        "listen.limits.body_rate", .integer(0...1_000_000_000), into: \.configuration.listener.limits.bodyRate,
        """
        Minimum average rate of a request body since the request header; time in which the application does not read \
        is not counted. Slower requests end with 408. 0 disables the limit.
        """, unit: "bytes per second", seeAlso: ["listen.timeouts.body_grace", "listen.timeouts.body_progress"]),
      .withDefault(
        "listen.limits.response_rate", .integer(0...1_000_000_000), into: \.configuration.listener.limits.responseRate,
        """
        Minimum rate at which a client must read a response while data is pending; time in which the application sends \
        nothing is not counted, and tunnels are exempt. Slower clients are disconnected, because they occupy an \
        upstream connection; one that pauses is disconnected after listen.timeouts.write_progress. 0 disables the limit.
        """, unit: "bytes per second", seeAlso: ["listen.timeouts.body_grace", "listen.timeouts.write_progress"]),
      .withDefault(
        "listen.limits.connections", .integer(1...1_000_000), into: \.configuration.listener.limits.connections,
        """
        Maximum number of client connections, including idle ones. Further ones are answered with 503 and closed. If \
        the process has fewer file descriptors, further clients wait until one is free.
        """, unit: "connections"),
    ])

  /// The permitted range of timeouts.
  static let stepRange: ClosedRange<Duration> = .milliseconds(1)...(.seconds(86_400))

  static let listenTimeouts = Section<ConfigurationBuilder>(
    name: "listen.timeouts",
    introduction: "Timeouts of client connections, with a resolution of a quarter of a second.",
    entries: [
      .withDefault(
        "listen.timeouts.head", .duration(stepRange), into: \.configuration.listener.timeouts.head,
        "Time from the first to the last byte of a request header. Then: 408."),
      .withDefault(
        "listen.timeouts.body_progress", .duration(stepRange), into: \.configuration.listener.timeouts.bodyProgress,
        "Time without a byte of a request body. Then: 408.", seeAlso: ["listen.limits.body_rate"]),
      .withDefault(
        "listen.timeouts.body_grace", .duration(stepRange), into: \.configuration.listener.timeouts.bodyGrace,
        """
        Time before the minimum rates apply: from the end of the request header for bodies, and from when data is \
        pending for responses.
        """, seeAlso: ["listen.limits.body_rate", "listen.limits.response_rate"]),
      .withDefault(
        "listen.timeouts.idle", .duration(stepRange), into: \.configuration.listener.timeouts.idle,
        """
        Time between two requests on a connection. Then it is closed. The idle timeout of a load balancer in front of \
        the gateway must be shorter.
        """),
      .withDefault(
        "listen.timeouts.write_progress", .duration(stepRange), into: \.configuration.listener.timeouts.writeProgress,
        "Time without progress of a response that the client does not read. Then the connection is closed."),
      .withDefault(
        "listen.timeouts.handshake", .duration(stepRange), into: \.configuration.listener.timeouts.handshake,
        """
        Time from the start of the connection to the end of its PROXY header, and from there to the end of the TLS \
        handshake. Then it is closed.
        """
      ),
    ])

  static let shutdown = Section<ConfigurationBuilder>(
    name: "shutdown",
    introduction: "Graceful shutdown on SIGTERM, SIGINT and SIGQUIT. A second signal ends the process at once.",
    entries: [
      .withDefault(
        "shutdown.delay", .duration(.zero...(.seconds(3_600))), into: \.configuration.shutdown.delay,
        """
        Time in which requests are still accepted while /readyz already answers 503 and responses have "Connection: \
        close", so that load balancers can notice. Use twice the interval of their probes.
        """, seeAlso: ["shutdown.limit"]),
      .withDefault(
        "shutdown.limit", .duration(.milliseconds(1)...(.seconds(86_400))), into: \.configuration.shutdown.limit,
        """
        Time for requests in flight after the delay, and for WebSockets after their Close frame. Then they are \
        aborted. The service manager must wait for seven seconds longer than both together before it kills the process.
        """, seeAlso: ["shutdown.delay"]),
    ])

  static let admin = Section<ConfigurationBuilder>(
    name: "admin",
    introduction: "The listener for operators and orchestrators: health, metrics, status, accounts and sessions.",
    entries: [
      .withDefault(
        "admin.address", .address, into: \.configuration.adminAddress,
        """
        An IP address and a port, or "unix:" and the path of a socket. Health and metrics need no token, so restrict \
        access to your own network. On a loopback address, only loopback host names and addresses are accepted. It \
        cannot change while the gateway runs.
        """, seeAlso: ["listen.address"]),
      .optional(
        "admin.token_file", .file, into: \.configuration.admin.tokenFile, example: "\"admin.token\"",
        """
        A file with the bearer token for the administration of accounts and sessions, at least 32 bytes. Others must \
        not be able to read it. `cordon keygen --output FILE` creates one.
        """,
        omission: "Accounts and sessions can be administered only through a Unix socket, by users who may open it."),
    ])
}
