# A webhook receiver in plain Python, 3.8 or later. WEBHOOK_SECRET is the secret of the subscription.
import json, os, sqlite3
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from verify import is_authentic

SECRET, PORT = os.environ.get("WEBHOOK_SECRET"), int(os.environ.get("PORT", "4005"))
LIMIT = 300_000
DATABASE = os.environ.get("DATABASE", "webhooks.db")
if not SECRET:
    raise SystemExit("WEBHOOK_SECRET is not set.")

class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.read_body()  # raw bytes: verify, then parse
        if len(body) > LIMIT:
            return self.respond(413, b"", "Rejected a request: it is too large.")
        if not is_authentic(self.headers, body, [SECRET]):
            return self.respond(401, b"", "Rejected a request: its signature does not verify.")
        event = json.loads(body)
        if list(event) == ["verification_token"]:
            return self.respond(200, json.dumps(event).encode(), "Answered the handshake.")
        if process_once(self.headers["webhook-id"], event):
            self.respond(204, b"", f"Processed an event: {json.dumps(event, indent=2)}")
        else:
            self.respond(200, b"", "Processed this delivery before.")

    def read_body(self):
        """Returns all bytes, or more than LIMIT. A proxy can send chunks, which http.server does not decode."""
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(min(int("0" + self.headers.get("Content-Length", "")), LIMIT + 1))
        body, size = b"", 1
        while size > 0 and len(body) <= LIMIT:
            size = int(b"0" + self.rfile.readline(20).split(b";")[0], 16)
            body += self.rfile.read(min(size, LIMIT + 1) + 2)[:size]  # a line end follows each chunk
        return body

    def respond(self, status, body, message):
        print(message, flush=True)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)

def process_once(webhook_id, event):
    """Makes the changes of an event in the transaction that remembers its delivery. If it fails, Deedwire retries."""
    with closing(sqlite3.connect(DATABASE, timeout=4)) as database, database:
        inserted = database.execute("INSERT OR IGNORE INTO receipt (id) VALUES (?)", [webhook_id]).rowcount
        # If inserted is 1, make your own changes here, in database.
        return inserted == 1

with closing(sqlite3.connect(DATABASE)) as database, database:
    database.execute("CREATE TABLE IF NOT EXISTS receipt (id TEXT PRIMARY KEY, received_at TEXT DEFAULT CURRENT_TIMESTAMP)")
server = ThreadingHTTPServer(("127.0.0.1", PORT), Receiver)
print(f"Listening on http://127.0.0.1:{PORT}/", flush=True)
server.serve_forever()
