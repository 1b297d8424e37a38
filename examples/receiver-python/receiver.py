# A webhook receiver in plain Python, 3.8 or later. WEBHOOK_SECRET is the secret of the subscription.
import json, os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from verify import is_authentic

SECRET, PORT = os.environ.get("WEBHOOK_SECRET"), int(os.environ.get("PORT", "4005"))
if not SECRET:
    raise SystemExit("WEBHOOK_SECRET is not set.")

class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))  # raw bytes: verify, then parse
        if not is_authentic(self.headers, body, [SECRET]):
            return self.respond(401, b"", "Rejected a request: its signature does not verify.")
        event = json.loads(body)
        if list(event) == ["verification_token"]:
            return self.respond(200, json.dumps(event).encode(), "Answered the handshake.")
        self.respond(204, b"", f"Verified an event: {json.dumps(event, indent=2)}")

    def respond(self, status, body, message):
        print(message, flush=True)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)

server = ThreadingHTTPServer(("127.0.0.1", PORT), Receiver)
print(f"Listening on http://127.0.0.1:{PORT}/", flush=True)
server.serve_forever()
