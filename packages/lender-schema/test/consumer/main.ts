import { env, stdout } from 'node:process';
import { listMembers } from './client.ts';

const {
  DEEDWIRE_URL = 'http://127.0.0.1:4001/lenders/graphql',
  CLIENT_ID = '',
  API_KEY = '',
  ORGANIZATION_ID = '',
} = env;
const lines = await listMembers(DEEDWIRE_URL, {
  clientId: CLIENT_ID,
  apiKey: API_KEY,
  organizationId: ORGANIZATION_ID,
});
stdout.write(`${lines.join('\n')}\n`);
