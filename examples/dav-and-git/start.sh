#!/usr/bin/env bash
# start.sh: Apache with cgit, git and WebDAV, and Radicale, all in this folder.
#   apt-get install apache2-bin git cgit radicale
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
PATH=$PATH:/usr/sbin
export FOLDER=$PWD

mkdir -p calendars/collection-root/club
if [[ ! -d git/club.git ]]; then
  git init --quiet --bare --initial-branch=main git/club.git
  echo "The club's papers" >git/club.git/description
fi
printf '%s\n' "css=/cgit-css/cgit.css" "logo=/cgit-css/cgit.png" "clone-prefix=/git" "virtual-root=/" \
  "scan-path=$FOLDER/git" >cgitrc
# Started by root, Apache serves as www-data.
if [[ $(id -u) == 0 ]]; then chown -R www-data git dav; fi
chmod a+rx . git dav
chmod a+r cgitrc

trap 'kill $(jobs -p)' EXIT
radicale --config "$PWD/radicale.conf" &
apache2 -d "$PWD" -f apache.conf -D FOREGROUND
