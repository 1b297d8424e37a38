import { Client, fetchExchange } from '@urql/core';
import { headers, url } from './connection.mjs';

const client = new Client({
  url,
  fetchOptions: { headers },
  preferGetMethod: false,
  exchanges: [fetchExchange],
});

const { data, error } = await client.query('{ partner { name } }', {});
if (error) throw error;
console.log(data.partner.name);
