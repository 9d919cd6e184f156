"""Sections of RFC 9113 and RFC 7541, each a peer that keeps to one or breaks one. After h2spec's list of sections.

conformance.py PORT NAME prints nothing and ends with 0 if the gateway does what the case asks for.
What breaks a section asks for /public/never where no request may reach the application.
"""

import sys

from peer import *

NEVER = "/public/never"
CASES = {}


def case(name):
    def note(function):
        assert name not in CASES, name
        CASES[name] = function
        return function
    return note


def breaks(name, message, *codes, **options):
    """The message ends the connection."""
    @case(name)
    def run(port):
        peer = Peer(port, **options)
        peer.send(*(message(peer) if callable(message) else (message,)))
        peer.connection_error(*codes)


def spoils(name, message, *codes):
    """The message ends stream 1, and no more."""
    @case(name)
    def run(port):
        peer = Peer(port)
        peer.send(*message(peer))
        peer.stream_error(1, *codes)


def either(name, message, *codes):
    """The message ends stream 1, or the connection (RFC 9113, 5.4)."""
    @case(name)
    def run(port):
        peer = Peer(port)
        peer.send(*message(peer))
        peer.either_error(1, *codes)


def ignored(name, message):
    """The message does nothing, and a request is answered after it."""
    @case(name)
    def run(port):
        peer = Peer(port)
        peer.send(*(message(peer) if callable(message) else (message,)))
        peer.alive()
        peer.send(peer.headers(101))
        peer.answered(101)


def never(peer, method="GET", more=()):
    return peer.fields(method, NEVER, more)


# 3.4 The preface

@case("3.4 a preface is answered by SETTINGS first of all")
def preface(port):
    peer = Peer(port, opens=False)
    peer.send(PREFACE + raw(SETTINGS))
    first = peer.read()
    assert first.type == SETTINGS and "ACK" not in first.flags, first


@case("3.4 what is not a preface is not taken for HTTP/2")
def no_preface(port):
    peer = Peer(port, opens=False)
    peer.send(b"PRI * HTTP/2.0\r\n\r\nSX\r\n\r\n" + raw(SETTINGS) + raw(PING, payload=b"whosthis"))
    while (frame := peer.read()) is not None:
        assert frame.type != PING, frame


@case("3.4 a preface without SETTINGS after it")
def preface_without_settings(port):
    peer = Peer(port, opens=False)
    peer.send(PREFACE + raw(PING, payload=b"whosthis"))
    peer.connection_error(PROTOCOL_ERROR)


# 4 Frames

ignored("4.1 a frame of an unknown type", raw(0x16, payload=b"x" * 8))
ignored("4.1 flags without a meaning", raw(PING, 0x16, payload=b"x" * 8))
ignored("4.1 the reserved bit of a stream identifier", raw(PING, 0, 1 << 31, b"x" * 8))
breaks("4.2 DATA beyond the largest frame", lambda it: (it.post(1), raw(DATA, END_STREAM, 1, b"x" * 16385)),
       FRAME_SIZE_ERROR)
breaks("4.2 HEADERS beyond the largest frame",
       lambda it: (raw(HEADERS, END_STREAM | END_HEADERS, 1, it.block(never(it, more=[("x", "y" * 16384)]))),),
       FRAME_SIZE_ERROR)


@case("4.2 DATA of the largest frame")
def largest(port):
    peer = Peer(port)
    peer.send(peer.post(1), raw(DATA, END_STREAM, 1, b"x" * 16384))
    peer.answered(1)


breaks("4.3 a field block that cannot be read", raw(HEADERS, END_STREAM | END_HEADERS, 1, b"\x40"), COMPRESSION_ERROR)
breaks("4.3 PRIORITY within a field block",
       lambda it: (it.headers(1, never(it), flags=0), raw(PRIORITY, 0, 1, b"\0\0\0\0\1")), PROTOCOL_ERROR)
breaks("4.3 HEADERS of another stream within a field block",
       lambda it: (it.headers(1, never(it), flags=0), it.headers(3, never(it))), PROTOCOL_ERROR)

# 5.1 The states of a stream

