"""An HTTP/2 client in cleartext, on Python's h2: a stack that shares no code with the gateway's.

client.py PORT SCENARIO [ARGUMENT...] prints one line of JSON: what became of it. Fields are written NAME:VALUE.
"""

import json
import socket
import sys
import time

import h2.config
import h2.connection
import h2.events


class Client:
    def __init__(self, port):
        self.authority = f"localhost:{port}"
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=50)
        config = h2.config.H2Configuration(
            header_encoding="utf-8", validate_outbound_headers=False, normalize_outbound_headers=False)
        # The heads of answers may be as large as the gateway lets them be.
        h2.connection.H2Connection.DEFAULT_MAX_HEADER_LIST_SIZE = 1 << 20
        self.connection = h2.connection.H2Connection(config)
        self.connection.decoder.max_header_list_size = 1 << 20
        self.connection.initiate_connection()
        self.flush()
        self.answers = {}
        self.farewell = None
        self.is_open = True

    def flush(self):
        try:
            self.socket.sendall(self.connection.data_to_send())
        except OSError:
            self.is_open = False

    def fields(self, method, path, more=()):
        return [(":method", method), (":scheme", "http"), (":authority", self.authority), (":path", path), *more]

    def begin(self, fields, end=True):
        stream = self.connection.get_next_available_stream_id()
        self.answers[stream] = {"fields": [], "interim": [], "body": "", "trailers": [], "done": False, "reset": None}
        self.connection.send_headers(stream, fields, end_stream=end)
        return stream

    def read(self):
        """Reads once; false at the end of the connection."""
        try:
            data = self.socket.recv(65536)
        except OSError:
            data = b""
        if not data:
            self.is_open = False
            return False
        for event in self.connection.receive_data(data):
            answer = self.answers.get(getattr(event, "stream_id", None))
            if isinstance(event, h2.events.InformationalResponseReceived):
                answer["interim"].append(event.headers)
            elif isinstance(event, h2.events.ResponseReceived):
                answer["fields"] = event.headers
            elif isinstance(event, h2.events.DataReceived):
                answer["body"] += event.data.decode("latin-1")
                self.connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            elif isinstance(event, h2.events.TrailersReceived):
                answer["trailers"] = event.headers
            elif isinstance(event, h2.events.StreamEnded):
                answer["done"] = True
            elif isinstance(event, h2.events.StreamReset):
                answer["reset"] = int(event.error_code)
            elif isinstance(event, h2.events.ConnectionTerminated):
                self.farewell = int(event.error_code)
        self.flush()
        return True

    def send(self, stream, data):
        """Content of any length, as the gateway's windows let it go; gives up when stream or connection end."""
        while data and self.is_open and not self.is_over(stream):
            size = min(self.connection.local_flow_control_window(stream), self.connection.max_outbound_frame_size)
            if size > 0:
                self.connection.send_data(stream, data[:size])
                data = data[size:]
                self.flush()
            else:
                self.read()

    def wait(self, until):
        while not until() and self.read():
            pass

    def is_over(self, stream):
        return self.answers[stream]["done"] or self.answers[stream]["reset"] is not None


def pairs(arguments):
    return [tuple(argument.split(":", 1)) for argument in arguments]


def ask(client, method, path, *more):
    """A request without a body."""
    stream = client.begin(client.fields(method, path, pairs(more)))
    client.flush()
    client.wait(lambda: client.is_over(stream))
    return client.answers[stream]


def get(client, path, *more):
    return ask(client, "GET", path, *more)


def authorities(client, path, *names):
    """The same request for each of these authorities at once, on one connection: their answers in order."""
    streams = []
    for name in names:
        fields = [(":authority", name) if key == ":authority" else (key, value)
                  for key, value in client.fields("GET", path, [("accept", "application/json")])]
        streams.append(client.begin(fields))
    client.flush()
    client.wait(lambda: all(client.is_over(stream) for stream in streams))
    return [client.answers[stream] for stream in streams]


def post(client, path, size, trailer, *more):
    """A body of so many bytes, then a trailer."""
    stream = client.begin(client.fields("POST", path, pairs(more)), end=False)
    client.send(stream, b"x" * int(size))
    client.connection.send_headers(stream, pairs([trailer]), end_stream=True)
    client.flush()
    client.wait(lambda: client.is_over(stream))
    return client.answers[stream]


