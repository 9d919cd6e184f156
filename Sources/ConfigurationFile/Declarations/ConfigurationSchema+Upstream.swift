import DataPlane

/// The tables about the applications behind the gateway.
extension ConfigurationSchema {
  static let upstream = Section<ConfigurationBuilder>(
    name: "upstream", introduction: "The application behind the gateway.",
    entries: [
      .required(
        "upstream.url", .upstreamURL, into: \.upstreamURL, example: "\"http://127.0.0.1:3000\"",
        """
        The application's address: http:, https: (its certificate is verified), or "unix:" and the path of a socket. \
        Without a path: paths are forwarded unchanged. The host name is resolved again at run time.
        """, seeAlso: ["upstream.urls"]),
      .optional(
        "upstream.urls", ValueType.upstreamURL.list(), into: \.upstreamURLs,
        example: "[\"http://10.0.0.1:3000\", \"http://10.0.0.2:3000\"]",
        """
        Instead of url: the addresses of several instances. Each request goes to the less busy of two random ones; an \
        instance that does not respond is ejected for a while.
        """, omission: "url is the only address.", seeAlso: ["upstream.url", "upstream.check.path"]),
      .withDefault(
        "upstream.protocol", .choice, into: \.configuration.upstream.speaks,
        """
        The protocol to the application. "h2" is HTTP/2, also in cleartext (h2c), which gRPC requires. WebSockets \
        require "http/1.1".
        """, seeAlso: ["upstream.url", "listen.protocols"]),
      .withDefault(
        "upstream.idle_connections", .integer(0...10_000), into: \.configuration.upstream.idleConnectionsPerLoop,
        """
        Maximum number of idle connections for each event loop and address. More connections after a burst are closed \
        when they are idle for a second. 0 disables keep-alive (Connection: close): for applications that answer \
        without reading request bodies and would interpret the rest as the next request.
        """, unit: "connections",
        seeAlso: ["upstream.timeouts.idle", "listen.workers"]),
      .withDefault(
        "upstream.lenient", ValueType<UpstreamLenience>.choice.named("mistake").list(),
        into: \.configuration.upstream.lenient,
        """
        Errors in response headers that are repaired instead of refused with 502, for an application that cannot be \
        fixed: "bare-lf" (lines that end with LF alone; not those of chunks), "duplicate-length" (the same \
        Content-Length more than once, or as a list: "4, 4"), "duplicate-framing" (Transfer-Encoding: chunked more \
        than once, or beside Content-Length, which is dropped; the connection is not used again), "status-range" (a \
        status from 600 to 999), "control-bytes" (control characters in values; each becomes a space). The log names \
        the value that a refused response would need.
        """, seeAlso: ["upstream.url"]),
      .withDefault(
        "upstream.end_cookies", ValueType.endCookie.list(),
        into: \.configuration.upstream.cookies.cookies,
        """
        The application's own session cookies: "NAME", or "NAME; Path=/x; Domain=d" if they are set so. Each is bound to \
        the account that it was set for: a code is appended to its value on the way to the browser, and a cookie \
        without the code of the present account is not forwarded. They are deleted at sign-out, when a banned user \
        signs in, and when another account signs in. A cookie without HttpOnly is deleted, but not bound. The list \
        holds for all upstreams with the same address and host, together with theirs.
        """, seeAlso: ["upstream.private_cache", "session.clear_site_data"]),
      .withDefault(
        "upstream.private_cache", .boolean, into: \.configuration.upstream.cookies.hasPrivateCache,
        """
        Whether responses to signed-in users that caches may use again without validation get Cache-Control: private, \
        and Vary: Cookie unless they are immutable: so that the next user of a browser, or of a CDN in front of the \
        gateway, does not see them. CDN-Cache-Control and similar fields are removed unless they forbid caching. \
        Always so with end_cookies, and for all upstreams with the same address and host if one of them has it.
        """, seeAlso: ["upstream.end_cookies"]),
      .withDefault(
        "upstream.max_connections", .integer(0...1_000_000), into: \.configuration.upstream.maximumConnections,
        """
        Maximum number of connections to each address, over all event loops, for applications with limited \
        concurrency. Further requests wait until one is free. Upstreams with the same address have together as many as \
        the largest of their limits. Connections of before a reload count, unless there was no limit. 0 means no \
        limit: then they are not counted.
        """, unit: "connections", seeAlso: ["upstream.queue"]),
      .withDefault(
        "upstream.queue", .integer(0...100_000), into: \.configuration.upstream.queueLimit,
        """
        Maximum number of requests that wait for one of max_connections, for each address, for at most \
        timeouts.connect. Then, and beyond it: 503.
        """, unit: "requests", seeAlso: ["upstream.max_connections", "upstream.timeouts.connect"]),
      .optional(
        "upstream.tls_ca_file", .file, into: \.upstreamTLS.authorityFile, example: "\"tls/internal-ca.pem\"",
        """
        For https: CA certificates, in PEM, that replace the system's. Each of them is trusted, also an intermediate \
        CA without its root. With an address that is not https:, each of the keys that begin with tls_ is an error.
        """,
        omission: "The system's CAs (the package ca-certificates) are trusted.",
        seeAlso: ["upstream.tls_server_name"]),
      .optional(
        "upstream.tls_server_name", .serverName, into: \.upstreamTLS.serverName, example: "\"app.internal\"",
        "For https: the name that the certificate must list and that is sent as SNI, if it is not the host of url.",
        omission: "The host of the address.", seeAlso: ["upstream.tls_ca_file"]),
      .optional(
        "upstream.tls_certificate_file", .file, into: \.upstreamTLS.certificateFile, example: "\"tls/gateway.pem\"",
        "For https: the gateway's client certificate and its chain, in PEM.",
        omission: "No client certificate.", seeAlso: ["upstream.tls_private_key_file"]),
      .optional(
        "upstream.tls_private_key_file", .file, into: \.upstreamTLS.privateKeyFile, example: "\"tls/gateway.key\"",
        "The private key of that certificate, in PEM. Others must not be able to read the file.",
        omission: "Set both certificate and key, or neither.", seeAlso: ["upstream.tls_certificate_file"]),
      .optional(
        "upstream.host", .host, into: \.upstreamForwarding.host, example: "\"app.internal\"",
        """
        The Host header for the application, with a port or without. X-Forwarded-Host has the requested host. Cookies \
        lose a Domain that is this host, or a parent domain of it that the requested host is not in: browsers would \
        refuse them.
        """,
        omission: "Host is forwarded as received.", seeAlso: ["upstream.rewrite_redirects"]),
      .optional(
        "upstream.strip_prefix", .pathPrefix, into: \.upstreamForwarding.strippedPrefix, example: "\"/reports\"",
        """
        A path prefix that is removed from requests and named in X-Forwarded-Prefix. Location, Content-Location, \
        Refresh and the Path of cookies get it back unless they begin with it. Other paths get 404; a route to this \
        upstream outside of the prefix is an error.
        """, omission: "Paths are forwarded unchanged.", seeAlso: ["route.upstream"]),
      .withDefault(
        "upstream.remove_headers", ValueType.clientHeader.list(), into: \.upstreamForwarding.removedHeaders,
        """
        Headers that are removed from requests, in any spelling, by all upstreams with the same address and host. Write \
        each name in full; headers about the user are removed in any case.
        """, seeAlso: ["identity.keep_headers"]),
      .withDefault(
        "upstream.rewrite_redirects", .boolean, into: \.upstreamForwarding.rewritesRedirects,
        """
        Whether Location, Content-Location and Refresh that name the application's own address, or the requested host \
        over http: where public_url is https:, are rewritten to the requested origin; and Destination (WebDAV) in the \
        other direction.
        """, seeAlso: ["upstream.host", "upstream.strip_prefix"]),
      .optional(
        "upstream.request_buffer", .size(0...(1 << 30)), into: \.upstreamForwarding.requestBuffer,
        example: "\"1MiB\"",
        """
        For an application that cannot read chunked requests: a request body without Content-Length is collected up to \
        this size, and sent with Content-Length. Beyond it: 411.
        """, unit: "bytes",
        omission: "\"64KiB\" while the application's last response was HTTP/1.0, otherwise \"0\": chunks are forwarded."
      ),
      .withDefault(
        "upstream.headers", .templates, into: \.upstreamForwarding.headers,
        """
        Headers that are added to requests, or replace those of the client and of [identity.headers]. In a value, \
        "{claim}" is a claim as in [identity.headers], "{{" a brace, "${NAME}" an environment variable. Filters follow \
        a claim: "{email|local:example.com|lower}". local:DOMAIN is the part before the @ of a verified address of \
        that domain, lower and upper change ASCII letters, percent, utf8 and latin1 encode. A header whose claim is \
        absent or cannot be encoded is left out, as is one that uses a claim where nobody is signed in. Clients cannot \
        send one that uses a claim by any upstream with the same address.
        """, seeAlso: ["identity.headers", "upstream.remove_headers"]),
      .optional(
        "upstream.basic", .basic, into: \.upstreamForwarding.basic,
        example: "{ user = \"{email}\", password = \"${LEGACY_PASSWORD}\" }",
        """
        HTTP Basic credentials for the application, sent for signed-in users; templates as in headers. The client's \
        own Authorization is removed from all requests.
        """, omission: "Authorization is forwarded as received.", seeAlso: ["upstream.headers"]),
    ])

