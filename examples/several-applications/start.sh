#!/usr/bin/env bash
# start.sh [FOLDER]: Nagios behind Apache, and the applications of flask-remote-user and django. FOLDER is the folder of
# all examples (default: the parent folder).
#   apt-get install apache2-bin nagios4-cgi nagios4-core python3-django gunicorn
#   pip install -r ../flask-remote-user/requirements.txt    # into an environment whose gunicorn FLASK_GUNICORN names
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
PATH=$PATH:/usr/sbin
examples=$(realpath "${1:-..}")
export FOLDER=$PWD
# Writes nothing into the folders of the other examples.
export PYTHONDONTWRITEBYTECODE=1

mkdir -p nagios/var data
for file in nagios.cfg cgi.cfg; do sed "s|FOLDER|$FOLDER|" "nagios/$file" >"nagios/var/$file"; done
printf 'nagios_user=%s\nnagios_group=%s\n' "$(id -un)" "$(id -gn)" >>nagios/var/nagios.cfg
chmod a+rx .
chmod -R a+rX site nagios

trap 'kill $(jobs -p)' EXIT
nagios4 nagios/var/nagios.cfg >nagios/var/out &
(cd data && exec "${FLASK_GUNICORN:-gunicorn}" --pythonpath "$examples/flask-remote-user" --bind 127.0.0.1:3001 app:app) &
(
  cd data
  # Django gets its prefix from its settings.
  export SCRIPT_PREFIX=/club
  /usr/bin/python3 "$examples/django/club.py" migrate --verbosity 0
  exec /usr/bin/gunicorn --pythonpath "$examples/django" --bind 127.0.0.1:3002 club:application
) &
apache2 -d "$PWD" -f apache.conf -D FOREGROUND
