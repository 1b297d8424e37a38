import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { appOf } from '@deedwire/core';
import { startTestSystem } from '@deedwire/dev-environment/test/firm/harness';
import { interfaceNames } from '@deedwire/firm';
import { addTeamMember, removeTeamMember, updateLender, updateTeamMember } from '@deedwire/firm/lender';
import { convertReferral, createReferralForPartner, declineReferral } from '@deedwire/firm/partner';
import { readMigrations } from '@deedwire/store';
import { postGraphql, startReceiver } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { Ajv2020 } from 'ajv/dist/2020.js';
import {
  buildClientSchema,
  buildSchema,
  getIntrospectionQuery,
  type IntrospectionQuery,
  lexicographicSortSchema,
  printSchema,
} from 'graphql';
import { describe, expect, test, vi } from 'vitest';
import { SendTestDocument } from '../../../consumers/referral-portal/generated/2026-11-01.ts';
import { subscribe } from '../../support/subscribe.ts';
import { workspaceRoot } from '../../support/workspace-copy.ts';

// Compares `dist/contracts.json` of each app with what the processes of this build serve, accept, append and render.

vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

interface PublishedFile {
  version: string;
  package: string;
  packageVersion: string;
  file: string;
  sha256: string;
}
interface BuildContracts {
  app: string;
  version: string;
  commit: string | null;
  migration: string;
  serves: (PublishedFile & { interface: string; sdl: string; deprecatedOn: string | null })[];
  pins: (PublishedFile & { event: string })[];
  appends: { type: string; snapshot: object }[];
  renders: (PublishedFile & { event: string; needs: object })[];
}

const t = await forFile(startTestSystem({ built: true }));
const receiver = await forFile(startReceiver());

const read = (path: string): string => readFileSync(join(workspaceRoot, path), 'utf8');
const contractsOf = (app: string): BuildContracts => JSON.parse(read(`apps/${app}/dist/contracts.json`));
const worker = contractsOf('webhook-worker');
const sorted = (values: Iterable<string>): string[] => [...new Set(values)].toSorted();

test('the database reads what the contracts of the worker render', async () => {
  const rendered = await t.sql('select distinct type from unnest(rendered_event_types($1)) as type', [
    read('apps/webhook-worker/dist/contracts.json'),
  ]);
  expect(sorted(rendered.map(({ type }) => String(type)))).toEqual(
    sorted(worker.renders.map(({ event }) => event.split('@')[0] ?? '')),
  );
});

function send<Data>(name: 'lender' | 'partner', query: string, variables: object = {}, version = '2026-11-01') {
  const headers = { 'X-Service-Schema-Version': version };
  return postGraphql<Data>(t.urls[name], t.accounts[name].credential, { query, variables, headers });
}

test.each([...interfaceNames.map(appOf), 'webhook-worker', 'operator-cli'])('%s names its build', async (app) => {
  const { version } = JSON.parse(read(`apps/${app}/package.json`));
  // An older database gets it, and no baseline.
  const last = (await readMigrations()).findLast(({ isBaseline }) => !isBaseline);
  expect(contractsOf(app)).toMatchObject({ formatVersion: 1, app, version, commit: null, migration: last?.name });
  expect(read(`apps/${app}/dist/contracts.json`)).toMatch(/^\{\n[^]*\n\}\n$/);
});

test('the files of the contracts have the digests and the packages that they name', () => {
  const files = ['lender-api', 'partner-api', 'webhook-worker', 'operator-cli']
    .map(contractsOf)
    .flatMap(({ serves, pins, renders }) => [...serves, ...pins, ...renders]);
  for (const { package: name, packageVersion, file, sha256 } of files) {
    const folder = `packages/${name.replace('@deedwire/', '')}`;
    expect({ name, file, sha256, packageVersion }).toEqual({
      name: JSON.parse(read(`${folder}/package.json`)).name,
      file,
      sha256: createHash('sha256')
        .update(read(`${folder}/${file}`))
        .digest('hex'),
      packageVersion: JSON.parse(read(`${folder}/package.json`)).version,
    });
  }
  expect(files.length).toBeGreaterThan(40);
});

test('the served versions have the SDL of their files, and the days of their deprecations', () => {
  for (const name of ['lender', 'partner']) {
    const states = JSON.parse(read(`packages/${name}-schema/versions.json`));
    for (const { version, file, sdl, deprecatedOn } of contractsOf(`${name}-api`).serves)
      expect({ sdl, deprecatedOn }).toEqual({
        sdl: read(`packages/${name}-schema/${file}`),
        deprecatedOn: states[version].deprecatedOn,
      });
  }
});

