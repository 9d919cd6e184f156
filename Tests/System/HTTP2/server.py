"""An application in HTTP/2 in cleartext (h2c), on Python's h2: sends back what comes, as it comes, and ends as gRPC does.

server.py PORT; a path that ends with "fail" is answered by its trailers alone, and so is one that ends with "early", once
as much of its content has come as may without being taken: what is still to come is neither taken nor refused.
"""

import socket
import sys
import threading

import h2.config
import h2.connection
import h2.events


def serve(connected):
    connection = h2.connection.H2Connection(
        h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
    connection.initiate_connection()
    connected.sendall(connection.data_to_send())
    fails, early = set(), {}
    while data := connected.recv(65536):
        for event in connection.receive_data(data):
            if isinstance(event, h2.events.RequestReceived):
                fields = dict(event.headers)
                head = [(":status", "200"), ("content-type", "application/grpc"), ("x-te", fields.get("te", "none")),
                        ("x-user", fields.get("x-forwarded-user", "nobody"))]
                if fields[":path"].endswith("fail"):
                    fails.add(event.stream_id)
                    connection.send_headers(event.stream_id, [*head, ("grpc-status", "5")], end_stream=True)
                elif fields[":path"].endswith("early"):
                    early[event.stream_id] = 65535
                else:
                    connection.send_headers(event.stream_id, head)
            elif isinstance(event, h2.events.DataReceived) and event.stream_id in early:
                early[event.stream_id] -= event.flow_controlled_length
                if early[event.stream_id] == 0:
                    connection.send_headers(event.stream_id, [*head, ("grpc-status", "0")], end_stream=True)
            elif isinstance(event, h2.events.DataReceived) and event.stream_id not in fails:
                connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                connection.send_data(event.stream_id, event.data)
            elif isinstance(event, h2.events.StreamEnded) and event.stream_id not in fails:
                connection.send_headers(event.stream_id, [("grpc-status", "0")], end_stream=True)
        connected.sendall(connection.data_to_send())


listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("listening", flush=True)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
