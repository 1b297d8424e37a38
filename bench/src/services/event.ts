/** What all services send to an endpoint: the body of a `referral.created` webhook of ours. */
export const eventPayload = {
  id: 'gid://service/WebhookEvent/123456',
  type: 'referral.created',
  version: '2026-11-01',
  timestamp: '2026-11-03T09:30:00.123Z',
  data: { referralId: 'gid://service/Referral/4711', externalReference: 'bench-{n}' },
};
