curl -sS "$DEEDWIRE_URL" \
  -H 'Content-Type: application/json' \
  -H "X-Service-Client-Id: $CLIENT_ID" \
  -H "X-Service-API-Key: $API_KEY" \
  -H "X-Service-Organization-Id: $ORGANIZATION_ID" \
  -H 'X-Service-Schema-Version: 2026-11-01' \
  -d '{ "query": "{ partner { name } }" }'
