"""A staff list made with Flask-AppBuilder, with users from a header.

    pip install -r requirements.txt
    gunicorn --bind 127.0.0.1:3000 app:app
"""

import os
import secrets

from flask import Flask, g
from flask_appbuilder import AppBuilder, BaseView, expose, has_access
from flask_appbuilder.security.manager import AUTH_REMOTE_USER
from flask_appbuilder.utils.legacy import get_sqla_class
from werkzeug.middleware.proxy_fix import ProxyFix

app = Flask(__name__)
app.config.update(
    # New for each process. An application with several needs one that stays, in a file.
    SECRET_KEY=secrets.token_hex(32),
    SQLALCHEMY_DATABASE_URI="sqlite:///" + os.path.abspath("app.db"),
    # The WSGI name of the header Remote-User. The gateway removes the client's own header.
    AUTH_TYPE=AUTH_REMOTE_USER,
    AUTH_REMOTE_USER_ENV_VAR="HTTP_REMOTE_USER",
    # Creates an account for each user whom the gateway admits. The role "Admin" suits an example only.
    AUTH_USER_REGISTRATION=True,
    AUTH_USER_REGISTRATION_ROLE="Admin",
)
# Client address, scheme, host and prefix from X-Forwarded-*.
app.wsgi_app = ProxyFix(app.wsgi_app, x_for=1, x_proto=1, x_host=1, x_prefix=1)

db = get_sqla_class()()


class Me(BaseView):
    """A page that needs a user: without a session, Flask-AppBuilder redirects to its login page."""

    route_base = "/me"
    default_view = "show"

    @expose("/")
    @has_access
    def show(self) -> str:
        return f"You are {g.user.username}"


with app.app_context():
    db.init_app(app)
    appbuilder = AppBuilder(app, db.session)
    appbuilder.add_view(Me, "Me")
