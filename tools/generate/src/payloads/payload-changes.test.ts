import { hasPayloads, readLayouts } from '@deedwire/layout';
import { expect, test } from 'vitest';
import { payloadRules } from '../reference/event-page/payload-differences.ts';
import { readText } from '../workspace-files.ts';
import { isBreakingChange, payloadChanges } from './payload-changes.ts';

test('the gate refuses these changes of a released payload, and no others', () => {
  const [breaking, others] = [true, false].map((isBreaking) =>
    payloadChanges.filter((change) => isBreakingChange(change) === isBreaking).map(({ what }) => what),
  );
  expect(breaking).toEqual([
    'a member is removed',
    'a member becomes optional',
    'a member becomes nullable',
    'an enum gets a value',
    'an enum loses a value',
    'an enum becomes any text',
    'a literal becomes an enum',
    'a bound is loosened or removed',
    'a limit of a length is loosened or removed',
    'a limit of an array is loosened or removed',
    'a pattern is changed or removed',
    'a UUID becomes any text',
    'an integer becomes any number',
  ]);
  expect(others).toEqual([
    'a member is added',
    'an optional member becomes required',
    'a nullable member is never null',
    'a text becomes an enum',
    'a bound is added or tightened',
    'a length is limited, or limited more',
    'an array is limited, or limited more',
    'a pattern is added',
    'a text becomes a UUID',
  ]);
});

test('the reference compares payloads as the gate does', async () => {
  for (const { payloads } of (await readLayouts()).filter(hasPayloads)) {
    const { contractCheck } = JSON.parse(readText(`${payloads}/package.json`));
    expect({ direction: 'producer', ...contractCheck }).toMatchObject(payloadRules);
  }
});
