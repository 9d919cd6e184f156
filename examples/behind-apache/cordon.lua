-- Asks the gateway about a request (Debian's lua-socket), and names the user to the application.
require "apache2"
local http = require "socket.http"

local gateway = "http://127.0.0.1:8081"

-- What the gateway looks at of the client's own headers. No other header reaches it.
local passed = {
  "Host", "Cookie", "Authorization", "Accept", "User-Agent", "Sec-Fetch-Mode", "Sec-Fetch-Site", "X-Requested-With",
  "Upgrade", "Destination", "Origin", "Sec-WebSocket-Version",
}
local identity = { "X-Forwarded-User", "X-Forwarded-Email", "X-Forwarded-Name" }
-- Headers that an application could take for the gateway's or for a path prefix, beside X-Forwarded-*.
local reserved = {}
for _, name in ipairs({
  "x-identity-assertion", "remote-user", "remote-email", "remote-name", "remote-group", "remote-groups", "script-name",
  "path-info", "daphne-root-path", "original-url", "rewrite-url", "http-method-override", "http-method",
  "method-override", "proxy",
}) do
  reserved[name] = true
  reserved["x-" .. name] = true
end

-- Removes them from the client's headers, and upgrades that are not WebSockets. CGI, WSGI and PHP take other spellings
-- for the same: any character that is no letter and no digit counts as a hyphen.
local function clean(r)
  for name in pairs(r:headers_in_table()) do
    local plain = name:lower():gsub("[^a-z0-9]", "-")
    if reserved[plain] or plain:sub(1, 12) == "x-forwarded-" then r.headers_in[name] = nil end
  end
  -- Only WebSockets are upgraded, where ProxyPass does so at all (upgrade=websocket).
  local upgrade = r.headers_in["Upgrade"]
  if upgrade and upgrade:lower() ~= "websocket" then r.headers_in["Upgrade"] = nil end
end

function check(r)
  clean(r)
  -- Each that verify.believe of gateway.conf names. The path is the one that the application gets.
  local headers = {
    ["X-Original-URI"] = r.unparsed_uri,
    ["X-Forwarded-Method"] = r.method,
    ["X-Forwarded-For"] = r.useragent_ip,
  }
  for _, name in ipairs(passed) do headers[name] = r.headers_in[name] end
  http.TIMEOUT = 5
  local _, status, answer = http.request({ url = gateway .. "/.auth/verify", headers = headers, redirect = false })
  if status == 200 then
    for _, name in ipairs(identity) do r.headers_in[name] = answer[name:lower()] end
    -- The gateway's session is no business of the application.
    local cookies = r.headers_in["Cookie"]
    if cookies then r.headers_in["Cookie"] = cookies:gsub("__Host%-cordon=[^;]*", "__Host-cordon=removed") end
    return apache2.DECLINED
  end
  if status == 401 or status == 403 then
    -- The request as it came: the gateway leads people to sign in and back, shows its own page to users whom it refuses,
    -- and answers scripts with JSON.
    r.filename = "proxy:" .. gateway .. r.unparsed_uri
    return apache2.DECLINED
  end
  -- Not a number: the gateway was not reached.
  return 503
end
