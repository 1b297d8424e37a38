import base64, sys
from verify import is_authentic

def text(encoded):
    return base64.b64decode(encoded).decode()

for line in sys.stdin.read().splitlines():
    now, body, secrets, headers = line.split("\t")
    named = dict(header.split(":") for header in headers.split(",") if header)
    try:
        print(is_authentic(
            {name: text(value) for name, value in named.items()},
            base64.b64decode(body),
            [text(secret) for secret in secrets.split(",")],
            lambda: int(now),
        ))
    except ValueError:
        print("error")
