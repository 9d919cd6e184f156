"""Django's administration pages with users from a header, as a project in one file.

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
            # After AuthenticationMiddleware.
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
        # Only the gateway reaches it, on loopback, with the host that it was asked for.
        ALLOWED_HOSTS=["localhost"],
        # With TLS at the gateway: request.is_secure(), and the check of Origin against CSRF, need it.
        SECURE_PROXY_SSL_HEADER=("HTTP_X_FORWARDED_PROTO", "https"),
        STATIC_URL="static/",
        # With strip_prefix at the gateway: the prefix.
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
    """The header Remote-User, as WSGI calls it. The gateway removes it from what clients send."""

    header = "HTTP_REMOTE_USER"


class CordonBackend(RemoteUserBackend):
    """Makes an account for whoever the gateway lets in. Only Anna may administer."""

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
    # Style sheets, without a web server beside it.
    path("static/<path:path>", serve, {"insecure": True}),
]
if __name__ == "__main__":
    sys.modules["club"] = sys.modules["__main__"]
    execute_from_command_line(sys.argv)
else:
    application = get_wsgi_application()
