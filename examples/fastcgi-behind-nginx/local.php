<?php
// DokuWiki's local settings.
$conf['title'] = 'Allotment wiki';
$conf['savedir'] = dirname(__DIR__) . '/data';
$conf['useacl'] = 1;
$conf['authtype'] = 'authremoteuser';
$conf['superuser'] = 'anna.bergstrom';
// No update checks over the Internet.
$conf['updatecheck'] = 0;
