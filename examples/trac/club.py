"""Trac with users from a header, as a WSGI application.

    pip install -r requirements.txt
    trac-admin env initenv "Allotment club" sqlite:db/trac.db
    TRAC_ENV=env gunicorn --bind 127.0.0.1:3000 club:application
"""

from trac.web.main import dispatch_request


def application(environ, start_response):
    # The gateway removes the client's own header.
    if user := environ.get("HTTP_REMOTE_USER"):
        environ["REMOTE_USER"] = user
    return dispatch_request(environ, start_response)
