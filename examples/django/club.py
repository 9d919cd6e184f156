"""Django's administration pages with users from a header, as a single-file project.

    apt-get install python3-django gunicorn
    python3 club.py migrate
    gunicorn --bind 127.0.0.1:3000 club:application
"""

import os
import secrets
import sys
from pathlib import Path

from django.conf import settings

if not settings.configured:
    settings.configure(
        # New for each process. An application with several needs one that stays, in a file.
        SECRET_KEY=secrets.token_hex(32),
        ROOT_URLCONF="club",
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": Path("club.db").resolve()}},
        INSTALLED_APPS=[
            "django.contrib.admin", "django.contrib.auth", "django.contrib.contenttypes", "django.contrib.messages",
            "django.contrib.sessions", "django.contrib.staticfiles",
        ],
        MIDDLEWARE=[
            "django.middleware.security.SecurityMiddleware",
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.common.CommonMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
            # Must come after AuthenticationMiddleware.
            "club.CordonMiddleware",
            "django.contrib.messages.middleware.MessageMiddleware",
        ],
        AUTHENTICATION_BACKENDS=["club.CordonBackend"],
        TEMPLATES=[{
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "APP_DIRS": True,
            "OPTIONS": {"context_processors": [
                "django.template.context_processors.request", "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]},
        }],
        # The gateway connects over loopback and forwards Host unchanged.
        ALLOWED_HOSTS=["localhost"],
        # If the gateway terminates TLS: needed by request.is_secure() and by the Origin check of CSRF protection.
        SECURE_PROXY_SSL_HEADER=("HTTP_X_FORWARDED_PROTO", "https"),
        STATIC_URL="static/",
        # The prefix, if the gateway strips one (strip_prefix).
        FORCE_SCRIPT_NAME=os.environ.get("SCRIPT_PREFIX"),
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    )
    import django
    django.setup()

from django.contrib import admin
from django.contrib.auth.backends import RemoteUserBackend
from django.contrib.auth.middleware import RemoteUserMiddleware
from django.contrib.staticfiles.views import serve
from django.core.management import execute_from_command_line
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse
from django.urls import path


class CordonMiddleware(RemoteUserMiddleware):
    """Reads the header Remote-User by its WSGI name. The gateway removes the client's own header."""

    header = "HTTP_REMOTE_USER"


class CordonBackend(RemoteUserBackend):
    """Creates an account for each user whom the gateway admits. Only Anna is an administrator."""

    def authenticate(self, request, remote_user):
        user = super().authenticate(request, remote_user)
        is_admin = remote_user == "anna.bergstrom@example.com"
        if user and user.is_staff != is_admin:
            user.is_staff = user.is_superuser = is_admin
            user.save()
        return user


urlpatterns = [
    path("", lambda request: HttpResponse(f"You are {request.user.get_username()}, secure: {request.is_secure()}")),
    path("admin/", admin.site.urls),
    # Serves style sheets without a separate web server.
    path("static/<path:path>", serve, {"insecure": True}),
]
if __name__ == "__main__":
    sys.modules["club"] = sys.modules["__main__"]
    execute_from_command_line(sys.argv)
else:
    application = get_wsgi_application()
