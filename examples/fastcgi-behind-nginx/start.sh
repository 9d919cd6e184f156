#!/usr/bin/env bash
# start.sh: Debian's DokuWiki with its own nginx and PHP-FPM, all in this folder.
#   apt-get install dokuwiki nginx-light php-fpm
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
PATH=$PATH:/usr/sbin

if [[ ! -d site ]]; then
  cp --recursive --dereference /usr/share/dokuwiki site
  cp --recursive authremoteuser site/lib/plugins/
  mkdir -p conf data/{attic,cache,index,locks,log,media,media_attic,media_meta,meta,pages,tmp}
  # Debian's default settings, without those of an installed wiki.
  for file in /etc/dokuwiki/*; do
    case $file in */local.php | *.auth.php | *apache.conf | *lighttpd.conf) ;; *) cp "$file" conf/ ;; esac
  done
  cp local.php conf/
  printf '* @ALL 0\n* @user 8\n' >conf/acl.auth.php
  # Debian's preload.php contains the path of the settings.
  sed --in-place "s|/etc/dokuwiki|$PWD/conf|g" site/inc/preload.php
  chmod -R a+rX site conf
fi
# Started by root, PHP serves as www-data.
if [[ $(id -u) == 0 ]]; then chown -R www-data data; fi
chmod a+rx .

trap 'kill $(jobs -p)' EXIT
# PHP-FPM leaves the process group of this script, so let the kernel end it together with the script.
setpriv --pdeathsig TERM "$(ls /usr/sbin/php-fpm* | head -1)" --prefix "$PWD" --fpm-config "$PWD/php-fpm.conf" &
nginx -p . -c nginx.conf
