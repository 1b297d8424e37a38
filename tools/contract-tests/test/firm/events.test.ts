import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { issueCredential, revokeCredential, rotateCredential } from '@deedwire/actions';
import { parseApiKey } from '@deedwire/auth';
import { alertTypes } from '@deedwire/core';
import { joinSharedSystem } from '@deedwire/dev-environment/test/firm/harness';
import { firm } from '@deedwire/firm';
import { addTeamMember, removeTeamMember, updateLender, updateTeamMember } from '@deedwire/firm/lender';
import { convertReferral, createReferralForPartner, declineReferral } from '@deedwire/firm/partner';
import { missing, startReceiver } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { verifyWebhook } from '@deedwire/webhook-signing';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import * as lender from '../../consumers/loan-desk/generated/2026-11-01.ts';
import * as partner from '../../consumers/referral-portal/generated/2026-11-01.ts';

const t = await forFile(joinSharedSystem());
const receivers = { lender: await forFile(startReceiver()), partner: await forFile(startReceiver()) };

const schemaFolder = fileURLToPath(new URL('../../../../packages/webhook-events/json-schema/', import.meta.url));

interface ListedType {
  type: string;
  versions: readonly { status: string }[];
}

/** The event types that have a released version. A preview is sent only to subscriptions that name it. */
const released = (types: readonly ListedType[]) =>
  types.filter(({ versions }) => versions.some(({ status }) => status === 'CURRENT'));

const pick = (types: readonly ListedType[]) => released(types).map(({ type }) => ({ type }));

/** Returns a validator for each published payload schema, by `<type>/<version>`. */
function readPublishedSchemas() {
  const ajv = new Ajv2020({ allErrors: true });
  addFormats.default(ajv);
  const files = globSync('*/*.json', { cwd: schemaFolder });
  return new Map(
    files.map((file) => [
      file.slice(0, -'.json'.length),
      ajv.compile(JSON.parse(readFileSync(`${schemaFolder}/${file}`, 'utf8'))),
    ]),
  );
}

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

/** The errors of a delivery as a message of the AsyncAPI document of an interface, as text. Null if it is valid. */
function asyncApiErrors(name: 'lender' | 'partner', message: string, headers: object, payload: object): string | null {
  const file = import.meta.resolve(`@deedwire/webhook-events/asyncapi/${name}.json`);
  const { components }: AsyncApiDocument = JSON.parse(readFileSync(fileURLToPath(file), 'utf8'));
  const { headers: own, bindings } = components.messages[message] ?? missing();
  const parts = [own, bindings.http.headers];
  // Node writes the names of headers in lower case.
  const lowerCase = parts.flatMap(({ properties }) =>
    Object.entries(properties).map(([header, schema]) => [header.toLowerCase(), schema]),
  );
  const schema = {
    type: 'object',
    properties: {
      headers: {
        type: 'object',
        properties: Object.fromEntries(lowerCase),
        required: parts.flatMap(({ required }) => required.map((header) => header.toLowerCase())),
      },
      payload: components.schemas[message] ?? missing(),
    },
  };
  const ajv = new Ajv({ allErrors: true, formats: fullFormats });
  return ajv.validate(schema, { headers, payload }) ? null : ajv.errorsText();
}

/** The name of the message of an event version: `ReferralConverted20261101`. */
const messageOf = (type: string, version: string): string =>
  `${type}.${version}`
    .replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())
    .replaceAll(/[.-]/g, '');

const keyIdOf = (apiKey: string): string => parseApiKey(firm, apiKey)?.keyId ?? missing();

/** The payload of a delivery of this type. */
const bodyOf = (deliveries: readonly { body: Buffer }[], type: string): object =>
  deliveries.map(({ body }) => JSON.parse(body.toString())).find((payload) => payload.type === type) ?? missing();

