"""Clients that take every descriptor of a gateway, and keep them.

exhaust.py PORT http1|http2 [PREFIX] says "held" when all have asked for PREFIX, which is never answered, and for more than
three seconds beside them others have gone on asking for the gateway's own pages; "quiet" when the others have stopped,
which SIGUSR1 has them do; and keeps what it has until it is ended.
"""

import json
import signal
import socket
import struct
import sys
import threading
import time

PORT = int(sys.argv[1])
TARGET = (sys.argv[3] if len(sys.argv) > 3 else "/slow").encode()
PAGE = b"GET /.auth/authorize?return_to=/x HTTP/1.1\r\nHost: localhost:%d\r\nSec-Fetch-Mode: navigate\r\n\r\n" % PORT
pages = 0
held = []
is_quiet = threading.Event()


def connect():
    return socket.create_connection(("127.0.0.1", PORT), timeout=60)


def ask_for_pages():
    """On and on, whatever becomes of the connection."""
    global pages
    while not is_quiet.is_set():
        try:
            connection = connect()
            while not is_quiet.is_set():
                connection.sendall(PAGE * 20)
                answer = connection.recv(1 << 20)
                if not answer:
                    break
                pages += answer.count(b"HTTP/1.1 ")
        except OSError:
            pass
        time.sleep(0.05)


def wait_by_http1():
    for _ in range(200):
        connection = connect()
        connection.sendall(b"GET %s HTTP/1.1\r\nHost: localhost:%d\r\n\r\n" % (TARGET, PORT))
        held.append(connection)


def literal(name, value):
    return b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value


def frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def wait_by_http2():
    """Eleven connections, a hundred streams on each."""
    block = b"".join(
        literal(name, value) for name, value in
        [(b":method", b"GET"), (b":scheme", b"http"), (b":authority", b"localhost:%d" % PORT), (b":path", TARGET)])
    for _ in range(11):
        connection = connect()
        connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b""))
        connection.sendall(b"".join(frame(1, 0x5, 2 * number + 1, block) for number in range(100)))
        held.append(connection)


signal.signal(signal.SIGUSR1, lambda *_: is_quiet.set())
others = [threading.Thread(target=ask_for_pages, daemon=True) for _ in range(16)]
for other in others:
    other.start()
if sys.argv[2] == "http1":
    wait_by_http1()
else:
    wait_by_http2()
began, before = time.monotonic(), pages
while time.monotonic() < began + 4 or pages - before < 20 and time.monotonic() < began + 60:
    time.sleep(0.05)
print(json.dumps({"state": "held", "pages": pages - before}), flush=True)
is_quiet.wait()
print(json.dumps({"state": "quiet"}), flush=True)
while True:
    signal.pause()
