import { createServer } from 'node:http';
import { listen } from '@deedwire/testing';
import { forTest } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { loadEvents } from '../../src/cli/event-package.ts';
import { gradeReceiver } from '../../src/cli/grade.ts';
import type { AnyEvent, EventPackage } from '../../src/events.ts';
import { graphileWorkerInbox } from '../../src/graphile-worker.ts';
import { memoryStore } from '../../src/memory.ts';
import { nodeHandler } from '../../src/node.ts';
import { createWebhookReceiver } from '../../src/receiver.ts';
import { handshakeRequest, signedRequest, testSecret } from '../../src/testing.ts';
import { call } from './call.ts';
import { newSecret, secret } from './delivery.ts';
import { silent } from './log.ts';

interface Team {
  readonly events: EventPackage;
  readonly folder: string;
  readonly prefix: string;
  readonly type: string;
  readonly version: string;
  readonly data: Record<string, unknown>;
}

/** Registers the tests of the kit that depend on the package of the events. */
export function testEventPackage({ events, folder, prefix, type, version, data }: Team): void {
  const handled: AnyEvent[] = [];
  const unsigned: unknown[] = [];
  const on = {
    [type]: {
      [version]: (event: AnyEvent, { meta }: { meta: { unsigned: unknown } }) => {
        handled.push(event);
        unsigned.push(meta.unsigned);
      },
    },
  };
  const options = { events, prefix, store: memoryStore(), on, log: silent };
  const request = (more = {}) => signedRequest(events, type, version, data, { prefix, isTest: true, ...more });

  test('a receiver processes each event once, and answers the handshake', async () => {
    const receiver = createWebhookReceiver({ ...options, secrets: [testSecret] });
    expect(receiver.subscription()).toEqual([{ type, version }]);
    const results = async (sent: Promise<Request>) => (await receiver.fetch(await sent)).json();
    expect(await results(request({ id: 'a' }))).toEqual({ result: 'processed' });
    expect(await results(request({ id: 'a' }))).toEqual({ result: 'duplicate' });
    expect(handled).toMatchObject([{ type, version, data }]);
    expect(unsigned).toMatchObject([{ sequence: 1, attempt: 1, isTest: true }]);
    expect(await results(handshakeRequest({ prefix }))).toEqual({ verification_token: expect.any(String) });
    expect(await results(request({ tamper: (body: string) => `${body} ` }))).toEqual({ code: 'SIGNATURE_MISMATCH' });
    const unknown = { id: 'gid://a/WebhookEvent/1', timestamp: '2026-11-03T09:30:00.000Z', data: {} };
    const payload = JSON.stringify({ ...unknown, type: 'record.archived', version });
    expect(await receiver.processPulled({ id: 'b', payload })).toBe('UNHANDLED');
    expect(await receiver.processPulled({ id: 'c', payload: JSON.stringify({ ...unknown, type, version }) })).toBe(
      'BODY_MALFORMED',
    );
  });

  test('a receiver refuses at the start a handler of an event that the package does not have', () => {
    const wrong = { on: { 'record.archived': { [version]: () => {} } } };
    expect(() => createWebhookReceiver({ ...options, secrets: [testSecret], ...wrong })).toThrow(
      `on: there is no event record.archived/${version}. The package of the events has: `,
    );
    const inTransactions = { transaction: () => Promise.reject(new Error('unused')), query: () => Promise.resolve([]) };
    expect(() => graphileWorkerInbox(inTransactions, { events, ...wrong })).toThrow('The package of the events has: ');
  });

  test('a receiver passes every check of the command, with events of the package and with test events', async () => {
    let effects = 0;
    const receiver = createWebhookReceiver({
      ...options,
      secrets: [newSecret, secret],
      on: {
        [type]: { [version]: () => void (effects += 1) },
        'webhook.test': { '2026-11-01': () => void (effects += 1) },
      },
    });
    const { port } = await forTest(listen(createServer(nodeHandler(receiver))));
    const url = new URL(`http://127.0.0.1:${port}/`);
    const sent = { url, secret, nextSecret: newSecret, prefix, count: async () => effects };
    for (const ofPackage of [{ events: await loadEvents(folder), type, version }, {}]) {
      const notPassed: unknown[] = [];
      for await (const grade of gradeReceiver({ ...sent, ...ofPackage }))
        if (grade.result !== 'pass') notPassed.push(grade);
      expect(notPassed).toEqual([]);
    }
  });

  test('the command recognizes fields that are not in the order of the contract', async () => {
    const sent = await request({ secret });
    const body = JSON.stringify(Object.fromEntries(Object.entries(Object(await sent.clone().json())).toReversed()));
    const input = JSON.stringify({ headers: Object.fromEntries(sent.headers), body });
    const env = { WEBHOOK_SECRET: secret, HEADER_PREFIX: prefix };
    const { stdout } = await call(['verify', '--events', folder], { env, input });
    expect(stdout).toContain('\nBODY_KEYS_REORDERED\n');
    expect((await call(['verify'], { env, input })).stdout).toContain('\nSIGNATURE_MISMATCH\n');
  });
}
