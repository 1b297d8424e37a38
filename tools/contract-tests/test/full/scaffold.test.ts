import { readFileSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { copyWorkspace, type WorkspaceCopy } from '../support/workspace-copy.ts';

// Runs `pnpm new` in a copy of this workspace, and then follows only what `pnpm check` says, as a new contributor would.

const date = '2099-01-01';
const timeout = 900_000;

let workspace: WorkspaceCopy;
/** The commands that the contributor of the current test ran. */
let commands: string[] = [];

beforeAll(async () => {
  workspace = await copyWorkspace({ NO_COLOR: '1' });
}, 120_000);

afterAll(() => workspace.remove());

beforeEach(() => {
  commands = [];
});

afterEach(async () => {
  await workspace.git('reset', '--quiet', '--hard');
  await workspace.git('clean', '--quiet', '--force', '-d');
});

interface Outcome {
  /** The names of the failed checks, sorted. Empty if all passed. */
  failed: string[];
  output: string;
}

/** Runs a command of the workspace, and expects no stack trace in its output, whether it fails or not. */
async function contribute(...args: string[]): Promise<string> {
  commands.push(`pnpm ${args.join(' ')}`);
  const output = await workspace.pnpm(...args).catch((error: unknown) => String(error));
  expect(output).not.toMatch(/^\s+at \S.*:\d+:\d+\)?$/m);
  return output;
}

async function check(): Promise<Outcome> {
  const output = await contribute('check');
  expect(output).toMatch(/^(?:ok {4}|FAILED) generated files/m);
  const failed = Array.from(output.matchAll(/^FAILED (.+) \([\d.]+ s\)$/gm), ([, name = '']) => name);
  return { failed: failed.toSorted(), output };
}

async function expectGreenTree(): Promise<void> {
  const { failed, output } = await check();
  expect({ failed, output: failed.length > 0 ? output : '' }).toEqual({ failed: [], output: '' });
}

/** The lines of the check `unfinished`: a path, with a line number if it is a file, and an instruction. */
function unfinished(output: string): string[] {
  const [, lines = ''] = /^FAILED unfinished .*\n((?:[\w./-]+: .*\n|[\w./-]+:\d+: .*\n)+)/m.exec(output) ?? [];
  return lines.split('\n').flatMap((line) => /^(.+?)(?::\d+)?: /.exec(line)?.[1] ?? []);
}

function edit(path: string, ...replacements: [from: string | RegExp, to: string][]): void {
  const file = join(workspace.folder, path);
  let text = readFileSync(file, 'utf8');
  for (const [from, to] of replacements) {
    const edited = text.replace(from, to);
    if (edited === text) throw new Error(`${path} does not contain ${from}:\n${text}`);
    text = edited;
  }
  writeFileSync(file, text);
}

