import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { expect } from 'vitest';
import { test } from './fixtures.ts';

interface ObjectSchema {
  properties: Record<string, object>;
  required: string[];
}

interface AsyncApiDocument {
  components: {
    messages: Record<string, { headers: ObjectSchema; bindings: { http: { headers: ObjectSchema } } }>;
    schemas: Record<string, object>;
  };
}

const { components }: AsyncApiDocument = JSON.parse(
  readFileSync(new URL(import.meta.resolve('@deedwire/webhook-events/asyncapi/partner.json')), 'utf8'),
);

/** The schema of the received headers of a message: Node writes their names in lower case. */
function headerSchemaOf(name: string): object {
  const message = components.messages[name];
  const parts = message === undefined ? [] : [message.headers, message.bindings.http.headers];
  const properties = parts.flatMap((part) => Object.entries(part.properties));
  return {
    type: 'object',
    properties: Object.fromEntries(properties.map(([header, schema]) => [header.toLowerCase(), schema])),
    required: parts.flatMap(({ required }) => required.map((header) => header.toLowerCase())),
  };
}

/** The errors of a value, as text. Null if it is valid. */
function errorsOf(schema: object, value: unknown): string | null {
  const ajv = new Ajv({ allErrors: true, formats: { 'date-time': fullFormats['date-time'] } });
  return ajv.validate(schema, value) ? null : ajv.errorsText();
}

test('a delivery matches the message of its event version in the AsyncAPI document', async ({ harness, receiver }) => {
  await harness.startWorker();
  await harness.subscribe(receiver.url, ['referral.converted']);
  const [referralId = ''] = await harness.refer(1);
  await harness.convert(referralId);
  const [delivery] = await receiver.waitFor(1);
  const body: unknown = JSON.parse(String(delivery?.body));

  expect(errorsOf(headerSchemaOf('ReferralConverted20261101'), delivery?.headers)).toBeNull();
  expect(errorsOf(components.schemas['ReferralConverted20261101'] ?? {}, body)).toBeNull();

  expect(errorsOf(headerSchemaOf('ReferralConverted20270201'), delivery?.headers)).toMatch(
    /x-service-webhook-event-version must be equal to constant/,
  );
  expect(errorsOf(components.schemas['ReferralConverted20270201'] ?? {}, body)).toMatch(
    /\/version must be equal to const/,
  );
  expect(errorsOf(headerSchemaOf('ReferralConverted20261101'), {})).toMatch(
    /must have required property 'webhook-signature'/,
  );
});