test('every released event arrives signed, and valid against its published JSON Schema and its AsyncAPI message', async () => {
  const { webhookEventTypes: lenderTypes } = await t.lender.request(lender.EventTypesDocument, {});
  const { webhookEventTypes: partnerTypes } = await t.partner.request(partner.EventTypesDocument, {});
  const { createWebhookSubscription: lenderSubscription } = await t.lender.request(lender.SubscribeDocument, {
    input: { callbackUrl: receivers.lender.url, eventTypes: pick(lenderTypes) },
  });
  const { createWebhookSubscription: partnerSubscription } = await t.partner.request(partner.SubscribeDocument, {
    input: { callbackUrl: receivers.partner.url, eventTypes: pick(partnerTypes) },
  });

  const lenderId = t.accounts.lender.id;
  const person = { firstName: 'Dai', lastName: 'Wei', email: 'dai@northwind.example' };
  const { id: teamMemberId } = await addTeamMember(t.operator, { lenderId, ...person });
  await updateTeamMember(t.operator, { teamMemberId, lastName: 'Wei-Jones' });
  await removeTeamMember(t.operator, { teamMemberId });
  await updateLender(t.operator, { lenderId, name: 'Northwind “Mutual” 🏠' });

  const partnerId = t.accounts.partner.id;
  const details = { partnerId, clientName: 'Ada', clientEmail: null, note: null };
  const first = await createReferralForPartner(t.operator, { ...details, externalReference: 'CRM-"1"\u2028' });
  const second = await createReferralForPartner(t.operator, { ...details, externalReference: null });
  const third = await createReferralForPartner(t.operator, { ...details, externalReference: null });
  await convertReferral(t.operator, { referralId: first.id });
  await declineReferral(t.operator, { referralId: second.id, reason: 'Outside of our area.' });
  await declineReferral(t.operator, { referralId: third.id, reason: null });

  const { apiKey } = await issueCredential(t.operator, { accountId: partnerId, clientId: null, name: 'CRM' });
  const rotation = { keyId: keyIdOf(apiKey), overlapSeconds: 60, expiresAt: null };
  const rotated = await rotateCredential(t.operator, rotation);
  await revokeCredential(t.operator, { keyId: keyIdOf(rotated.apiKey) });

  const arrived = [
    ...(await receivers.lender.waitFor(4)).map((delivery) => ({
      delivery,
      secret: lenderSubscription.webhookSecret,
      name: 'lender' as const,
    })),
    ...(await receivers.partner.waitFor(9)).map((delivery) => ({
      delivery,
      secret: partnerSubscription.webhookSecret,
      name: 'partner' as const,
    })),
  ];
  const validators = readPublishedSchemas();
  const seen = new Set<string>();
  for (const { delivery, secret, name } of arrived) {
    verifyWebhook({ headers: delivery.headers, body: delivery.body, secret: secret ?? '' });
    const payload = JSON.parse(delivery.body.toString());
    const validate = validators.get(`${payload.type}/${payload.version}`);
    expect({ payload, isValid: validate?.(payload), errors: validate?.errors }).toEqual({
      payload,
      isValid: true,
      errors: null,
    });
    expect(delivery.headers['x-service-webhook-event']).toBe(payload.type);
    expect(delivery.headers['x-service-webhook-event-version']).toBe(payload.version);
    const message = messageOf(payload.type, payload.version);
    expect([message, asyncApiErrors(name, message, delivery.headers, payload)]).toEqual([message, null]);
    seen.add(payload.type);
  }
  expect(bodyOf(receivers.lender.deliveries, 'team_member.updated')).toMatchObject({
    data: { changed: ['teamMember.lastName'] },
  });
  expect(bodyOf(receivers.lender.deliveries, 'lender.updated')).toMatchObject({ data: { changed: ['name'] } });
  const converted = bodyOf(receivers.partner.deliveries, 'referral.converted');
  expect(asyncApiErrors('partner', 'ReferralConverted20270201', {}, converted)).toMatch(
    /must have required property 'webhook-signature'.*payload\/version must be equal to constant/s,
  );
  // webhook.test is sent only on request, api_key.expiring before the end of a key (webhook-worker/housekeeping.test.ts), and alerts about subscriptions that fail: full/webhook-worker/alerts.test.ts.
  const others: readonly string[] = ['webhook.test', 'api_key.expiring', ...alertTypes];
  const all = released([...lenderTypes, ...partnerTypes])
    .map(({ type }) => type)
    .filter((type) => !others.includes(type));
  expect(seen).toEqual(new Set(all));
});
