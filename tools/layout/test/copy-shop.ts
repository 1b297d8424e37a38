import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { workspaceRoot } from '../src/read-json.ts';

/** What imports generated files, which are not beside the sources of the shop. */
const importing = {
  'src/with-renderers.ts': `import { renderersFor } from '@deedwire/core';
import { type WebhookEvent, webhookEventTypes } from '../webhook-events/src/index.ts';

export const withRenderers = renderersFor<WebhookEvent>(webhookEventTypes);
`,
  'src/customer/customer-interface.ts': `import { join } from 'node:path';
import { serveContract } from '@deedwire/graphql-server';
import { abilities } from './contract/src/generated/abilities.ts';
import { costs } from './contract/src/generated/costs.ts';
import { sdl } from './contract/src/generated/sdl.ts';
import { versions } from './contract/src/generated/versions.ts';
import { schemas } from './generated/schemas.ts';

export const customerInterface = {
  contract: serveContract({ versions, sdl, costs, abilities }, schemas),
  examples: join(import.meta.dirname, '../../examples'),
  plugins: () => [],
};
`,
  'src/service.ts': `import { defineService } from '@deedwire/core';
import { webhookEventTypes } from '../webhook-events/src/index.ts';
import { events } from './generated/events.ts';
import { interfaces } from './generated/interfaces.ts';
import { names } from './names.ts';

export const service = defineService({
  names,
  interfaces,
  contracts: webhookEventTypes,
  events,
});
`,
};

/** A copy of `test/shop`, a service of one interface and one event, in a folder outside of the workspace. Nothing in it is generated. */
export function copyShop(): { folder: string; close: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'shop-'));
  cpSync(join(import.meta.dirname, 'shop'), folder, { recursive: true });
  for (const [path, text] of Object.entries(importing)) writeFileSync(join(folder, path), text);
  symlinkSync(join(workspaceRoot, 'tools/layout/node_modules'), join(folder, 'node_modules'));
  return { folder, close: () => rmSync(folder, { recursive: true }) };
}
