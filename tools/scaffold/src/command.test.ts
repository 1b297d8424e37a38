import { workspaceRoot } from '@deedwire/checks';
import { expect, test } from 'vitest';
import { planChanges } from './changes.ts';
import { planCommand } from './command.ts';

// Plans against this workspace, in memory. A test of the whole command is in tools/contract-tests/test/full.

const today = '2026-11-20';

function plan(...commandLine: string[]) {
  const changes = planChanges(workspaceRoot);
  return { changes, plan: planCommand(changes, commandLine, today) };
}

/** The registry with `invoice.paid`. */
function invoiceRegistry(...options: string[]): string {
  return plan('event-type', 'invoice.paid', ...options).changes.read('packages/webhook-events/src/event-types.ts');
}

test('takes the interfaces of the other events about the same noun', () => {
  const { changes } = plan('event-type', 'team_member.suspended');
  const registry = changes.read('packages/webhook-events/src/event-types.ts');
  expect(registry).toContain(`    type: 'team_member.suspended',
    description: 'A team member was suspended.',
    interfaces: ['lender'],
    versions: [preview('2026-11-20', teamMemberSuspended20261120)],
`);
  const before = registry.indexOf("'team_member.removed'");
  const [at, after] = [registry.indexOf("'team_member.suspended'"), registry.indexOf("'team_member.updated'")];
  expect([before < at, at < after]).toEqual([true, true]);
  expect(changes.edited.filter((path) => path.endsWith('.response.json'))).toEqual([
    'packages/lender-schema/examples/2026-11-01/webhookEventTypes.response.json',
  ]);
});

test('asks to confirm the interfaces of an event about a new noun', () => {
  expect(invoiceRegistry()).toMatch(/FILL IN: keep the interfaces .*\n {4}interfaces: \['lender', 'partner'\],/);
  expect(invoiceRegistry('--interface', 'both')).not.toContain('FILL IN');
  expect(invoiceRegistry('--interface', 'partner')).toContain("interfaces: ['partner'],");
});

test('plans a version of an event type from the newest one', () => {
  const { changes } = plan('event-version', 'referral.converted', '2099-01-01');
  const payload = changes.read('packages/webhook-events/src/referral.converted/2099-01-01.ts');
  expect(payload).toMatch(
    /^\/\/ The contract of `referral.converted` at 2099-01-01, .*\n.*\n\/\/ Against 2027-02-01: FILL IN: /,
  );
  expect(payload).toContain("version: z.literal('2099-01-01')");
  expect(payload).not.toContain('Against 2026-11-01');
  expect(changes.read('packages/webhook-events/src/event-types.test.ts')).toContain(
    "'2026-11-01 current null,2027-02-01 preview null,2099-01-01 preview null']",
  );
  expect(
    changes.read('packages/partner-schema/examples/2026-11-01/createWebhookSubscription.refused.response.json'),
  ).toContain('It has: 2026-11-01, 2027-02-01, 2099-01-01.');
});

test('plans a version of an interface from the newest one', () => {
  const { changes } = plan('interface-version', 'lender', '2099-01-01');
  expect(changes.read('packages/lender-schema/versions/2099-01-01.graphql')).toMatch(
    /^# The lender interface at version 2099-01-01\. .*\n# Difference from 2027-02-01: FILL IN: .*\n\n"""/,
  );
  expect(Object.keys(JSON.parse(changes.read('packages/lender-schema/versions.json')))).toEqual([
    '2026-11-01',
    '2027-02-01',
    '2099-01-01',
  ]);
  expect(changes.read('apps/lender-api/src/lender-interface.ts')).toMatch(
    /\['2027-02-01', schema20270201\(\)\], \['2099-01-01', schema20990101\(\)\]/,
  );
});

test.each<[string[], string]>([
  [
    ['event-type', 'referral.created'],
    'The event type referral.created exists. To add a version: pnpm new event-version',
  ],
  [
    ['event-type', 'team.member_added'],
    'team.member_added and team_member.added have the same TypeScript name, TeamMemberAdded.',
  ],
  [['event-type', 'invoice.paid', '--date', '2026-11-19'], '2026-11-19 is in the past.'],
  [['event-type', 'invoice.paid', '--interface', 'broker'], '--interface is "broker". Use lender, partner or both.'],
  [['event-type', 'invoice.paid', '--description', 'no sentence'], 'The description has to be one sentence'],
  [['event-type'], 'Usage: pnpm new event-type <noun.past>'],
  [['event-type', 'invoice.paid', '2099-01-01'], 'Usage: pnpm new event-type <noun.past>'],
  [['event-version', 'referral.lost', '2099-01-01'], 'There is no event type "referral.lost".'],
  [['event-version', 'referral.created', '2099-01-01', '--date', '2099-01-01'], 'Usage: pnpm new event-version'],
  [['interface-version', 'broker', '2099-01-01'], 'There is no interface "broker".'],
  [['interface-version', 'lender', '2026-12-01'], '2026-12-01 is not later than the newest version, 2027-02-01.'],
  [['release'], 'There is no command "release".'],
  [['--unknown'], "Unknown option '--unknown'."],
])('refuses %j', (commandLine, reason) => {
  expect(() => plan(...commandLine)).toThrow(expect.objectContaining({ name: 'ScaffoldError' }));
  expect(() => plan(...commandLine)).toThrow(reason);
});

test.each([[[]], [['--help']], [['event-type', '-h']]])('shows the usage for %j', (commandLine) => {
  expect(plan(...commandLine).plan).toEqual({ kind: 'help' });
});

test('refuses to overwrite a file that no list mentions', () => {
  const changes = planChanges(workspaceRoot);
  changes.create('packages/webhook-events/src/invoice.paid/2026-11-20.ts', '');
  expect(() => planCommand(changes, ['event-type', 'invoice.paid'], today)).toThrow(
    'packages/webhook-events/src/invoice.paid/2026-11-20.ts already exists.',
  );
});
