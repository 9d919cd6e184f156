/// Options of oauth2-proxy whose value does not matter, and the explanation printed for each.
/// Documentation/MIGRATING.md has the same as a table for people.
enum OAuth2ProxyOptions {
  /// Whether an option keeps users out by what only another provider knows of them.
  static func isRestriction(_ name: String) -> Bool {
    restrictions.contains { name.utf8.elementsEqual($0.utf8) || name.utf8.elementsEqual("\($0)s".utf8) }
  }

  static func fixed(_ name: String) -> ImportedConfiguration.Outcome? {
    if let why = unneeded[name] { return .unneeded(why) }
    if let what = left[name] { return .left(what) }
    if name.utf8.starts(with: "redis_".utf8) { return .unneeded("sessions are in SQLite or PostgreSQL") }
    let isOtherProviders = otherProviders.contains { name.utf8.elementsEqual($0.utf8) }
    return isOtherProviders ? .unneeded("it is another provider's") : nil
  }

  private static let unneeded = [
    "client_secret": "the secret for Apple is made from the key, for minutes at a time",
    "client_secret_file": "the secret for Apple is made from the key, for minutes at a time",
    "cookie_httponly": "it always is",
    "cookie_secure": "it always is, as the prefix __Host- demands",
    "cookie_path": "it is /, as the prefix __Host- demands",
    "cookie_refresh":
      "each account is checked with Apple once a day: revalidation.interval; nothing prolongs session.lifetime",
    "cookie_csrf_per_request": "each attempt to sign in has a cookie of its own",
    "cookie_csrf_per_request_limit": "each attempt to sign in has a cookie of its own",
    "cookie_csrf_expire": "an attempt may take ten minutes",
    "cookie_csrf_samesite": "Apple's answer across sites is taken care of",
    "force_code_challenge_method": "the nonce and the attempt's cookie bind the answer; Apple has no PKCE for the web",
    "code_challenge_method": "the nonce and the attempt's cookie bind the answer; Apple has no PKCE for the web",
    "insecure_oidc_skip_nonce": "the nonce is always verified",
    "insecure_oidc_skip_issuer_verification": "the issuer is always verified",
    "skip_oidc_discovery": "Apple's endpoints are known",
    "oidc_email_claim": "Apple has one",
    "oidc_audience_claims": "Apple has one",
    "oidc_jwks_url": "Apple's endpoints are known",
    "oidc_public_key_files": "Apple's keys are fetched",
    "oidc_enabled_signing_algs": "signatures with RS256 and ES256 are accepted, and no others",
    "login_url": "Apple's endpoints are known",
    "redeem_url": "Apple's endpoints are known",
    "validate_url": "Apple's endpoints are known",
    "profile_url": "Apple has none",
    "skip_claims_from_profile_url": "Apple has none",
    "approval_prompt": "Apple has none",
    "prompt": "Apple has none",
    "acr_values": "Apple has none",
    "provider_display_name": "the button is Apple's",
    "flush_interval": "what arrives is passed on as it arrives",
    "skip_auth_strip_headers": "headers under the gateway's names are always removed",
    "relative_redirect_url": "there is one return URL",
    "allow_query_semicolons": "the query goes on as it is",
    "encode_state": "state has no character that needs it",
    "ping_path": "/livez on the admin listener",
    "ready_path": "/readyz on the admin listener",
    "ping_user_agent": "/livez on the admin listener",
    "gcp_healthchecks": "/livez on the admin listener",
    "show_debug_on_error": "error pages name a request identifier; the log has the rest",
    "session_cookie_minimal": "the cookie holds a signed identifier and nothing else",
    "use_system_trust_store": "the system's certificates are used",
    "config_test": "cordon check checks a configuration",
    "convert_config_to_alpha": "oauth2-proxy prints a configuration and ends",
    "version": "oauth2-proxy prints its version and ends",
  ]

