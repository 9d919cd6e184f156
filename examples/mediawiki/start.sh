#!/usr/bin/env bash
# start.sh [ADDRESS]: Debian's MediaWiki with its own Apache, all in this folder.
#   apt-get install mediawiki libapache2-mod-php php-sqlite3
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
PATH=$PATH:/usr/sbin
address=${1:-http://localhost:8080}

if [[ ! -f LocalSettings.php ]]; then
  mkdir -p data
  php /usr/share/mediawiki/maintenance/install.php --quiet --confpath="$PWD" --dbtype=sqlite --dbpath="$PWD/data" \
    --dbname=wiki --server="$address" --scriptpath=/w --pass="$(openssl rand -hex 16)" "Allotment club" Administrator
  printf '%s\n' '$wgArticlePath = "/wiki/$1";' '$wgMainCacheType = CACHE_NONE;' 'require "RemoteUser.php";' \
    >>LocalSettings.php
fi
if [[ $(id -u) == 0 ]]; then
  chown -R www-data data
  chmod a+rx . && chmod a+r LocalSettings.php RemoteUser.php
fi
exec apache2 -d "$PWD" -f apache.conf -D FOREGROUND