breaks("5.1 idle: DATA", raw(DATA, END_STREAM, 1, b"x"), PROTOCOL_ERROR)
breaks("5.1 idle: RST_STREAM", raw(RST_STREAM, 0, 1, b"\0\0\0\x08"), PROTOCOL_ERROR)
breaks("5.1 idle: WINDOW_UPDATE", raw(WINDOW_UPDATE, 0, 1, b"\0\0\0\x64"), PROTOCOL_ERROR)
breaks("5.1 idle: CONTINUATION", lambda it: (raw(CONTINUATION, END_HEADERS, 1, it.block(never(it))),), PROTOCOL_ERROR)


def late(name, message, *codes):
    """The stream is half closed by its request, and what follows is too late, whichever error says so."""
    @case(name)
    def run(port):
        peer = Peer(port)
        peer.send(peer.headers(1), *message(peer))
        peer.either_error(1, *codes)


late("5.1 half closed: DATA", lambda it: (raw(DATA, END_STREAM, 1, b"x"),), STREAM_CLOSED)
late("5.1 half closed: HEADERS", lambda it: (it.headers(1),), STREAM_CLOSED, PROTOCOL_ERROR)
late("5.1 half closed: CONTINUATION", lambda it: (raw(CONTINUATION, END_HEADERS, 1, it.block(never(it))),),
     STREAM_CLOSED, PROTOCOL_ERROR)


def after(name, ending, message, *codes):
    """The stream is closed, and what follows is an error or, where it may have been on its way, ignored."""
    @case(name)
    def run(port):
        peer = Peer(port)
        if ending == RST_STREAM:
            peer.send(peer.post(1), raw(RST_STREAM, 0, 1, b"\0\0\0\x08"))
        else:
            peer.send(peer.headers(1))
            peer.answered(1)
        count = len(peer.seen)
        peer.send(*message(peer), raw(PING, payload=b"whosthis"))
        while (frame := peer.read()) is not None:
            if frame.type in (GOAWAY, RST_STREAM):
                assert frame.error_code in codes, frame
                return
            assert frame.type != HEADERS, peer.seen[count:]
            if frame.type == PING and "ACK" in frame.flags:
                assert None in codes, "nothing was said"
                return


for state, ending in [("reset", RST_STREAM), ("ended", END_STREAM)]:
    after(f"5.1 closed, {state}: DATA", ending, lambda it: (raw(DATA, END_STREAM, 1, b"x"),), STREAM_CLOSED, None)
    after(f"5.1 closed, {state}: HEADERS", ending, lambda it: (it.headers(1, never(it)),), STREAM_CLOSED, PROTOCOL_ERROR,
          *([None] if ending == RST_STREAM else []))
    after(f"5.1 closed, {state}: CONTINUATION", ending,
          lambda it: (raw(CONTINUATION, END_HEADERS, 1, it.block(never(it))),), STREAM_CLOSED, PROTOCOL_ERROR)
    after(f"5.1 closed, {state}: WINDOW_UPDATE", ending, lambda it: (raw(WINDOW_UPDATE, 0, 1, b"\0\0\0\x01"),), None)

breaks("5.1.1 an even stream identifier", lambda it: (it.headers(2, never(it)),), PROTOCOL_ERROR)


@case("5.1.1 a stream identifier below an earlier one")
def decreasing(port):
    peer = Peer(port)
    peer.send(peer.headers(5))
    peer.answered(5)
    peer.send(peer.headers(3, never(peer)))
    peer.connection_error(PROTOCOL_ERROR)
    assert not any(it.stream_id == 3 for it in peer.seen)


@case("5.1 trailers of a request that was answered before they came")
def late_trailers(port):
    peer = Peer(port)
    # Refused from its head; the client has not heard of that when it ends the request.
    peer.send(peer.headers(1, peer.fields("TRACE", NEVER), end=False))
    peer.answered(1, "405")
    peer.send(raw(HEADERS, END_STREAM | END_HEADERS, 1, peer.block([("x-sum", "1")])))
    peer.alive()
    peer.send(peer.headers(3))
    peer.answered(3)


@case("5.1.2 more streams than may be open at a time")
def too_many(port):
    peer = Peer(port)
    for number in range(100):
        peer.send(peer.post(1 + 2 * number))
    peer.send(peer.headers(201, never(peer)))
    peer.either_error(201, REFUSED_STREAM, PROTOCOL_ERROR)


