#!/bin/sh
# Makes the secrets of compose.yaml in compose/secrets: a CA with a certificate for PostgreSQL, the passwords of the logins,
# and the key of the webhook secrets. Needs openssl. What exists stays as it is: delete the folder to begin again.
set -eu
umask 077
cd "$(dirname "$0")"
if [ -e secrets ]; then
  echo "$(pwd)/secrets exists, so nothing was changed." >&2
  exit 0
fi
new=$(mktemp -d secrets.XXXXXX)
trap 'rm -rf "$new"' EXIT
days=3650

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days "$days" \
  -subj '/CN=Deedwire database CA' -addext 'keyUsage=critical,keyCertSign,cRLSign' \
  -keyout "$new/ca-key.pem" -out "$new/ca.pem" 2>/dev/null
openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj '/CN=postgres' \
  -keyout "$new/server-key" -out "$new/server.csr" 2>/dev/null
printf 'subjectAltName=DNS:postgres\nbasicConstraints=critical,CA:FALSE\nextendedKeyUsage=serverAuth\n' >"$new/server.ext"
openssl x509 -req -in "$new/server.csr" -CA "$new/ca.pem" -CAkey "$new/ca-key.pem" -CAcreateserial -days "$days" \
  -extfile "$new/server.ext" -out "$new/server-certificate" 2>/dev/null
rm "$new/server.csr" "$new/server.ext"

url() { printf 'postgres://%s:%s@postgres/deedwire?sslmode=verify-full&sslrootcert=/etc/deedwire/ca.pem' "$1" "$2"; }
password=$(openssl rand -hex 24)
printf '%s' "$password" >"$new/owner-password"
url postgres "$password" >"$new/owner-url"
# With which `migrate` begins the names of the roles in the schema deedwire of a new database.
role_prefix=law_firm_
for app in lender-api:lender_api partner-api:partner_api webhook-worker:webhook_worker operator:operator; do
  role=${app#*:}
  password=$(openssl rand -hex 24)
  url "deedwire_$role" "$password" >"$new/${app%:*}-url"
  cat >>"$new/logins.sql" <<SQL
select 'create role deedwire_$role login in role $role_prefix$role'
where not exists (select from pg_roles where rolname = 'deedwire_$role') \\gexec
alter role deedwire_$role password '$password';
alter role deedwire_$role set search_path = deedwire, pg_temp;
SQL
done
printf 'k1:%s' "$(openssl rand -base64 32)" >"$new/webhook-secret-keys"

# The containers read the files as other users. On this machine, the folder protects them.
chmod 644 "$new"/*
chmod 600 "$new/ca-key.pem"
mv "$new" secrets
trap - EXIT
