import { hasReference, readLayouts } from '@deedwire/layout';
import { expect, test } from 'vitest';
import { readEventTypes } from '../payloads/event-types.ts';
import { readInterfaceContracts } from './interface-contracts.ts';

const layouts = (await readLayouts()).filter(hasReference);
const recordings = layouts.flatMap((layout) =>
  readInterfaceContracts(layout).flatMap(({ name, versions }) =>
    versions.flatMap(({ examples }) =>
      examples
        .filter(({ operation }) => operation === 'webhookEventTypes')
        .flatMap(({ exchanges }) =>
          exchanges.map(({ response, responsePath }) => ({
            layout,
            name,
            response,
            responsePath,
          })),
        ),
    ),
  ),
);

test('every interface has a recorded response of webhookEventTypes', () => {
  expect([...new Set(recordings.map(({ name }) => name))]).toEqual(
    layouts.flatMap(({ interfaceNames }) => interfaceNames),
  );
});

// The contract tests record the responses of a running server. This test names the file without starting one.
test.each(recordings)('$responsePath lists the event types of the registry', async ({ layout, name, response }) => {
  const listed = (await readEventTypes(layout))
    .filter(({ interfaces }) => interfaces.includes(name))
    .map(({ type, description, versions }) => ({
      type,
      description,
      versions: versions.map(({ version, status, sunsetOn }) => ({ version, status: status.toUpperCase(), sunsetOn })),
    }));
  expect(response, 'Record it: npx -y pnpm@12.21.0 exec vitest run --project integration /examples.test.ts -u').toEqual(
    { data: { webhookEventTypes: listed } },
  );
});