# 5.3 Priorities are nobody's any more (RFC 9113, 5.3.2): what they say is not looked at, or is an error.

for name, message in [
    ("5.3 HEADERS that depend on themselves",
     lambda it: (raw(HEADERS, END_STREAM | END_HEADERS | PRIORITIZED, 1, b"\0\0\0\1\0" + it.block(it.fields())),)),
    ("5.3 PRIORITY that depends on itself", lambda it: (raw(PRIORITY, 0, 1, b"\0\0\0\1\0"),)),
]:
    @case(name)
    def depends_on_itself(port, message=message):
        peer = Peer(port)
        peer.send(*message(peer), raw(PING, payload=b"whosthis"))
        frame = peer.read()
        while frame and frame.type not in (GOAWAY, RST_STREAM) and not (frame.type == PING and "ACK" in frame.flags):
            frame = peer.read()
        assert frame and (frame.type == PING or frame.error_code == PROTOCOL_ERROR), frame

# 5.5 Extensions

ignored("5.5 an extension's frame on a stream", raw(0xFE, 0xFF, 1, b"x" * 100))
breaks("5.5 an extension's frame within a field block",
       lambda it: (it.headers(1, never(it), flags=0), raw(0xFE, 0, 1, b"x")), PROTOCOL_ERROR)

# 6.1 DATA

breaks("6.1 DATA on the connection", raw(DATA, END_STREAM, 0, b"x"), PROTOCOL_ERROR)
breaks("6.1 DATA with more padding than there is", lambda it: (it.post(1), raw(DATA, END_STREAM | PADDED, 1, b"\x06Test")),
       PROTOCOL_ERROR)


@case("6.1 DATA with padding")
def padded(port):
    peer = Peer(port)
    peer.send(peer.post(1), raw(DATA, END_STREAM | PADDED, 1, b"\x03Test\0\0\0"))
    peer.answered(1)


# 6.2 HEADERS

breaks("6.2 HEADERS on the connection", lambda it: (it.headers(0, never(it)),), PROTOCOL_ERROR)
breaks("6.2 HEADERS with more padding than there is",
       lambda it: (raw(HEADERS, END_STREAM | END_HEADERS | PADDED, 1, b"\xff" + it.block(never(it))),), PROTOCOL_ERROR)
breaks("6.2 HEADERS too short for a priority", raw(HEADERS, END_STREAM | END_HEADERS | PRIORITIZED, 1, b"\0\0"),
       PROTOCOL_ERROR, FRAME_SIZE_ERROR)

# 6.3 PRIORITY

breaks("6.3 PRIORITY on the connection", raw(PRIORITY, 0, 0, b"\0\0\0\x01\0"), PROTOCOL_ERROR)
breaks("6.3 PRIORITY of another length than 5", raw(PRIORITY, 0, 1, b"\0\0\0\x03"), FRAME_SIZE_ERROR)

# 6.4 RST_STREAM

breaks("6.4 RST_STREAM on the connection", raw(RST_STREAM, 0, 0, b"\0\0\0\x08"), PROTOCOL_ERROR)
breaks("6.4 RST_STREAM of another length than 4", lambda it: (it.post(1), raw(RST_STREAM, 0, 1, b"\0\0\x08")),
       FRAME_SIZE_ERROR)

# 6.5 SETTINGS

breaks("6.5 an acknowledgement with a payload", raw(SETTINGS, ACK, 0, b"x"), FRAME_SIZE_ERROR)
breaks("6.5 SETTINGS on a stream", raw(SETTINGS, 0, 1, setting(3, 100)), PROTOCOL_ERROR)
breaks("6.5 SETTINGS of a length that 6 does not divide", raw(SETTINGS, 0, 0, b"xyz"), FRAME_SIZE_ERROR)
breaks("6.5.2 ENABLE_PUSH of 2", raw(SETTINGS, 0, 0, setting(2, 2)), PROTOCOL_ERROR)
breaks("6.5.2 INITIAL_WINDOW_SIZE of 2^31", raw(SETTINGS, 0, 0, setting(4, 1 << 31)), FLOW_CONTROL_ERROR)
breaks("6.5.2 MAX_FRAME_SIZE below 2^14", raw(SETTINGS, 0, 0, setting(5, 16383)), PROTOCOL_ERROR)
breaks("6.5.2 MAX_FRAME_SIZE of 2^24", raw(SETTINGS, 0, 0, setting(5, 1 << 24)), PROTOCOL_ERROR)
ignored("6.5.2 a setting that nobody knows", raw(SETTINGS, 0, 0, setting(0xFF, 1)))
ignored("6.5.3 the last of two values holds", raw(SETTINGS, 0, 0, setting(4, 1) + setting(4, 65535)))


