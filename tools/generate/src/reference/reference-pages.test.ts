import { webhookEventTypes } from '@deedwire/webhook-events';
import { verifyWebhook } from '@deedwire/webhook-signing';
import { isInputObjectType, isNonNullType, isObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { limitDescriptions, requestHeaderDescriptions, responseHeaderDescriptions } from './descriptions.ts';
import { readInterfaceContracts } from './interface-contracts.ts';
import { referencePages } from './reference-pages.ts';

const pages = referencePages();
const contracts = readInterfaceContracts();
const interfaceVersions = contracts.flatMap(({ versions }) => versions);

test('there is a page and a changelog for every version of every interface and payload, and a guide between two versions', () => {
  expect([...pages.keys()].toSorted()).toEqual(
    [
      'README.md',
      'webhooks/README.md',
      'webhooks/findings.md',
      ...contracts.flatMap(({ name, versions }) =>
        versions.flatMap(({ version }) => [`${name}/${version}.md`, `${name}/${version}.changelog.md`]),
      ),
      // Literals: the interfaces and event types with two versions.
      'lender/2026-11-01-to-2027-02-01.md',
      'webhooks/referral.converted/2026-11-01-to-2027-02-01.md',
      ...webhookEventTypes.flatMap(({ type, versions }) =>
        versions.flatMap(({ version }) => [
          `webhooks/${type}/${version}.md`,
          `webhooks/${type}/${version}.changelog.md`,
        ]),
      ),
    ].toSorted(),
  );
});

test('the page of a newer version lists the changes since the previous one', () => {
  expect(pages.get('lender/2027-02-01.md')).toMatch(
    /^\| `Lender\.members` +\| yes +\| The type changed from \[TeamMember!\]! to TeamMemberConnection!\. \|$/m,
  );
  const event = pages.get('webhooks/referral.converted/2027-02-01.md');
  expect(event).toContain('| `data.matterId`          | yes      | The field was removed. |\n');
  expect(event).toContain('| `data.matter`            | no       | The field was added. |\n');
  expect(pages.get('lender/2026-11-01.md')).not.toContain('Changes since');
});

test('an element that a later release added names the release', () => {
  const text = pages.get('lender/2026-11-01.md') ?? '';
  expect(text).toContain('were added in 1.0.0 of `@deedwire/lender-schema`');
  expect(text).toMatch(/^\| `subscriptionId` .*receives the delivery\. Added in 1\.1\.0\. \|$/m);
  expect(text).toMatch(/^\| \[`HEADERS_TOO_LARGE`\].* Added in 1\.1\.0\. \|$/m);
  expect(text).toMatch(/^\| `X-Content-Type-Options` .* Added in 1\.1\.0\. \|$/m);
  expect(text).toMatch(/^\| `pausedAt` .*Null if it is active\. \|$/m);
});

test('the changelog of a version lists the changes of each release', () => {
  const text = pages.get('partner/2026-11-01.changelog.md') ?? '';
  expect(text).toContain(
    '| `WebhookDelivery.subscriptionId`          | no       | The field was added with the type ID!. |\n',
  );
  expect(text.indexOf('## 1.1.0')).toBeLessThan(text.indexOf('## 1.0.1\n\nOnly descriptions changed.'));
  expect(text).toMatch(/## 1\.0\.0\n\nThe version was added\.\n$/);
});

test('the upgrade guide of a payload shows the body before and after', () => {
  const text = pages.get('webhooks/referral.converted/2026-11-01-to-2027-02-01.md') ?? '';
  const [, before = '', after = ''] = text.split(/## Body (?:before|after)\n/);
  expect(before).toContain('"matterId": "gid://service/Matter/99"');
  expect(after).not.toContain('matterId');
  expect(after).toContain('"id": "gid://service/Matter/99"');
});

test('the signatures of every example delivery verify', () => {
  for (const [path, text] of pages) {
    if (!/^webhooks\/.+\/[-0-9]{10}\.md$/.test(path)) continue;
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

test('the description of every nullable field explains null', () => {
  const silent = interfaceVersions.flatMap(({ version, schema }) =>
    Object.values(schema.getTypeMap())
      .filter((type) => isObjectType(type) && !type.name.startsWith('__'))
      .flatMap((type) => Object.values(isObjectType(type) ? type.getFields() : {}).map((field) => ({ type, field })))
      .filter(({ field }) => !isNonNullType(field.type) && !/\b[Nn]ull\b/.test(field.description ?? ''))
      .map(({ type, field }) => `${version} ${type.name}.${field.name}`),
  );
  expect(silent).toEqual([]);
});

test('every element of a contract has a description', () => {
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
  ['limits', limitDescriptions],
  ['requestHeaders', requestHeaderDescriptions],
  ['responseHeaders', responseHeaderDescriptions],
] as const)('the %s of the manifests are described, and no others', (part, descriptions) => {
  const named = interfaceVersions.flatMap(({ manifest }) => Object.keys(manifest[part]));
  expect(Object.keys(descriptions).toSorted()).toEqual([...new Set(named)].toSorted());
});
