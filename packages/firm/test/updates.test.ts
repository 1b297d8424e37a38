import { events } from '@deedwire/actions/test-support';
import { webhookEventTypes } from '@deedwire/webhook-events';
import { expect, test } from 'vitest';
import { addTeamMember, updateLender, updateTeamMember } from '../src/lender/index.ts';
import { useWorld } from './support/use-world.ts';
import type { FirmWorld as World } from './support/use-world.ts';

const world = await useWorld();

interface Update {
  /** The new values. */
  values: Readonly<Record<string, string>>;
  changed: string[];
}

interface Updates {
  /** Creates the record, and returns what updates it. */
  prepare: (of: World) => Promise<(values: Readonly<Record<string, string>>) => Promise<unknown>>;
  /** One after the other. Each changes something. */
  updates: readonly Update[];
}

const byType: Record<string, Updates> = {
  'lender.updated': {
    prepare: async ({ operator, lender }) => {
      return (values) => updateLender(operator, { name: 'Lender', ...values, lenderId: lender.gid });
    },
    updates: [
      { values: { name: 'Harbour' }, changed: ['lender.name'] },
      { values: { name: 'harbour' }, changed: ['lender.name'] },
    ],
  },
  'team_member.updated': {
    async prepare({ operator, lender }) {
      const details = { firstName: 'Ada', lastName: 'Lovelace', email: 'ada@example.com' };
      const { id: teamMemberId } = await addTeamMember(operator, { ...details, lenderId: lender.gid });
      return (values) => updateTeamMember(operator, { ...values, teamMemberId });
    },
    updates: [
      { values: { firstName: 'Augusta' }, changed: ['teamMember.firstName'] },
      { values: { lastName: 'King' }, changed: ['teamMember.lastName'] },
      { values: { email: 'ADA@example.com' }, changed: ['teamMember.email'] },
      {
        values: { lastName: 'Byron', firstName: 'Augusta', email: 'ada@other.example' },
        changed: ['teamMember.email', 'teamMember.lastName'],
      },
    ],
  },
};

test('each released update is tested below', () => {
  const released = webhookEventTypes.filter(({ versions }) => versions.some(({ status }) => status === 'current'));
  const updates = released.map(({ type }) => type).filter((type) => type.endsWith('.updated'));
  expect(Object.keys(byType).toSorted()).toEqual(updates.toSorted());
});

const auditEntries = async () => (await world.sql('select from audit_entry')).length;

test.each(Object.entries(byType))(
  '%s says what each update changed, and one that changes nothing writes no event and no audit entry',
  async (type, { prepare, updates }) => {
    const update = await prepare(world);
    for (const { values, changed } of updates) {
      const [eventsBefore, auditBefore] = [await events(world), await auditEntries()];
      await update(values);
      const after = await events(world);
      expect(after.slice(eventsBefore.length)).toEqual([
        { event_type: type, snapshot: expect.objectContaining({ changed }) },
      ]);
      expect(await auditEntries()).toBe(auditBefore + 1);
      await update(values);
      expect(await events(world)).toEqual(after);
      expect(await auditEntries()).toBe(auditBefore + 1);
    }
  },
);