@case("6.5.3 SETTINGS are acknowledged")
def acknowledged(port):
    peer = Peer(port)
    peer.send(raw(SETTINGS, payload=setting(3, 100)))
    peer.read_until(lambda it: it.type == SETTINGS and "ACK" in it.flags)


# 6.7 PING

ignored("6.7 an acknowledgement of no PING", raw(PING, ACK, 0, b"unasked!"))
breaks("6.7 PING on a stream", raw(PING, 0, 1, b"x" * 8), PROTOCOL_ERROR)
breaks("6.7 PING of another length than 8", raw(PING, 0, 0, b"x" * 6), FRAME_SIZE_ERROR)

# 6.8 GOAWAY

breaks("6.8 GOAWAY on a stream", raw(GOAWAY, 0, 1, b"\0" * 8), PROTOCOL_ERROR)


@case("6.8 what a client that says farewell asked for is answered")
def farewell(port):
    peer = Peer(port)
    peer.send(peer.headers(1), raw(GOAWAY, 0, 0, b"\0" * 8))
    peer.answered(1)


# 6.9 WINDOW_UPDATE

breaks("6.9 WINDOW_UPDATE of 0 on the connection", raw(WINDOW_UPDATE, 0, 0, b"\0\0\0\0"), PROTOCOL_ERROR)
either("6.9 WINDOW_UPDATE of 0 on a stream", lambda it: (it.post(1), raw(WINDOW_UPDATE, 0, 1, b"\0\0\0\0")), PROTOCOL_ERROR)
breaks("6.9 WINDOW_UPDATE of another length than 4", raw(WINDOW_UPDATE, 0, 0, b"\0\0\x01"), FRAME_SIZE_ERROR)
breaks("6.9.1 a window of the connection beyond 2^31 - 1", raw(WINDOW_UPDATE, 0, 0, b"\x7f\xff\xff\xff") * 2,
       FLOW_CONTROL_ERROR)
spoils("6.9.1 a window of a stream beyond 2^31 - 1",
       lambda it: (it.post(1), raw(WINDOW_UPDATE, 0, 1, b"\x7f\xff\xff\xff") * 2), FLOW_CONTROL_ERROR)


def content(peer, stream):
    """The length of the next DATA of a stream."""
    return len(peer.read_until(lambda it: it.type == DATA and it.stream_id == stream).data)


@case("6.9.1 a window of one byte is filled by one byte")
def small_window(port):
    peer = Peer(port, settings=setting(4, 1))
    peer.send(peer.headers(1))
    assert content(peer, 1) == 1
    peer.alive()
    assert not any(it.type == DATA and it.data for it in peer.seen[-1:])


@case("6.9.2 a stream goes on when the initial window grows, and not before it is above nothing")
def changed_window(port):
    peer = Peer(port, settings=setting(4, 0))
    peer.send(peer.headers(1), raw(PING, payload=b"whosthis"))
    peer.read_until(lambda it: it.type == HEADERS)
    peer.send(raw(SETTINGS, payload=setting(4, 3)))
    assert content(peer, 1) == 3
    # Three are spent: the window is now two below nothing.
    peer.send(raw(SETTINGS, payload=setting(4, 1)))
    peer.alive()
    peer.send(raw(WINDOW_UPDATE, 0, 1, b"\0\0\0\x03"))
    assert content(peer, 1) == 1


either("6.9.2 an initial window that takes a stream's beyond 2^31 - 1",
       lambda it: (it.post(1), raw(WINDOW_UPDATE, 0, 1, b"\0\0\0\1"), raw(SETTINGS, 0, 0, setting(4, 0x7FFFFFFF))),
       FLOW_CONTROL_ERROR)

