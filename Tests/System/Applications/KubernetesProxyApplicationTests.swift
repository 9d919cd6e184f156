import Foundation
import Testing

// The proxies of deploy/kubernetes/examples that ask `verify`, without a cluster: nginx and Envoy, configured as
// ingress-nginx and Envoy Gateway generate it from the manifests, and Traefik with the contents of its objects in a
// file. The controllers themselves are not run.

@SystemActor
@Suite("Proxies that Kubernetes' controllers configure")
struct KubernetesProxyApplicationTests {
  /// A manifest, read as far as these tests need it.
  private struct Manifest {
    let text: String

    init(_ name: String) throws {
      text = try String(
        contentsOf: Machine.packageRoot.appending(path: "deploy/kubernetes/examples/\(name)"), encoding: .utf8)
    }

    /// The value of a line `KEY: VALUE`, also after a comment's mark.
    func value(_ key: String) throws -> String {
      let line = text.split(separator: "\n").first { $0.contains("\(key)") }
      return String(try #require(line?.split(separator: key, maxSplits: 1).last, "\(key)"))
    }

    /// The elements of a list, a line each, below a line `KEY:`, without the comments between them.
    func list(_ key: String) throws -> [String] {
      let lines = text.split(separator: "\n").map { $0.drop { $0 == " " } }.filter { !$0.hasPrefix("#") }
      let start = try #require(lines.firstIndex { $0 == "\(key):" }, "\(key)")
      return lines[(start + 1)...].prefix { $0.hasPrefix("- ") }.map { String($0.dropFirst(2)) }
    }

    func annotation(_ name: String) throws -> String { try value("nginx.ingress.kubernetes.io/\(name): ") }
  }

  /// Starts application and gateway of the example of a proxy, with `believe` as a manifest names it, and with another
  /// host whose `/headers` is public.
  private func start(_ folder: String, _ manifest: Manifest) throws -> Example {
    let example = try Example(folder)
    let believe = try "believe = " + manifest.value("#   believe = ")
    try example.change("gateway.conf") { text in
      text.split(separator: "\n", omittingEmptySubsequences: false)
        .map { $0.hasPrefix("believe = ") ? believe : String($0) }.joined(separator: "\n")
    }
    let other = "other.localhost:\(example.port(8_080))"
    try example.change("gateway.conf") {
      $0 + "\n[[host]]\nname = \"\(other)\"\n"
        + "\n[[route]]\nhost = \"\(other)\"\npath = \"/headers\"\naccess = \"public\"\n"
    }
    try AskingProxy.startServers(of: example)
    return example
  }

