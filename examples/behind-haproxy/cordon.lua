-- Authorizes a request with Cordon. The result is in txn.cordon_status, txn.cordon_user, _email, _name and _cookie.

local verify = "http://127.0.0.1:8081/.auth/verify"

-- The client's headers that Cordon evaluates. No others are sent to it.
local passed = {
  "host", "cookie", "authorization", "accept", "user-agent", "sec-fetch-mode", "sec-fetch-site", "x-requested-with",
  "upgrade", "destination", "origin", "sec-websocket-version",
}

core.register_action("cordon", { "http-req" }, function(txn)
  local own = txn.http:req_get_headers()
  -- The headers that verify.believe of gateway.conf lists. Path and query are the same bytes that the application gets.
  local headers = {
    ["x-original-uri"] = { txn.f:pathq() },
    ["x-forwarded-method"] = { txn.f:method() },
    ["x-forwarded-for"] = { txn.f:src() },
  }
  for _, name in ipairs(passed) do
    local values = {}
    for _, value in pairs(own[name] or {}) do values[#values + 1] = value end
    if #values > 0 then headers[name] = values end
  end
  -- Longer than the ten seconds for which Cordon may wait for Apple or its store.
  local answer = core.httpclient():get({ url = verify, headers = headers, timeout = 15000 })
  txn:set_var("txn.cordon_status", tostring(answer and answer.status or 503))
  if not answer or answer.status ~= 200 then return end
  for _, name in ipairs({ "user", "email", "name" }) do
    local values = answer.headers["x-forwarded-" .. name]
    if values then txn:set_var("txn.cordon_" .. name, values[0]) end
  end
  -- Cordon renews the session cookie after its secret has changed.
  local cookie = answer.headers["set-cookie"]
  if cookie then txn:set_var("txn.cordon_cookie", cookie[0]) end
end, 0)