  static let upstreamTimeouts = Section<ConfigurationBuilder>(
    name: "upstream.timeouts",
    introduction: "Timeouts of requests to the application, with a resolution of a quarter of a second.",
    entries: [
      .withDefault(
        "upstream.timeouts.connect", .duration(stepRange), into: \.configuration.upstream.timeouts.connect,
        "Total time for DNS, connection and TLS handshake. Then: 504."),
      .withDefault(
        "upstream.timeouts.first_byte", .duration(stepRange), into: \.configuration.upstream.timeouts.firstByte,
        """
        Time from the end of the request to the first byte of the response. Then: 504. An interim response (102) starts \
        it again.
        """),
      .withDefault(
        "upstream.timeouts.body_progress", .duration(stepRange), into: \.configuration.upstream.timeouts.bodyProgress,
        """
        Time without a byte of the response body, or in which the application takes none of the request body. Then the \
        response is aborted, or 504 if it has not begun.
        """),
      .withDefault(
        "upstream.timeouts.idle", .duration(stepRange), into: \.configuration.upstream.timeouts.idle,
        """
        Time for which an idle connection is kept. It must be shorter than the application's keep-alive timeout: 5 s \
        in Node and Apache, 2 s in gunicorn. For servers with longer timeouts, such as nginx and Tomcat (75 s and 60 \
        s), "50s" saves connections.
        """,
        seeAlso: ["upstream.idle_connections"]),
      .withDefault(
        "upstream.timeouts.tunnel", .duration(tunnelRange), into: \.configuration.upstream.timeouts.tunnel,
        "Time without a byte in either direction of a WebSocket. Then it ends. \"0s\": never."),
    ])

