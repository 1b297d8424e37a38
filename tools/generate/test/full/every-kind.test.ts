import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { names } from '@deedwire/layout/shop/names';
import { compileBlocks } from '@deedwire/testing';
import { afterAll, expect, test } from 'vitest';
import { payloadFiles } from '../../src/payloads/payloads.ts';
import { supportedKinds } from '../../src/payloads/supported-kinds.ts';
import { commonFolder } from '../../src/platform-folders.ts';
import { workspaceRoot } from '../../src/workspace-files.ts';
import { everyKind, typical } from '../support/every-kind.ts';

const folder = mkdtempSync(join(tmpdir(), 'every-kind-'));
afterAll(() => rmSync(folder, { recursive: true }));

function write(path: string, text: string): void {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const events = join(workspaceRoot, commonFolder);
for (const file of [
  'validation.ts',
  'parse-webhook-body.ts',
  'event-type.ts',
  'event-types.ts',
  'registry.ts',
  'strict.ts',
])
  cpSync(join(events, 'src', file), join(folder, 'src', file));
symlinkSync(join(events, 'node_modules'), join(folder, 'node_modules'));
write('package.json', JSON.stringify({ type: 'module' }));

const members = supportedKinds.map(({ code }, index) => `field${index}: ${code},\n`).join('');
write(
  'src/order.paid/2027-06-01.ts',
  `import * as z from 'zod';
export const body = z.object({
  id: z.string().regex(/^gid:\\/\\/[a-z][a-z0-9-]*\\/WebhookEvent\\/[1-9][0-9]*$/),
  type: z.literal('order.paid'),
  version: z.literal('2027-06-01'),
  timestamp: z.iso.datetime({ precision: 3 }),
  data: z.object({ ${members} }),
}).meta({ title: 'OrderPaid' });
`,
);
for (const [path, text] of await payloadFiles({ names, payloads: commonFolder }, [everyKind], everyKind.interfaces))
  write(path, text);

test('compiles what is generated of every kind, with the types that the schema returns', async () => {
  write(
    'src/same.ts',
    `import type { SchemaOutput } from '../test/generated/schema-output.ts';
import type { WebhookEvent } from './generated/webhook-event.ts';
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
export const isSame: Same<WebhookEvent, SchemaOutput> = true;
`,
  );
  expect(await compileBlocks(folder, '**/*.ts', { exactOptionalPropertyTypes: true })).toBe('');
});

test('parses a body of every kind', async () => {
  const { parseWebhookBody }: { parseWebhookBody: (rawBody: string) => unknown } = await import(
    pathToFileURL(join(folder, 'src/parse-webhook-body.ts')).href
  );
  expect(parseWebhookBody(JSON.stringify(typical))).toEqual({ kind: 'event', event: typical });
  const { field22: _, ...data } = typical.data;
  expect(parseWebhookBody(JSON.stringify({ ...typical, data }))).toEqual({
    kind: 'event',
    event: { ...typical, data },
  });
  expect(parseWebhookBody(JSON.stringify({ ...typical, data: { ...data, field9: 'LOST' } }))).toEqual({
    kind: 'malformed',
    problems: ['data.field9: Invalid option: expected one of "OPEN"|"PAID"'],
  });
});
