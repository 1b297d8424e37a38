import { env, stdout } from 'node:process';
import { listReferrals } from './client.ts';

const {
  DEEDWIRE_URL = 'http://127.0.0.1:4002/partners/graphql',
  CLIENT_ID = '',
  API_KEY = '',
  ORGANIZATION_ID = '',
} = env;
const lines = await listReferrals(DEEDWIRE_URL, {
  clientId: CLIENT_ID,
  apiKey: API_KEY,
  organizationId: ORGANIZATION_ID,
});
stdout.write(`${lines.join('\n')}\n`);