# 6.10 CONTINUATION


@case("6.10 a head in several frames")
def continued(port):
    peer = Peer(port)
    block = peer.block(peer.fields())
    peer.send(raw(HEADERS, END_STREAM, 1, block[:5]), raw(CONTINUATION, 0, 1, block[5:9]),
              raw(CONTINUATION, 0, 1), raw(CONTINUATION, END_HEADERS, 1, block[9:]))
    peer.answered(1)


breaks("6.10 CONTINUATION after a head that is whole",
       lambda it: (it.post(1), raw(CONTINUATION, END_HEADERS, 1, it.block([("x", "y")]))), PROTOCOL_ERROR)
breaks("6.10 CONTINUATION on the connection",
       lambda it: (it.headers(1, never(it), flags=0), raw(CONTINUATION, END_HEADERS, 0, b"")), PROTOCOL_ERROR)
breaks("6.10 CONTINUATION of another stream",
       lambda it: (it.headers(1, never(it), flags=0), raw(CONTINUATION, END_HEADERS, 3, b"")), PROTOCOL_ERROR)
breaks("6.10 DATA instead of CONTINUATION",
       lambda it: (it.headers(1, never(it, "POST"), end=False, flags=0), raw(DATA, END_STREAM, 1, b"x")), PROTOCOL_ERROR)
breaks("6.10 CONTINUATION after DATA",
       lambda it: (it.post(1), raw(DATA, 0, 1, b"x"), raw(CONTINUATION, END_HEADERS, 1, b"")), PROTOCOL_ERROR)

# 7 Error codes



@case("7 GOAWAY with a code that nobody knows")
def unknown_farewell(port):
    peer = Peer(port)
    peer.send(raw(GOAWAY, 0, 0, b"\0\0\0\0\0\0\0\xff"), raw(PING, payload=b"whosthis"))
    while (frame := peer.read()) is not None and not (frame.type == PING and "ACK" in frame.flags):
        assert frame.type != GOAWAY or frame.error_code == NO_ERROR, frame


ignored("7 RST_STREAM with a code that nobody knows", lambda it: (it.post(1), raw(RST_STREAM, 0, 1, b"\0\0\0\xff")))

# 8.1 Messages

spoils("8.1 trailers that do not end the stream",
       lambda it: (it.post(1), it.headers(1, [("x", "y")], end=False)), PROTOCOL_ERROR)

REFUSED = {
    "8.2 a name with a capital letter": [("X-Test", "ok")],
    "8.2 an empty name": [("", "ok")],
    "8.2 a name with a space": [("x y", "ok")],
    "8.2 a name with a colon within": [("x:y", "ok")],
    "8.2 a name with a line feed": [("x\ny", "ok")],
    "8.2 a name with a carriage return": [("x\ry", "ok")],
    "8.2 a name with NUL": [("x\0y", "ok")],
    "8.2 a name beyond ASCII": [("xä", "ok")],
    "8.2 a value with a line feed": [("x", "a\nb: c")],
    "8.2 a value with a carriage return": [("x", "a\rb")],
    "8.2 a value with NUL": [("x", "a\0b")],
    "8.2.2 connection": [("connection", "keep-alive")],
    "8.2.2 keep-alive": [("keep-alive", "timeout=5")],
    "8.2.2 proxy-connection": [("proxy-connection", "keep-alive")],
    "8.2.2 transfer-encoding": [("transfer-encoding", "chunked")],
    "8.2.2 upgrade": [("upgrade", "h2c")],
    "8.2.2 te other than trailers": [("te", "trailers, deflate")],
    "8.3 an unknown pseudo-header field": [(":test", "ok")],
    "8.3 a response's pseudo-header field": [(":status", "200")],
    "8.3 a pseudo-header field after the others": [("x", "y"), (":path", NEVER)],
    "8.3.1 :method twice": [(":method", "GET")],
    "8.3.1 :scheme twice": [(":scheme", "http")],
    "8.3.1 :path twice": [(":path", NEVER)],
    "8.3.1 :authority twice": [(":authority", "localhost")],
    "8.3.1 host other than :authority": [("host", "elsewhere.example")],
    "8.1.1 a length of something else than digits": [("content-length", "+0")],
    "8.1.1 a length twice": [("content-length", "0"), ("content-length", "0")],
    "8.5 :protocol of another method than CONNECT": [(":protocol", "websocket")],
    "8.1.1 two lengths": [("content-length", "0"), ("content-length", "1")],
}
for name, more in REFUSED.items():
    spoils(name, lambda it, more=more: (it.headers(1, never(it, more=more)),), PROTOCOL_ERROR)


