<?php
require __DIR__ . '/verify.php';

foreach (file('php://stdin', FILE_IGNORE_NEW_LINES) as $line) {
    [$now, $body, $secrets, $headers] = explode("\t", $line);
    $named = [];
    foreach (array_filter(explode(',', $headers)) as $header) {
        [$name, $value] = explode(':', $header);
        $named[$name] = base64_decode($value);
    }
    try {
        $secrets = array_map('base64_decode', explode(',', $secrets));
        $authentic = is_authentic($named, base64_decode($body), $secrets, (int) $now);
        echo $authentic ? 'true' : 'false', "\n";
    } catch (InvalidArgumentException) {
        echo "error\n";
    }
}
