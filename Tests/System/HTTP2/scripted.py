"""An application in HTTP/2 in cleartext whose answer is named by the last part of the path. On peer.py's frames.

scripted.py PORT says "got METHOD PATH" for each request whose head has come, "whole METHOD PATH BYTES" at its end.
"""

import socket
import sys
import threading

from peer import *

asked = {}
lock = threading.Lock()


def say(text):
    with lock:
        print(text, flush=True)


class Server(Peer):
    def __init__(self, connected):
        super().__init__(0, opens=False, connection=connected)
        self.buffer = b""
        self.requests = {}

    def serve(self):
        while len(self.buffer) < len(PREFACE):
            more = self.socket.recv(65536)
            if not more:
                return
            self.buffer += more
        self.buffer = self.buffer[len(PREFACE):]
        self.send(raw(SETTINGS))
        while (frame := self.read()) is not None:
            if frame.type == SETTINGS and "ACK" not in frame.flags:
                self.send(raw(SETTINGS, ACK))
            elif frame.type == HEADERS:
                fields = {name: value for name, value in frame.decoded}
                self.requests[frame.stream_id] = [fields[":method"], fields[":path"], 0]
                say(f"got {fields[':method']} {fields[':path']}")
                self.at_head(frame.stream_id, fields[":path"].rsplit("/", 1)[1])
            elif frame.type == DATA and frame.stream_id in self.requests:
                self.requests[frame.stream_id][2] += len(frame.data)
            if frame.type in (HEADERS, DATA) and "END_STREAM" in frame.flags and frame.stream_id in self.requests:
                method, path, count = self.requests.pop(frame.stream_id)
                say(f"whole {method} {path} {count}")
                self.at_end(frame.stream_id, path.rsplit("/", 1)[1])

    def head(self, stream, *fields, status="200", end=False):
        return self.headers(stream, [(":status", status), *fields] if status else list(fields), end=end)

    def long_trailers(self, stream, fields):
        """Trailers in as many frames as it takes."""
        block = self.block(fields)
        pieces = [block[start:start + 16384] for start in range(0, len(block), 16384)]
        kinds = [(HEADERS, END_STREAM)] + [(CONTINUATION, 0)] * (len(pieces) - 1)
        last = len(pieces) - 1
        return b"".join(raw(kind, flags | (END_HEADERS if number == last else 0), stream, piece)
                        for number, ((kind, flags), piece) in enumerate(zip(kinds, pieces)))

    def fine(self, stream):
        return self.head(stream, ("content-length", "4")) + raw(DATA, END_STREAM, stream, b"fine")

    def is_first(self, name):
        with lock:
            asked[name] = asked.get(name, 0) + 1
            return asked[name] == 1

    def at_head(self, stream, name):
        refused = raw(RST_STREAM, 0, stream, struct.pack(">I", REFUSED_STREAM))
        left_out = raw(GOAWAY, 0, 0, struct.pack(">II", max(stream - 2, 0), NO_ERROR))
        if name == "refused" or name == "refused-once" and self.is_first(name):
            self.requests.pop(stream)
            self.send(refused)
        elif name == "left-out" or name == "left-out-once" and self.is_first(name):
            self.requests.pop(stream)
            self.send(left_out)

    def at_end(self, stream, name):
        def reset(code):
            return raw(RST_STREAM, 0, stream, struct.pack(">I", code))
        head, body = self.head(stream), raw(DATA, END_STREAM, stream, b"body")
        answers = {
            "reset-behind-content": lambda: head + raw(DATA, 0, stream, b"body") + reset(NO_ERROR),
            "line-feed": lambda: self.head(stream, ("x", "a\r\nb: c")) + body,
            "transfer-encoding": lambda: self.head(stream, ("transfer-encoding", "chunked")) + body,
            "space": lambda: self.head(stream, ("x", "a ")) + body,
            "no-status": lambda: self.head(stream, ("x", "a"), status=None) + body,
            "content-first": lambda: raw(DATA, 0, stream, b"body") + head + body,
            "interim-end": lambda: self.head(stream, status="103", end=True),
            "reset": lambda: reset(INTERNAL_ERROR),
            "no-streams": lambda: self.fine(stream) + raw(SETTINGS, payload=setting(3, 0)),
            "going": lambda: raw(GOAWAY, 0, 0, struct.pack(">II", stream, NO_ERROR)) + self.fine(stream),
            "trailers": lambda: head + raw(DATA, 0, stream, b"body") + self.long_trailers(
                stream, [(f"x-{n}", "v" * 300) for n in range(80)] + [("grpc-status", "0")]),
            "many-trailers": lambda: head + raw(DATA, 0, stream, b"body") + self.headers(
                stream, [(f"x-{n}", "v") for n in range(1_001)]),
        }
        self.send(answers.get(name, lambda: self.fine(stream))())


def serve(connected):
    try:
        Server(connected).serve()
    except (OSError, Unexpected):
        pass


listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
say("listening")
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