def patient(client, path, size):
    """The whole of a body, as clients send it that look for the response only then: a reset of the stream alone does
    not end that."""
    stream = client.begin(client.fields("POST", path), end=False)
    left = int(size)
    while left and client.is_open and client.answers[stream]["reset"] is None:
        window = client.connection.local_flow_control_window(stream)
        count = min(left, window, client.connection.max_outbound_frame_size)
        if count > 0:
            client.connection.send_data(stream, b"x" * count, end_stream=count == left)
            left -= count
            client.flush()
        else:
            client.read()
    client.wait(lambda: client.is_over(stream))
    return {"left": left, "status": dict(client.answers[stream]["fields"]).get(":status")}


def unended(client, path, count, size):
    """Bodies of so many bytes each that do not end, on streams of one connection, and then the end of the last one: how
    often each status was answered."""
    streams = [client.begin(client.fields("POST", path), end=False) for _ in range(int(count))]
    client.flush()
    for stream in streams:
        client.send(stream, b"x" * int(size))
    client.connection.end_stream(streams[-1])
    client.flush()
    client.wait(lambda: client.is_over(streams[-1]))
    statuses = [dict(client.answers[stream]["fields"]).get(":status", "none") for stream in streams]
    return {status: statuses.count(status) for status in statuses}


def many(client, count):
    """Requests at once on one connection: how many got the answer to their own path."""
    streams = {client.begin(client.fields("GET", f"/public/number-{n}")): n for n in range(int(count))}
    client.flush()
    client.wait(lambda: all(client.is_over(stream) for stream in streams))
    right = [f"/public/number-{n}" in client.answers[stream]["body"].split() for stream, n in streams.items()]
    return {"right": sum(right), "of": len(streams)}


def websocket(client, path, text, *more):
    """An extended CONNECT; sends the text, and ends when as much has come back."""
    client.wait(lambda: client.connection.remote_settings.enable_connect_protocol == 1)
    fields = [(":method", "CONNECT"), (":protocol", "websocket"), *client.fields("", path)[1:], *pairs(more)]
    stream = client.begin(fields, end=False)
    client.flush()
    answer = client.answers[stream]
    client.wait(lambda: answer["fields"] or client.is_over(stream))
    if (":status", "200") in answer["fields"]:
        client.send(stream, text.encode())
        client.wait(lambda: len(answer["body"]) >= len(text) or client.is_over(stream))
        client.connection.end_stream(stream)
        client.flush()
        client.wait(lambda: client.is_over(stream))
    return answer


def connect(client, path, *more):
    """The stream of an extended CONNECT that was answered."""
    client.wait(lambda: client.connection.remote_settings.enable_connect_protocol == 1)
    fields = [(":method", "CONNECT"), (":protocol", "websocket"), *client.fields("", path)[1:], *pairs(more)]
    stream = client.begin(fields, end=False)
    client.flush()
    client.wait(lambda: client.answers[stream]["fields"] or client.is_over(stream))
    return stream


def listen(client, path, *more):
    """A WebSocket that says nothing: says that it has begun, then what came, and how it ended."""
    stream = connect(client, path, *more)
    print(json.dumps({"begun": (":status", "200") in client.answers[stream]["fields"]}), flush=True)
    client.wait(lambda: client.is_over(stream))
    return client.answers[stream]


def half_close(client, path, *more):
    """A WebSocket whose Close frame ends the client's side of the stream, as Chromium does it."""
    stream = connect(client, path, *more)
    client.connection.send_data(stream, b"\x88\x82\0\0\0\0\x10\xe1", end_stream=True)
    client.flush()
    client.wait(lambda: client.is_over(stream))
    return client.answers[stream]


def crowd(client, path, count, other, *more):
    """So many WebSockets on one connection, then an ordinary request: what it was answered, and how many were open."""
    streams = []
    for _ in range(int(count)):
        # As a browser, which waits for room.
        client.wait(lambda: len(streams) < client.connection.remote_settings.max_concurrent_streams)
        streams.append(connect(client, path, *more))
    room = client.connection.remote_settings.max_concurrent_streams
    answer = get(client, other, *more) if len(streams) < room else None
    for stream in streams:
        client.connection.reset_stream(stream, 8)
    client.flush()
    again = get(client, other, *more)
    return {"answer": answer, "open": sum(not client.answers[stream]["done"] for stream in streams), "again": again}


