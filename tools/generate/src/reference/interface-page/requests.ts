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
import type { Example } from '../examples.ts';
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
  return [
    '## Requests',
    'Send every operation with POST. The body is a JSON object with the document in `query` and, if needed, `variables` and `operationName`.',
    codeBlock('http', [`POST ${path} HTTP/1.1`, ...sent, '', JSON.stringify(bodyOf(example))].join('\n')),
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

/** A command for a POSIX shell that sends an example. The endpoint and the credentials are variables. */
export function curlCommand(
  { names }: InterfaceContract,
  { version, manifest }: InterfaceVersion,
  example: Example,
): string {
  const { schemaVersion } = headersOf({ names });
  const headers = Object.entries(manifest.requestHeaders).flatMap(([name, { required }]) => {
    if (!required && name !== schemaVersion) return [];
    const [, variable] = /^<(\w+)>$/.exec(exampleOf(names, name, version)) ?? [];
    return variable === undefined
      ? `  -H '${name}: ${exampleOf(names, name, version)}' \\`
      : `  -H "${name}: $${variable}" \\`;
  });
  const body = JSON.stringify(bodyOf(example), null, 2);
  return ['curl -sS "$DEEDWIRE_URL" \\', ...headers, "  -d @- <<'JSON'", body, 'JSON'].join('\n');
}

/** The body of the request that succeeds. */
function bodyOf({ document, exchanges }: Example) {
  const variables = exchanges[0]?.variables ?? {};
  return {
    query: stripIgnoredCharacters(document),
    ...(Object.keys(variables).length > 0 && { variables }),
  };
}

function exampleOf(names: Names, name: string, version: string): string {
  return name === headersOf({ names }).schemaVersion ? version : descriptionOf(requestHeaderExamples(names), name);
}

function whenSent({ sent }: ManifestResponseHeader): string {
  return typeof sent === 'string' ? descriptionOf(sentDescriptions, sent) : `with status ${sent.join(', ')}`;
}