async function write(path: string, text: string): Promise<void> {
  const file = join(workspace.folder, path);
  await mkdir(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const instructionLine = /^ *\/\/ FILL IN: .*\n/m;

test('an event type leads to a green tree in fewer than ten commands', { timeout }, async () => {
  const payload = `packages/webhook-events/src/invoice.paid/${date}.ts`;
  const typical = `packages/webhook-events/fixtures/invoice.paid/${date}/accept/typical.json`;
  const renderer = `apps/webhook-worker/src/rendering/invoice.paid/${date}.ts`;
  const written = await contribute('new', 'event-type', 'invoice.paid', '--date', date, '--interface', 'partner');
  expect(written).toContain(`  new      ${payload}\n`);
  expect(written).toContain('Next: `pnpm check` lists what is left to fill in.');

  const first = await check();
  expect(first.failed).toEqual(['unfinished']);
  expect(unfinished(first.output)).toEqual([
    renderer,
    'packages/domain/src/event-snapshots.ts',
    payload,
    'packages/actions/src',
  ]);

  // The contributor does what the lines say, but forgets the typical body.
  const fields = `referralId: gid('Referral').nullable().describe("The referral's global identifier. Null if there is none."),
        payment: z
          .object({ reference: z.string().describe('The reference of the payment.'), paidAt: time.describe('When it arrived.') })
          .nullable()
          .describe('The payment. Null if the invoice was waived.'),`;
  edit(payload, [instructionLine, ''], [/( {8}invoiceId: .*\n)/, `$1        ${fields}\n`]);
  edit(
    'packages/domain/src/event-snapshots.ts',
    [instructionLine, ''],
    [
      '{ invoice: { id: string } }',
      '{ invoice: { id: string; referralId: string | null; reference: string; paidAt: string } }',
    ],
  );
  edit(
    renderer,
    [instructionLine, ''],
    [
      'return { invoiceId: snapshot.invoice.id };',
      'const { id, referralId, reference, paidAt } = snapshot.invoice;\n  return { invoiceId: id, referralId, payment: { reference, paidAt } };',
    ],
  );
  await write(
    'packages/actions/src/invoices/append-invoice-paid.ts',
    `import type { EventSnapshots } from '@deedwire/domain';
import type { Transaction } from '@deedwire/store';
import type { AccountRow } from '@deedwire/store/accounts';
import { appendEvent } from '../append-event.ts';

/** Appends the event that an invoice was paid, in the transaction of the payment. */
export function appendInvoicePaid(
  transaction: Transaction,
  account: AccountRow,
  snapshot: EventSnapshots['invoice.paid'],
): Promise<void> {
  return appendEvent(transaction, account, 'invoice.paid', snapshot);
}
`,
  );

  const second = await check();
  expect(second.failed).toEqual(['generated files']);
  expect(second.output).toContain(`${typical} does not match src/invoice.paid/${date}.ts. Change one of them:\n`);
  expect(second.output).toMatch(/ {2}data\.referralId: .*\n.* {2}data\.payment: /);
  expect(second.output).toContain('Skipped the other checks because a generator failed.');

  edit(typical, [
    /("invoiceId": .*)\n/,
    '$1,\n    "referralId": "gid://service/Referral/4711",\n    "payment": { "reference": "R-7", "paidAt": "2026-11-03T09:30:00.000Z" }\n',
  ]);
  const third = await check();
  expect(third.failed).toEqual(expect.arrayContaining(['format', 'generated files', 'types']));
  expect(third.output).toContain('generated files failed. Remedy: pnpm generate\n');
  expect(third.output).toMatch(/^apps\/webhook-worker\/src\/rendering\/renderer\.test\.ts\(/m);

  edit('apps/webhook-worker/src/rendering/renderer.test.ts', [
    "'gid://service/Invoice/7' }",
    "'gid://service/Invoice/7', referralId: null, reference: 'R-7', paidAt: occurredAt }",
  ]);
  await contribute('generate');
  await contribute('format');
  await expectGreenTree();
  expect(commands.length).toBeLessThan(10);

  const fixtures = await workspace.git(
    'ls-files',
    '--others',
    '--exclude-standard',
    `packages/webhook-events/fixtures`,
  );
  expect(fixtures).toContain(`${date}/accept/null-data-payment.json\n`);
  expect(fixtures).toContain(`${date}/reject/missing-data-payment-reference.json\n`);
  expect(fixtures).toContain(`${date}/loose-time/with-offset-data-payment-paid-at.json\n`);
  // The recorded responses are those of the servers, which list the new type.
  await workspace.pnpm(
    'exec',
    'vitest',
    'run',
    '--project',
    'integration',
    'tools/contract-tests/test/examples.test.ts',
  );
});

test('a version of an event type and one of an interface lead to a green tree', { timeout }, async () => {
  const payload = `packages/webhook-events/src/referral.declined/${date}.ts`;
  const renderer = `apps/webhook-worker/src/rendering/referral.declined/${date}.ts`;
  const sdl = `packages/partner-schema/versions/${date}.graphql`;
  const app = `apps/partner-api/src/versions/${date}.ts`;
  const changesets = [`.changeset/partner-interface-${date}.md`, `.changeset/referral-declined-${date}.md`];
  await contribute('new', 'event-version', 'referral.declined', date);
  await contribute('new', 'interface-version', 'partner', date);

  const first = await check();
  expect(first.failed).toEqual(['unfinished']);
  expect(unfinished(first.output)).toEqual([...changesets, app, renderer, sdl, payload]);

  for (const path of changesets) edit(path, [/<!-- FILL IN: .* -->/, 'A field has another name.']);
  edit(payload, [/FILL IN: .*/, '`reason` is called `declineReason`.'], ['        reason:', '        declineReason:']);
  edit(payload.replace('/src/', '/fixtures/').replace('.ts', '/accept/typical.json'), ['"reason"', '"declineReason"']);
  edit(
    renderer,
    [instructionLine, ''],
    [/\breason \}/g, 'declineReason: reason }'],
    ['declineReason: reason }:', 'reason }:'],
  );
  edit(
    sdl,
    [/FILL IN: .*/, '`Partner.name` is called `title`.'],
    [/(type Partner \{[^}]*)\n {2}name: String!/, '$1\n  title: String!'],
  );
  edit(app, [instructionLine, '']);
  expect(await contribute('generate')).toContain(
    `packages/partner-schema/examples/2026-11-01/partner.graphql at ${date}: Cannot query field "name" on type "Partner". Version ${date} needs its own example.`,
  );
  const example = `packages/partner-schema/examples/${date}/partner`;
  await write(`${example}.graphql`, 'query Me {\n  partner {\n    id\n    title\n  }\n}\n');
  const partner = { id: 'gid://service/Partner/1', title: 'Keystone Estate Agents' };
  await write(`${example}.response.json`, `${JSON.stringify({ data: { partner } }, null, 2)}\n`);
  await contribute('generate');

  // The app still builds the older schema.
  const second = await check();
  expect(second.failed).toContain('served schemas');
  expect(second.output).toContain('Partner.title');

  edit(
    app,
    [
      "import { addPartner } from '../schema/partner.ts';\n",
      "import { type Partner, readPartner } from '@deedwire/actions';\n",
    ],
    [
      '  addPartner(builder);\n',
      `
  const PartnerType = builder.objectRef<Partner>('Partner').implement({
    fields: (t) => ({ id: t.exposeID('id'), title: t.exposeString('name') }),
  });
  builder.queryField('partner', (t) =>
    t.field({ type: PartnerType, resolve: (_, _args, { actions, caller }) => readPartner(actions, caller) }),
  );
`,
    ],
  );
  await contribute('format');
  await expectGreenTree();
});

test('a failing generator names the event type, the version and the field', { timeout }, async () => {
  await contribute('new', 'event-type', 'invoice.paid', '--date', date);
  edit(`packages/webhook-events/src/invoice.paid/${date}.ts`, [
    /( {8}invoiceId: .*\n)/,
    "$1        amount: z.union([z.string(), z.number()]).describe('The amount.'),\n",
  ]);
  const { failed, output } = await check();
  expect(failed).toEqual(['generated files']);
  expect(output).toContain(`invoice.paid at ${date}: data.amount: strict() does not support ZodUnion.`);
});

test('a refused command writes nothing', { timeout }, async () => {
  for (const [refused, reason] of [
    [['event-type', 'referral.created'], 'The event type referral.created exists.'],
    [['event-version', 'referral.converted', '2020-01-01'], '2020-01-01 is in the past.'],
    [['interface-version', 'lender', 'soon'], '"soon" is not a date.'],
  ] as const) {
    const output = await contribute('new', ...refused);
    expect(output).toContain(reason);
    expect(output).toContain('Nothing was written.\n');
  }
  expect(await workspace.git('status', '--porcelain')).toBe('');
});
