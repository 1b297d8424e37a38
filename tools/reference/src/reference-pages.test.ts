import { webhookEventTypes } from '@deedwire/webhook-events';
import { verifyWebhook } from '@deedwire/webhook-signing';
import { isInputObjectType, isNonNullType, isObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { readInterfaceContracts } from './interface-contracts.ts';
import { referencePages } from './reference-pages.ts';
import { limitWords } from './words/limits.ts';
import { requestHeaderWords } from './words/request-headers.ts';
import { responseHeaderWords } from './words/response-headers.ts';

const pages = referencePages();
const contracts = readInterfaceContracts();
const interfaceVersions = contracts.flatMap(({ versions }) => versions);

test('there is a page for every version of everything', () => {
  expect([...pages.keys()].toSorted()).toEqual(
    [
      'README.md',
      'webhooks/README.md',
      ...contracts.flatMap(({ name, versions }) => versions.map(({ version }) => `${name}/${version}.md`)),
      ...webhookEventTypes.flatMap(({ type, versions }) =>
        versions.map(({ version }) => `webhooks/${type}/${version}.md`),
      ),
    ].toSorted(),
  );
});

test('a newer version says what is different from the one before', () => {
  expect(pages.get('lender/2027-02-01.md')).toContain(
    '| `Lender.members`         | yes      | The type was [TeamMember!]!, is TeamMemberConnection!. |\n',
  );
  const event = pages.get('webhooks/referral.converted/2027-02-01.md');
  expect(event).toContain('| `data.matterId`          | yes      | The field is not sent any more. |\n');
  expect(event).toContain('| `data.matter`            | no       | The field is new. |\n');
  expect(pages.get('lender/2026-11-01.md')).not.toContain('Different from');
});

test('an example delivery verifies', () => {
  for (const [path, text] of pages) {
    if (!/^webhooks\/.+\//.test(path)) continue;
    const [, request = ''] = /```http\n(.*?)\n```/s.exec(text) ?? [];
    const [head = '', body = ''] = request.split('\n\n');
    const headers = Object.fromEntries(
      head
        .split('\n')
        .slice(1)
        .map((line) => line.split(/: (.*)/, 2)),
    );
    const [, secret = ''] = /`(whsec_\S+)`/.exec(text) ?? [];
    const now = new Date(Number(headers['webhook-timestamp']) * 1000);
    expect(verifyWebhook({ headers, body, secret, now }).id).toBe(headers['webhook-id']);
  }
});

test('what can be null says what that means', () => {
  const silent = interfaceVersions.flatMap(({ version, schema }) =>
    Object.values(schema.getTypeMap())
      .filter((type) => isObjectType(type) && !type.name.startsWith('__'))
      .flatMap((type) => Object.values(isObjectType(type) ? type.getFields() : {}).map((field) => ({ type, field })))
      .filter(({ field }) => !isNonNullType(field.type) && !/\b[Nn]ull\b/.test(field.description ?? ''))
      .map(({ type, field }) => `${version} ${type.name}.${field.name}`),
  );
  expect(silent).toEqual([]);
});

test('everything in a contract has a description', () => {
  const silent = interfaceVersions.flatMap(({ version, schema }) =>
    Object.values(schema.getTypeMap())
      .filter((type) => !type.name.startsWith('__') && type.astNode)
      .flatMap((type) => [
        type,
        ...(isObjectType(type) || isInputObjectType(type) ? Object.values(type.getFields()) : []),
        ...(isObjectType(type) ? Object.values(type.getFields()).flatMap(({ args }) => args) : []),
        ...('getValues' in type ? type.getValues() : []),
      ])
      .filter(({ description }) => !description)
      .map((part) => `${version} ${part.name}`),
  );
  expect(silent).toEqual([]);
});

test.each([
  ['limits', limitWords],
  ['requestHeaders', requestHeaderWords],
  ['responseHeaders', responseHeaderWords],
] as const)('words are there for the %s of the manifests, and for nothing else', (part, words) => {
  const named = interfaceVersions.flatMap(({ manifest }) => Object.keys(manifest[part]));
  expect(Object.keys(words).toSorted()).toEqual([...new Set(named)].toSorted());
});
