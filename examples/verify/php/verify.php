<?php
// Verifies a webhook in plain PHP, 8.0 or later.

/**
 * Returns whether Deedwire signed the request with one of the secrets within the last $tolerance seconds.
 *
 * @param array<string, string> $headers array_change_key_case(getallheaders())
 * @param string $body the bytes as received: file_get_contents('php://input')
 * @param list<string> $secrets one secret, or both during a rotation
 * @throws InvalidArgumentException if a secret is malformed
 */
function is_authentic(array $headers, string $body, array $secrets, ?int $now = null, int $tolerance = 300): bool
{
    $keys = array_map('decode_secret', $secrets);
    $header = fn (string $name): string => $headers[$name] ?? '';
    $service = array_map($header, ['x-service-webhook-timestamp', 'x-service-webhook-signature', 'x-service-webhook-signature-next']);
    $standard = array_map($header, ['webhook-timestamp', 'webhook-signature', 'webhook-id']);
    [$hasService, $hasStandard] = [implode($service) !== '', implode($standard) !== ''];
    $timestamp = $hasService ? $service[0] : $standard[0];
    if ($hasStandard && $standard[0] !== $timestamp) {
        return false;
    }
    // Exactly ten digits: otherwise digits could move between the timestamp and the body.
    if (!preg_match('/^[0-9]{10}\z/', $timestamp) || abs(($now ?? time()) - (int) $timestamp) > $tolerance) {
        return false;
    }
    $content = "$timestamp.$body";
    // Deedwire signs with both schemes. Each scheme that the request has must verify.
    if ($hasService) {
        $signatures = "$service[1] $service[2]";
        $expected = array_map(fn ($secret) => hash_hmac('sha256', $content, $secret), $secrets);
        if (!preg_match('/^[0-9a-f]{64} ([0-9a-f]{64})?\z/', $signatures) || !matches($signatures, $expected)) {
            return false;
        }
    }
    if ($hasStandard) {
        [, $signatures, $id] = $standard;
        $entry = 'v[0-9]+[a-z]*,[-!-+.\/-~]+';
        // Without a dot: otherwise text could move between the id and the body.
        if (!preg_match('/^[-!-+\/-~]{1,256}\z/', $id) || !preg_match("/^$entry( $entry)*\\z/", $signatures)) {
            return false;
        }
        $sign = fn ($key) => 'v1,' . base64_encode(hash_hmac('sha256', "$id.$content", $key, true));
        return matches($signatures, array_map($sign, $keys));
    }
    return true;
}

/** Compares in constant time. */
function matches(string $signatures, array $expected): bool
{
    foreach (explode(' ', $signatures) as $signature) {
        foreach ($expected as $mac) {
            if (hash_equals($mac, $signature)) {
                return true;
            }
        }
    }
    return false;
}

function decode_secret(string $secret): string
{
    $key = base64_decode(substr($secret, strlen('whsec_')));
    if ('whsec_' . base64_encode($key) !== $secret || strlen($key) < 24 || strlen($key) > 64) {
        throw new InvalidArgumentException('A webhook secret is whsec_ and the base64 of 24 to 64 bytes, without white space.');
    }
    return $key;
}
