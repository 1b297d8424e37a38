import { expect, test } from 'vitest';
import { instructionLine, unfinished, useContributor } from '../support/contributor.ts';
import { partnerWithTitle } from '../support/partner-with-title.ts';

const date = '2099-01-01';
const timeout = 900_000;

const contributor = useContributor();
const { contribute, check, expectGreenTree, edit, write } = contributor;

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
  edit(sdl.replace('.graphql', '.manifest.json'), ['"Partner.name"', '"Partner.title"']);
  edit(app, [instructionLine, '']);
  expect(await contribute('generate')).toContain(
    `packages/partner-schema/examples/2026-11-01/partner.graphql at ${date}: Cannot query field "name" on type "Partner". Version ${date} needs its own example.`,
  );
  const example = `packages/partner-schema/examples/${date}/partner`;
  await write(`${example}.graphql`, 'query Me {\n  partner {\n    id\n    title\n  }\n}\n');
  const partner = { id: 'gid://service/Partner/1', title: 'Keystone Estate Agents' };
  await write(`${example}.response.json`, `${JSON.stringify({ data: { partner } }, null, 2)}\n`);
  await contribute('generate');

  // The app still builds the older schema. Only the check that finds it: all of them take half a minute.
  await expect(
    contributor.workspace.pnpm(
      'exec',
      'node',
      '--conditions=deedwire-source',
      'tools/checks/src/served-schemas/main.ts',
    ),
  ).rejects.toThrow('Partner.title');

  edit(app, ...partnerWithTitle);
  await contribute('format');
  await expectGreenTree();
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
  expect(await contributor.workspace.git('status', '--porcelain')).toBe('');
});