/** Writes an event of each type that a change of a record appends. */
const changes = {
  async lender() {
    const lenderId = t.accounts.lender.id;
    const person = { firstName: 'Dai', lastName: 'Wei', email: 'dai@northwind.example' };
    const { id: teamMemberId } = await addTeamMember(t.operator, { lenderId, ...person });
    await updateTeamMember(t.operator, { teamMemberId, lastName: 'Wei-Jones' });
    await removeTeamMember(t.operator, { teamMemberId });
    await updateLender(t.operator, { lenderId, name: 'Northwind Mutual' });
  },
  async partner() {
    const details = { partnerId: t.accounts.partner.id, clientName: 'Ada', clientEmail: null, note: null };
    const first = await createReferralForPartner(t.operator, { ...details, externalReference: 'CRM-1' });
    const second = await createReferralForPartner(t.operator, { ...details, externalReference: null });
    await convertReferral(t.operator, { referralId: first.id });
    await declineReferral(t.operator, { referralId: second.id, reason: null });
  },
};

describe.each(['lender', 'partner'] as const)('the app of the %s interface', (name) => {
  const own = contractsOf(`${name}-api`);

  test('serves the versions of its contracts with their schemas, and no other version', async () => {
    const listed = Object.keys(JSON.parse(read(`packages/${name}-schema/versions.json`)));
    const served = [];
    for (const version of [...listed, '2026-10-31', '2099-01-01']) {
      const { body } = await send<IntrospectionQuery>(
        name,
        getIntrospectionQuery({ specifiedByUrl: true }),
        {},
        version,
      );
      if (!body.data) continue;
      const contract = own.serves.find((each) => each.version === version);
      served.push({ interface: name, version });
      const expected = buildSchema(read(`packages/${name}-schema/${contract?.file}`));
      const print = (schema: typeof expected): string => printSchema(lexicographicSortSchema(schema));
      expect(print(buildClientSchema(body.data))).toBe(print(expected));
    }
    expect(own.serves).toEqual(served.map((each) => expect.objectContaining(each)));
  });

  test('accepts the pins of its contracts, appends their types, and the worker renders them', async () => {
    const query = '{ webhookEventTypes { type versions { version } } }';
    const { body } = await send<{ webhookEventTypes: { type: string; versions: { version: string }[] }[] }>(
      name,
      query,
    );
    const types = body.data?.webhookEventTypes ?? [];
    const events = types.flatMap(({ type, versions }) => versions.map(({ version }) => `${type}@${version}`));
    expect(own.pins.map(({ event }) => event)).toEqual(events);
    expect(own.appends.map(({ type }) => type)).toEqual(types.map(({ type }) => type));

    await changes[name]();
    const before = receiver.deliveries.length;
    // A subscription pins one version of a type.
    const most = Math.max(...types.map(({ versions }) => versions.length));
    for (let index = 0; index < most; index += 1) {
      const eventTypes = types.flatMap(({ type, versions: { [index]: pinned } }) =>
        pinned === undefined ? [] : [{ type, version: pinned.version }],
      );
      const { id: subscriptionId } = await subscribe(t[name], { callbackUrl: receiver.url, eventTypes });
      for (const { type: eventType } of eventTypes) {
        const sent = await t[name].request(SendTestDocument, { input: { subscriptionId, eventType } });
        expect(sent.sendTestWebhookEvent.userErrors).toEqual([]);
      }
    }
    const delivered = (await receiver.waitFor(before + events.length)).slice(before).map(({ body: sent }) => {
      const { type, version } = JSON.parse(sent.toString());
      return `${type}@${version}`;
    });
    expect(sorted(delivered)).toEqual(sorted(events));
    const ofInterface = worker.renders.map(({ event }) => event).filter((event) => events.includes(event));
    expect(sorted(delivered)).toEqual(sorted(ofInterface));

    const rows = await t.sql('select event_type as type, snapshot from webhook_event where interface = $1', [name]);
    expect(sorted(rows.map(({ type }) => String(type)))).toEqual(sorted(own.appends.map(({ type }) => type)));
    for (const { type, snapshot } of rows) {
      const schema = own.appends.find((each) => each.type === type)?.snapshot ?? false;
      const validate = new Ajv2020().compile(schema);
      expect({ type, isValid: validate(snapshot), errors: validate.errors }).toEqual({
        type,
        isValid: true,
        errors: null,
      });
    }
  });
});

test('the operator appends and pins what both interfaces do', () => {
  const [operator, ...apis] = ['operator-cli', 'lender-api', 'partner-api'].map(contractsOf);
  expect(operator?.serves).toEqual([]);
  expect(sorted(operator?.pins.map(({ event }) => event) ?? [])).toEqual(
    sorted(apis.flatMap(({ pins }) => pins.map(({ event }) => event))),
  );
  expect(sorted(operator?.appends.map(({ type }) => type) ?? [])).toEqual(
    sorted(apis.flatMap(({ appends }) => appends.map(({ type }) => type))),
  );
});

test('the worker appends the alerts that the function of the database raises', async () => {
  const [raise] = await t.sql(`select prosrc from pg_proc where proname = 'webhook_raise_alerts'`);
  const raised = String(raise?.['prosrc']).matchAll(/webhook_append_alert\(\w+, '([^']+)'/g);
  expect(sorted(Array.from(raised, ([, type = '']) => type))).toEqual(sorted(worker.appends.map(({ type }) => type)));
});
