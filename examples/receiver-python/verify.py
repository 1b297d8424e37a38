# Verifies a webhook in plain Python, 3.8 or later.
import base64, hmac, re, time

def is_authentic(headers, body, secrets, now=None, tolerance=300):
    """Returns whether Deedwire signed the request with one of the secrets within the last `tolerance` seconds.

    headers: lower-case names and their values; a framework's object, which ignores the case, also works
    body: the bytes as received, before any parsing
    secrets: a list of one secret, or of both during a rotation. Raises ValueError if one is malformed.
    """
    now = int(time.time()) if now is None else now
    keys = [decode_secret(secret) for secret in secrets]
    service = [headers.get(f"x-service-webhook-{name}") or "" for name in ("timestamp", "signature", "signature-next")]
    standard = [headers.get(f"webhook-{name}") or "" for name in ("timestamp", "signature", "id")]
    timestamp = service[0] if any(service) else standard[0]
    if any(service) and any(standard) and service[0] != standard[0]:
        return False
    # Exactly ten digits: otherwise digits could move between the timestamp and the body.
    if not re.fullmatch("[0-9]{10}", timestamp) or abs(now - int(timestamp)) > tolerance:
        return False
    content = timestamp.encode() + b"." + body
    # Deedwire signs with both schemes. Each scheme that the request has must verify.
    if any(service):
        signatures = f"{service[1]} {service[2]}"
        expected = [hmac.new(secret.encode(), content, "sha256").hexdigest() for secret in secrets]
        if not re.fullmatch("[0-9a-f]{64} ([0-9a-f]{64})?", signatures) or not matches(signatures, expected):
            return False
    if any(standard):
        _, signatures, webhook_id = standard
        # Without a dot: otherwise text could move between the id and the body.
        if not re.fullmatch("[-!-+/-~]{1,256}", webhook_id) or not re.fullmatch(f"{ENTRY}( {ENTRY})*", signatures):
            return False
        macs = [hmac.new(key, webhook_id.encode() + b"." + content, "sha256").digest() for key in keys]
        return matches(signatures, ["v1," + base64.b64encode(mac).decode() for mac in macs])
    return True

ENTRY = "v[0-9]+[a-z]*,[-!-+./-~]+"

def matches(signatures, expected):
    """Compares in constant time."""
    return any(hmac.compare_digest(one, other) for one in signatures.split(" ") for other in expected)

def decode_secret(secret):
    key = base64.b64decode(secret[len("whsec_"):])
    if "whsec_" + base64.b64encode(key).decode() != secret or not 24 <= len(key) <= 64:
        raise ValueError("A webhook secret is whsec_ and the base64 of 24 to 64 bytes, without white space.")
    return key
