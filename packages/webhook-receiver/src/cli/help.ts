export const help = `Usage: npx @deedwire/webhook-receiver <command> [options]

A <receiver> is a port, port/path or URL.
A <package> has the payloads of the service, such as @deedwire/webhook-events.
It is installed in this folder, or it is a path.
  --allow-remote        lets it be on another machine

secret
  Prints a new secret for a webhook subscription.

grade <receiver> [-- <count command>]
  Tests a receiver in any language. Each check that fails says what to fix.
  Give it two secrets if the receiver has two. The count command prints how
  many effects there are, so that "repeated" can be proven.
  --type <type>, --version <date>
                        of the events; defaults to webhook.test
  --events <package>    with the types of the events
  --standard            tests any receiver of Standard Webhooks
  --only, --skip <check,...>
  --timeout <seconds>   of the subscription, 5 to 15; defaults to 5
  --header <name>       of the subscription, for a gateway before the receiver
  --format text|json|junit

verify [file]
  Says why the signature of a captured request does not verify. The capture is
  HTTP text, the output of curl -v, HAR, JSON ({"headers": {}, "body": ""}, or
  bodyBase64), or NDJSON. Without a file, it reads standard input.
  --body <file>         the bytes of the body, if the capture has only headers
  --at <time>           when the request arrived: 10m (ago), or
                        2027-01-31T12:00:05Z. Defaults to what the capture
                        says, or now
  --events <package>    recognizes fields in another order
  --json                prints one line for each request

trigger [type] --to <receiver>
  Sends a signed event with sample data; defaults to webhook.test.
  --events <package>    has the other types, and checks the body
  --version <date>      defaults to the one that a subscription pins
  --set <path=value>    changes a field: data.externalReference=KEY-9
  --file <file>         sends this body instead; pass no type
trigger [type] --subscription <gid>
  Lets Deedwire send a test event.

listen --to <receiver>
  Sends the events of your account to a receiver that has no public URL, and
  repeats one that gets no response. A later run sends what happened
  meanwhile, for a day.
  --types <type,...>    defaults to all
  --retry               sends an event that is refused again
  --json                prints one line of JSON for each event

subscribe --url <url> --module <file>
  Shows what differs between a subscription and the handlers of the receiver
  that a module exports. The module must not listen.
  --timeout <seconds>   how long Deedwire waits for a response, 5 to 15
  --header <name>       a secret header that Deedwire sends with each request
  --yes                 creates or updates the subscription
  --check               exits with 1 if something differs
  --new-secret-file <file>
                        for a new secret, without WEBHOOK_SECRET
  --subscription <gid>  if several have the URL, or to change the URL

doctor
  Checks Node, the secret, TLS, the clock, the credentials and the store of
  DATABASE_URL.
  --table <name>        of the store; defaults to webhook_receipt

sql store|inbox|kept-events|pull
  Prints the SQL that creates the table of postgresStore, of an inbox, of
  postgresKeptEvents, or of what reconcile remembers, for a migration.
  --table <name>        defaults to webhook_receipt, webhook_inbox_receipt,
                        webhook_kept_event, or webhook_receipt_pull. The last
                        has the name of the table of the store or the inbox,
                        and _pull
  --grant-to <login>    also prints the rights that the service needs

move-inbox graphile-worker|pg-boss
  Moves the rows of postgresInbox of version 1 in DATABASE_URL to the inbox of
  a library, and adds a job for each delivery that waits. Stop the processes
  of version 1 before. It needs the package pg, and pg-boss for its jobs. It
  can run again after a failure.
  --from <table>        of postgresInbox; defaults to webhook_inbox
  --table <name>        of the inbox; defaults to webhook_inbox_receipt
  --schema <name>       of the library; defaults to its own default
  --name <name>         the task of graphile-worker, or the queue of pg-boss;
                        defaults to webhook
  --failed              also moves deliveries whose last retry failed
  The name of a table can have a schema: app.receipt.

Secrets are never arguments, because other processes can read those.
  WEBHOOK_SECRET        the secret of the subscription, or several, one in a
                        line
  WEBHOOK_HEADER        the value of the header that --header names
  DEEDWIRE_URL, CLIENT_ID, API_KEY, ORGANIZATION_ID
                        the interface and an API client, for listen, subscribe
                        and trigger --subscription
  HEADER_PREFIX         what the headers of the interface begin with, such as
                        X-Service. Without it, grade, verify and trigger --to
                        use the headers of Standard Webhooks only
  --secret-file <file>  has the secrets instead; - is standard input
  --header-file <file>  has the value of the header instead
  --env-file <file>     sets variables that the environment does not have

--help, or -h, prints this text. Exit codes: 0 done, 1 refused, failed or not
found, 2 called in a wrong way, 3 credentials refused, 4 API unavailable,
130 interrupted.
`;
