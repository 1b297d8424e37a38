import { formatGid, toRecordId } from '@deedwire/core';
import { testService } from '@deedwire/core/test-service';
import { RenderError } from '@deedwire/webhooks/renderer';
import { expect, test } from 'vitest';
import { InvalidArgumentError } from '../kernel/errors.ts';
import { type PreviewContext, previewWebhookPayloads } from './preview-webhook-payloads.ts';

const [from, to] = ['2026-11-01', '2027-02-01'];

function contextWith(snapshotOf: (id: string) => string | null, render: PreviewContext['renderer']['render']) {
  const read: (readonly string[])[] = [];
  const store = {
    async query(_statement: object, [ids]: [readonly string[]]) {
      read.push(ids);
      return ids.map((id) => ({ id, snapshot: snapshotOf(id) })).filter(({ snapshot }) => snapshot !== null);
    },
  };
  const context = {
    store: store as never,
    service: testService,
    gidNamespace: 'service',
    now: () => new Date(),
    random: {} as never,
  };
  return { context: { ...context, renderer: { render } }, read };
}

const requestOf = (number: number, version = to) => ({
  version,
  delivery: {
    event: {
      id: formatGid('service', 'WebhookEvent', toRecordId(String(number))),
      type: 'order.placed',
      version: from,
      timestamp: new Date(),
    },
  } as never,
});

test('reads the events of 20 deliveries together, each once, and renders what is kept', async () => {
  const { context, read } = contextWith(
    (id) => (id === '7' ? null : id),
    ({ snapshot, type }, version) => {
      if (snapshot === '8') throw new RenderError('The snapshot is of an earlier release.');
      return Buffer.from(`${type} ${version} ${String(snapshot)}`);
    },
  );
  const requests = Array.from({ length: 20 }, (_, index) => requestOf(index + 1));
  const previews = await previewWebhookPayloads(context, [...requests, requestOf(20, from)]);
  expect(previews.slice(5, 9)).toEqual([`order.placed ${to} 6`, null, null, `order.placed ${to} 9`]);
  expect(previews.slice(19)).toEqual([`order.placed ${to} 20`, `order.placed ${from} 20`]);
  expect(read).toHaveLength(7);
  expect(read.flat()).toHaveLength(20);
});

test('names the versions that can be pinned, and answers the other requests', async () => {
  const { context } = contextWith(String, () => Buffer.from('{}'));
  const previews = await previewWebhookPayloads(context, [requestOf(1, '2020-01-01'), requestOf(2)]);
  expect(previews).toEqual([
    new InvalidArgumentError(`"order.placed" has no version "2020-01-01". It has: ${from}, ${to}.`),
    '{}',
  ]);
});

test('does not hide a defect of a renderer', async () => {
  const { context } = contextWith(String, () => {
    throw new TypeError('A defect.');
  });
  await expect(previewWebhookPayloads(context, [requestOf(1)])).rejects.toThrow('A defect.');
});
