"""A peer that sends any frame, right or wrong, and says what came back. On Python's hyperframe and hpack."""

import socket
import ssl
import struct
import time

import hpack
import hyperframe.frame as frames

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
(NO_ERROR, PROTOCOL_ERROR, INTERNAL_ERROR, FLOW_CONTROL_ERROR, SETTINGS_TIMEOUT, STREAM_CLOSED, FRAME_SIZE_ERROR,
 REFUSED_STREAM, CANCEL, COMPRESSION_ERROR, CONNECT_ERROR, ENHANCE_YOUR_CALM) = range(12)
(DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION) = range(10)
END_STREAM = ACK = 0x1
END_HEADERS, PADDED, PRIORITIZED = 0x4, 0x8, 0x20


class Unexpected(Exception):
    """Not what the case asks for."""


def raw(kind, flags=0, stream=0, payload=b""):
    """A frame as RFC 9113, 4.1 lays it out, whatever is in it."""
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def setting(identifier, value):
    return struct.pack(">HI", identifier, value)


class Records:
    """A connection over TLS whose records are in hand: what ends the handshake is kept back until something is sent, and
    what is sent can be cut in two that come one after the other."""

    def __init__(self, port, context):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=50)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.came, self.left = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.came, self.left, server_hostname="localhost")
        while True:
            try:
                return self.tls.do_handshake()
            except ssl.SSLWantReadError:
                self.socket.sendall(self.left.read())
                self.came.write(self.socket.recv(65536))

    def sendall(self, data, first=None):
        self.tls.write(data)
        record = self.left.read()
        if first:
            self.socket.sendall(record[:first])
            time.sleep(0.05)
        self.socket.sendall(record[first:])

    def recv(self, count):
        while True:
            try:
                return self.tls.read(count)
            except ssl.SSLWantReadError:
                data = self.socket.recv(65536)
                if not data:
                    return b""
                self.came.write(data)


class Peer:
    """A connection, from its preface on; one of TLS, say, where it is given."""

    def __init__(self, port, preface=PREFACE, settings=b"", opens=True, connection=None):
        self.authority = f"localhost:{port}"
        self.socket = connection or socket.create_connection(("127.0.0.1", port), timeout=50)
        self.encoder = hpack.Encoder()
        self.decoder = hpack.Decoder()
        self.buffer = b""
        self.seen = []
        self.largest = 16384
        if opens:
            self.send(preface + raw(SETTINGS, payload=settings))
            self.read_until(lambda it: it.type == SETTINGS and "ACK" not in it.flags)
            self.send(raw(SETTINGS, ACK))
            self.read_until(lambda it: it.type == SETTINGS and "ACK" in it.flags)

    def send(self, *messages):
        try:
            self.socket.sendall(b"".join(messages))
        except OSError:
            pass  # What came before it is still to be read.

    # What is sent

    def fields(self, method="GET", path="/public/fine", more=(), scheme="http"):
        return [(":method", method), (":scheme", scheme), (":path", path), (":authority", self.authority), *more]

    def block(self, fields):
        return self.encoder.encode(fields, huffman=False)

    def headers(self, stream, fields=None, end=True, flags=END_HEADERS):
        flags |= END_STREAM if end else 0
        return raw(HEADERS, flags, stream, self.block(self.fields() if fields is None else fields))

    def post(self, stream, path="/public/fine", more=()):
        return self.headers(stream, self.fields("POST", path, more), end=False)

    # What is read

    def read(self):
        """The next frame, None at the end of the connection."""
        while True:
            if len(self.buffer) >= 9:
                frame, length = frames.Frame.parse_frame_header(memoryview(self.buffer[:9]))
                if len(self.buffer) >= 9 + length:
                    frame.parse_body(memoryview(self.buffer[9:9 + length]))
                    self.buffer = self.buffer[9 + length:]
                    self.seen.append(frame)
                    if frame.type in (HEADERS, CONTINUATION):
                        frame.decoded = self.decoder.decode(frame.data)
                    return frame
            try:
                more = self.socket.recv(65536)
            except ConnectionError:
                more = b""
            except socket.timeout:
                raise Unexpected(f"silence after {self.seen}") from None
            if not more:
                return None
            self.buffer += more

    def read_until(self, matches):
        while (frame := self.read()) is not None:
            if matches(frame):
                return frame
            if frame.type == GOAWAY:
                raise Unexpected(f"GOAWAY {frame.error_code}: {frame}")
        raise Unexpected(f"the end of the connection after {self.seen}")

    # What is expected

    def connection_error(self, *codes):
        """GOAWAY with one of the codes, and the end of the connection."""
        told = None
        while (frame := self.read()) is not None:
            if frame.type == GOAWAY and frame.error_code != NO_ERROR:
                told = frame.error_code
        if told not in codes:
            raise Unexpected(f"GOAWAY {told} after {self.seen}")

    def stream_error(self, stream, *codes):
        """RST_STREAM with one of the codes; the connection goes on."""
        frame = self.read_until(lambda it: it.type == RST_STREAM and it.stream_id == stream)
        if frame.error_code not in codes:
            raise Unexpected(f"RST_STREAM {frame.error_code}")
        self.alive()

    def either_error(self, stream, *codes):
        """A stream error, or one of the whole connection: whoever finds a stream in a wrong state may choose."""
        while (frame := self.read()) is not None:
            if frame.type == GOAWAY or (frame.type == RST_STREAM and frame.stream_id == stream):
                if frame.error_code in codes:
                    return
                if frame.error_code != NO_ERROR:
                    raise Unexpected(f"{frame}")
        raise Unexpected(f"the end of the connection after {self.seen}")

    def answered(self, stream, *statuses):
        """A whole answer: 200, or one of these."""
        head = self.read_until(lambda it: it.type in (HEADERS, RST_STREAM) and it.stream_id == stream)
        if head.type != HEADERS or dict(head.decoded)[":status"] not in (statuses or ("200",)):
            raise Unexpected(f"{getattr(head, 'decoded', head)}")
        if "END_STREAM" not in head.flags:
            self.read_until(lambda it: it.stream_id == stream and "END_STREAM" in it.flags)
        return head.decoded

    def alive(self):
        """The connection answers a PING."""
        self.send(raw(PING, payload=b"whosthis"))
        self.read_until(lambda it: it.type == PING and "ACK" in it.flags and it.opaque_data == b"whosthis")
