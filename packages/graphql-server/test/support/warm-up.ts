import type { DocumentLimits } from '@deedwire/operation-analysis';
import { getIntrospectionQuery, type GraphQLSchema } from 'graphql';
import { RequestError } from '../../src/errors/request-error.ts';
import { createDocumentSteps } from '../../src/operation/read-document.ts';
import { readDocument } from './read-document.ts';

const rounds = 3;

/** Valid and invalid documents for any schema: fragments, merged fields, variables, comments, and many kinds of errors. */
const samples = [
  getIntrospectionQuery(),
  `{__schema{types{${'name kind '.repeat(300)}}}}`,
  `{${'unknown '.repeat(30)}}`,
  `{__typename @skip(if:{${'a:[1 "b"] '.repeat(150)}})}`,
  `query A($a:Boolean!){...F} query B($a:Boolean!){...F} fragment F on __Type{${'name @skip(if:$a) '.repeat(9)}}`,
  `{${'# "a"\n'.repeat(2000)}"`,
];

/**
 * Reads some documents, so that the JavaScript engine has compiled the code before the first request. Without it, the most
 * expensive documents take up to 70 ms of CPU as the first of a process, and less than 20 ms later.
 */
export function warmUp(schema: GraphQLSchema, limits: DocumentLimits): void {
  const steps = createDocumentSteps(schema, limits);
  for (let round = 0; round < rounds; round += 1) {
    for (const sample of samples) {
      try {
        readDocument(sample, steps);
      } catch (error) {
        if (!(error instanceof RequestError)) throw error;
      }
    }
  }
}
