# JupyterLab behind the gateway.
c = get_config()  # noqa: F821
c.ServerApp.ip = "127.0.0.1"
c.ServerApp.port = 3000
c.ServerApp.port_retries = 0
c.ServerApp.open_browser = False
c.ServerApp.root_dir = "notebooks"
# The gateway signs people in. Without it nobody must reach the port.
c.IdentityProvider.token = ""
# Addresses as the browser sees them: the gateway forwards Host as received.
c.ServerApp.local_hostnames = ["localhost"]
c.ServerApp.trust_xheaders = True
