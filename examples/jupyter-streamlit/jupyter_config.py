# JupyterLab behind the gateway.
c = get_config()  # noqa: F821
c.ServerApp.ip = "127.0.0.1"
c.ServerApp.port = 3000
c.ServerApp.port_retries = 0
c.ServerApp.open_browser = False
c.ServerApp.root_dir = "notebooks"
# No token: the gateway authenticates users. Never expose this port without it.
c.IdentityProvider.token = ""
# Accept the host that the browser sees: the gateway forwards Host unchanged.
c.ServerApp.local_hostnames = ["localhost"]
c.ServerApp.trust_xheaders = True
