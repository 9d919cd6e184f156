#!/usr/bin/env python3
"""A WebSocket chat that trusts X-Forwarded-Name, because only the gateway can connect to it.

    apt-get install python3-websockets
    python3 chat.py [PORT]       listens on 127.0.0.1:PORT, 3000 if none is given

When a user's session ends, the gateway closes their WebSocket connections.
"""

import asyncio
import http
import sys
import urllib.parse

import websockets

LONGEST_MESSAGE = 500

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Night shift chat</title><link rel="icon" href="data:,"></head>
<body><h1>Night shift chat</h1><ul id="messages" aria-live="polite"></ul>
<form id="form"><label for="text">Message</label> <input id="text" maxlength="500" autocomplete="off"> <button>Send</button></form>
<p><a href="/.auth/sign-out">Sign out</a></p>
<script>
const socket = new WebSocket((location.protocol === "https:" ? "wss://" : "ws://") + location.host + "/socket");
const messages = document.getElementById("messages");
function show(text) { const item = document.createElement("li"); item.textContent = text; messages.append(item); }
socket.onmessage = event => show(event.data);
socket.onclose = () => show("The connection has ended.");
document.getElementById("form").onsubmit = event => {
  event.preventDefault();
  const text = document.getElementById("text");
  if (text.value) socket.send(text.value);
  text.value = "";
};
</script></body></html>
"""

present = set()


async def chat(socket):
    """One WebSocket connection, until it closes."""
    name = urllib.parse.unquote(socket.request_headers.get("X-Forwarded-Name", "")) or "somebody"
    present.add(socket)
    websockets.broadcast(present, f"{name} is here.")
    try:
        async for message in socket:
            if isinstance(message, str):
                websockets.broadcast(present, f"{name}: {message}")
    finally:
        present.discard(socket)
        websockets.broadcast(present, f"{name} has gone.")


async def page(path, headers):
    """Answers all requests but the WebSocket handshake."""
    if path == "/socket":
        return None
    if path == "/":
        return http.HTTPStatus.OK, [("Content-Type", "text/html; charset=utf-8")], PAGE.encode()
    return http.HTTPStatus.NOT_FOUND, [], b"There is no such page.\n"


async def main():
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    async with websockets.serve(chat, "127.0.0.1", port, process_request=page, max_size=LONGEST_MESSAGE):
        await asyncio.Future()


asyncio.run(main())
