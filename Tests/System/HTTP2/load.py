"""Requests over HTTP/2 and TLS without a pause, by four clients at once: two keep their connection, two make a new one
after a few requests.

load.py PORT, in a folder with ca.pem: says "N answered" now and then; SIGTERM ends it, and it prints one line of JSON.

A request that a farewell (GOAWAY) leaves out is not lost: the client sends it again on another connection (RFC 9113,
6.8). Whatever else is not answered with 200 is a complaint.
"""

import json
import signal
import socket
import ssl
import sys
import threading

from peer import ACK, DATA, GOAWAY, HEADERS, PING, PREFACE, RST_STREAM, SETTINGS, WINDOW_UPDATE, Peer, Unexpected, raw

AT_ONCE = 8


class Load:
    def __init__(self, port):
        self.port = port
        self.context = ssl.create_default_context(cafile="ca.pem")
        self.context.set_alpn_protocols(["h2"])
        self.is_over = False
        self.lock = threading.Lock()
        self.counts = {"answered": 0, "connections": 0, "farewells": 0, "left_out": 0}
        self.certificates, self.complaints = set(), []

    def run(self, budget):
        while not self.is_over:
            try:
                self.converse(budget)
            except Exception as error:  # noqa: BLE001: whatever it is, it is what the load is there to find.
                with self.lock:
                    self.complaints.append(f"{type(error).__name__}: {error}")

    def converse(self, budget):
        """One connection, of so many requests; of any number if that is None."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=50)
        connection = self.context.wrap_socket(connection, server_hostname="localhost")
        peer = Peer(self.port, opens=False, connection=connection)
        name = dict(part[0] for part in connection.getpeercert()["subject"])["commonName"]
        with self.lock:
            self.counts["connections"] += 1
            self.certificates.add(name)
        peer.send(PREFACE, raw(SETTINGS))
        waiting, following, last = set(), 1, None
        while True:
            while last is None and not self.is_over and len(waiting) < AT_ONCE and (budget is None or following < 2 * budget):
                peer.send(peer.headers(following, peer.fields(path="/load", scheme="https")))
                waiting.add(following)
                following += 2
            if not waiting:
                return connection.close()
            frame = peer.read()
            if frame is None:
                raise Unexpected(f"the connection ended with {len(waiting)} requests under way, farewell {last}")
            if frame.type == GOAWAY:
                if frame.error_code != 0:
                    raise Unexpected(f"GOAWAY {frame.error_code}")
                is_first, last = last is None, frame.last_stream_id
                left_out = {stream for stream in waiting if stream > last}
                waiting -= left_out
                with self.lock:
                    self.counts["farewells"] += is_first
                    self.counts["left_out"] += len(left_out)
            elif frame.type == SETTINGS and "ACK" not in frame.flags:
                peer.send(raw(SETTINGS, ACK))
            elif frame.type == PING and "ACK" not in frame.flags:
                peer.send(raw(PING, ACK, 0, frame.opaque_data))
            elif frame.type == DATA and frame.flow_controlled_length:
                peer.send(raw(WINDOW_UPDATE, 0, 0, frame.flow_controlled_length.to_bytes(4, "big")))
            elif frame.type == RST_STREAM:
                raise Unexpected(f"RST_STREAM {frame.error_code}")
            elif frame.type == HEADERS and (":status", "200") not in frame.decoded:
                raise Unexpected(f"answered {frame.decoded}")
            if frame.stream_id in waiting and "END_STREAM" in frame.flags:
                waiting.remove(frame.stream_id)
                self.count()

    def count(self):
        with self.lock:
            self.counts["answered"] += 1
            answered = self.counts["answered"]
            if answered % 20 == 0:
                print(f"{answered} answered", flush=True)


def main():
    load = Load(int(sys.argv[1]))
    signal.signal(signal.SIGTERM, lambda *_: setattr(load, "is_over", True))
    threads = [threading.Thread(target=load.run, args=(budget,)) for budget in (None, None, 12, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps({**load.counts, "certificates": sorted(load.certificates), "complaints": load.complaints}), flush=True)


main()