  /// The permitted range of the timeout of WebSockets.
  private static let tunnelRange: ClosedRange<Duration> = .zero...(.seconds(30 * 86_400))

  static let upstreamCheck = Section<ConfigurationBuilder>(
    name: "upstream.check",
    introduction:
      "Active health checks of the application's addresses. Disabled without a path.",
    entries: [
      .optional(
        "upstream.check.path", .requestPath, into: \.checkPath, example: "\"/health\"",
        "The path that is requested with GET. A status from 200 to 399 is healthy.",
        omission: "No active checks; addresses are ejected by the results of requests only.", seeAlso: ["upstream.urls"]
      ),
      .withDefault(
        "upstream.check.interval", .duration(.milliseconds(100)...(.seconds(86_400))), into: \.check.interval,
        "Time between two checks of an address."),
      .withDefault(
        "upstream.check.timeout", .duration(stepRange), into: \.check.timeout,
        "Timeout of a check, from the connection to the end of the response."),
      .withDefault(
        "upstream.check.healthy_after", .integer(1...100), into: \.check.healthyAfter,
        "Consecutive successful checks after which an address gets requests again.", unit: "checks"),
      .withDefault(
        "upstream.check.unhealthy_after", .integer(1...100), into: \.check.unhealthyAfter,
        """
        Consecutive failed checks after which an address gets no requests, as long as another one is healthy.
        """, unit: "checks"),
    ])

