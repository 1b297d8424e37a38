import { type Names, requestHeaders as headersOf } from '@deedwire/core';
import { stripIgnoredCharacters } from 'graphql';
import type { ManifestResponseHeader } from '../../schema-packages/template/manifest.ts';
import {
  descriptionOf,
  requestHeaderDescriptions,
  requestHeaderExamples,
  responseHeaderDescriptions,
  sentDescriptions,
} from '../descriptions.ts';
import type { InterfaceContract, InterfaceVersion } from '../interface-contracts.ts';
import { code, codeBlock, table } from '../markdown.ts';

/** The HTTP request and response of an operation. */
export function describeRequests(
  { path, names }: InterfaceContract,
  { version, manifest, examples, remark }: InterfaceVersion,
) {
  const requestHeaders = Object.entries(manifest.requestHeaders);
  const responseHeaders = Object.entries(manifest.responseHeaders);
  const [example] = examples;
  if (example === undefined) throw new Error('The interface has no operations.');
  const sent = requestHeaders.map(([name]) => `${name}: ${exampleOf(names, name, version)}`);
  const variables = example.exchanges[0]?.variables ?? {};
  const body = JSON.stringify({
    query: stripIgnoredCharacters(example.document),
    ...(Object.keys(variables).length > 0 && { variables }),
  });
  return [
    '## Requests',
    'Send every operation with POST. The body is a JSON object with the document in `query` and, if needed, `variables` and `operationName`.',
    codeBlock('http', [`POST ${path} HTTP/1.1`, ...sent, '', body].join('\n')),
    table(
      ['request header', 'required', 'description'],
      requestHeaders.map(([name, { required }]) => [
        code(name),
        required ? 'yes' : 'no',
        descriptionOf(requestHeaderDescriptions(names), name) + remark(`/requestHeaders/${name}`, null),
      ]),
    ),
    table(
      ['response header', 'sent', 'description'],
      responseHeaders.map(([name, header]) => [
        code(name),
        whenSent(header),
        `${header.value === undefined ? '' : `${code(header.value)}. `}${descriptionOf(responseHeaderDescriptions(names), name)}${remark(`/responseHeaders/${name}`, null)}`,
      ]),
    ),
  ];
}

function exampleOf(names: Names, name: string, version: string): string {
  return name === headersOf({ names }).schemaVersion ? version : descriptionOf(requestHeaderExamples(names), name);
}

function whenSent({ sent }: ManifestResponseHeader): string {
  return typeof sent === 'string' ? descriptionOf(sentDescriptions, sent) : `with status ${sent.join(', ')}`;
}
