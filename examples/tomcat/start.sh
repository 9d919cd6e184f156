#!/usr/bin/env bash
# start.sh: Tomcat with an application, in this folder.
#   apt-get install tomcat10-user tomcat10-examples default-jdk-headless
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
export CATALINA_HOME=/usr/share/tomcat10 CATALINA_BASE=$PWD/base
mkdir -p base/{conf,lib,logs,temp,webapps,work}
cp -R "$CATALINA_HOME"/skel/conf/. base/conf
cp server.xml base/conf
# No session IDs in URLs, for any application: end_cookies can bind only cookies to an account.
sed --in-place 's|</session-timeout>|&<tracking-mode>COOKIE</tracking-mode>|' base/conf/web.xml
javac -classpath "$CATALINA_HOME/lib/catalina.jar:$CATALINA_HOME/lib/servlet-api.jar" -d base/lib RemoteUserValve.java
exec "$CATALINA_HOME/bin/catalina.sh" run
