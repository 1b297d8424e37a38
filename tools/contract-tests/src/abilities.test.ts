import { buildSchema, type GraphQLField, isObjectType } from 'graphql';
import { describe, expect, test } from 'vitest';
import { contracts } from '../test/support/interface-contracts.ts';

const versions = Object.entries(contracts).flatMap(([name, { abilities, sdl, versions: each }]) =>
  each.map(({ version }) => ({ name, version, table: abilities(version), schema: buildSchema(sdl(version)) })),
);

/** What must not be seen without READ_PAYLOAD: headers and bodies are fields of the exchange. */
const isSecret = (coordinate: string): boolean =>
  /\.\w*(?:payload(?!Deletion)|preview|secret|exchange|token|signature)/i.test(coordinate);

describe.each(versions)('the abilities of the $name interface at $version', ({ schema, table }) => {
  const fields = new Map<string, GraphQLField<unknown, unknown>>();
  for (const type of Object.values(schema.getTypeMap()).filter((each) => isObjectType(each)))
    for (const field of Object.values(type.getFields())) fields.set(`${type.name}.${field.name}`, field);

  test('every field that shows a payload, a secret or an exchange needs READ_PAYLOAD', () => {
    const open = [...fields.keys()].filter((name) => isSecret(name) && !table[name]?.includes('READ_PAYLOAD'));
    expect(open.toSorted()).toEqual([
      // Their mutations need MANAGE_KEYS.
      'CreateApiKeyPayload.apiKeySecret',
      'Mutation.rotateWebhookSecret',
      'RotateApiKeyPayload.apiKeySecret',
    ]);
    const exchanges = [...fields].filter(([, { type }]) => String(type).includes('WebhookExchange'));
    expect(exchanges.map(([name]) => name)).toEqual(['WebhookAttempt.exchange']);
  });

  test('reading needs READ, that of keys MANAGE_KEYS, that of contact addresses CONFIGURE, and no mutation but createPortalLink is open to a key that only reads', () => {
    const roots = Object.entries(table).filter(([name]) => /^(?:Query|Mutation)\./.test(name));
    const open = roots.filter(([, needed]) => needed.every((ability) => ability === 'READ')).map(([name]) => name);
    expect(open.filter((name) => name.startsWith('Mutation.'))).toEqual(['Mutation.createPortalLink']);
    const ofKeys = roots.filter(([, needed]) => needed.includes('MANAGE_KEYS')).map(([name]) => name);
    expect(ofKeys).toEqual([
      'Mutation.createApiKey',
      'Mutation.revokeApiKey',
      'Mutation.rotateApiKey',
      'Query.apiKeys',
    ]);
    const others = roots.map(([name]) => name).filter((name) => name.startsWith('Query.') && !ofKeys.includes(name));
    // Addresses of persons, which only who may change them reads.
    expect(others.filter((name) => !open.includes(name))).toEqual(['Query.contactEmails']);
    expect(table['Query.contactEmails']).toEqual(table['Mutation.updateContactEmails']);
  });
});
