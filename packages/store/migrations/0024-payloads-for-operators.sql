-- `deedwire-operator delivery show --curl` prints the request of a delivery. The policy of the operator exists since 0005.
grant select on webhook_payload to operator;