  static let upstreams = Section<UpstreamBuilder>(
    name: "upstreams",
    introduction: """
      Other applications behind the gateway, for routes that name them. Timeouts, idle connections and limits that are \
      not set for one are those of [upstream]; headers, prefix, redirects and request_buffer are this upstream's own.
      """,
    entries: [
      .required(
        "upstreams.name", .label, into: \.name, example: "\"reports\"",
        "The name for routes: letters, digits, \"-\", \"_\" and \".\". \"default\" is [upstream].",
        seeAlso: ["route.upstream"]),
      .optional(
        "upstreams.url", .upstreamURL, into: \.url, example: "\"http://127.0.0.1:3001\"",
        "The address, as for [upstream].", omission: "urls has the addresses.",
        seeAlso: ["upstream.url"]),
      .optional(
        "upstreams.urls", ValueType.upstreamURL.list(), into: \.urls,
        example: "[\"http://10.0.0.3:3000\", \"http://10.0.0.4:3000\"]", "The addresses of several instances.",
        omission: "url is the only address.", seeAlso: ["upstream.urls"]),
      .withDefault(
        "upstreams.protocol", .choice, into: \.speaks, "The protocol, as for [upstream].",
        seeAlso: ["upstream.protocol"]),
      .withDefault(
        "upstreams.lenient", ValueType<UpstreamLenience>.choice.named("mistake").list(), into: \.lenient,
        "Errors in responses that are repaired instead of refused, as for [upstream].",
        seeAlso: ["upstream.lenient"]),
      .withDefault(
        "upstreams.end_cookies", ValueType.endCookie.list(), into: \.cookies.cookies,
        "The application's own session cookies, as for [upstream].", seeAlso: ["upstream.end_cookies"]),
      .withDefault(
        "upstreams.private_cache", .boolean, into: \.cookies.hasPrivateCache,
        "Whether responses to signed-in users are made private, as for [upstream].",
        seeAlso: ["upstream.private_cache"]),
      .optional(
        "upstreams.idle_connections", .integer(0...10_000), into: \.idleConnections, example: "0",
        "Maximum number of idle connections for each event loop and address, as for [upstream].", unit: "connections",
        omission: "The value of upstream.idle_connections.",
        seeAlso: ["upstream.idle_connections", "upstreams.timeouts.idle"]),
      .optional(
        "upstreams.max_connections", .integer(0...1_000_000), into: \.maximumConnections, example: "32",
        "Maximum number of connections to each address, as for [upstream].", unit: "connections",
        omission: "The value of upstream.max_connections.", seeAlso: ["upstream.max_connections"]),
      .optional(
        "upstreams.queue", .integer(0...100_000), into: \.queueLimit, example: "50",
        "Maximum number of waiting requests, as for [upstream].", unit: "requests",
        omission: "The value of upstream.queue.", seeAlso: ["upstream.queue"]),
      .optional(
        "upstreams.check_path", .requestPath, into: \.checkPath, example: "\"/health\"",
        """
        The path for active health checks, with the other settings of [upstream.check].
        """, omission: "No active checks.",
        seeAlso: ["upstream.check.path", "upstream.check.interval"]),
      .optional(
        "upstreams.tls_ca_file", .file, into: \.tls.authorityFile, example: "\"tls/internal-ca.pem\"",
        "For https: CA certificates, in PEM, that replace the system's.",
        omission: "The system's CAs (the package ca-certificates) are trusted.",
        seeAlso: ["upstreams.tls_server_name"]),
      .optional(
        "upstreams.tls_server_name", .serverName, into: \.tls.serverName, example: "\"app.internal\"",
        "For https: the name that the certificate must list and that is sent as SNI, if it is not the host of url.",
        omission: "The host of the address.", seeAlso: ["upstreams.tls_ca_file"]),
      .optional(
        "upstreams.tls_certificate_file", .file, into: \.tls.certificateFile, example: "\"tls/gateway.pem\"",
        "For https: the gateway's client certificate and its chain, in PEM.",
        omission: "No client certificate.", seeAlso: ["upstreams.tls_private_key_file"]),
      .optional(
        "upstreams.tls_private_key_file", .file, into: \.tls.privateKeyFile, example: "\"tls/gateway.key\"",
        "The private key of that certificate, in PEM. Others must not be able to read the file.",
        omission: "Set both certificate and key, or neither.", seeAlso: ["upstreams.tls_certificate_file"]),
      .optional(
        "upstreams.host", .host, into: \.forwarding.host, example: "\"reports.internal\"",
        "The Host header for the application, as for [upstream].", omission: "Host is forwarded as received.",
        seeAlso: ["upstream.host"]),
      .optional(
        "upstreams.strip_prefix", .pathPrefix, into: \.forwarding.strippedPrefix, example: "\"/reports\"",
        "A path prefix that is removed from requests, as for [upstream].", omission: "Paths are forwarded unchanged.",
        seeAlso: ["upstream.strip_prefix"]),
      .withDefault(
        "upstreams.remove_headers", ValueType.clientHeader.list(), into: \.forwarding.removedHeaders,
        "Headers that are removed from requests, as for [upstream].", seeAlso: ["upstream.remove_headers"]),
      .withDefault(
        "upstreams.rewrite_redirects", .boolean, into: \.forwarding.rewritesRedirects,
        "Whether redirects are rewritten, as for [upstream].", seeAlso: ["upstream.rewrite_redirects"]),
      .optional(
        "upstreams.request_buffer", .size(0...(1 << 30)), into: \.forwarding.requestBuffer, example: "\"1MiB\"",
        "Maximum size of a request body that is collected to get a length, as for [upstream].", unit: "bytes",
        omission:
          "\"64KiB\" while the application's last response was HTTP/1.0, otherwise \"0\": chunks are forwarded.",
        seeAlso: ["upstream.request_buffer"]),
      .withDefault(
        "upstreams.headers", .templates, into: \.forwarding.headers,
        "Headers that are added to requests, as for [upstream].", seeAlso: ["upstream.headers"]),
      .optional(
        "upstreams.basic", .basic, into: \.forwarding.basic,
        example: "{ user = \"{email}\", password = \"${LEGACY_PASSWORD}\" }",
        "HTTP Basic credentials for the application, as for [upstream].",
        omission: "Authorization is forwarded as received.", seeAlso: ["upstream.basic"]),
    ], tables: [upstreamsTimeouts])

