import { stripIgnoredCharacters } from 'graphql';
import type { InterfaceContract, InterfaceVersion } from '../interface-contracts.ts';
import type { ResponseHeader } from '../manifest.ts';
import { code, codeBlock, table } from '../markdown.ts';
import { meaningOf } from '../words/meaning-of.ts';
import { requestHeaderExamples, requestHeaderWords } from '../words/request-headers.ts';
import { responseHeaderWords, sentWords } from '../words/response-headers.ts';

/** How a request and its answer travel. */
export function describeRequests({ path }: InterfaceContract, { version, manifest, examples }: InterfaceVersion) {
  const requestHeaders = Object.entries(manifest.requestHeaders);
  const responseHeaders = Object.entries(manifest.responseHeaders);
  const [example] = examples;
  if (example === undefined) throw new Error('The interface has no operation.');
  const sent = requestHeaders.map(([name]) => `${name}: ${exampleOf(name, version)}`);
  const variables = example.exchanges[0]?.variables ?? {};
  const body = JSON.stringify({
    query: stripIgnoredCharacters(example.document),
    ...(Object.keys(variables).length > 0 && { variables }),
  });
  return [
    '## Requests',
    'Every operation is sent like this. The body is a JSON object with `query`, a document, and where there are any `variables` and `operationName`.',
    codeBlock('http', [`POST ${path} HTTP/1.1`, ...sent, '', body].join('\n')),
    table(
      ['request header', 'needed', 'what it says'],
      requestHeaders.map(([name, { required }]) => [
        code(name),
        required ? 'yes' : 'no',
        meaningOf(requestHeaderWords, name),
      ]),
    ),
    table(
      ['answer header', 'sent', 'what it says'],
      responseHeaders.map(([name, header]) => [
        code(name),
        whenSent(header),
        `${header.value === undefined ? '' : `${code(header.value)}. `}${meaningOf(responseHeaderWords, name)}`,
      ]),
    ),
  ];
}

function exampleOf(name: string, version: string): string {
  return name === 'X-Service-Schema-Version' ? version : meaningOf(requestHeaderExamples, name);
}

function whenSent({ sent }: ResponseHeader): string {
  if (Array.isArray(sent)) return `with ${sent.join(', ')}`;
  return meaningOf(sentWords, sent);
}
