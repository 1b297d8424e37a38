# Verifies a webhook in a POSIX shell with OpenSSL, 1.1.1 or later.

# Returns 0 if Deedwire signed the request with one of the secrets, within 300 seconds of now, 1 if not, and 2 if a secret
# is malformed.
#
# $1, $2, $3: the headers webhook-id, webhook-timestamp and webhook-signature
# $4: a file with the bytes of the body as received
# $5: in Unix seconds: "$(date +%s)"
# the others: one secret, or both during a rotation
is_authentic() (
    LC_ALL=C id=$1 timestamp=$2 signatures=$3 body=$4 now=$5 result=1; shift 5
    for secret in "$@"; do
        key=$(printf %s "${secret#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \n')
        encoded=$(printf %s "${secret#whsec_}" | openssl base64 -d -A | openssl base64 -A)
        [ "whsec_$encoded" = "$secret" ] && [ ${#key} -ge 48 ] && [ ${#key} -le 128 ] || return 2
        mac=$({ printf '%s.%s.' "$id" "$timestamp"; cat "$body"; } |
            openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A)
        case " $signatures " in *" v1,$mac "*) result=0 ;; esac
    done
    # Otherwise text could move between the id, the timestamp and the body.
    case $id in *.*) return 1 ;; esac
    case $timestamp in *[!0-9]*) return 1 ;; esac
    [ ${#timestamp} -eq 10 ] && [ "$(expr "$now" - "$timestamp" | tr -d -)" -le 300 ] && return "$result"
)