def without(name):
    return lambda it: (it.headers(1, [field for field in never(it) if field[0] != name]),)


def instead(name, value):
    return lambda it: (it.headers(1, [(key, value if key == name else old) for key, old in never(it)]),)


for name in [":method", ":scheme", ":path"]:
    spoils(f"8.3.1 no {name}", without(name), PROTOCOL_ERROR)
spoils("8.3.1 an empty :path", instead(":path", ""), PROTOCOL_ERROR)
for path in ["*", "public/never", "/a b", "/a#b", "http://elsewhere.example/", "/a\tb", "/a\0b", "/a\x7fb"]:
    spoils(f"8.3.1 :path {path!r}", instead(":path", path), PROTOCOL_ERROR)
for method in ["", "GE T", "GET\t", "G,T"]:
    spoils(f"8.3.1 :method {method!r}", instead(":method", method), PROTOCOL_ERROR)
for scheme in ["", "1http", "ftp", "ht tp"]:
    spoils(f"8.3.1 :scheme {scheme!r}", instead(":scheme", scheme), PROTOCOL_ERROR)
for authority in ["", "user@localhost", "local host", "localhost/x", "[::1", "localhost:x"]:
    spoils(f"8.3.1 :authority {authority!r}", instead(":authority", authority), PROTOCOL_ERROR)
spoils("8.3.1 neither :authority nor host", without(":authority"), PROTOCOL_ERROR)

for name in [":method", ":path", ":status", ":authority", ":other"]:
    spoils(f"8.1 {name} in trailers",
           lambda it, name=name: (it.post(1), it.headers(1, [(name, "GET")])), PROTOCOL_ERROR)
for name in ["connection", "transfer-encoding", "upgrade", "X-Capital"]:
    spoils(f"8.2.2 {name} in trailers",
           lambda it, name=name: (it.post(1), it.headers(1, [(name, "x")])), PROTOCOL_ERROR)
spoils("8.1.1 less content than announced",
       lambda it: (it.post(1, more=[("content-length", "2")]), raw(DATA, END_STREAM, 1, b"x")), PROTOCOL_ERROR)
spoils("8.1.1 more content than announced",
       lambda it: (it.post(1, more=[("content-length", "1")]), raw(DATA, 0, 1, b"x"), raw(DATA, END_STREAM, 1, b"y")),
       PROTOCOL_ERROR)
spoils("8.1.1 content announced and none sent",
       lambda it: (it.headers(1, never(it, "POST", [("content-length", "1")])),), PROTOCOL_ERROR)


def answered(name, status, message):
    """A well-formed request; one that the gateway answers by itself reaches no application."""
    @case(name)
    def run(port):
        peer = Peer(port)
        peer.send(*message(peer))
        peer.answered(1, *status)
        peer.alive()


def connect(peer, *more, protocol="websocket", path=NEVER):
    """An extended CONNECT, of our own origin."""
    return [(":method", "CONNECT"), (":protocol", protocol), (":scheme", "http"), (":path", path),
            (":authority", peer.authority), ("origin", f"http://{peer.authority}"), *more]


# What RFC 9110, 9.3.6 has no place for, and what an application that does not switch would wait for.
for length in ["5", "0"]:
    spoils(f"8.5 an extended CONNECT with a length of {length}",
           lambda it, length=length: (it.headers(1, connect(it, ("content-length", length)), end=False),), PROTOCOL_ERROR)
for name in ["connection", "upgrade", "transfer-encoding"]:
    spoils(f"8.5 an extended CONNECT with {name}",
           lambda it, name=name: (it.headers(1, connect(it, (name, "websocket")), end=False),), PROTOCOL_ERROR)
# Refused by RFC 9113, and sent by gRPC: it is dropped, as in HTTP/1.1.
for value in ["a ", " a", "\ta\t", " "]:
    answered(f"8.2 white space around a value: {value!r}", ["200"],
             lambda it, value=value: (it.headers(1, it.fields(more=[("x", value)])),))
