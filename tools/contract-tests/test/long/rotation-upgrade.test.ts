import { startTestSystem } from '@deedwire/dev-environment/harness';
import { connect, eventually } from '@deedwire/testing';
import { generateWebhookSecret } from '@deedwire/webhook-signing';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import * as operations from '../../consumers/referral-portal/generated/2026-11-01.ts';
import { checkOutLastRelease } from '../support/last-release.ts';
import { startLibraryReceiver } from '../support/library-receiver.ts';
import { subscribe } from '../support/subscribe.ts';

test('a worker of a release without rotations signs with the old secret until the rotation is completed, then with the new one', async () => {
  const release = await checkOutLastRelease('0019-secret-rotation-and-owner-pauses.sql');
  const t = await startTestSystem();
  const [oldSecret, newSecret] = [generateWebhookSecret(), generateWebhookSecret()];
  const receiver = await startLibraryReceiver(
    (secret, body, headers) => new Webhook(secret).verify(body, headers),
    [oldSecret, newSecret],
  );
  const database = await connect(t.database.databaseUrl);
  const refer = async () => {
    const before = receiver.received.length;
    await t.partner.request(operations.ReferDocument, { input: { clientName: 'Ada' } });
    await eventually(() => expect(receiver.received.length).toBeGreaterThan(before));
    return receiver.received.at(-1)?.signedWith;
  };
  try {
    const eventTypes = [{ type: 'referral.created' }];
    const { id } = await subscribe(t.partner, { callbackUrl: receiver.url, eventTypes, webhookSecret: oldSecret });
    const current = t.system.apps['webhook-worker'];
    current.kill('SIGTERM');
    await current.ended;
    await t.system.add('webhook-worker', {}, release.folder);
    expect(await refer()).toEqual([oldSecret]);

    receiver.hold(oldSecret, newSecret);
    const { rotateWebhookSecret } = await t.partner.request(operations.RotateSecretDocument, {
      input: { id, webhookSecret: newSecret, overlapSeconds: 86_400 },
    });
    expect(rotateWebhookSecret.userErrors).toEqual([]);
    expect(await refer()).toEqual([oldSecret]);

    // Housekeeping of this build completes it. The worker of the release reads a target again within 5 s.
    await database.run('update webhook_subscription set rotation_ends_at = now()');
    await database.run('select webhook_end_rotations(10)');
    await eventually(async () => expect(await refer()).toEqual([newSecret]));
    expect(receiver.received.filter(({ isAccepted }) => !isAccepted)).toEqual([]);
  } finally {
    await database.close();
    await receiver.close();
    await t.close();
    await release.remove();
  }
});
