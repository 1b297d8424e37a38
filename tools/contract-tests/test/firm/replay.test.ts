import { joinSharedSystem } from '@deedwire/dev-environment/test/firm/harness';
import { credentialHeaders } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { Kind, parse } from 'graphql';
import { expect, test } from 'vitest';
import { readConsumers } from './support/consumers.ts';

const t = await forFile(joinSharedSystem());

const consumers = readConsumers();
const requests = consumers.flatMap((consumer) =>
  consumer.versions.flatMap((version) => consumer.recorded.map((request) => ({ consumer, version, ...request }))),
);

test.each(consumers)('$name has a recorded request for each of its operations', ({ document, recorded }) => {
  const operations = parse(document).definitions.flatMap((definition) =>
    definition.kind === Kind.OPERATION_DEFINITION ? [definition.name?.value] : [],
  );
  expect(new Set(recorded.map(({ operation }) => operation))).toEqual(new Set(operations));
});

test.each(requests)(
  'version $version serves $operation of $consumer.name without errors',
  async ({ consumer, version, operation, variables }) => {
    const response = await fetch(t.urls[consumer.interface], {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'X-Service-Schema-Version': version,
        ...credentialHeaders(t.accounts[consumer.interface].credential),
      },
      body: JSON.stringify({ query: consumer.document, operationName: operation, variables }),
    });
    expect(response.headers.get('x-service-schema-version')).toBe(version);
    const body = (await response.json()) as { data?: unknown; errors?: unknown };
    expect({ status: response.status, errors: body.errors }).toEqual({ status: 200, errors: undefined });
    expect(body.data).not.toBeNull();
  },
);
