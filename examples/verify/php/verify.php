<?php
// Verifies a webhook in plain PHP, 8.0 or later.

/**
 * Returns whether Deedwire signed the request with one of the secrets, within 300 seconds of now.
 *
 * @param array<string, string> $headers array_change_key_case(getallheaders())
 * @param string $body the bytes as received: file_get_contents('php://input')
 * @param list<string> $secrets one secret, or both during a rotation
 * @throws InvalidArgumentException if a secret is malformed
 */
function is_authentic(array $headers, string $body, array $secrets, ?int $now = null): bool
{
    [$id, $timestamp] = [$headers['webhook-id'] ?? '', $headers['webhook-timestamp'] ?? ''];
    $authentic = false;
    foreach ($secrets as $secret) {
        $key = base64_decode(substr($secret, strlen('whsec_')));
        if (strlen($key) < 24 || strlen($key) > 64 || 'whsec_' . base64_encode($key) !== $secret) {
            throw new InvalidArgumentException('A webhook secret is whsec_ and base64 of 24 to 64 bytes.');
        }
        $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
        foreach (explode(' ', $headers['webhook-signature'] ?? '') as $signature) {
            $authentic = hash_equals($expected, $signature) || $authentic;
        }
    }
    // Otherwise text could move between the id, the timestamp and the body.
    $wellFormed = !str_contains($id, '.') && preg_match('/^[0-9]{10}\z/', $timestamp);
    return $authentic && $wellFormed && abs(($now ?? time()) - (int) $timestamp) <= 300;
}
