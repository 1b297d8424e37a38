import { expect, test } from 'vitest';
import { instructionLine, unfinished, useContributor } from '../support/contributor.ts';

const date = '2099-01-01';
const timeout = 900_000;

const contributor = useContributor();
const { contribute, check, expectGreenTree, edit, write } = contributor;

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
  expect(contributor.commands.length).toBeLessThan(10);

  const fixtures = await contributor.workspace.git(
    'ls-files',
    '--others',
    '--exclude-standard',
    `packages/webhook-events/fixtures`,
  );
  expect(fixtures).toContain(`${date}/accept/null-data-payment.json\n`);
  expect(fixtures).toContain(`${date}/reject/missing-data-payment-reference.json\n`);
  expect(fixtures).toContain(`${date}/loose-time/with-offset-data-payment-paid-at.json\n`);
  // The recorded responses are those of the servers, which list the new type.
  await contributor.workspace.pnpm(
    'exec',
    'vitest',
    'run',
    '--project',
    'integration',
    'tools/contract-tests/test/examples.test.ts',
  );
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
