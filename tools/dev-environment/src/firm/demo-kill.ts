import { deepEqual, equal, ok as assert } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Credential, eventually, postGraphql, type ReceivedRequest, type Receiver } from '@deedwire/testing';
import { verifyWebhook } from '@deedwire/webhook-signing';
import { note } from '../terminal.ts';
import type { AppName, System } from './system.ts';

/** What to do, by the title of the step. */
export type Steps = Record<string, () => Promise<unknown>>;

interface Killing {
  system: System;
  /** Is subscribed to `referral.created`. */
  receiver: Receiver;
  secret: string;
  /** Of the partner interface. */
  url: string;
  credential: Credential;
}

const query =
  'mutation ($input: CreateReferralInput!) { createReferral(input: $input) { referral { id } userErrors { message } } }';

/** The steps of `--kill`. */
export function killSteps({ system, receiver, secret, url, credential }: Killing): Steps {
  const earlier = receiver.deliveries.length;
  const arrived = (): ReceivedRequest[] => receiver.deliveries.slice(earlier);
  /** The referrals that the interface has accepted, by idempotency key. */
  const accepted = new Map<string, string>();
  let [isCreating, unanswered] = [true, 0];
  let creating: Promise<unknown>;

  /** Creates referrals until `isCreating` is false. Sends each request until it is accepted. */
  async function createReferrals(client: string): Promise<void> {
    for (let number = 1; isCreating; number += 1) {
      const idempotencyKey = `${client}-${number}`;
      const variables = { input: { clientName: 'Ada Fairbank', idempotencyKey } };
      await eventually(async () => {
        const { body } = await postGraphql(url, credential, { query, variables }).catch((error: unknown) => {
          unanswered += 1;
          throw error;
        });
        const [, id] = /"id":"(\S+?)"/.exec(JSON.stringify(body)) ?? [];
        assert(id !== undefined, JSON.stringify(body));
        accepted.set(idempotencyKey, id);
      });
      await sleep(100);
    }
  }

  async function kill(app: AppName): Promise<void> {
    const { pid, kill: killApp, ended } = system.apps[app];
    killApp('SIGKILL');
    note(`process ${pid} ended: ${(await ended).signal}`);
    note(`${app} is process ${(await system.restart(app)).pid}`);
  }

  return {
    'The partner creates referrals until the last step': async () => {
      creating = Promise.all(['a', 'b'].map(createReferrals));
      // It is awaited once the processes are back.
      creating.catch(() => {});
      await receiver.waitFor(earlier + 50);
      note(`accepted: ${accepted.size}, arrived: ${arrived().length}`);
    },
    'SIGKILL ends the worker; a new process starts': async () => {
      const before = receiver.deliveries.length;
      await kill('webhook-worker');
      note('the lease of the killed process expires after 15 s; until then, referrals are accepted, and wait');
      await receiver.waitFor(before + 100);
      note(`accepted: ${accepted.size}, arrived: ${arrived().length}`);
    },
    'SIGKILL ends the partner API; a new process starts': async () => {
      await kill('partner-api');
      const before = accepted.size;
      await eventually(() => assert(accepted.size > before + 50, 'the partner creates referrals again'));
      note(`requests without a response: ${unanswered}, sent again with the same idempotency key`);
    },
    'Nothing is lost': async () => {
      isCreating = false;
      await creating;
      const referrals = new Set(accepted.values());
      await eventually(() => {
        const bodies = arrived().map(({ body }) => JSON.parse(body.toString()));
        deepEqual(
          new Set(bodies.map(({ data }) => data.referralId)),
          referrals,
          'exactly the accepted referrals arrive',
        );
      });
      const ids = new Set(arrived().map(({ headers }) => headers['webhook-id']));
      equal(ids.size, referrals.size);
      for (const { headers, body } of arrived()) verifyWebhook({ prefix: 'X-Service', headers, body, secret });
      note(`accepted: ${accepted.size} referrals, ${referrals.size} different ones`);
      note(`arrived: ${ids.size}, lost: 0`);
      note(`arrived more than once, with the same webhook-id: ${arrived().length - ids.size}`);
    },
  };
}