def call(client, path, count, *more):
    """Messages of 1,000 bytes, each sent when the one before has come back; then the end, and the trailers."""
    fields = client.fields("POST", path, [("content-type", "application/grpc"), ("te", "trailers"), *pairs(more)])
    stream = client.begin(fields, end=False)
    client.flush()
    answer = client.answers[stream]
    for number in range(int(count)):
        client.send(stream, b"x" * 1000)
        client.wait(lambda: len(answer["body"]) >= 1000 * (number + 1) or client.is_over(stream))
        if client.is_over(stream):
            return answer
    client.connection.end_stream(stream)
    client.flush()
    client.wait(lambda: client.is_over(stream))
    return answer


def resets(client, count):
    """Requests that are given up at once: after how many the gateway says farewell, and how."""
    sent = 0
    client.socket.settimeout(0.02)
    while sent < int(count) and client.is_open and client.farewell is None:
        stream = client.begin(client.fields("GET", "/public/reset"))
        client.connection.reset_stream(stream, 8)
        sent += 1
        client.flush()
        if sent % 50 == 0:
            try:
                for event in client.connection.receive_data(client.socket.recv(65536)):
                    if isinstance(event, h2.events.ConnectionTerminated):
                        client.farewell = int(event.error_code)
            except OSError:
                pass
    return {"sent": sent, "farewell": client.farewell}


def second_thoughts(client):
    """Gives a request up; then, in one write, begins three more and one that it gives up, too: what became of the
    three."""
    client.connection.reset_stream(client.begin(client.fields("GET", "/public/withdrawn")), 8)
    client.flush()
    plain = client.begin(client.fields("GET", "/public/plain"))
    client.connection.reset_stream(client.begin(client.fields("GET", "/public/withdrawn")), 8)
    upload = client.begin(client.fields("POST", "/public/upload"), end=False)
    client.connection.send_data(upload, b"x" * 1000)
    client.connection.send_headers(upload, [("x-sum", "abc")], end_stream=True)
    refused = client.begin(client.fields("GET", "/hours", [("accept", "application/json")]))
    client.flush()
    client.wait(lambda: all(client.is_over(stream) for stream in (plain, upload, refused)))
    return [client.answers[stream] for stream in (plain, upload, refused)]


def hang(client, path, *more):
    """A request whose answer does not end: says that it has begun, then how it ended."""
    stream = client.begin(client.fields("GET", path, pairs(more)))
    client.flush()
    answer = client.answers[stream]
    client.wait(lambda: answer["body"] or client.is_over(stream))
    print(json.dumps({"begun": True}), flush=True)
    client.wait(lambda: client.is_over(stream))
    return {"reset": answer["reset"], "done": answer["done"], "farewell": client.farewell, "open": client.is_open}


def beside(client, large, small, pause, *priorities):
    """A small request behind a large one, which the client reads at a certain pace: how much of the large one had come
    when the small one was over, and what became of both."""
    more = [[("priority", priority)] for priority in priorities] or [[], []]
    streams = []
    for path, fields in zip((large, small), more):
        streams.append(client.begin(client.fields("GET", path, fields)))
        client.flush()
        client.wait(lambda: client.answers[streams[0]]["body"])
    large, small = (client.answers[stream] for stream in streams)
    before = None
    while not all(map(client.is_over, streams)) and client.read():
        if before is None and client.is_over(streams[1]):
            before = len(large["body"])
        time.sleep(float(pause))
    return {"before": before, "large": len(large["body"]), "reset": small["reset"], "small": small["body"]}


if __name__ == "__main__":
    scenarios = {
        "ask": ask, "get": get, "post": post, "unended": unended, "many": many, "websocket": websocket, "call": call,
        "resets": resets, "second_thoughts": second_thoughts, "hang": hang, "listen": listen, "half_close": half_close,
        "crowd": crowd, "authorities": authorities, "beside": beside, "patient": patient}
    print(json.dumps(scenarios[sys.argv[2]](Client(int(sys.argv[1])), *sys.argv[3:])), flush=True)
