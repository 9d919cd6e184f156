"""The application behind the proxies: an nginx with static responses, on the loader's core."""

from __future__ import annotations

from pathlib import Path

from processes import Process, free_port, wait_for_port

ONE_KILOBYTE = 1_024
ONE_MEGABYTE = 1_048_576


class Upstream:
    """Responds with as many bytes to paths that end in `1k` or `1m`, and to `/who` and `/app/who` with the user."""

    def __init__(self, folder: Path, core: set[int]) -> None:
        self.port = free_port()
        folder = folder / "upstream"
        self.socket = folder / "application.sock"
        (folder / "bodies").mkdir(parents=True)
        (folder / "bodies" / "1m").write_bytes(b"m" * ONE_MEGABYTE)
        configuration = folder / "nginx.conf"
        configuration.write_text(_CONFIGURATION.format(port=self.port, folder=folder, small="k" * ONE_KILOBYTE))
        for path in [folder, folder / "bodies"]:
            path.chmod(0o755)
        self.process = Process.start(
            "upstream", ["nginx", "-p", str(folder), "-c", str(configuration), "-e", "stderr"], cores=core,
            folder=folder)
        wait_for_port(self.process, self.port)


_CONFIGURATION = """
daemon off;
pid {folder}/nginx.pid;
worker_processes 1;
events {{ worker_connections 4096; }}
http {{
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_timeout 300s;
  keepalive_requests 100000000;
  open_file_cache max=16 inactive=1h;
  client_body_temp_path {folder}/client_body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  default_type text/html;
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    listen unix:{folder}/application.sock backlog=4096;
    location ~ /1k$ {{ return 200 "{small}"; }}
    location ~ /1m$ {{ alias {folder}/bodies/1m; }}
    location ~ ^(/app)?/who$ {{ return 200 "$http_x_forwarded_user"; }}
  }}
}}
"""
