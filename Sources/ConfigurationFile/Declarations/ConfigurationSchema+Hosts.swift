import AccessPolicy

/// The hosts besides that of `public_url`, and what other proxies may say about requests.
extension ConfigurationSchema {
  static let verify = Section<ConfigurationBuilder>(
    name: "verify",
    introduction: """
      External authorization: another proxy asks public_url + path_prefix + "/verify" about each request and forwards \
      it itself. See Documentation/OPERATING.md.
      """,
    entries: [
      .withDefault(
        "verify.believe", ValueType<VerifySettings.Source>.choice.named("source").list(),
        into: \.configuration.verify.believe,
        """
        What is believed of the proxies in listen.trusted_proxies about the original request. Name only what the proxy \
        always overwrites or removes: many pass on their client's own headers. "X-Original-URI" and "X-Forwarded-Uri": \
        path and query. "X-Original-URL": the same after scheme and host. "path": path and query below verify/, and \
        the method (Envoy). "X-Forwarded-Method": the method; without one the strictest rule of all methods holds. \
        "X-Forwarded-Host": the host; without one that of the request, if it is listed, otherwise that of public_url. \
        "X-Forwarded-For": the client's address; without one no networks are met. "X-Auth-Redirect": 1 redirects \
        navigations without a session to sign in, as verify?redirect=1 does. Sources that contradict each other, and \
        repeated headers, get 403.
        """, seeAlso: ["listen.trusted_proxies"])
    ])

  static let host = Section<HostBuilder>(
    name: "host",
    introduction: """
      Other hosts with one sign-in: each has a session cookie of its own, and Apple is visited on public_url only. \
      Users, groups, sessions and [access] are common to all hosts. See Documentation/HOSTS.md.
      """,
    entries: [
      .required(
        "host.name", .host, into: \.name, example: "\"wiki.example.com\"",
        """
        The host as browsers send it, with a port unless it is the default: usually the port of public_url, whose \
        scheme it has. It is neither the host of public_url nor one of listen.hosts. For TLS, [[listen.certificate]] \
        adds its certificate.
        """, seeAlso: ["route.host", "listen.hosts"]),
      .withDefault(
        "host.upstream", .label, into: \.upstream,
        """
        The application that serves the host where no route names another one: one of [[upstreams]], or "default" for \
        [upstream].
        """, seeAlso: ["upstreams.name", "route.upstream"]),
      .optional(
        "host.application_name", applicationName, into: \.applicationName, example: "\"Wiki\"",
        "The application's name on the gateway's pages of this host.",
        omission: "The value of pages.application_name, otherwise the host.", seeAlso: ["pages.application_name"]),
      .optional(
        "host.templates", .folder, into: \.templates, example: "\"wiki-pages\"",
        "A folder with custom templates for the pages of this host, instead of those of pages.templates.",
        omission: "The templates of pages.templates, otherwise the built-in ones.", seeAlso: ["pages.templates"]),
    ])

  static let applicationName = ValueType.words("text", limit: 100, expected: "a name of at most 100 bytes")
}