  @Test("nginx with the locations that ingress-nginx generates for our annotations asks the gateway about each request")
  func ingress() throws {
    let manifest = try Manifest("ingress-verify.yaml")
    let example = try start("behind-nginx", manifest)
    defer { example.stop() }
    let question = try #require(manifest.annotation("auth-url").wholeMatch(of: /http:\/\/([^\/]+)(\/.*)/))
    let signIn = try manifest.annotation("auth-signin").replacing("https://app.example.com", with: example.origin)
    // With another parameter than the sign-in page's the controller appends one of its own.
    #expect(try signIn.contains("?\(manifest.annotation("auth-signin-redirect-param"))=$escaped_request_uri"))
    let headers = try manifest.annotation("auth-response-headers").split(separator: ",").enumerated()
    // A controller listens on the default port, which `Host` does not have.
    let added = try ["X-Forwarded-Method", "X-Forwarded-Host", "Upgrade"].map { name in
      try "proxy_set_header '\(name)' '\(manifest.value("  \(name): "))';"
    }.joined(separator: "\n").replacing("$host'", with: "$host:$server_port'")
    let more = headers.map { index, name in
      let variable = "$upstream_http_" + name.lowercased().replacing("-", with: "_")
      return "auth_request_set $authHeader\(index) \(variable); proxy_set_header '\(name)' $authHeader\(index);"
    }.joined(separator: "\n")
    // Each path has two locations. Those of the longest path win.
    let hidden = try #require(manifest.text.firstMatch(of: /- path: (\/\.auth\/verify)\n/), "verify is hidden").1
    // Headers that the controller sends to every service.
    let forwarding = """
      proxy_set_header Host $http_host;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;
      proxy_set_header X-Request-ID $request_id;
      proxy_set_header X-Real-IP $remote_addr;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Host $http_host;
      proxy_set_header X-Forwarded-Port $server_port;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_set_header X-Scheme $scheme;
      proxy_set_header X-Original-Forwarded-For $http_x_forwarded_for;
      proxy_set_header Proxy "";
      proxy_http_version 1.1;
      """
    let application = """
      auth_request /_external-auth-Lw-Prefix;
      auth_request_set $auth_cookie $upstream_http_set_cookie;
      add_header Set-Cookie $auth_cookie;
      \(more)
      set_escape_uri $escaped_request_uri $request_uri;
      error_page 401 = @sign_in;
      \(forwarding)
      proxy_pass http://127.0.0.1:\(example.port(3_000));
      """
    try example.change("nginx.conf") { _ in
      """
      load_module /usr/lib/nginx/modules/ndk_http_module.so;
      load_module /usr/lib/nginx/modules/ngx_http_set_misc_module.so;
      daemon off;
      pid nginx.pid;
      error_log stderr warn;
      events {}
      http {
        access_log off;
        client_body_temp_path client_temp;
        proxy_temp_path proxy_temp;
        fastcgi_temp_path fastcgi_temp;
        uwsgi_temp_path uwsgi_temp;
        scgi_temp_path scgi_temp;
        map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
        server {
          listen 127.0.0.1:\(example.port(8_080));
          location /.auth/ {
            \(forwarding)
            proxy_pass http://127.0.0.1:\(example.port(8_081));
          }
          location = /_external-auth-Lw-Prefix {
            internal;
            proxy_pass_request_body off;
            proxy_set_header Content-Length "";
            proxy_set_header X-Forwarded-Proto "";
            proxy_set_header X-Request-ID $request_id;
            proxy_set_header Host \(question.1);
            proxy_set_header X-Original-URL $scheme://$http_host$request_uri;
            proxy_set_header X-Original-Method $request_method;
            proxy_set_header X-Sent-From "nginx-ingress-controller";
            proxy_set_header X-Real-IP $remote_addr;
            proxy_set_header X-Forwarded-For $remote_addr;
            proxy_set_header X-Auth-Request-Redirect $request_uri;
            proxy_buffering off;
            proxy_http_version 1.1;
            proxy_pass_request_headers on;
            \(added)
            set $target http://127.0.0.1:\(example.port(8_081))\(question.2);
            proxy_pass $target;
          }
          location @sign_in {
            internal;
            add_header Set-Cookie $auth_cookie;
            return 302 \(signIn);
          }
          location / { \(application) }
          location \(hidden)/ { \(application) }
          location = \(hidden) { \(application) }
        }
      }
      """
    }
    try example.start(
      Machine.program("nginx", package: "nginx-light"), ["-p", example.path, "-c", "nginx.conf"], listeningOn: 8_080)
    // The controller redirects scripts, too.
    try AskingProxy.check(example, tellsScripts: false)

    try checkMethods(example, refusal: 302)
    // nginx takes the host of an absolute target, and the gateway is told both.
    let own = "localhost:\(example.port(8_080))"
    for (path, host, status) in [("/public/", own, 200), ("/headers", own, 302), ("/headers", "other.\(own)", 403)] {
      let connection = try TCPConnection(port: example.port(8_080))
      try connection.send("GET http://\(own)\(path) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
      #expect(try HTTPResponse.read(from: connection).status == status, "\(path) \(host)")
    }
  }

  @Test("Envoy as Envoy Gateway configures it for our policies asks the gateway about each request")
  func envoyGateway() throws {
    let manifest = try Manifest("envoy-gateway-verify.yaml")
    let example = try start("behind-envoy", manifest)
    defer { example.stop() }
    func patterns(_ key: String) throws -> [String: Any] {
      ["patterns": try manifest.list(key).map { ["exact": $0, "ignore_case": true] }]
    }
    func extensionConfig(_ name: String, _ type: String, _ fields: [String: Any]) -> [String: Any] {
      ["name": name, "typed_config": fields.merging(["@type": "type.googleapis.com/\(type)"]) { $1 }]
    }
    func cluster(_ name: String, _ port: UInt16) -> [String: Any] {
      let address = ["address": ["socket_address": ["address": "127.0.0.1", "port_value": Int(port)]]]
      return [
        "name": name,
        "load_assignment": ["cluster_name": name, "endpoints": [["lb_endpoints": [["endpoint": address]]]]],
      ]
    }
    #expect(try manifest.value("withUnderscoresAction: ") == "RejectRequest")
    #expect(try manifest.value("escapedSlashesAction: ") == "KeepUnchanged")
    let set = try manifest.list("set")
    let header = ["key": String(try #require(set.first).dropFirst("name: ".count)), "value": "1"]
    #expect(try set.count == 1 && manifest.value("value: \"1") == "\"")
    let removed = try manifest.list("removeOnMatch").map { line -> [String: Any] in
      let pattern = try #require(line.wholeMatch(of: /\{ type: RegularExpression, value: "(.*)" \}/), "\(line)").1
      return ["remove_on_match": ["key_matcher": ["safe_regex": ["regex": String(pattern)]]]]
    }
    #expect(removed.count > 3)
    let mutations =
      removed
      + [["append": ["header": header, "append_action": "OVERWRITE_IF_EXISTS_OR_ADD"] as [String: Any]]]
    let path = try manifest.value("      path: ")
    let timeout = try manifest.value("    timeout: ")
    let filter = "envoy.filters.http.ext_authz/securitypolicy/default/cordon"
    let question: [String: Any] = [
      "transport_api_version": "V3", "allowed_headers": try patterns("headersToExtAuth"),
      "http_service": [
        "path_prefix": path,
        "server_uri": ["uri": "http://cordon.default:80\(path)", "cluster": "cordon", "timeout": timeout],
        "authorization_response": ["allowed_upstream_headers": try patterns("headersToBackend")],
      ],
    ]
    let asked = [filter: ["@type": "type.googleapis.com/envoy.config.route.v3.FilterConfig", "config": [:]]]
    let hidden = try #require(
      manifest.text.firstMatch(of: /PathPrefix, value: (\/\.auth\/verify) \}/), "verify is hidden"
    ).1
    let unset = try manifest.value("requestHeaderModifier: { remove: [").split(separator: "]")[0]
    // The longest prefix comes first.
    let routes: [[String: Any]] = [
      [
        "match": ["path_separated_prefix": String(hidden)], "route": ["cluster": "app"],
        "request_headers_to_remove": [String(unset)], "typed_per_filter_config": asked,
      ],
      ["match": ["path_separated_prefix": "/.auth"], "route": ["cluster": "cordon"]],
      [
        "match": ["prefix": "/"], "route": ["cluster": "app"], "request_headers_to_remove": [String(unset)],
        "typed_per_filter_config": asked,
      ],
    ]
    var authorization = extensionConfig(filter, "envoy.extensions.filters.http.ext_authz.v3.ExtAuthz", question)
    authorization["disabled"] = true
    let manager: [String: Any] = [
      "stat_prefix": "https", "use_remote_address": true, "normalize_path": true,
      "merge_slashes": try manifest.value("disableMergeSlashes: ") != "true",
      "path_with_escaped_slashes_action": "KEEP_UNCHANGED", "server_header_transformation": "PASS_THROUGH",
      "common_http_protocol_options": ["headers_with_underscores_action": "REJECT_REQUEST"],
      "early_header_mutation_extensions": [
        extensionConfig(
          "envoy.http.early_header_mutation.header_mutation",
          "envoy.extensions.http.early_header_mutation.header_mutation.v3.HeaderMutation", ["mutations": mutations])
      ],
      "http_filters": [
        authorization,
        extensionConfig("envoy.filters.http.router", "envoy.extensions.filters.http.router.v3.Router", [:]),
      ],
      "route_config": [
        "name": "https", "ignore_port_in_host_matching": true,
        "virtual_hosts": [["name": "app", "domains": ["localhost"], "routes": routes]],
      ],
    ]
    let listener: [String: Any] = [
      "name": "default/public/https",
      "address": ["socket_address": ["address": "127.0.0.1", "port_value": Int(example.port(8_080))]],
      "default_filter_chain": [
        "filters": [
          extensionConfig(
            "envoy.filters.network.http_connection_manager",
            "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", manager)
        ]
      ],
    ]
    let configuration: [String: Any] = [
      "static_resources": [
        "listeners": [listener],
        "clusters": [cluster("cordon", example.port(8_081)), cluster("app", example.port(3_000))],
      ]
    ]
    let json = try JSONSerialization.data(withJSONObject: configuration)
    // JSON is YAML.
    try example.change("envoy.yaml") { _ in String(decoding: json, as: UTF8.self) }
    try example.start(
      Machine.pythonProgram("envoy"), ["-c", "envoy.yaml", "--disable-hot-restart", "--concurrency", "1"],
      listeningOn: 8_080, environment: ["HOME": example.path])
    // Envoy may stand behind a load balancer, whose X-Forwarded-For counts.
    try AskingProxy.check(example, appendsAddress: true)
    try checkMethods(example, refusal: 401)
  }

  @Test("Traefik with the rules, middlewares and arguments of our manifest asks the gateway about each request")
  func traefik() throws {
    let manifest = try Manifest("traefik-verify.yaml")
    let example = try start("behind-traefik", manifest)
    defer { example.stop() }
    let routers = try manifest.text.components(separatedBy: "    - kind: Rule\n").dropFirst().enumerated()
      .map { number, route in
        let rule = try #require(route.firstMatch(of: /match: (.*)\n/)).1
        let middlewares = route.matches(of: /- name: (cordon-[a-z-]+)\n/).map { String($0.1) }
        let service = try #require(route.firstMatch(of: /services:\n +- name: ([a-z]+)\n/)).1
        let asks = middlewares.isEmpty ? "" : "\n      middlewares: [\(middlewares.joined(separator: ", "))]"
        return """
              route-\(number):
                rule: \(rule.replacing("app.example.com", with: "localhost"))\(asks)
                service: \(service)
          """
      }
    #expect(routers.count == 2)
    let middlewares = try manifest.text.components(separatedBy: "---\n").filter { $0.contains("kind: Middleware\n") }
      .map { object in
        let name = try #require(object.firstMatch(of: /\n  name: (.*)\n/)).1
        let specification = try #require(object.components(separatedBy: "\nspec:\n").last)
          .replacing("http://cordon.default.svc.cluster.local/", with: "http://127.0.0.1:\(example.port(8_081))/")
        // Deeper in the file of routes.
        let lines = specification.split(separator: "\n").map { "    \($0)" }.joined(separator: "\n")
        return "    \(name):\n\(lines)"
      }
    #expect(middlewares.count == 2)
    try example.change("routes.yaml") { _ in
      """
      http:
        routers:
      \(routers.joined(separator: "\n"))
        middlewares:
      \(middlewares.joined(separator: "\n"))
        services:
          cordon:
            loadBalancer: { servers: [{ url: "http://127.0.0.1:\(example.port(8_081))" }] }
          app:
            loadBalancer: { servers: [{ url: "http://127.0.0.1:\(example.port(3_000))" }] }
      """
    }
    let arguments = manifest.text.matches(of: /- (--entryPoints\.websecure\.http\.\S+)\n/).map { String($0.1) }
    #expect(arguments.count == 8)
    try example.start(
      Machine.pythonProgram("traefik"),
      ["--entryPoints.websecure.address=127.0.0.1:\(example.port(8_080))", "--providers.file.filename=routes.yaml"]
        + arguments, listeningOn: 8_080, environment: ["HOME": example.path])
    // Traefik listens before it has read its routes.
    try poll("Traefik to have its routes") {
      let answer = try HTTPClient(port: example.port(8_080), authority: "localhost:\(example.port(8_080))").get("/")
      return answer.status == 404 ? nil : ()
    }
    try AskingProxy.check(example)
    try checkMethods(example, refusal: 401)
  }

  /// A known method is judged by its own rules, not by the strictest of all methods, and no client chooses it.
  private func checkMethods(_ example: Example, refusal: Int) throws {
    let page = example.origin + "/public/"
    #expect(try Visitor().fetch(page).status == 200)
    for forged in ["X-Forwarded-Method", "X-Original-Method", "X-HTTP-Method-Override"] {
      #expect(try Visitor().fetch(page, method: "POST", fields: [(forged, "GET")]).status == refusal, "\(forged)")
    }
  }
}