answered("8.5 an extended CONNECT that ends with its head", ["400"],
         lambda it: (it.headers(1, connect(it, path="/public/never")),))
answered("8.5 an extended CONNECT for another protocol", ["501"],
         lambda it: (it.headers(1, connect(it, protocol="connect-udp"), end=False),))
answered("8.5 CONNECT", ["405"],
         lambda it: (it.headers(1, [(":method", "CONNECT"), (":authority", it.authority)], end=False),))
answered("8.3.1 TRACE", ["405"], lambda it: (it.headers(1, never(it, "TRACE")),))

# Limits and paths, which HTTP/2 must not lead around


def long_head(peer, more):
    """A head in as many frames as it takes."""
    block = peer.block(never(peer, more=more))
    pieces = [block[start:start + 16000] for start in range(0, len(block), 16000)]
    yield raw(HEADERS, END_STREAM, 1, pieces[0])
    for number, piece in enumerate(pieces[1:], 2):
        yield raw(CONTINUATION, END_HEADERS if number == len(pieces) else 0, 1, piece)


answered("10.5.1 a head beyond the limit", ["431"],
         lambda it: long_head(it, [(f"x-{n}", "y" * 4000) for n in range(10)]))
answered("10.5.1 more fields than the limit", ["431"],
         lambda it: (it.headers(1, never(it, more=[(f"x-{n}", "y") for n in range(120)])),))
answered("10.5.1 a path beyond the limit", ["414"],
         lambda it: (it.headers(1, [(key, NEVER + "x" * 9000 if key == ":path" else value) for key, value in never(it)]),))
for path in ["/public/../never", "/public/%2e%2e/never", "/public/..%2fnever", "/public/..;/never", "/public/..%5cnever",
             "/public\\..\\never", "/public/%252e%252e/never", "//never", "/./never", "/%6eever", "/never%00", "/never;x",
             "/public/.../never", "/NEVER"]:
    answered(f"a path around a rule: {path}", ["302", "400", "401", "403"],
             lambda it, path=path: (it.headers(1, [(key, path if key == ":path" else value) for key, value in never(it)]),))

breaks("8.4 a client that pushes",
       lambda it: (raw(PUSH_PROMISE, END_HEADERS, 1, b"\0\0\0\2" + it.block(never(it))),), PROTOCOL_ERROR)

# RFC 7541 HPACK


def block(tail):
    return lambda it: (raw(HEADERS, END_STREAM | END_HEADERS, 1, it.block(never(it)) + tail),)


breaks("HPACK 2.3.3 an index beyond both tables", block(b"\xff\x9d\x64"), COMPRESSION_ERROR)
breaks("HPACK 2.3.3 a name's index beyond both tables", block(b"\x7f\x9d\x64\x01x"), COMPRESSION_ERROR)
breaks("HPACK 4.2 a new size of the table after a field", block(b"\x20"), COMPRESSION_ERROR)
breaks("HPACK 5.1 an integer without end", block(b"\xff" + b"\xff" * 12 + b"\x01"), COMPRESSION_ERROR)
breaks("HPACK 5.2 a text longer than its block", block(b"\0\x01x\x7fy"), COMPRESSION_ERROR)
breaks("HPACK 5.2 Huffman padding of more than seven bits", block(b"\0\x01x\x82\x1f\xff"), COMPRESSION_ERROR)
breaks("HPACK 5.2 Huffman padding of noughts", block(b"\0\x01x\x81\x18"), COMPRESSION_ERROR)
breaks("HPACK 5.2 a Huffman text with its end in it", block(b"\0\x01x\x84\xff\xff\xff\xff"), COMPRESSION_ERROR)
breaks("HPACK 6.1 index 0", block(b"\x80"), COMPRESSION_ERROR)
breaks("HPACK 6.3 a table larger than was allowed",
       lambda it: (raw(HEADERS, END_STREAM | END_HEADERS, 1, b"\x3f\xe1\xff\x03" + it.block(never(it))),), COMPRESSION_ERROR)

if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        print("\n".join(CASES))
    else:
        CASES[sys.argv[2]](int(sys.argv[1]))
