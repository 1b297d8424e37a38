import { randomBytes } from 'node:crypto';
import { type Credential, postGraphql, startReceiver } from '@deedwire/testing';
import { expect } from 'vitest';

interface Account {
  id: string;
  credential: Credential;
}

/** Sends a query. */
export type Post = (
  url: string,
  credential: Credential,
  operation: { query: string; variables?: unknown },
) => Promise<{ status: number; body: unknown }>;

interface Ways {
  /** Defaults to a request without TLS. */
  post?: Post;
  /** Changes the URL of the receiver, which listens on the loopback interface, to one that the worker can reach. */
  reach?: (callbackUrl: URL) => Promise<void>;
}

/** Reads a lender, subscribes a partner's receiver, and creates a referral, whose event has to arrive. */
export async function expectDelivery(
  urls: { lender: string; partner: string },
  { lender, partner }: { lender: Account; partner: Account },
  { post = postGraphql, reach }: Ways = {},
): Promise<void> {
  const read = await post(urls.lender, lender.credential, { query: '{ lender { id } }' });
  expect(read).toMatchObject({ status: 200, body: { data: { lender: { id: lender.id } } } });

  const receiver = await startReceiver();
  try {
    const callbackUrl = new URL(receiver.url);
    await reach?.(callbackUrl);
    const subscribed = await post(urls.partner, partner.credential, {
      query:
        'mutation ($input: CreateWebhookSubscriptionInput!) { createWebhookSubscription(input: $input) { userErrors { message } } }',
      variables: { input: { callbackUrl: callbackUrl.href, eventTypes: [{ type: 'referral.created' }] } },
    });
    expect(subscribed.body).toMatchObject({ data: { createWebhookSubscription: { userErrors: [] } } });
    const created = await post(urls.partner, partner.credential, {
      query: 'mutation ($input: CreateReferralInput!) { createReferral(input: $input) { referral { id } } }',
      variables: { input: { clientName: 'Ada', idempotencyKey: randomBytes(8).toString('hex') } },
    });
    const [delivery] = await receiver.waitFor(1);
    const event: { data: { referralId: string } } = JSON.parse(delivery?.body.toString() ?? '');
    const { referralId } = event.data;
    expect(created.body).toMatchObject({ data: { createReferral: { referral: { id: referralId } } } });
  } finally {
    await receiver.close();
  }
}