  private static let left = [
    "cookie_secret": "sessions are not carried over: cordon keygen --output session.key; everybody signs in once more",
    "cookie_secret_file": "sessions are not carried over: cordon keygen --output session.key",
    "cookie_name": "the cookie is __Host-cordon; session.cookie_name names another, which begins with __Host-",
    "cookie_domains":
      "the cookie belongs to one host; write a [[host]] for each other, with its own cookie; there are no wildcards",
    "whitelist_domains": "people return to public_url's origin only",
    "oidc_groups_claim": "Apple has no groups",
    "oidc_extra_audiences": "apps of your own are apple.native_client_ids",
    "trusted_ips": "nobody passes by their address alone; make a path public, or let them go round the gateway",
    "real_client_ip_header":
      "it is X-Forwarded-For, from listen.trusted_proxies; Forwarded and X-Real-IP are not read",
    "force_https": "a [[listener]] with redirect = true redirects http to https, each [[host]] to itself",
    "force_json_errors": "fetch and XHR get JSON anyway; unauthenticated = \"401\" in a route for the rest",
    "skip_jwt_bearer_tokens": "bearer tokens of other issuers are not accepted; apps get Cordon's with native.bearer",
    "extra_jwt_issuers": "bearer tokens of other issuers are not accepted",
    "bearer_token_login_fallback": "bearer tokens of other issuers are not accepted",
    "disable_keep_alives": "connections to the application are used again for other requests",
    "pass_access_token": "Apple's access token has no use and is not kept",
    "pass_authorization_header": "the application gets headers, not Apple's token; signed, with assertion.key_files",
    "set_authorization_header": "the application gets headers, not Apple's token",
    "pass_basic_auth": "[upstream.basic] sends user and password to the application",
    "set_basic_auth": "[upstream.basic] sends user and password to the application",
    "basic_auth_password": "[upstream.basic] sends user and password to the application",
    "prefer_email_to_user": "identity.headers: X-Forwarded-User = \"email\"; Apple's sub is the better key",
    "htpasswd_file": "people sign in with Apple only; a script gets a machine token: cordon tokens create",
    "htpasswd_user_groups": "people sign in with Apple only; a script gets a machine token: cordon tokens create",
    "display_htpasswd_form": "people sign in with Apple only; a script gets a machine token: cordon tokens create",
    "signature_key": "requests are not signed; the user's identity is, with assertion.key_files",
    "ssl_upstream_insecure_skip_verify": "its certificate is verified: use http: on loopback, or upstream.tls_ca_file",
    "ssl_insecure_skip_verify": "Apple's certificate is verified",
    "provider_ca_files": "Apple's certificate is verified by the system's authorities, or by apple.tls_ca_file",
    "tls_cipher_suites": "they are OpenSSL's: /etc/ssl/openssl.cnf",
    "custom_templates_dir": "write yours as Mustache templates: pages.templates, see Documentation/PAGES.md",
    "custom_sign_in_logo": "the pages are the gateway's; pages.application_name is on them",
    "banner": "the pages are the gateway's; pages.application_name is on them",
    "footer": "the pages are the gateway's; pages.application_name is on them",
    "backend_logout_url": "nothing is called when somebody signs out",
    "logging_filename": "logs go to standard output: the service manager keeps them",
    "logging_max_size": "logs go to standard output: the service manager keeps them",
    "logging_max_age": "logs go to standard output: the service manager keeps them",
    "logging_max_backups": "logs go to standard output: the service manager keeps them",
    "logging_compress": "logs go to standard output: the service manager keeps them",
    "logging_local_time": "times are in UTC",
    "errors_to_info_log": "every line goes to standard output",
    "exclude_logging_paths": "log.access is for all paths or none",
    "request_logging_format": "lines have log.access_fields; log.format = \"combined\" writes those of Apache instead",
    "auth_logging_format": "lines are JSON, or text with log.format = \"text\"",
    "standard_logging_format": "lines are JSON, or text with log.format = \"text\"",
    "request_id_header": "it is X-Request-Id",
    "metrics_secure_address": "the admin listener does not support TLS: admin.address on loopback, or behind a proxy",
    "metrics_tls_cert_file": "the admin listener does not support TLS: admin.address on loopback, or behind a proxy",
    "metrics_tls_key_file": "the admin listener does not support TLS: admin.address on loopback, or behind a proxy",
  ]

  /// Without the `s` of the plural, which some have in some versions.
  private static let restrictions = [
    "allowed_group", "allowed_role", "azure_tenant", "bitbucket_repository", "bitbucket_team",
    "entra_id_allowed_tenant", "github_org", "github_repo", "github_team", "github_user", "gitlab_group",
    "gitlab_project", "google_group", "keycloak_group",
  ]

