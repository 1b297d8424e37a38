import * as lender from '@deedwire/lender-schema';
import * as partner from '@deedwire/partner-schema';
import { buildSchema, isObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { abilityOfField, findAbilities } from './documents.ts';

const schemas = [lender, partner].flatMap(({ versions, sdl }) =>
  versions.map(({ version }) => buildSchema(sdl(version))),
);

const coordinates = new Set(
  schemas.flatMap((schema) =>
    Object.values(schema.getTypeMap())
      .filter((type) => isObjectType(type))
      .flatMap((type) => Object.keys(type.getFields()).map((field) => `${type.name}.${field}`)),
  ),
);

test('abilities are of fields that exist', () => {
  expect(Object.keys(abilityOfField).filter((coordinate) => !coordinates.has(coordinate))).toEqual([]);
});

test('every field that shows a payload, a secret or an exchange needs READ_PAYLOAD', () => {
  const secret = [...coordinates].filter((name) =>
    /\.\w*(?:payload(?!Deletion)|preview|secret|exchange|token|signature)/i.test(name),
  );
  const open = secret.filter((coordinate) => abilityOfField[coordinate] !== 'READ_PAYLOAD');
  // Headers and bodies are fields of the exchange.
  expect(open).toEqual(['Mutation.rotateWebhookSecret']);
  for (const schema of schemas) {
    const owners = Object.values(schema.getTypeMap())
      .filter((type) => isObjectType(type))
      .flatMap((type) =>
        Object.values(type.getFields()).map((field) => [`${type.name}.${field.name}`, String(field.type)]),
      )
      .filter(([, type]) => type?.includes('WebhookExchange') === true);
    expect(owners.map(([coordinate]) => coordinate)).toEqual(['WebhookAttempt.exchange']);
  }
});

const [schema] = schemas;
const query = (text: string) => (schema ? findAbilities(text, schema) : []);

test.each([
  ['{ webhookSubscriptions { nodes { id } } }', ['READ']],
  ['{ webhookDelivery(id: "1") { text: payload } }', ['READ', 'READ_PAYLOAD']],
  ['{ webhookDelivery(id: "1") { ...A } } fragment A on WebhookDelivery { ... { payload } }', ['READ', 'READ_PAYLOAD']],
  ['mutation { a: retryWebhookDelivery(input: { id: "1" }) { userErrors { code } } }', ['READ', 'OPERATE']],
])('%s', (text, abilities) => {
  expect(query(text)).toEqual(abilities);
});

test('a mutation that is no part of the portal is refused', () => {
  expect(() => query('mutation { deleteWebhookSubscription(input: { id: "1" }) { userErrors { code } } }')).toThrow(
    'no ability for Mutation.deleteWebhookSubscription',
  );
});
