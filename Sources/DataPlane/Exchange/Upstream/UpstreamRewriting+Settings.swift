extension UpstreamRewriting {
  /// The rewriting that the settings of an upstream ask for.
  convenience init(_ settings: UpstreamSettings) {
    self.init(
      host: settings.host, prefix: settings.strippedPrefix,
      receivesScriptName: settings.ownHeaders.contains { $0.lowercased() == "x-script-name" },
      removedNames: settings.removedHeaders + settings.ownHeaders, rewritesRedirects: settings.rewritesRedirects,
      usesTLS: settings.usesTLS,
      addresses: settings.addresses.compactMap { address in
        if case .tcp(let host, let port, _) = address { (host, port) } else { nil }
      })
  }
}