  /// Switches whose default means what the gateway does anyway: what is said of the other value.
  static let switches: [String: (usual: Bool, unneeded: String, left: String)] = [
    "pass_host_header": (
      true, "the accepted Host goes on unchanged",
      "the accepted Host goes on unchanged: upstream.host names another one for the application"
    ),
    "pass_user_headers": (
      true, "identity.headers says which; X-Forwarded-User, -Email and -Name by default",
      "X-Forwarded-User, -Email and -Name are sent anyway: [identity.headers] with other names replaces them"
    ),
    "proxy_websockets": (
      true, "they are passed on, and closed when their session ends",
      "WebSockets of our own origin are passed on: refuse them in the application, or deny their path"
    ),
    "standard_logging": (
      true, "the application log is written", "log.level = \"off\" switches the application log off, errors too"
    ),
    "silence_ping_logging": (
      true, "health is on the admin listener and never in the access log",
      "health is on the admin listener and never in the access log"
    ),
    "reverse_proxy": (
      false, "no proxy is trusted unless listed in listen.trusted_proxies",
      "name the proxies before the gateway in listen.trusted_proxies: no others are trusted"
    ),
  ]

  /// Options that an argument without a value switches on, and whose text is a truth value in the environment, as
  /// `strconv.ParseBool` reads it.
  static let truths: Set<String> = Set(switches.keys).union([
    "allow_query_semicolons", "auth_logging", "azure_use_federated_token", "bearer_token_login_fallback",
    "code_challenge", "config_test", "convert_config_to_alpha", "cookie_csrf_per_request", "cookie_httponly",
    "cookie_secure", "disable_keep_alives", "display_htpasswd_form", "encode_state", "entra_id_federated_token_auth",
    "errors_to_info_log", "force_https", "force_json_errors", "gcp_healthchecks",
    "google_use_application_default_credentials", "google_use_organization_id",
    "insecure_oidc_allow_unverified_email", "insecure_oidc_skip_issuer_verification", "insecure_oidc_skip_nonce",
    "logging_compress", "logging_local_time", "pass_access_token", "pass_authorization_header", "pass_basic_auth",
    "prefer_email_to_user", "redis_insecure_skip_tls_verify", "redis_use_cluster", "redis_use_sentinel",
    "relative_redirect_url", "request_logging", "session_cookie_minimal", "set_authorization_header",
    "set_basic_auth", "set_xauthrequest", "show_debug_on_error", "skip_auth_preflight", "skip_auth_strip_headers",
    "skip_claims_from_profile_url", "skip_jwt_bearer_tokens", "skip_oidc_discovery", "skip_provider_button",
    "ssl_insecure_skip_verify", "ssl_upstream_insecure_skip_verify", "use_system_trust_store", "version",
  ])

  /// Arguments that may be repeated, and their name in files and in the environment, which mostly is another.
  static let plurals: [String: String] = [
    "api_route": "api_routes", "cookie_domain": "cookie_domains", "email_domain": "email_domains",
    "exclude_logging_path": "exclude_logging_paths", "oidc_audience_claim": "oidc_audience_claims",
    "oidc_enabled_signing_alg": "oidc_enabled_signing_algs", "oidc_extra_audience": "oidc_extra_audiences",
    "oidc_public_key_file": "oidc_public_key_files", "provider_ca_file": "provider_ca_files",
    "skip_auth_regex": "skip_auth_regex", "skip_auth_route": "skip_auth_routes",
    "tls_cipher_suite": "tls_cipher_suites", "trusted_ip": "trusted_ips",
    "trusted_proxy_ip": "trusted_proxy_ips", "upstream": "upstreams", "whitelist_domain": "whitelist_domains",
    "htpasswd_user_group": "htpasswd_user_groups",
  ]

  /// Options of other providers that keep nobody out. Each by its name: a later version may add a restriction that
  /// begins in the same way.
  private static let otherProviders = [
    "azure_graph_group_field", "azure_use_federated_token", "entra_id_federated_token_auth", "github_token",
    "google_admin_api_user_scope", "google_admin_email", "google_service_account_json", "google_target_principal",
    "google_use_application_default_credentials", "google_use_organization_id", "jwt_key", "jwt_key_file",
    "oidc_roles_claim", "pubjwk_url", "resource", "user_id_claim",
  ]
}