  static let upstreamsTimeouts = Section<UpstreamBuilder>(
    name: "upstreams.timeouts",
    introduction: """
      Timeouts of requests to one of [[upstreams]], below whose keys the table is written. Those that are not set are \
      those of [upstream.timeouts].
      """,
    entries: [
      .optional(
        "upstreams.timeouts.connect", .duration(stepRange), into: \.timeouts.connect, example: "\"5s\"",
        "Total time for DNS, connection and TLS handshake, as for [upstream.timeouts].",
        omission: "The value of upstream.timeouts.connect.", seeAlso: ["upstream.timeouts.connect"]),
      .optional(
        "upstreams.timeouts.first_byte", .duration(stepRange), into: \.timeouts.firstByte, example: "\"10m\"",
        "Time from the end of the request to the first byte of the response, as for [upstream.timeouts].",
        omission: "The value of upstream.timeouts.first_byte.", seeAlso: ["upstream.timeouts.first_byte"]),
      .optional(
        "upstreams.timeouts.body_progress", .duration(stepRange), into: \.timeouts.bodyProgress, example: "\"5m\"",
        "Time without a byte of the response body, or of the request body, as for [upstream.timeouts].",
        omission: "The value of upstream.timeouts.body_progress.", seeAlso: ["upstream.timeouts.body_progress"]),
      .optional(
        "upstreams.timeouts.idle", .duration(stepRange), into: \.timeouts.idle, example: "\"50s\"",
        "Time for which an idle connection is kept, as for [upstream.timeouts].",
        omission: "The value of upstream.timeouts.idle.",
        seeAlso: ["upstream.timeouts.idle", "upstreams.idle_connections"]),
      .optional(
        "upstreams.timeouts.tunnel", .duration(tunnelRange), into: \.timeouts.tunnel, example: "\"1h\"",
        "Time without a byte in either direction of a WebSocket, as for [upstream.timeouts]. \"0s\": never.",
        omission: "The value of upstream.timeouts.tunnel.", seeAlso: ["upstream.timeouts.tunnel"]),
    ])
}
