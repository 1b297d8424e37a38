. ./verify.sh

# Command substitutions lose line feeds at the end, so a letter follows.
text() {
    printf %s "$1" | openssl base64 -d -A
    printf x
}

# The next field of a line, in `field`. Empty fields count.
next_field() {
    field=${line%%"$1"*}
    line=${line#*"$1"}
}

# The value of a header, in `value`.
value_of() {
    value=
    case ",$headers," in *,"$1":*)
        value=,$headers
        value=${value#*,"$1":}
        value=$(text "${value%%,*}")
        value=${value%x} ;;
    esac
}

tab=$(printf '\t')
while IFS= read -r line; do
    next_field "$tab"; now=$field
    next_field "$tab"; printf %s "$field" | openssl base64 -d -A > body
    next_field "$tab"; secrets=$field,
    headers=$line
    value_of webhook-id; id=$value
    value_of webhook-timestamp; timestamp=$value
    value_of webhook-signature; signatures=$value
    set --
    line=$secrets
    while [ -n "$line" ]; do
        next_field ,
        secret=$(text "$field")
        set -- "$@" "${secret%x}"
    done
    is_authentic "$id" "$timestamp" "$signatures" body "$now" "$@"
    case $? in 0) echo true ;; 1) echo false ;; *) echo error ;; esac
done
