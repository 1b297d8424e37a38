import { idAt } from '@deedwire/domain';
import { expect, test } from 'vitest';
import { convertReferral, createReferral, findReferral } from '../src/index.ts';
import { useWorld } from './support/use-world.ts';

const world = await useWorld();

const nextNumber = async () => String((await world.sql(`select nextval('record_number') as number`))[0]?.['number']);
const repeatFrom = (number: string) => world.sql(`select setval('record_number', $1, false)`, [number]);

// Simulates a clock that stands still: each id is the next number, and a number that is set back repeats ids.
test('a mutation draws other ids when those that it drew already exist', async () => {
  await world.sql(
    `create or replace function new_record_id() returns bigint language sql
     as $$ select ${idAt(new Date())} + nextval('record_number') $$`,
  );
  const number = await nextNumber();
  const first = await world.refer();
  await repeatFrom(number);
  const input = { clientName: 'Client', idempotencyKey: 'key' };
  const created = await createReferral(world.partnerApi, world.partner, input);
  expect(created).toMatchObject({ referral: { id: expect.any(String) }, userErrors: [] });
  expect(created.referral?.id).not.toBe(first);
  expect(await createReferral(world.partnerApi, world.partner, input)).toEqual({ ...created, isRepeated: true });
  expect(await world.sql('select count(*)::int as events from webhook_event')).toEqual([{ events: 2 }]);

  await repeatFrom(number);
  const callbackUrl = 'https://receiver.example/hook';
  const one = await world.subscribe({ callbackUrl });
  await repeatFrom(number);
  expect((await world.subscribe({ callbackUrl })).id).not.toBe(one.id);
});

test('the reference of a matter does not follow from its id, and its number does not repeat', async () => {
  const references: (string | undefined)[] = [];
  for (let index = 0; index < 3; index += 1) {
    const referralId = await world.refer();
    await convertReferral(world.operator, { referralId });
    const referral = await findReferral(world.partnerApi, world.partner, referralId);
    references.push(referral?.matter?.reference);
    await world.sql('truncate matter restart identity cascade');
  }
  const year = new Date().getUTCFullYear();
  expect(references).toEqual([`M-${year}-000001`, `M-${year}-000002`, `M-${year}-000003`]);
});
