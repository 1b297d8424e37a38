import { readDefaultLayout } from '@deedwire/layout';
import { expect, test } from 'vitest';
import { readEventTypes } from '../payloads/event-types.ts';
import { readInterfaceContracts } from './interface-contracts.ts';

const layout = await readDefaultLayout();
const eventTypes = await readEventTypes(layout.payloads ?? '');
const recordings = readInterfaceContracts(layout).flatMap(({ name, versions }) =>
  versions.flatMap(({ examples }) =>
    examples
      .filter(({ operation }) => operation === 'webhookEventTypes')
      .flatMap(({ exchanges }) => exchanges.map(({ response, responsePath }) => ({ name, response, responsePath }))),
  ),
);

test('every interface has a recorded response of webhookEventTypes', () => {
  expect([...new Set(recordings.map(({ name }) => name))]).toEqual(layout.interfaceNames);
});

// The contract tests record the responses of a running server. This test names the file without starting one.
test.each(recordings)('$responsePath lists the event types of the registry', ({ name, response }) => {
  const listed = eventTypes
    .filter(({ interfaces }) => interfaces.includes(name))
    .map(({ type, description, versions }) => ({
      type,
      description,
      versions: versions.map(({ version, status, sunsetOn }) => ({ version, status: status.toUpperCase(), sunsetOn })),
    }));
  expect(
    response,
    'Record it: npx -y pnpm@12.21.0 exec vitest run --project integration tools/contract-tests/test/firm/examples.test.ts -u',
  ).toEqual({ data: { webhookEventTypes: listed } });
});
