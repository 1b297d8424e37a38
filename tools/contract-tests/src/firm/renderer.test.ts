import { readFileSync } from 'node:fs';
import { eventOf, toRecordId } from '@deedwire/core';
import { firm } from '@deedwire/firm';
import { missing } from '@deedwire/testing';
import { webhookEventTypes as ownEventTypes } from '@deedwire/webhook-contract';
import { findEventVersion, webhookEventTypes } from '@deedwire/webhook-events';
import { createRenderer, renderingsOf } from '@deedwire/webhook-rendering';
import { proveNeededParts } from '@deedwire/webhook-rendering/test-support';
import { expect, test } from 'vitest';

const occurredAt = '2026-11-20T08:00:00.000Z';
const sampleOf = (type: string): object => (eventOf(firm, type) ?? missing()).sample('service');

const renderer = createRenderer(firm, 'service');

function render(type: string, snapshot: unknown, version: string): Buffer {
  const account = {
    accountId: toRecordId<'Account'>('6'),
    interfaceName: 'partner',
    recordId: null,
    aboutSubscriptionId: null,
    requestId: null,
    isTest: false,
  } as const;
  return renderer.render(
    { id: toRecordId('5'), ...account, type, occurredAt: new Date(occurredAt), snapshot },
    version,
  );
}

const known = firm.events.flatMap(renderingsOf).map(({ type, version }) => [type, version] as const);

test('has a renderer for every published version, and no other renderer', () => {
  const published = webhookEventTypes.flatMap(({ type, versions }) =>
    versions.flatMap(({ version, status }) => (status === 'retired' ? [] : [`${type} ${version}`])),
  );
  expect(known.map((pair) => pair.join(' ')).toSorted()).toEqual(published.toSorted());
});

test.each(known)(
  'renders the sample of %s at %s as its published schema demands, with what its fixture shows',
  (type, version) => {
    const body: unknown = JSON.parse(render(type, sampleOf(type), version).toString());
    expect(findEventVersion(type, version)?.body.parse(body)).toEqual(body);
    const contract = ownEventTypes.some((each) => each.type === type) ? 'webhook-contract' : 'webhook-events';
    const file = new URL(
      `../../../../packages/${contract}/fixtures/${type}/${version}/accept/typical.json`,
      import.meta.url,
    );
    const { data } = JSON.parse(readFileSync(file, 'utf8'));
    // The fixture of a release lacks what was added later.
    expect(body).toMatchObject({ id: 'gid://service/WebhookEvent/5', type, version, timestamp: occurredAt, data });
  },
);

proveNeededParts(firm.events);
