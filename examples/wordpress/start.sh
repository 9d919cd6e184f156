#!/usr/bin/env bash
# start.sh [ADDRESS]: Debian's WordPress with its own Apache and MariaDB, all in this folder.
#   apt-get install wordpress wordpress-theme-twentytwentythree libapache2-mod-php mariadb-server
# Users: anna, an administrator, with the password "annas roses", and ben, an editor, with "bens beans".
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
PATH=$PATH:/usr/sbin
address=${1:-http://localhost:8080}

if [[ ! -d site ]]; then
  cp --recursive --dereference /usr/share/wordpress site
  cp wp-config.php site/
  chmod -R a+rX site
  chmod a+rx .
fi
if [[ ! -d database ]]; then
  mariadb-install-db --no-defaults --datadir="$PWD/database" --user="$(id -un)" --skip-test-db >/dev/null
fi
cat >database.sql <<SQL
CREATE DATABASE IF NOT EXISTS wordpress;
CREATE USER IF NOT EXISTS wordpress@localhost IDENTIFIED BY 'only-on-a-socket-of-this-folder';
GRANT ALL ON wordpress.* TO wordpress@localhost;
SQL
mariadbd --no-defaults --datadir="$PWD/database" --user="$(id -un)" --skip-networking --pid-file="$PWD/database.pid" \
  --socket="$PWD/database.sock" --init-file="$PWD/database.sql" &
trap 'kill $(jobs -p)' EXIT
login=(--socket="$PWD/database.sock" --user=wordpress --password=only-on-a-socket-of-this-folder)
until mariadb-admin --no-defaults "${login[@]}" ping >/dev/null 2>&1; do sleep 0.2; done
php install.php "$address" anna "annas roses" ben "bens beans"
apache2 -d "$PWD" -f apache.conf -D FOREGROUND
