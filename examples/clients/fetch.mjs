import { headers, url } from './connection.mjs';

const response = await fetch(url, {
  method: 'POST',
  headers: { ...headers, 'Content-Type': 'application/json' },
  body: JSON.stringify({ query: '{ partner { name } }' }),
});
const { data, errors } = await response.json();
if (errors) throw new Error(`${errors[0].extensions.code}: ${errors[0].message}`);
console.log(data.partner.name);
