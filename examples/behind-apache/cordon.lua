-- Asks the gateway about a request (Debian's lua-socket), and names the user to the application.
require "apache2"
local http = require "socket.http"

local gateway = "http://127.0.0.1:8081"

-- What the gateway looks at of the client's own headers. No other header reaches it.
local passed = {
  "Host", "Cookie", "Authorization", "Accept", "User-Agent", "Sec-Fetch-Mode", "Sec-Fetch-Site", "X-Requested-With",
  "Upgrade",
}
local identity = { "X-Forwarded-User", "X-Forwarded-Email", "X-Forwarded-Name" }
-- Spellings that CGI and WSGI take for these.
local lookalikes = { "X_Forwarded_", "X_Forwarded-", "X-Forwarded_" }

function check(r)
  for _, lookalike in ipairs(lookalikes) do
    for _, name in ipairs({ "User", "Email", "Name" }) do
      if r.headers_in[lookalike .. name] then return 400 end
    end
  end
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
