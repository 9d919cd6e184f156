extension RequestRecorder.Totals {
  func write(to text: inout MetricsText) {
    text.family(
      "cordon_requests_total", .counter,
      "Requests by route class and status; 499: the client disconnected, or the gateway aborted the request.")
    for route in RouteLabel.allCases {
      let first = route.rawValue * RequestRecorder.statusCount
      for code in 0..<RequestRecorder.statusCount
      where statuses[first + code] > 0 || KnownLabels.statuses.contains(code) {
        text.sample(("route", route.label), ("code", "\(code)"), value: statuses[first + code])
      }
    }
    text.family(
      "cordon_request_duration_seconds", .histogram,
      "Time from the complete request header to the last byte of the response, in seconds.")
    for route in RouteLabel.allCases {
      text.histogram(labels: [("route", route.label)], durations[route.rawValue])
    }
    text.family(
      "cordon_upstream_response_seconds", .histogram,
      "Time from sending a request upstream to the response header, in seconds.")
    text.histogram(upstreamWaits)
    text.family("cordon_requests_in_flight", .gauge, "Requests in flight.")
    text.sample(value: inFlight)
    text.family("cordon_tunnels_open", .gauge, "Open tunnels (WebSocket and other upgrades).")
    text.sample(value: openTunnels)
    text.family("cordon_request_bytes_total", .counter, "Bytes of request bodies.")
    text.sample(value: bytesIn)
    text.family("cordon_response_bytes_total", .counter, "Bytes of response bodies.")
    text.sample(value: bytesOut)
  }
}

extension ConnectionRecorder.Totals {
  func write(to text: inout MetricsText) {
    text.family("cordon_client_connections_open", .gauge, "Open client connections.")
    text.sample(value: clientsOpen)
    text.family("cordon_client_connections_total", .counter, "Accepted client connections.")
    text.sample(value: clientsAccepted)
    text.family(
      "cordon_client_connections_refused_total", .counter,
      "Client connections closed because of limits.clients.connections.")
    text.sample(value: clientsRefused)
    text.family(
      "cordon_client_handshake_failures_total", .counter,
      "Failed TLS handshakes with clients, and connections without a valid PROXY header, by reason.")
    for reason in HandshakeFailureReason.allCases {
      text.sample(("reason", reason.label), value: handshakesFailed[reason.rawValue])
    }
    text.family(
      "cordon_client_http2_errors_total", .counter, "HTTP/2 connections with clients ended with an error, by its code.")
    for error in HTTP2ConnectionError.allCases {
      text.sample(("code", error.label), value: clientErrors[error.rawValue])
    }
    text.family("cordon_upstream_connections_open", .gauge, "Open upstream connections, including idle ones.")
    text.sample(value: upstreamOpen)
    text.family("cordon_upstream_connects_total", .counter, "Opened upstream connections.")
    text.sample(value: upstreamConnects)
    text.family(
      "cordon_upstream_connect_seconds", .histogram, "Duration of upstream connects, including TLS, in seconds.")
    text.histogram(connectTimes)
    text.family(
      "cordon_upstream_failures_total", .counter,
      "Failed upstream connections and requests, by reason.")
    for failure in UpstreamFailureReason.allCases {
      text.sample(("reason", failure.label), value: failures[failure.rawValue])
    }
  }
}

extension ProcessSample {
  /// Writes process metrics under the names of Prometheus client libraries, so that existing dashboards work.
  func write(to text: inout MetricsText, startTime: Timestamp) {
    if let residentBytes {
      text.family("process_resident_memory_bytes", .gauge, "Resident memory in bytes.")
      text.sample(value: residentBytes)
    }
    if let cpuSeconds {
      text.family("process_cpu_seconds_total", .counter, "Processor time, user and system, in seconds.")
      text.sample(value: cpuSeconds)
    }
    if let openDescriptors {
      text.family("process_open_fds", .gauge, "Open file descriptors.")
      text.sample(value: openDescriptors)
    }
    if let maximumDescriptors {
      text.family("process_max_fds", .gauge, "Most file descriptors that may be open.")
      text.sample(value: maximumDescriptors)
    }
    text.family("process_start_time_seconds", .gauge, "When the process began, in seconds since 1970.")
    text.sample(value: startTime.seconds)
  }
}
