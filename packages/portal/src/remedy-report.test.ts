import { describe, expect, test } from 'vitest';
import { outcomeOf, pausedText, type Sent, waitingText } from './remedy-report.ts';

const health = {
  pendingCount: 35,
  pendingCountIsLowerBound: false,
  lastFailureAt: null,
  lastFailure: null,
  consecutiveFailures: 0,
};
const resumed: Sent = {
  isResumed: true,
  health,
  before: { pausedAt: '2026-11-29T09:00:00.000Z', health: { breakerOpenUntil: null } },
};
const gone = {
  status: 'PAUSED',
  pausedReason: 'GONE',
  pausedAt: '2026-11-29T09:36:51.000Z',
  health: { ...health, lastFailure: { responseStatus: 410, error: null, advice: '', deliveryId: '1' } },
} as const;
const active = { status: 'ACTIVE', pausedReason: null, pausedAt: null, health } as const;

describe('the report after a press', () => {
  test('says that the subscription was paused again, and why', () => {
    expect(outcomeOf(resumed, gone)).toBe('PAUSED');
    expect(pausedText(resumed, gone)).toMatch(/^Paused again: 410 at .*:36:51\.$/);
    expect(pausedText(resumed, { ...gone, pausedReason: 'OWNER' })).toMatch(/^Paused again at .*:36:51\.$/);
  });

  test('does not take the pause before the press for a new one', () => {
    expect(outcomeOf(resumed, { ...gone, pausedAt: resumed.before.pausedAt })).toBe('WAITING');
  });

  test('says that one is tried while the endpoint is on hold', () => {
    const onHold = { isResumed: false, health, before: { pausedAt: null, health: { breakerOpenUntil: 'then' } } };
    expect(waitingText(onHold, active, false)).toBe('Trying one of 35…');
    expect(waitingText(resumed, active, false)).toBe('Sending 35 now…');
    expect(waitingText(onHold, active, true)).toBe('Still waiting: 35 pending.');
  });
});
