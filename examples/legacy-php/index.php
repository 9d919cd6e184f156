<?php
// The notice board of a housing cooperative: a web application without support for single sign-on.
//
// It uses neither Apple's tokens nor cookies. It trusts three request headers, because only the gateway can connect to
// it: X-Forwarded-User, X-Forwarded-Email and X-Forwarded-Name (UTF-8, percent-encoded where it is not ASCII).
//
//     php -S 127.0.0.1:3000 index.php
//
// Notices are stored in notices.json next to this file.

const MOST_NOTICES = 100;

$user = [
    'id' => $_SERVER['HTTP_X_FORWARDED_USER'] ?? '',
    'email' => rawurldecode($_SERVER['HTTP_X_FORWARDED_EMAIL'] ?? ''),
    'name' => trim(rawurldecode($_SERVER['HTTP_X_FORWARDED_NAME'] ?? '')),
];
$user['greeting'] = $user['name'] ?: ($user['email'] ?: 'neighbour');

$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH) ?: '/';
$method = $_SERVER['REQUEST_METHOD'];

header('Cache-Control: no-store');
if ($path === '/' && ($method === 'GET' || $method === 'HEAD')) {
    page('Notice board', board($user), $user);
} elseif ($path === '/notices' && $method === 'POST') {
    $text = $_POST['text'] ?? '';
    // The first 400 characters, if it is UTF-8 at all.
    if (is_string($text) && preg_match('/^\s*(\S.{0,399})/us', $text, $match) === 1) {
        $text = trim($match[1]);
        add_notice($user['greeting'], $text);
    }
    header('Location: /', true, 303);
} elseif ($path === '/public' || $path === '/public/') {
    page('House rules', rules(), null);
} elseif ($path === '/headers') {
    header('Content-Type: text/plain; charset=utf-8');
    echo "$method $path\n\n";
    $headers = getallheaders();
    ksort($headers);
    foreach ($headers as $name => $value) {
        echo "$name: $value\n";
    }
} else {
    http_response_code(404);
    page('Not found', '<h1>Not found</h1><p>There is no such page. <a href="/">To the notice board</a></p>', $user);
}

// Storage

function with_notices(callable $change): array
{
    $file = fopen(__DIR__ . '/notices.json', 'c+');
    flock($file, LOCK_EX);
    $notices = json_decode((string) stream_get_contents($file), true) ?: [
        ['who' => 'Ruth Adler', 'when' => 'Monday', 'text' => 'The boiler is serviced on Thursday from 9 to 11. No hot water then.'],
        ['who' => 'T. Osei', 'when' => 'Sunday', 'text' => 'Found: a blue child\'s glove, by the bicycle stand.'],
    ];
    $changed = $change($notices);
    if ($changed !== $notices) {
        ftruncate($file, 0);
        rewind($file);
        fwrite($file, (string) json_encode($changed));
    }
    fclose($file);
    return $changed;
}

function add_notice(string $who, string $text): void
{
    $notice = ['who' => $who, 'when' => date('j F, H:i'), 'text' => $text];
    with_notices(fn (array $notices): array => array_slice([$notice, ...$notices], 0, MOST_NOTICES));
}

// Pages

function board(array $user): string
{
    $items = '';
    foreach (with_notices(fn (array $notices): array => $notices) as $notice) {
        $items .= '<li><p>' . e($notice['text']) . '</p><p class="by">' . e($notice['who']) . ', ' . e($notice['when']) . '</p></li>';
    }
    return '<h1 id="greeting">Hello, ' . e($user['greeting']) . '</h1>
<form method="post" action="/notices"><label for="text">Pin a notice to the board</label>
<textarea id="text" name="text" rows="3" maxlength="400" required></textarea>
<button id="pin" type="submit">Pin it</button></form>
<h2>Notices</h2><ul class="notices">' . $items . '</ul>';
}

function rules(): string
{
    return '<h1>House rules</h1><ol><li>Quiet from ten in the evening to seven in the morning.</li>
<li>Bicycles stand in the yard, not in the hall.</li><li>Whoever empties the coffee tin fills it.</li></ol>
<p>Anybody may read this page. <a href="/">The notice board</a> is for members.</p>';
}

function e(string $text): string
{
    return htmlspecialchars($text, ENT_QUOTES | ENT_SUBSTITUTE, 'UTF-8');
}

function page(string $title, string $body, ?array $user): void
{
    $who = '';
    if ($user !== null && $user['id'] !== '') {
        $who = '<p class="who">Signed in as <strong id="user-name">' . e($user['greeting']) . '</strong>'
            . ($user['email'] !== '' ? ' &middot; ' . e($user['email']) : '')
            . '<br><small>Member <span id="user-id">' . e($user['id']) . '</span></small>'
            . '<br><a id="sign-out" href="/.auth/sign-out">Sign out</a></p>';
    }
    header('Content-Type: text/html; charset=utf-8');
    ?>
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title><?= e($title) ?> - Linden Court Housing Cooperative</title>
<link rel="icon" href="data:,">
<style>
body { margin: 0 auto; max-width: 48em; padding: 0 1em 2em; background: #f4f1ea; color: #2a2622; font: 16px/1.5 Georgia, "DejaVu Serif", serif; }
header { display: flex; justify-content: space-between; flex-wrap: wrap; gap: .5em 2em; border-bottom: 4px double #7a2e2e; padding: 1.25em 0 .75em; }
header p { margin: 0; } .house { font-size: 1.5em; font-weight: bold; color: #7a2e2e; } .who { font-size: .85em; text-align: right; }
small { overflow-wrap: anywhere; } nav { padding: .6em 0; border-bottom: 1px solid #d3cabb; } nav a { margin-right: 1.25em; white-space: nowrap; }
a { color: #7a2e2e; } h1 { font-size: 1.5em; } h2 { font-size: 1.1em; }
textarea { display: block; width: 100%; box-sizing: border-box; margin: .3em 0 .6em; padding: .5em; font: inherit; border: 1px solid #a89c88; }
button { font: inherit; padding: .35em 1.2em; background: #7a2e2e; color: #fff; border: 1px solid #5c2020; cursor: pointer; }
a:focus-visible, button:focus-visible, textarea:focus-visible { outline: 3px solid #1f6f8b; outline-offset: 2px; }
.notices { list-style: none; padding: 0; } .notices li { background: #fffdf7; border: 1px solid #d3cabb; padding: .75em 1em; margin-bottom: .75em; }
.notices p { margin: 0; overflow-wrap: anywhere; } .by { font-size: .85em; color: #6a6156; }
@media (max-width: 36em) { .who { text-align: left; } }
</style></head>
<body>
<header><p class="house">Linden Court</p><?= $who ?></header>
<nav aria-label="Main"><a href="/">Notice board</a> <a href="/public/">House rules</a> <a href="/headers">Request headers</a></nav>
<main><?= $body ?></main>
</body></html>
<?php
}
