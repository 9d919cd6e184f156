"""nginx and HAProxy as plain proxies: no authentication, and the usual X-Forwarded-* headers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from contender import Running, Setting
from processes import Process, free_port, wait_for_port

LOOK_ALIKE = "__Host-cordon=" + "x" * 110
"""Replaces the session cookie for contenders without sign-in."""


@dataclass
class Nginx:
    """nginx with keep-alive connections to the upstream."""

    name: str = "nginx"
    title: str = "nginx, plain"

    def start(self, setting: Setting, folder: Path) -> Running:
        port = free_port()
        listen = f"127.0.0.1:{port} backlog=4096" + (" ssl" if setting.certificate else "") + (
            " http2" if setting.http2 else "")
        (folder / "nginx.conf").write_text(_NGINX.format(
            folder=folder, workers=len(setting.cores), listen=listen, upstream=setting.upstream_port,
            log=f"{folder}/access.log combined" if setting.access_log else "off", tls=_nginx_tls(setting)))
        folder.chmod(0o755)
        process = self.launch(folder, set(setting.cores))
        return _running(process, port, setting, lines=folder / "access.log")

    def launch(self, folder: Path, cores: set[int]) -> Process:
        command = ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", "stderr"]
        return Process.start(self.name, command, cores=cores, folder=folder)


@dataclass
class HAProxy:
    """HAProxy with its default settings for connections to the server."""

    name: str = "haproxy"
    title: str = "HAProxy, plain"

    def start(self, setting: Setting, folder: Path) -> Running:
        port = free_port()
        bind = f"127.0.0.1:{port} backlog 4096"
        if setting.certificate:
            bind += f" ssl crt {setting.certificate.both} alpn {'h2,' if setting.http2 else ''}http/1.1"
        (folder / "haproxy.cfg").write_text(_HAPROXY.format(
            threads=len(setting.cores), bind=bind, upstream=setting.upstream_port,
            scheme="https" if setting.certificate else "http",
            target="log stdout format raw local0" if setting.access_log else "",
            log="log global\n  option httplog" if setting.access_log else "no log"))
        process = self.launch(folder, set(setting.cores))
        return _running(process, port, setting, lines=process.log)

    def launch(self, folder: Path, cores: set[int]) -> Process:
        return Process.start(
            self.name, ["haproxy", "-db", "-f", str(folder / "haproxy.cfg")], cores=cores, folder=folder)


def _running(process: Process, port: int, setting: Setting, lines: Path) -> Running:
    wait_for_port(process, port)
    return Running(
        process, port, "localhost", LOOK_ALIKE, scheme="https" if setting.certificate else "http",
        lines=lines if setting.access_log else None)


def _nginx_tls(setting: Setting) -> str:
    if not setting.certificate:
        return ""
    return (f"ssl_certificate {setting.certificate.chain}; ssl_certificate_key {setting.certificate.key}; "
            "ssl_protocols TLSv1.2 TLSv1.3; ssl_session_cache shared:tls:1m;")


_NGINX = """
daemon off;
pid {folder}/nginx.pid;
worker_processes {workers};
worker_rlimit_nofile 16384;
events {{ worker_connections 8192; }}
http {{
  access_log {log};
  keepalive_timeout 75s;
  keepalive_requests 100000000;
  client_body_temp_path {folder}/client_body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  upstream application {{
    server 127.0.0.1:{upstream};
    keepalive 256;
    keepalive_requests 100000000;
  }}
  server {{
    listen {listen};
    {tls}
    location / {{
      proxy_pass http://application;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_max_temp_file_size 0;
    }}
  }}
}}
"""

_HAPROXY = """
global
  maxconn 8192
  nbthread {threads}
  {target}
defaults
  mode http
  {log}
  timeout connect 5s
  timeout client 75s
  timeout server 60s
  timeout http-request 15s
  timeout http-keep-alive 75s
frontend front
  bind {bind}
  option forwardfor
  http-request set-header X-Forwarded-Proto {scheme}
  default_backend application
backend application
  server application 127.0.0.1:{upstream}
"""
