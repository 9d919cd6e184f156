-- Authorizes a request with Cordon (over Debian's lua-socket), and sets the identity headers for the application.
require "apache2"
local http = require "socket.http"

local gateway = "http://127.0.0.1:8081"

-- The client's headers that Cordon evaluates. No others are sent to it.
local passed = {
  "Host", "Cookie", "Authorization", "Accept", "User-Agent", "Sec-Fetch-Mode", "Sec-Fetch-Site", "X-Requested-With",
  "Upgrade", "Destination", "Origin", "Sec-WebSocket-Version",
}
local identity = { "X-Forwarded-User", "X-Forwarded-Email", "X-Forwarded-Name" }
-- Headers that name a user, a client certificate, an address, a path prefix, another path or method, which clients must
-- not set.
local reserved = {}
for _, name in ipairs({
  "x-identity-assertion", "remote-user", "remote-email", "remote-name", "remote-group", "remote-groups", "script-name",
  "path-info", "daphne-root-path", "original-url", "rewrite-url", "override-url", "http-destinationurl",
  "http-host-override", "original-host", "http-method-override", "http-method", "method-override", "proxy", "forwarded",
  "forwarded-for", "real-ip", "client-ip", "true-client-ip", "cluster-client-ip", "scheme", "url-scheme",
  "front-end-https", "request-id", "client-verify", "client-dn", "client-s-dn", "client-ssl-cert", "ssl-cert", "ssl-dn",
  "ssl-verify", "ssl-subject", "certificate-subject", "arr-clientcert", "proxy-client-ip", "sendfile-type",
  "accel-mapping",
}) do
  reserved[name] = true
  reserved["x-" .. name] = true
end
reserved["x-host"] = true
local families = {
  "^x%-forwarded%-", "^x%-auth%-request%-", "^x%-webauth%-", "^client%-cert", "^x%-client%-cert", "^cf%-client%-cert%-",
  "^ssl%-client%-", "^x%-ssl%-client%-", "^x%-amzn%-mtls%-", "^wl%-proxy%-",
}

-- Removes these headers, and upgrades other than WebSocket, from the client's request. CGI, WSGI and PHP read other
-- spellings as the same name, so any character other than a letter or a digit matches like a hyphen.
local function clean(r)
  for name in pairs(r:headers_in_table()) do
    local plain = name:lower():gsub("[^a-z0-9]", "-")
    local isReserved = reserved[plain]
    for _, family in ipairs(families) do isReserved = isReserved or plain:find(family) end
    if isReserved then r.headers_in[name] = nil end
  end
  -- Relevant only if ProxyPass allows upgrades (upgrade=websocket).
  local upgrade = r.headers_in["Upgrade"]
  if upgrade and upgrade:lower() ~= "websocket" then r.headers_in["Upgrade"] = nil end
end

function check(r)
  -- Of an absolute URL as target, Apache would forward another path than the one that Cordon is asked about.
  if r.unparsed_uri:sub(1, 1) ~= "/" then return 400 end
  clean(r)
  -- The headers that verify.believe of gateway.conf lists. The path is the one that the application gets.
  local headers = {
    ["X-Original-URI"] = r.unparsed_uri,
    ["X-Forwarded-Method"] = r.method,
    ["X-Forwarded-For"] = r.useragent_ip,
  }
  for _, name in ipairs(passed) do headers[name] = r.headers_in[name] end
  -- Longer than the ten seconds for which Cordon may wait for Apple or its store.
  http.TIMEOUT = 15
  local _, status, answer = http.request({ url = gateway .. "/.auth/verify", headers = headers, redirect = false })
  if status == 200 then
    for _, name in ipairs(identity) do r.headers_in[name] = answer[name:lower()] end
    -- Cordon renews the session cookie after its secret has changed.
    if answer["set-cookie"] then r.err_headers_out["Set-Cookie"] = answer["set-cookie"] end
    -- Hide the session cookie and machine tokens ("token:cdn_" in Base64) of Cordon: the application could use them to
    -- act as the user.
    local cookies = r.headers_in["Cookie"]
    if cookies then r.headers_in["Cookie"] = cookies:gsub("__Host%-cordon=[^;]*", "__Host-cordon=removed") end
    local credentials = (r.headers_in["Authorization"] or ""):lower()
    if credentials:find("^bearer +cdn_") or credentials:find("^basic +dg9rzw46y2rux") then
      r.headers_in["Authorization"] = nil
    end
    return apache2.DECLINED
  end
  if status == 401 or status == 403 then
    -- Send the original request to Cordon: it redirects browsers to the sign-in page, shows refused users its own page,
    -- and answers scripts with JSON.
    r.filename = "proxy:" .. gateway .. r.unparsed_uri
    return apache2.DECLINED
  end
  -- Another status, or an error text if Cordon was not reached.
  return 503
end
