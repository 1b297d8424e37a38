# What the README uses to act as a customer of the shop.
SHOP=http://127.0.0.1:3000

# Prints a member of the JSON on standard input.
field() {
  node -p "JSON.parse(fs.readFileSync(0)).$1"
}

# Sends the GraphQL operation on standard input, with the key in key.json.
ask() {
  node -p 'JSON.stringify({ query: fs.readFileSync(0, "utf8") })' |
    curl -sS http://127.0.0.1:4004/customer/graphql --json @- \
      -H "X-Shop-Client-Id: $(field client_id < key.json)" -H "X-Shop-API-Key: $(field api_key < key.json)" \
      -H "X-Shop-Organization-Id: $(field organization_id < key.json)"
}
