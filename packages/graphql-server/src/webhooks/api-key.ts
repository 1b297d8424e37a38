import {
  type ApiKey,
  createApiKey,
  idempotencyErrorCodes,
  listApiKeys,
  revokeApiKey,
  rotateApiKey,
} from '@deedwire/actions';
import { abilities } from '@deedwire/core';
import { addMutation } from '../schema/add-mutation.ts';
import type { InterfaceSchemaBuilder } from '../schema/builder.ts';

/** The user errors of a mutation that makes a key. */
const codesOfNewKey = [
  'ABILITIES_INVALID',
  'ADDRESSES_INVALID',
  'EXPIRY_INVALID',
  ...idempotencyErrorCodes,
  'KEY_SELF_SERVICE_OFF',
  'LIMIT_REACHED',
  'SECRET_NOT_REPEATED',
] as const;

/** Adds `ApiKey`, `Query.apiKeys`, `Mutation.createApiKey`, `Mutation.rotateApiKey` and `Mutation.revokeApiKey`. */
export function addApiKeys(builder: InterfaceSchemaBuilder): void {
  const Ability = builder.enumType('ApiKeyAbility', { values: abilities });
  const Creator = builder.objectRef<NonNullable<ApiKey['createdBy']>>('ApiKeyCreator').implement({
    fields: (t) => ({
      apiKeyId: t.exposeID('apiKeyId', { nullable: true }),
      portalActor: t.exposeString('portalActor', { nullable: true }),
    }),
  });
  const Key = builder.objectRef<ApiKey>('ApiKey').implement({
    fields: (t) => ({
      id: t.exposeID('id'),
      name: t.exposeString('name', { nullable: true }),
      abilities: t.expose('abilities', { type: [Ability] }),
      addresses: t.exposeStringList('addresses', { nullable: true }),
      createdAt: t.expose('createdAt', { type: 'DateTime' }),
      createdBy: t.expose('createdBy', { type: Creator, nullable: true }),
      expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true }),
      endedAt: t.expose('endedAt', { type: 'DateTime', nullable: true }),
      lastUsedAt: t.expose('lastUsedAt', { type: 'DateTime', nullable: true }),
      lastUsedFrom: t.exposeString('lastUsedFrom', { nullable: true }),
      lastUsedVersion: t.exposeString('lastUsedVersion', { nullable: true }),
    }),
  });

  builder.queryField('apiKeys', (t) =>
    t.field({ type: [Key], resolve: (_, _args, { actions, caller }) => listApiKeys(actions, caller) }),
  );

  addMutation(builder, 'createApiKey', {
    input: (t) => ({
      name: t.string({ required: true }),
      abilities: t.field({ type: [Ability], required: true }),
      expiresAt: t.field({ type: 'DateTime' }),
      addresses: t.stringList(),
      idempotencyKey: t.string(),
    }),
    codes: [...codesOfNewKey, 'NAME_INVALID'],
    resolve: (input, { actions, caller }) => createApiKey(actions, caller, input),
    payload: (t) => ({
      apiKey: t.expose('apiKey', { type: Key, nullable: true }),
      apiKeySecret: t.exposeString('apiKeySecret', { nullable: true }),
    }),
  });

  addMutation(builder, 'rotateApiKey', {
    input: (t) => ({
      id: t.id({ required: true }),
      overlapSeconds: t.int({ defaultValue: 86_400 }),
      idempotencyKey: t.string(),
    }),
    codes: [...codesOfNewKey, 'KEY_ENDED', 'NOT_FOUND', 'OVERLAP_INVALID'],
    resolve: (input, { actions, caller }) => rotateApiKey(actions, caller, input),
    payload: (t) => ({
      apiKey: t.expose('apiKey', { type: Key, nullable: true }),
      apiKeySecret: t.exposeString('apiKeySecret', { nullable: true }),
    }),
  });

  addMutation(builder, 'revokeApiKey', {
    input: (t) => ({ id: t.id({ required: true }) }),
    codes: ['KEY_SELF_SERVICE_OFF', 'LAST_KEY', 'NOT_FOUND'],
    resolve: (input, { actions, caller }) => revokeApiKey(actions, caller, input),
    payload: (t) => ({ apiKey: t.expose('apiKey', { type: Key, nullable: true }) }),
  });
}
