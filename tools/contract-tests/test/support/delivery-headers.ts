import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { testService } from '@deedwire/core/test-service';
import { workspaceRoot } from './workspace-copy.ts';

/** The headers of deliveries of the test service, with when they are sent, as the contract of every service lists them. */
export function listedHeaders(): [name: string, sent: string][] {
  const file = join(workspaceRoot, 'packages/webhook-contract/delivery-headers.json');
  const contract: { headers: Record<string, { sent: string }> } = JSON.parse(readFileSync(file, 'utf8'));
  return Object.entries(contract.headers).map(([name, { sent }]) => [
    name.replace('{headerPrefix}', testService.names.headerPrefix).toLowerCase(),
    sent,
  ]);
}
