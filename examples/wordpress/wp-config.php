<?php
// WordPress behind Cordon. WordPress's own sample explains the rest of its settings.
define('DB_NAME', 'wordpress');
define('DB_USER', 'wordpress');
define('DB_PASSWORD', 'only-on-a-socket-of-this-folder');
define('DB_HOST', 'localhost:' . dirname(__DIR__) . '/database.sock');
$table_prefix = 'wp_';

// Needed if the gateway terminates TLS: otherwise the login page redirects to itself forever.
if (($_SERVER['HTTP_X_FORWARDED_PROTO'] ?? '') === 'https') $_SERVER['HTTPS'] = 'on';

// Suffix of the names of WordPress's cookies, for end_cookies in gateway.conf. By default it is a hash of the site's
// URL.
define('COOKIEHASH', 'site');

// No requests to the Internet.
define('WP_HTTP_BLOCK_EXTERNAL', true);
define('DISABLE_WP_CRON', true);

defined('ABSPATH') || define('ABSPATH', __DIR__ . '/');
require_once ABSPATH . 'wp-settings.php';
