# Verifies a webhook in plain Python, 3.8 or later.
import base64, hmac, re, time

def is_authentic(headers, body, secrets, clock=time.time):
    """Returns whether Deedwire signed the request with one of the secrets, within 300 seconds of now.

    headers: lower-case names and their values; a framework's object, which ignores the case, works too
    body: the bytes as received, before any parsing
    secrets: a list of one secret, or of both during a rotation. Raises ValueError if one is malformed.
    """
    webhook_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    authentic = False
    for secret in secrets:
        key = base64.b64decode(secret[len("whsec_"):])
        if not 24 <= len(key) <= 64 or "whsec_" + base64.b64encode(key).decode() != secret:
            raise ValueError("A webhook secret is whsec_ and base64 of 24 to 64 bytes.")
        mac = hmac.digest(key, f"{webhook_id}.{timestamp}.".encode() + body, "sha256")
        for signature in headers.get("webhook-signature", "").encode().split(b" "):
            authentic |= hmac.compare_digest(signature, b"v1," + base64.b64encode(mac))
    # Otherwise text could move between the id, the timestamp and the body.
    well_formed = "." not in webhook_id and re.fullmatch("[0-9]{10}", timestamp) is not None
    return authentic and well_formed and abs(int(clock()) - int(timestamp)) <= 300
