import { hasReference, readLayouts } from '@deedwire/layout';
import { verifyWebhook } from '@deedwire/webhook-signing';
import { isInputObjectType, isNonNullType, isObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { readLimitDescriptions, requestHeaderDescriptions, responseHeaderDescriptions } from './descriptions.ts';
import { readInterfaceContracts } from './interface-contracts.ts';
import { referencePages } from './reference-pages.ts';

// `pnpm check` compares the committed pages with these.
const layouts = (await readLayouts()).filter(hasReference);
const pages = await Promise.all(
  layouts.map(async (layout) =>
    Array.from(await referencePages(layout), ([path, text]) => ({ path, text, prefix: layout.names.headerPrefix })),
  ),
);
const contracts = layouts.flatMap(readInterfaceContracts);
const interfaceVersions = contracts.flatMap(({ versions }) => versions);

test('the signatures of every example delivery verify', () => {
  for (const { path, text, prefix } of pages.flat()) {
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
    expect(verifyWebhook({ prefix, headers, body, secret, now }).id).toBe(headers['webhook-id']);
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

test.each(contracts)('the limits of the $name interface are described, and no others', ({ folder, versions }) => {
  const named = versions.flatMap(({ manifest }) => Object.keys(manifest.limits));
  expect(Object.keys(readLimitDescriptions(folder)).toSorted()).toEqual([...new Set(named)].toSorted());
});

test.each([
  ['requestHeaders', requestHeaderDescriptions],
  ['responseHeaders', responseHeaderDescriptions],
] as const)('the %s of the manifests are described, and no others', (part, descriptionsOf) => {
  for (const layout of layouts) {
    const named = readInterfaceContracts(layout).flatMap(({ versions }) =>
      versions.flatMap(({ manifest }) => Object.keys(manifest[part])),
    );
    expect(Object.keys(descriptionsOf(layout.names)).toSorted()).toEqual([...new Set(named)].toSorted());
  }
});
