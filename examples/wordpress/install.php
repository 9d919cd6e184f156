<?php
// install.php ADDRESS USER PASSWORD...: installs WordPress for an address without a browser, and creates users; the
// first one is the administrator.
[, $address] = $argv;
$_SERVER += ['HTTP_HOST' => parse_url($address, PHP_URL_HOST), 'SERVER_PROTOCOL' => 'HTTP/1.1'];
define('WP_INSTALLING', true);
define('WP_SITEURL', $address);
// Sends no mail about the new site.
function wp_mail() { return true; }
require __DIR__ . '/site/wp-load.php';
require ABSPATH . 'wp-admin/includes/upgrade.php';
if (is_blog_installed()) exit;
foreach (array_chunk(array_slice($argv, 2), 2) as $number => [$user, $password]) {
    if ($number === 0) wp_install('Allotment club', $user, "$user@example.com", true, '', $password);
    else wp_insert_user(['user_login' => $user, 'user_pass' => $password, 'user_email' => "$user@example.com", 'role' => 'editor']);
}
